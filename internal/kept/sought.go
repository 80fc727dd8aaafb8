package kept

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// Sought is what a filter asks for: words, and comparisons such as threads=8 or p99<10ms.
type Sought struct {
	// Text is as it was typed.
	Text string
	// Now is the time by which days are told.
	Now time.Time
	// Title returns what people call a profile; nil: only its name is known.
	Title func(profile string) string
}

// compared is a name, a sign and a value, which may be missing yet.
var compared = regexp.MustCompile(`^([a-z][\w.-]*)(<=|>=|=|<|>)(.*)$`)

// apart is the space around a sign.
var apart = regexp.MustCompile(`\s*(<=|>=|=|<|>)[ \t]*`)

// coloned is a name and a value as people write them, too: tag:slow. It is no URL.
var coloned = regexp.MustCompile(`^([a-z][\w.-]*):([^/]*)$`)

// clock is a time of day, which is found where one begins: 09:02 is not 09:09:02.
var clock = regexp.MustCompile(`^\d\d?:\d{0,2}$`)

// words are those of the text, a comparison as one as far as its value has no blank.
func (s Sought) words() []string {
	return strings.Fields(strings.ToLower(apart.ReplaceAllString(s.Text, "$1")))
}

// names reports whether something is asked of what has a name.
func (s Sought) names(name string) bool {
	return slices.ContainsFunc(s.words(), func(w string) bool { return strings.HasPrefix(w, name) })
}

// figures are what a run or a sweep came to, by the names that a filter compares them by.
var figures = []string{"errors", "throughput", "p50", "p99", "p99.9", "max", "length"}

// facts are what else a filter asks for by a name.
var facts = []string{"verdict", "store", "target", "profile", "mode", "kind", "name", "note", "mark", "id"}

// figure returns one of figures; NaN if it is not known. Times are in nanoseconds.
func (i *Item) figure(name string) float64 {
	rate, p99, errors := i.Figures()
	switch name {
	case "errors":
		return float64(errors)
	case "throughput":
		return rate
	case "p99":
		return known(p99)
	}
	if i.Run == nil || i.Run.Sought != nil && name != "length" {
		return math.NaN()
	}
	switch l := i.Run.Headline().Response; name {
	case "p50":
		return known(l.P50)
	case "p99.9":
		return known(l.P999)
	case "max":
		return known(l.Max)
	}
	return i.Run.MeasuredS * 1e9
}

// known returns a time as a number; NaN if it is none.
func known(ns int64) float64 {
	if ns <= 0 || ns == measure.Hidden {
		return math.NaN()
	}
	return float64(ns)
}

// figureOf reads the value that a figure is compared with.
func figureOf(name, text string) (float64, error) {
	switch name {
	case "errors", "throughput":
		return units.ParseRate(text)
	}
	d, err := units.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time such as 5ms or 1.5s", text)
	}
	return float64(d), nil
}

// figureText is a figure as lists show it.
func figureText(name string, v float64) string {
	switch name {
	case "errors", "throughput":
		return units.Number(v)
	}
	return units.Duration(time.Duration(v))
}

// compares reports whether a number is as asked of another.
func compares(v float64, sign string, with float64) bool {
	switch sign {
	case "<":
		return v < with
	case "<=":
		return v <= with
	case ">":
		return v > with
	case ">=":
		return v >= with
	}
	return v == with
}

// Holds reports whether every word is found in what the item is listed by, or is said of the item, as
// threads=32, threads:32, "threads 32" or errors>100; case does not matter. A verdict has to be the item's own: "valid"
// does not find INVALID.
func (i *Item) Holds(s Sought) bool {
	text := sync.OnceValue(func() string { return strings.ToLower(strings.Join(i.words(s), " ")) })
	for rest := s.words(); len(rest) > 0; {
		if n := i.asked(rest); n > 0 {
			rest = rest[n:]
			continue
		}
		w := rest[0]
		rest = rest[1:]
		if !i.says(w, text) && !i.says(coloned.ReplaceAllString(w, "$1=$2"), text) {
			return false
		}
	}
	return true
}

// says reports whether one word is found in a text, or what it compares holds.
func (i *Item) says(w string, text func() string) bool {
	if holds, told := i.compared(w); told {
		return holds
	}
	switch w {
	case "valid", "degraded", "invalid":
		return i.Is(w)
	}
	if clock.MatchString(w) {
		return regexp.MustCompile(`(^|[^\d:])0?` + w).MatchString(text())
	}
	return strings.Contains(text(), w) || i.product(w)
}

