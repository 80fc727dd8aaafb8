// Package sweep describes sweeps over one or two knobs: their points, which runs are
// done, and the results: where the knee is, and the Universal Scalability Law as it fits,
// X(n) = λn / (1 + σ(n−1) + κn(n−1)).
package sweep

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// Target is the name of the axis that varies the store instead of a value.
const Target = "target"

// MostRuns is the largest number of runs in a sweep.
const MostRuns = 1000

// Asked is what a user requested, as text: Over in the form of --over, and how many
// runs to make at each point. Fault is what each run has at its middle, such as power-cut:primary;
// empty: nothing.
type Asked struct {
	Over   []string
	Repeat string
	Fault  string
}

// UsualRepeat is how many runs a point has by default.
const UsualRepeat = "3"

// Axis is a knob or parameter with the values that it is to have, as users type them;
// targets are without their secrets.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
	// Server means that it is a setting of servers of the lab, which are started anew for each run.
	Server bool `json:"server_setting,omitempty"`
}

// Short returns a value as sentences and legends have it: of targets, what tells them apart.
func (a Axis) Short(value string) string {
	if i := slices.Index(a.Values, value); a.Name == Target && i >= 0 {
		return store.ShortNames(a.Values)[i]
	}
	return value
}

// Series says which values axes have, of many the first three and the last: " (threads 2, 4, 6 … 32; payload 64,
// 128)"; "" if these are targets or yet to be chosen.
func Series(axes []Axis) string {
	var each []string
	for _, a := range axes {
		if a.Name == Target || a.Auto() {
			continue
		}
		text := strings.Join(a.Values, ", ")
		if n := len(a.Values); n > 5 {
			text = strings.Join(a.Values[:3], ", ") + " … " + a.Values[n-1]
		}
		each = append(each, a.Name+" "+text)
	}
	if len(each) == 0 {
		return ""
	}
	return " (" + strings.Join(each, "; ") + ")"
}

// Side returns a value with the name of its axis; a short name of a target needs none.
func (a Axis) Side(value string) string {
	if short := a.Short(value); short != value {
		return short
	}
	return a.Name + "=" + value
}

// Concurrency reports whether the axis is the number of calls in progress at once.
func (a Axis) Concurrency() bool { return a.Name == "threads" || strings.HasSuffix(a.Name, ".threads") }

