// Package found is what a search for the highest rate found: the words of find.json,
// which reports and screens read.
package found

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// File is the name of the file in the folder of a run that holds what its search found.
const File = "find.json"

// Knobs that a search may turn.
const (
	OverRate    = "rate"
	OverThreads = "threads"
)

// Within is how long a search takes at most that was given no duration, as --duration has
// it.
const Within = "3m"

// Asked is what a user asked for, as text.
type Asked struct {
	// Under are the conditions, Over is the knob; empty: the rate.
	Under []string
	Over  string
	// From is the first level and To the highest; empty: found out, and no bound.
	From, To string
}

// Result is what a search found, as find.json in the folder of its run holds it.
type Result struct {
	Schema int `json:"schema"`
	// Run is the id of the run, Over the knob, Unit what it counts, Under the conditions.
	Run   string   `json:"run"`
	Over  string   `json:"over"`
	Unit  string   `json:"unit"`
	Under []string `json:"under"`
	// Found is the highest level that held; 0: none did. TooMuch is the lowest that did
	// not; 0: all held.
	Found   float64 `json:"found"`
	TooMuch float64 `json:"too_much"`
	// Done is units a second at the level that held.
	Done float64 `json:"done_per_s"`
	// Complete says that the search came to its end: the two are close, and both were
	// tried again. Why says what ended it before.
	Complete bool   `json:"complete"`
	Why      string `json:"why,omitempty"`
	// Seconds is how long it took, Threads how many there were at its end.
	Seconds float64 `json:"seconds"`
	Threads int     `json:"threads"`
	Limit   Limit   `json:"limit"`
	// Steps are all that was tried, in order.
	Steps []Step `json:"steps"`
}

// Step is one level that was tried. Times are in nanoseconds, of all operations that
// count together.
type Step struct {
	Level float64 `json:"level"`
	// FromS and ToS are seconds of measurement.
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	// Held says that it is sustainable, Why says why or why not, Doubtful that chance may
	// have decided.
	Held     bool    `json:"held"`
	Doubtful bool    `json:"doubtful,omitempty"`
	Why      string  `json:"why"`
	Done     float64 `json:"done_per_s"`
	Calls    int64   `json:"calls"`
	Errors   int64   `json:"errors"`
	Threads  int     `json:"threads"`
	Response Times   `json:"response_ns"`
	Service  Times   `json:"service_ns"`
	// LateP99 is the part of the response time that is perfbench's own.
	LateP99 int64 `json:"lateness_p99_ns"`
	// CPU is how many processors perfbench used, Machine all processes of the machine; nil
	// where nobody looked.
	CPU     *float64 `json:"cpu_cores,omitempty"`
	Machine *float64 `json:"machine_cores,omitempty"`
}

// Above returns a with what it leaves out taken from below, which may be nil.
func (a Asked) Above(below *Asked) Asked {
	if below == nil {
		return a
	}
	if len(a.Under) == 0 {
		a.Under = below.Under
	}
	return Asked{a.Under, cmp.Or(a.Over, below.Over), cmp.Or(a.From, below.From), cmp.Or(a.To, below.To)}
}

// Words says in a few words how the step went.
func (s Step) Words() string {
	words := s.Why
	if s.Held {
		words = "held"
	}
	if s.Doubtful {
		words += ", doubtful"
	}
	return words
}

// Times are percentiles of a time. Those with too few calls behind them are
// measure.Hidden.
type Times struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99_9"`
	Max  int64 `json:"max"`
}

// Schema is the number of the layout of find.json.
const Schema = 1

// Limit is what keeps a level from being sustainable.
type Limit struct {
	// By is "store", "perfbench", "threads", "machine" or "none".
	By string `json:"by"`
	// Causes are those of the verdict that speak for perfbench.
	Causes []string `json:"causes,omitempty"`
	// Text says it in a sentence.
	Text string `json:"text"`
}

// By whom a level is limited.
const (
	ByStore     = "store"
	ByPerfbench = "perfbench"
	ByThreads   = "threads"
	ByMachine   = "machine"
	ByNone      = "none"
)

// Curve is the last step of each level at each number of threads, in the order of the
// levels.
func (r *Result) Curve() []Step {
	var out []Step
	for _, s := range r.Steps {
		out = slices.DeleteFunc(out, func(o Step) bool { return o.Level == s.Level })
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Step) int {
		if a.Level < b.Level {
			return -1
		}
		return 1
	})
	return out
}

// Bracket is what a search under way knows so far: the highest level whose last try held,
// below the lowest whose last did not; 0 where there is none.
func (r *Result) Bracket() (held, tooMuch float64) {
	for _, s := range r.Curve() {
		if !s.Held {
			return held, s.Level
		}
		held = s.Level
	}
	return held, 0
}

// Encode writes the result as File holds it.
func (r *Result) Encode() ([]byte, error) {
	data, err := json.MarshalIndent(r, "", "  ")
	return append(data, '\n'), err
}

// Load reads what the search of the run in a folder found; nil when it made none.
func Load(dir string) (*Result, error) {
	data, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	r := &Result{}
	if err == nil {
		err = json.Unmarshal(data, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the search found: %w", err)
	}
	return r, nil
}
