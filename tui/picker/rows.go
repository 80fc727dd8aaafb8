package picker

import (
	"cmp"
	"errors"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// rowKind is what a row of the form sets.
type rowKind int

const (
	rowPreset rowKind = iota + 1
	rowFile
	rowTarget
	rowPassword
	rowTexts
	rowOut
	rowValue
)

// row is one value of the form.
type row struct {
	kind rowKind
	// name is what a user types with --set; text and from are as in the preview, or as
	// typed.
	name, text, from string
	// mine means that it was set here or by a flag, so that it can be reset.
	mine bool
	// choices are the words that ←→ step through; empty if the value is typed or
	// turned.
	choices []string
	// offers are texts that typing begins with a list of; labs are offered, too, where lab is
	// typed.
	offers, labs []string
	// knob is the live knob whose start value the row sets, with its present value.
	knob *workload.Knob
	at   float64
	help string
	// off means that there is nothing to set, for the reason in from.
	off bool
	// time means that the value is a duration, auto that it may end itself instead.
	time, auto bool
	// more means that the row is shown only with all values: nothing was set, and a first run needs none.
	more bool
	// section is the heading above the row, set on the first row of a section.
	section string
	// wrong is what is wrong with the value, meant what the first of these supposes was meant.
	wrong []mistake
	meant string
}

// mistake is one thing that is wrong with a value, with advice; hint may be empty.
type mistake struct{ text, hint string }

// limit reports whether the row sets a rate, for which 0 means unlimited.
func (r row) limit() bool {
	return r.knob != nil && r.name[strings.LastIndexByte(r.name, '.')+1:] == "rate"
}

// words returns the value as it is shown and typed.
func (r row) words() string {
	if r.limit() && r.text == "0" {
		return units.Unlimited
	}
	if r.nothing() != "" && (r.text == "0" || r.text == units.Size(0)) {
		return r.nothing()
	}
	return r.text
}

// first reports whether the row is one that a first run is set by, or has something that was set or is wrong.
func (r *row) first() bool {
	switch {
	case r.mine || len(r.wrong) > 0, r.kind == rowPreset, r.kind == rowTarget, r.kind == rowPassword:
		return true
	case r.kind == rowValue:
		return r.name == "duration" || r.name == "mode" || r.knob != nil && workload.IsUsual(r.name)
	}
	return false
}

// alias is the parameter that sets the same as the row of a knob; empty if none does.
func (r row) alias() string {
	if r.knob == nil || r.knob.Param == "" {
		return ""
	}
	return strings.TrimSuffix(r.name, r.knob.Name) + r.knob.Param
}

// nothing is what 0 is called, if it is not a number of the knob's unit.
func (r row) nothing() string {
	if r.knob == nil {
		return ""
	}
	return r.knob.Zero
}

// differs reports whether two requests set the row's value differently.
func (r *row) differs(a, b request.Request) bool {
	switch r.kind {
	case rowPreset:
		return a.Preset != b.Preset
	case rowFile:
		return !slices.Equal(a.Files, b.Files)
	case rowTarget:
		return a.Target != b.Target
	case rowPassword:
		return a.Password != b.Password
	case rowTexts:
		t := textsNamed(r.name)
		return !slices.Equal(t.of(&a), t.of(&b))
	case rowOut:
		return a.Out != b.Out
	}
	return a.Values[r.name].Text != b.Values[r.name].Text || a.Values[r.alias()].Text != b.Values[r.alias()].Text
}

// rebuild recomputes the rows: after a preview, a choice, a key.
func (f *form) rebuild() {
	was := ""
	if f.at < len(f.rows) {
		was = f.rows[f.at].key()
	}
	pr := f.list.selected()
	if pr == nil {
		f.rows, f.at = nil, 0
		return
	}
	s := &sheet{profile: pr, req: f.drafts.request(), pending: f.forecast.got == 0 || !f.forecast.current(), origin: f.drafts.origin, preview: f.forecast.of(pr.Name), known: f.known, stores: f.list.stores, rows: f.rows[:0]}
	s.fill()
	s.blame(f.forecast.err)
	for i := range s.rows {
		s.rows[i].more = !s.rows[i].first()
	}
	f.rows = s.rows
	f.at = min(f.at, max(len(f.rows)-1, 0))
	for i := range f.rows {
		if f.rows[i].key() == was {
			f.at = i
		}
	}
}

// sheet are the rows of a form as they are made: of what a profile can be given, what is
// set, and what would be.
type sheet struct {
	profile *workload.Profile
	req     request.Request
	preview *request.Preview // nil while nothing is known of it
	known   *known
	stores  []screen.StoreInfo
	rows    []row
	// pending means that what would be is being worked out; origin is as in drafts.
	pending bool
	origin  func(name string, same func(request.Request) bool) string
}

// fill makes all rows.
func (s *sheet) fill() {
	s.addPreset()
	s.addFile()
	s.addTarget()
	if pv := s.preview; pv != nil {
		length, rest := lengthFirst(pv.Run)
		s.add("Length", length)
		all, each := ofTracks(pv.Settings)
		all, own := usualFirst(all, mostFirst-len(s.rows))
		s.add("Knobs at the start", all)
		s.addTexts()
		s.add("Knobs of this workload", own)
		s.add("Knobs of each track", each)
		s.add("Parameters", withoutStarts(pv))
		s.add("Run", rest)
	} else if s.pending {
		return // nothing is shown that changes in a moment
	} else if built(s.profile) {
		length, rest := lengthFirst(defaultsOf(s.known.every))
		s.add("Length", length)
		s.addTexts()
		s.addRest() // what is wrong is among it, to be mended
		s.add("Parameters", defaultsOf(s.profile.Params))
		s.add("Run", rest)
	}
	s.addRest()
}

// lengthFirst separates the parameters for the length of a run from the others.
func lengthFirst(list []request.Line) (length, rest []request.Line) {
	for _, v := range list {
		switch v.Name {
		case "duration", "count", "warmup", "mode":
			length = append(length, v)
		default:
			rest = append(rest, v)
		}
	}
	return length, rest
}

// ofTracks separates the knobs of all tracks from those of single tracks.
func ofTracks(list []request.Line) (all, each []request.Line) {
	for _, v := range list {
		if strings.Contains(v.Name, ".") {
			each = append(each, v)
		} else {
			all = append(all, v)
		}
	}
	return all, each
}

// mostFirst is how many rows there may be before the changes and conditions.
const mostFirst = 12

// usualFirst separates the knobs that every profile may have from those of one workload, if there
// is no room for all.
func usualFirst(list []request.Line, room int) (usual, own []request.Line) {
	if len(list) <= room {
		return list, nil
	}
	for _, v := range list {
		if workload.IsUsual(v.Name) {
			usual = append(usual, v)
		} else {
			own = append(own, v)
		}
	}
	return usual, own
}

// withoutStarts returns the parameters of a plan except those that set the start value
// of a knob, which has its own row.
func withoutStarts(pv *request.Preview) []request.Line {
	return slices.DeleteFunc(slices.Clone(pv.Parameters), func(v request.Line) bool {
		base := v.Name[strings.LastIndexByte(v.Name, '.')+1:]
		return pv.Plan != nil && slices.ContainsFunc(pv.Plan.Knobs, func(k workload.Knob) bool { return k.Param == base })
	})
}

func (r row) key() string { return string(rune('0'+r.kind)) + r.name }

func defaultsOf(params []workload.Param) []request.Line {
	var out []request.Line
	for _, q := range params {
		out = append(out, request.Line{Name: q.Name, Text: q.Default, From: workload.OriginDefault.String()})
	}
	return out
}

// addPreset appends the row of the preset.
func (s *sheet) addPreset() {
	preset := row{kind: rowPreset, name: "preset", text: s.req.Preset, from: "default", mine: s.req.Preset != "", help: "a named set of values"}
	list := s.known.presets[s.profile.Name]
	for _, ps := range list {
		preset.choices = append(preset.choices, ps.Name)
	}
	if s.req.Preset == "" && len(s.req.Files) == 0 && len(list) > 0 {
		preset.text = list[0].Name
		if v, ok := s.ran("preset"); ok {
			preset.text = v.Text
		}
	}
	for _, ps := range list {
		if ps.Name == preset.text {
			preset.help = ps.Summary
		}
	}
	if preset.mine {
		preset.from = s.origin(preset.name, func(r request.Request) bool { return r.Preset == s.req.Preset })
	}
	s.rows = append(s.rows, preset)
}

// addFile appends the row of the files, if the profile reads any.
func (s *sheet) addFile() {
	if s.profile.Read == nil {
		return
	}
	s.rows = append(s.rows, row{
		kind: rowFile, name: "file", text: strings.Join(s.req.Files, ", "), from: s.req.From["file"], mine: len(s.req.Files) > 0,
		help: "a plan, or " + s.profile.Reads + "; several with commas, tab completes",
	})
}

// addTarget appends the rows of the target and of its password, which has its row also where the target
// takes none: the rows below it do not move when another is set.
func (s *sheet) addTarget() {
	target := row{
		kind: rowTarget, name: "target", text: s.req.Target, from: "default", mine: s.req.Target != "",
		offers: s.known.targets(s.profile, s.stores), labs: s.known.labs, help: "a URL; enter lists recent ones and examples",
	}
	if target.text == "" {
		target.text = widget.DefaultTarget
		if v, ok := s.ran("target"); ok && strings.HasPrefix(v.From, workload.OriginPlan.String()) {
			target.text, target.from = v.Text, v.From
		}
	}
	if target.mine {
		target.from = s.origin(target.name, func(r request.Request) bool { return r.Target == s.req.Target })
	}
	s.rows = append(s.rows, target)
	password := row{
		kind: rowPassword, name: "password", text: strings.Repeat("•", min(len([]rune(s.req.Password)), 12)), mine: s.req.Password != "",
		help: "is never shown, kept or logged",
	}
	if widget.Local(target.text) && !password.mine {
		password.off, password.from, password.help = true, "target takes none", "only a target on a server takes one"
	}
	s.rows = append(s.rows, password)
}

// ran returns a line of what would be run; false while that is unknown.
func (s *sheet) ran(name string) (request.Line, bool) {
	if s.preview == nil {
		return request.Line{}, false
	}
	return archive.LineOf(s.preview.Run, name)
}

// add appends the values of one section, except those that already have rows.
func (s *sheet) add(section string, list []request.Line) {
	for _, v := range list {
		if slices.Contains([]string{"profile", "store", "target", "preset", "file", "files", "password", "out"}, v.Name) {
			continue
		}
		if s.has(v.Name) {
			continue
		}
		r := row{kind: rowValue, name: v.Name, text: v.Text, from: v.From, section: section}
		if r.text == "–" || r.text == `""` {
			r.text = ""
		}
		section = ""
		s.describe(&r)
		s.typedIn(&r)
		s.rows = append(s.rows, r)
	}
}

// has reports whether a value has its row already, under this name or its other one.
func (s *sheet) has(name string) bool {
	return slices.ContainsFunc(s.rows, func(r row) bool { return r.name == name || r.alias() == name })
}

// addRest appends values that were set but are unknown to the preview, so that a wrong
// name can be seen and removed.
func (s *sheet) addRest() {
	section := "Set"
	for _, name := range s.req.Values.Names() {
		if s.has(name) {
			continue
		}
		r := row{kind: rowValue, name: name, section: section}
		section = ""
		s.describe(&r)
		s.typedIn(&r)
		s.rows = append(s.rows, r)
	}
}

// typedIn puts what was set here into a row.
func (s *sheet) typedIn(r *row) {
	if r.from == workload.OriginFlag.String() {
		r.from = setHere
	}
	name := r.name
	if _, ok := s.req.Values[name]; !ok {
		name = cmp.Or(r.alias(), name)
	}
	v, ok := s.req.Values[name]
	switch {
	case !ok || v.Origin == workload.OriginPlan && strings.HasPrefix(r.from, workload.OriginEnvironment.String()):
	case v.Origin == workload.OriginPlan:
		r.text, r.mine, r.from = v.Text, true, v.From()
	default:
		r.text, r.mine = v.Text, true
		r.from = s.origin(name, func(q request.Request) bool { return q.Values[name].Text == v.Text })
	}
}

// describe sets how a value is changed, and its description.
func (s *sheet) describe(r *row) {
	base := r.name[strings.LastIndexByte(r.name, '.')+1:]
	for _, q := range slices.Concat(s.profile.Params, s.known.every) {
		if q.Name != r.name && q.Name != base {
			continue
		}
		r.help = widget.Unflagged(q.Help)
		switch q.Kind {
		case workload.Choice:
			r.choices = q.Choices
		case workload.Switch:
			r.choices = []string{"off", "on"}
		case workload.Duration:
			r.time, r.auto = true, q.Name == "warmup"
		}
		if r.help != "" && q.Unit != "" {
			r.help += " (" + q.Unit + ")"
		}
	}
	if r.name == "mode" && len(r.choices) == 0 {
		r.choices = s.profile.Modes
	}
	pv := s.preview
	if pv == nil || pv.Plan == nil {
		return
	}
	k, ok := pv.Plan.Knob(base)
	if !ok {
		if k, ok = pv.Plan.Knob(r.name); !ok {
			return
		}
	}
	r.knob, r.help = &k, k.Help
	if parts := widget.Parts(k, pv.Plan.Tracks(), workload.Starts(pv.Plan.Tracks())); r.limit() && r.name == k.Name && parts != "" {
		r.help = "all tracks together, " + parts + "; " + r.help
	}
	track := strings.TrimSuffix(strings.TrimSuffix(r.name, base), ".")
	tracks := pv.Plan.Tracks()
	if track == "" && len(tracks) > 0 {
		r.at = k.Get(workload.Totals([]workload.Knob{k}, tracks, workload.Starts(tracks)))
	}
	for _, t := range tracks {
		if t.Name == track {
			r.at = k.Get(t.Start)
		}
	}
}

// blame gives each row what is wrong with its value.
func (s *sheet) blame(err error) {
	for _, part := range fault.Parts(err) {
		name := fault.FieldOf(part)
		if name == "" {
			continue // of no row: the plan says it
		}
		for i := range s.rows {
			r := &s.rows[i]
			if r.name != name && r.alias() != name {
				continue
			}
			text, hint := widget.Unflagged(part.Error()), widget.Unflagged(fault.HintOf(part))
			if len(r.wrong) == 0 && (r.kind != rowFile || errors.Is(part, fs.ErrNotExist)) { // what is wrong in a file is mended there
				r.meant = cmp.Or(meant(hint), meant(text))
				if r.kind == rowTexts {
					r.meant = replaced(r.text, text, r.meant)
				}
			}
			r.wrong = append(r.wrong, mistake{strings.TrimPrefix(text, name+": "), hint})
		}
	}
}

// quoted matches what a message quotes.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// replaced returns texts with what was meant in the place of what a message about one of them quotes last; empty if
// nothing was meant, or that is not among them.
func replaced(texts, said, meant string) string {
	all := quoted.FindAllString(said, -1)
	if meant == "" || len(all) < 2 {
		return ""
	}
	whole, err1 := strconv.Unquote(all[0])
	part, err2 := strconv.Unquote(all[len(all)-1])
	start, at := strings.Index(texts, whole), strings.LastIndex(whole, part)
	if err1 != nil || err2 != nil || start < 0 || at < 0 {
		return ""
	}
	return texts[:start+at] + meant + texts[start+at+len(part):]
}