// Numbers returns the values as numbers, sizes in bytes and durations in seconds; nil
// if they are words, as all settings of servers are: their numbers stand for ways.
func (a Axis) Numbers() []float64 {
	if a.Server {
		return nil
	}
	var out []float64
	for _, v := range a.Values {
		n, ok := a.number(v)
		if !ok {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// number parses a value as a number. For payloads k is 1024, otherwise 1000.
func (a Axis) number(text string) (float64, bool) {
	size, err := units.ParseSize(text)
	v, err2 := units.ParseNumber(text)
	switch {
	case err == nil && (err2 != nil || strings.Contains(a.Name, "payload")):
		return float64(size), true
	case err2 == nil:
		return v, true
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil
}

// exact is the limit above which a float64 cannot tell every two whole numbers apart.
const exact = 1 << 53

// same reports whether two texts are the same number, size or duration, as 4 and 04 are.
func (a Axis) same(v, w string) bool {
	d, err := time.ParseDuration(v)
	if e, err2 := time.ParseDuration(w); err == nil && err2 == nil {
		return d == e
	}
	x, ok := a.number(v)
	y, ok2 := a.number(w)
	return ok && ok2 && x == y && math.Abs(x) < exact && a.Name != Target
}

// runTwice says what to do instead of giving a value twice.
const runTwice = "raise --repeat to run a point several times"

// Parse parses the arguments of --over, NAME=LIST each; a name that is repeated gets
// more values. Errors have the code of bad input.
func Parse(over []string) ([]Axis, error) {
	var out []Axis
	for _, o := range over {
		name, list, ok := strings.Cut(o, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, bad("over: %q is not NAME=LIST", o)
		}
		values, err := parseList(name, list)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(out, func(a Axis) bool { return a.Name == name })
		if at < 0 {
			at, out = len(out), append(out, Axis{Name: name})
		}
		out[at].Values = append(out[at].Values, values...)
	}
	switch {
	case len(out) == 0:
		return nil, bad("over: a sweep needs a knob and its values")
	case len(out) > 2:
		return nil, fault.Input(fmt.Errorf("over: %d knobs are more than a sweep has", len(out)), "give one or two")
	}
	for _, a := range out {
		if a.Auto() {
			continue
		}
		if a.Name == AutoKnob && slices.Contains(a.Values, Auto) {
			return nil, fault.Field("over", fault.Input(fmt.Errorf("over %s: %s stands beside other values", a.Name, Auto), "give it alone, or list all rates"))
		}
		for i, v := range a.Values {
			if slices.Contains(a.Values[:i], v) {
				return nil, fault.Input(fmt.Errorf("over %s: has a value twice: %s", a.Name, shown(a.Name, v)), runTwice)
			}
			if at := slices.IndexFunc(a.Values[:i], func(w string) bool { return a.same(v, w) }); at >= 0 {
				return nil, fault.Input(fmt.Errorf("over %s: has a value twice: %q is %q", a.Name, v, a.Values[at]), runTwice)
			}
		}
		if len(a.Values) < 2 {
			if first, last, ok := strings.Cut(a.Values[0], ".."); ok && a.Name != Target && strings.TrimSpace(first) != "" && last != "" {
				return nil, fault.Field("over", fault.Input(fmt.Errorf("over %s: %q is not a range that a sweep reads", a.Name, a.Values[0]),
					"a series has its first two values before the dots, and the last after them, as in --over threads=1,2,4,…,64"))
			}
			return nil, bad("over %s: one value does not make a sweep", a.Name)
		}
	}
	return out, nil
}

// shown returns a value in a form that may be shown, since a target may contain a
// secret.
func shown(name, value string) string {
	if name == Target {
		return "a target"
	}
	return strconv.Quote(value)
}

func bad(format string, args ...any) error {
	return fault.Field("over", fault.Input(fmt.Errorf(format, args...), "write it like --over threads=1,2,4,…,64"))
}

func parseList(name, list string) ([]string, error) {
	if name == Target {
		out := store.SplitTargets(list)
		if slices.Contains(out, "") {
			return nil, bad("over %s: its list has an empty place", name)
		}
		return out, nil
	}
	words := strings.Split(list, ",")
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	if list == "" {
		return nil, bad("over %s: its list is empty", name)
	}
	if slices.Contains(words, "") {
		return nil, bad("over %s: its list %q has an empty place", name, list)
	}
	dots := func(w string) bool { return w == "…" || w == "..." || w == ".." }
	at := slices.IndexFunc(words, dots)
	if at < 0 {
		return words, nil
	}
	if at < 2 || at != len(words)-2 || slices.ContainsFunc(words[at+1:], dots) {
		return nil, bad("over %s: in %q two values or more come before the dots, and one after", name, list)
	}
	filled, err := fill(words[:at], words[at+1])
	if err != nil {
		return nil, bad("over %s: %q %s", name, list, err)
	}
	return filled, nil
}

// quantity is a number with a unit.
var quantity = regexp.MustCompile(`^([0-9]*\.?[0-9]+)([A-Za-zµ]*)$`)

// fill continues from the first values to the last, in steps that grow as the first
// ones do or are all equal.
func fill(first []string, last string) ([]string, error) {
	var list []float64
	unit := ""
	for i, w := range append(slices.Clone(first), last) {
		m := quantity.FindStringSubmatch(w)
		if m == nil {
			return nil, fmt.Errorf("goes on from words: %q is not a number", w)
		}
		if i > 0 && m[2] != unit {
			return nil, errors.New("has different units, which dots cannot go on from")
		}
		unit = m[2]
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	end := list[len(list)-1]
	list = list[:len(list)-1]
	next, err := rule(list)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(first)
	for v := list[len(list)-1]; ; {
		was := v
		v = next(v)
		switch {
		case near(v, end):
			return append(out, last), nil
		case (v > end) == (list[1] > list[0]) || near(v, was):
			return nil, fmt.Errorf("does not come to %s", last)
		case len(out) >= MostRuns:
			return nil, fmt.Errorf("has more than %d values", MostRuns)
		}
		out = append(out, strconv.FormatFloat(v, 'g', 12, 64)+unit)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

// rule returns how numbers continue: by an equal step, or otherwise by an equal factor.
func rule(list []float64) (func(float64) float64, error) {
	step, factor := list[1]-list[0], list[1]/list[0]
	equal, alike := true, list[0] > 0
	for i := 1; i < len(list); i++ {
		equal = equal && near(list[i]-list[i-1], step)
		alike = alike && near(list[i], list[i-1]*factor)
	}
	switch {
	case step == 0:
		return nil, errors.New("does not move")
	case equal:
		return func(v float64) float64 { return v + step }, nil
	case alike:
		return func(v float64) float64 { return v * factor }, nil
	}
	return nil, errors.New("has neither an equal step nor an equal factor before the dots")
}

// Rounds reads how many runs a point has. The error is one of bad input.
func Rounds(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > MostRuns {
		return 0, fault.Field("repeat", fault.Input(fmt.Errorf("repeat: %q is not in 1..%d", text, MostRuns), "write it like --repeat 3"))
	}
	return n, nil
}

// Points returns all combinations of the values, with the last axis changing fastest;
// rates that are yet to be chosen are in words.
// More runs than MostRuns are an error of bad input.
func Points(axes []Axis, repeats int) ([][]string, error) {
	n, sizes := 1, []string{}
	for _, a := range axes {
		n *= len(a.List())
		sizes = append(sizes, fmt.Sprintf("%d of %s", len(a.List()), a.Name))
	}
	if n*repeats > MostRuns {
		return nil, fault.Field("over", fault.Input(fmt.Errorf("over: %s, %d times, are %d runs, more than the %d that a sweep may have", strings.Join(sizes, " × "), repeats, n*repeats, MostRuns),
			"shorten the lists, or lower --repeat"))
	}
	out := [][]string{nil}
	for _, a := range axes {
		var longer [][]string
		for _, p := range out {
			for _, v := range a.List() {
				longer = append(longer, append(slices.Clone(p), v))
			}
		}
		out = longer
	}
	return out, nil
}