// compared reports whether a comparison holds; told is false if the word is none that the item can tell
// beyond what it is listed by.
func (i *Item) compared(word string) (holds, told bool) {
	m := compared.FindStringSubmatch(word)
	if m == nil {
		return false, false
	}
	name, sign, value := m[1], m[2], m[3]
	switch {
	case slices.Contains(figures, name):
		v := i.figure(name)
		with, err := figureOf(name, value)
		return !math.IsNaN(v) && (value == "" || err == nil && compares(v, sign, with) || sign == "=" && strings.EqualFold(figureText(name, v), value)), true
	case slices.Contains(facts, name):
		return sign == "=" && i.fact(name, value), true
	case i.Run == nil:
		return false, false
	}
	for _, k := range i.settings(name) {
		is := func(v float64) bool { return value == "" || settingIs(k, v, sign, value) }
		if is(i.Run.Settings[k]) || slices.ContainsFunc(i.later(k), is) {
			return true, true
		}
	}
	return false, len(i.settings(name)) > 0
}

// later returns the values that a setting came to after the one that the run began with, each once; none of
// what a search looked for.
func (i *Item) later(name string) (out []float64) {
	if _, base := rundir.TrackOf(name); i.Run.Sought != nil && i.Run.Sought.Over == base {
		return nil
	}
	for _, s := range i.Run.Segments {
		for _, settings := range []map[string]float64{s.Settings, s.SettingsEnd} {
			if v, is := settings[name]; is && v != i.Run.Settings[name] && !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// foundLater says which values of a setting, that the run came to later, a filter finds it by: " → 18";
// "" where it is found by what it began with.
func (i *Item) foundLater(s Sought, name string) string {
	if i.Run == nil {
		return ""
	}
	var texts []string
	for _, w := range s.words() {
		m := compared.FindStringSubmatch(w)
		if m == nil || m[1] != name || m[3] == "" {
			continue
		}
		for _, k := range i.settings(name) {
			if settingIs(k, i.Run.Settings[k], m[2], m[3]) {
				return ""
			}
			for _, v := range i.later(k) {
				if settingIs(k, v, m[2], m[3]) {
					texts = append(texts, rundir.ShortText(k, v))
				}
			}
		}
	}
	switch len(texts) {
	case 0:
		return ""
	case 1:
		return " → " + texts[0]
	}
	return " → " + texts[0] + " …"
}

// height is the value of a setting by which it is compared: no number is above an unlimited rate.
func height(name string, v float64) float64 {
	if rundir.SettingText(name, v) == units.Unlimited {
		return math.Inf(1)
	}
	return v
}

// settingIs compares a setting with a text.
func settingIs(name string, v float64, sign, value string) bool {
	v = height(name, v)
	if with, err := units.ParseNumber(value); err == nil {
		return compares(v, sign, with)
	}
	with, err := units.ParseSize(value)
	return err == nil && compares(v, sign, float64(with))
}

// settings returns the names of the settings that a name is for: that of the run as a whole if it has one, else
// those of its tracks. A name with a track is that of the track alone.
func (i *Item) settings(name string) (out []string) {
	whole := ""
	for k := range i.Run.Settings {
		_, base := rundir.TrackOf(k)
		switch {
		case strings.EqualFold(k, name):
			whole = k
		case strings.EqualFold(base, name):
			out = append(out, k)
		}
	}
	if whole != "" {
		return []string{whole}
	}
	return out
}

// fact reports whether one of facts says so; nothing said yet is true of all that have it.
func (i *Item) fact(name, value string) bool {
	profile, mode := i.Profile()
	url, _ := i.Target()
	has := func(text string) bool { return text != "" && strings.Contains(strings.ToLower(text), value) }
	is := func(text string) bool { return text != "" && (value == "" || strings.EqualFold(text, value)) }
	switch name {
	case "verdict":
		return value == "" || i.Is(value)
	case "store", "target":
		return i.on(value) || has(url)
	case "profile":
		return is(profile)
	case "mode":
		return is(mode)
	case "kind":
		return is(i.Kind())
	case "id":
		return has(i.ID())
	}
	if i.Run == nil {
		return false
	}
	if name == "mark" {
		return slices.ContainsFunc(i.Run.Marks, func(m rundir.Mark) bool { return has(m.Note) })
	}
	return has(map[string]string{"name": i.Run.Name, "note": i.Run.Note}[name])
}

// asked returns how many of the first words name a value that the run had at any time, and say the whole of it:
// threads=8, threads 8, payload 1 kib.
func (i *Item) asked(words []string) int {
	if i.Run == nil {
		return 0
	}
	text := strings.Join(words, " ")
	says := func(name, value string) int {
		rest, is := strings.CutPrefix(text, strings.ToLower(name))
		if !is || !strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, " ") {
			return 0
		}
		for _, v := range []string{value, strings.ReplaceAll(value, " ", "")} {
			v = strings.ToLower(v)
			if after, is := strings.CutPrefix(rest[1:], v); is && v != "" && (after == "" || after[0] == ' ') {
				return len(words) - len(strings.Fields(after))
			}
		}
		return 0
	}
	most := 0
	name, _, _ := strings.Cut(words[0], "=")
	for _, k := range i.settings(name) {
		for _, v := range append(i.later(k), i.Run.Settings[k]) {
			most = max(most, says(name, rundir.SettingText(k, v)), says(name, strconv.FormatFloat(v, 'f', -1, 64)))
		}
	}
	for k, v := range i.Run.Parameters {
		if strings.EqualFold(k, name) {
			most = max(most, says(k, v))
		}
	}
	return max(most, says("store", i.Run.Store.Name), says("profile", i.Run.Profile), says("verdict", i.Run.Verdict.State))
}

// names returns the names of what a filter can compare of the item, in small letters.
func (i *Item) names() []string {
	out := slices.Concat(figures, facts)
	for k := range i.Tags() {
		out = append(out, strings.ToLower(k))
	}
	if i.Run == nil {
		return out
	}
	for k := range i.Run.Settings {
		_, base := rundir.TrackOf(k)
		out = append(out, strings.ToLower(k), strings.ToLower(base))
	}
	for k := range i.Run.Parameters {
		out = append(out, strings.ToLower(k))
	}
	return out
}

// Check refuses a comparison of what nothing in a list has, and a value that a figure cannot have, as bad
// input.
func (s Sought) Check(list []Item) error {
	for _, w := range s.words() {
		m := compared.FindStringSubmatch(w)
		if m == nil {
			continue
		}
		name, value := m[1], m[3]
		if slices.Contains(figures, name) {
			if _, err := figureOf(name, value); value != "" && err != nil {
				return fault.Input(fmt.Errorf("%s: %w", name, err), "")
			}
			continue
		}
		if len(list) == 0 || slices.ContainsFunc(list, func(i Item) bool {
			return slices.Contains(i.names(), name) || strings.Contains(strings.ToLower(strings.Join(i.words(s), " ")), w)
		}) {
			continue
		}
		all := map[string]bool{}
		for i := range list {
			for _, n := range list[i].names() {
				all[n] = true
			}
		}
		meant := ""
		if n := fault.Nearest(name, slices.Sorted(maps.Keys(all))); n != "" {
			meant = "did you mean " + n + "? "
		}
		return fault.Input(fmt.Errorf("no run has %q", name), meant+"known are "+strings.Join(figures, ", ")+", "+strings.Join(facts, ", ")+", the names of tags, and of settings such as threads")
	}
	return nil
}

// Asked is the first setting, parameter or figure that is compared and is in no column of a list of its own;
// "" if none is.
func (s Sought) Asked() string {
	for _, w := range s.words() {
		if m := compared.FindStringSubmatch(w); m != nil && !slices.Contains(facts, m[1]) && !slices.Contains([]string{"errors", "throughput", "p99", "length"}, m[1]) {
			return m[1]
		}
	}
	return ""
}

// valueOf returns what an item has of a setting, a parameter or a figure by that name; "" if it has none.
func (i *Item) valueOf(name string) string {
	if slices.Contains(figures, name) {
		if v := i.figure(name); !math.IsNaN(v) {
			return figureText(name, v)
		}
		return ""
	}
	if i.Run == nil {
		return ""
	}
	var each []string
	for _, k := range slices.Sorted(slices.Values(i.settings(name))) {
		if text := rundir.ShortText(k, i.Run.Settings[k]); !slices.Contains(each, text) {
			each = append(each, text)
		}
	}
	if len(each) > 0 {
		return strings.Join(each, ", ")
	}
	for _, said := range []map[string]string{i.Run.Parameters, i.Tags()} {
		for k, v := range said {
			if strings.EqualFold(k, name) {
				return v
			}
		}
	}
	return ""
}
