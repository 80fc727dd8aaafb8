package workload

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Origin is where a value came from. A higher one wins.
type Origin int

// Origins in rising order of precedence.
const (
	OriginDefault Origin = iota + 1
	OriginPreset
	OriginFile
	OriginPlan
	OriginEnvironment
	OriginFlag
)

// String returns the word shown to users.
func (o Origin) String() string {
	return [...]string{"", "default", "preset", "file", "plan", "environment", "flag"}[o]
}

// Value is one named value as text, with its origin.
type Value struct {
	Name, Text string
	Origin     Origin
	// Where details the origin: the file with its line, the variable, the preset.
	Where string
	// Order is the position of the value in its file or preset, from 1; 0
	// elsewhere. A value that replaces another takes over its position, so that the
	// order of a file is kept.
	Order int
}

// From returns the origin in words: "file ingestion.properties:12".
func (v Value) From() string {
	if v.Where == "" {
		return v.Origin.String()
	}
	return v.Origin.String() + " " + v.Where
}

// Values holds values by name.
type Values map[string]Value

// Set adds v, unless there is already a value of a higher origin.
func (vs Values) Set(v Value) {
	if old, ok := vs[v.Name]; ok {
		if old.Origin > v.Origin {
			return
		}
		if v.Order == 0 {
			v.Order = old.Order
		}
	}
	vs[v.Name] = v
}

// Pick returns, among the values with these names, the one of the highest origin;
// on a tie, the one named first.
func (vs Values) Pick(names ...string) (Value, bool) {
	var best Value
	for _, n := range names {
		if v, ok := vs[n]; ok && v.Origin > best.Origin {
			best = v
		}
	}
	return best, best.Origin != 0
}

// Names returns the names in order.
func (vs Values) Names() []string { return slices.Sorted(maps.Keys(vs)) }

// Kind is the type of a parameter.
type Kind int

// Kinds of parameters.
const (
	Text Kind = iota + 1
	Integer
	Number
	Size
	Duration
	Switch
	Choice
	List
	// Target is a URL as for --target, but of something other than the store, or a
	// word. A session turns lab: into the URL of the running server and shows no
	// secret of it.
	Target
)

// String returns the word shown to users.
func (k Kind) String() string {
	return [...]string{"", "text", "integer", "number", "size", "duration", "on|off", "choice", "list", "target"}[k]
}

// Param describes one value of a profile that is fixed when a run starts.
type Param struct {
	Name, Help string
	Kind       Kind
	Default    string
	Unit       string
	Choices    []string
	Min, Max   float64
	// Alias is our own name for the parameter, if Name is the one used by the
	// system that the profile imitates: threads for threadCount. Lists leave such
	// parameters out.
	Alias string
	// Track means that the parameter exists once per track, as TRACK.Name; without
	// a track it sets all of them.
	Track bool
	// Outside means that the value names something other than the store that a run
	// changes, such as a file: only the run itself may use it, not the trials
	// before it.
	Outside bool
}

func (v Value) bad(want string, advice ...string) error {
	return fault.Field(v.Name, fault.Input(fmt.Errorf("%s: %q (%s) is not %s", v.Name, v.Text, v.From(), want), strings.Join(advice, " ")))
}

// Int reads a whole number in [lo, hi]: 10000, 10_000, 10k or 1e4.
func (v Value) Int(lo, hi int64) (int64, error) {
	n, err := units.ParseWhole(v.Text)
	if err != nil {
		return 0, v.bad("a whole number", units.LikeNumbers)
	}
	if n < lo || n > hi {
		return 0, v.bad(fmt.Sprintf("in %d..%d", lo, hi))
	}
	return n, nil
}

// Float reads a number in [lo, hi]: 0.5, 10_000, 10k or 1e4.
func (v Value) Float(lo, hi float64) (float64, error) { return v.float(units.ParseNumber, lo, hi) }

func (v Value) float(parse func(string) (float64, error), lo, hi float64) (float64, error) {
	n, err := parse(v.Text)
	if err != nil {
		return 0, v.bad("a number", units.LikeNumbers)
	}
	if !(n >= lo && n <= hi) {
		return 0, v.bad("in " + plain(lo) + ".." + plain(hi))
	}
	return n, nil
}

// Rate reads a target rate in units per second, such as 2k or 2k/s; 0 or [units.Unlimited] means
// there is none.
func (v Value) Rate() (float64, error) {
	if strings.EqualFold(v.Text, units.Unlimited) {
		return 0, nil
	}
	return v.float(units.ParseRate, 0, MaxRate)
}

// plain writes a number without an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Size reads a number of bytes in [lo, hi].
func (v Value) Size(lo, hi int64) (int64, error) {
	n, err := units.ParseSize(v.Text)
	if err != nil {
		return 0, v.bad("a size such as 512, 1KiB or 10KB")
	}
	if n < lo || n > hi {
		return 0, v.bad(fmt.Sprintf("in %s..%s", units.Size(lo), units.Size(hi)))
	}
	return n, nil
}

// Duration reads a Go duration that is not negative.
func (v Value) Duration() (time.Duration, error) {
	d, err := units.ParseDuration(v.Text)
	if err != nil || d < 0 {
		return 0, v.bad("a duration such as 500ms, 30s or 5m")
	}
	return d, nil
}

// Bool reads on or off (true, yes, 1 and so on also work).
func (v Value) Bool() (bool, error) {
	switch strings.ToLower(strings.TrimSpace(v.Text)) {
	case "on", "true", "yes", "1":
		return true, nil
	case "off", "false", "no", "0":
		return false, nil
	}
	return false, v.bad("on or off")
}

// Choice reads one of the given words, ignoring case.
func (v Value) Choice(words ...string) (string, error) {
	t := strings.ToLower(strings.TrimSpace(v.Text))
	for _, w := range words {
		if t == strings.ToLower(w) {
			return w, nil
		}
	}
	return "", fault.Field(v.Name, fault.Input(fmt.Errorf("%s: %q (%s) is not one of %s", v.Name, v.Text, v.From(), strings.Join(words, ", ")), fault.Meant(t, words)))
}

// Problems collects errors so that a user sees all of them at once.
type Problems struct{ errs []error }

// Add keeps err unless it is nil, or said already: what several tracks share is read for each.
func (p *Problems) Add(err error) {
	if err != nil && !slices.ContainsFunc(p.errs, func(said error) bool { return said.Error() == err.Error() }) {
		p.errs = append(p.errs, err)
	}
}

// Err returns all of them joined, with the code for bad input, or nil if there
// are none.
func (p *Problems) Err() error {
	if len(p.errs) == 0 {
		return nil
	}
	if len(p.errs) == 1 {
		return fault.Code(p.errs[0], fault.CodeInput)
	}
	return fault.Code(errors.Join(p.errs...), fault.CodeInput)
}
