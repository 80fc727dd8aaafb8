package find

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// File is the name of the file in a run's folder that holds the result of its search.
const File = rundir.FoundFile

// HeldUp is why a search ended for which lower levels are no use.
const HeldUp = "perfbench was held up at three levels in a row though it had little to do, so a lower level would not help"

// TooSlow is why a search ended that HeldUp would have ended, where calls are too slow in the store alone.
const TooSlow = "at three levels in a row, more than half of the calls took too long in the store itself, so a lower level would hardly help"

// Interrupted is why a search ended that somebody ended.
const Interrupted = "it was interrupted"

// Knobs that a search may change.
const (
	OverRate    = "rate"
	OverThreads = "threads"
)

// Within is the longest duration of a search that was given none, in the form of
// --duration.
const Within = "3m"

// Asked is what a user requested, as text.
type Asked struct {
	// Under are the conditions; Over is the knob, empty for the rate.
	Under []string
	Over  string
	// From is the first level, empty if it is to be determined; To is the highest,
	// empty for no limit.
	From, To string
	// Within is how long the search may take at most; empty: as long as its run does, or the
	// constant of that name if the run has no end.
	Within string
	// Rough means that a first idea is enough: levels end 10 % apart, and none is confirmed.
	Rough bool
}

// Result is the result of a search, as in find.json in the folder of its run.
type Result struct {
	Schema int `json:"schema"`
	// Run is the id of the run, Over the knob, Unit the unit of its levels, Under the
	// conditions.
	Run   string   `json:"run"`
	Over  string   `json:"over"`
	Unit  string   `json:"unit"`
	Under []string `json:"under"`
	// From and To are the first and the highest level that were asked for; 0: none was.
	From float64 `json:"from,omitempty"`
	To   float64 `json:"to,omitempty"`
	// Found is the highest level that held; 0: none did. TooMuch is the lowest that did
	// not; 0: all held. With both 0 none was tried to its end.
	Found   float64 `json:"found"`
	TooMuch float64 `json:"too_much"`
	// Done is the rate in units per second at the level that held.
	Done float64 `json:"done_per_s"`
	// Behind is how much more was due there, in units per second, where that is over 1 % and more than chance; else 0.
	Behind float64 `json:"behind_per_s,omitempty"`
	// Best is, of the numbers of threads that held, the one that did most: the lowest one that did as
	// much as any, up to 5 %; BestDone is what it did, in units per second. Both are 0 in a search for
	// anything else, and where none held.
	Best     float64 `json:"best,omitempty"`
	BestDone float64 `json:"best_done_per_s,omitempty"`
	// Complete means that the search came to its end: the two levels are close, and
	// both were tried again. Otherwise Why says what ended it early.
	Complete bool   `json:"complete"`
	Why      string `json:"why,omitempty"`
	// Seconds is how long it took, Threads how many there were at its end.
	Seconds float64 `json:"seconds"`
	Threads int     `json:"threads"`
	Limit   Limit   `json:"limit"`
	// Unlimited is what was done without a limit before the first level; nil if the search had a level
	// to begin with.
	Unlimited *Unlimited `json:"unlimited,omitempty"`
	// Recovery is what a search for recovery from overload went by; nil for any other search.
	Recovery *RecoverySought `json:"recovery,omitempty"`
	// Steps are all the levels tried, in order.
	Steps []Step `json:"steps"`
}

// Step is one level that was tried. Times are in nanoseconds, over all operations that
// count.
type Step struct {
	Level float64 `json:"level"`
	// FromS and ToS are seconds of measurement.
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	// Held means that the level is sustainable, Why says why or why not, and Doubtful
	// means that the result may be due to chance.
	Held     bool    `json:"held"`
	Doubtful bool    `json:"doubtful,omitempty"`
	Why      string  `json:"why"`
	Done     float64 `json:"done_per_s"`
	Calls    int64   `json:"calls"`
	Errors   int64   `json:"errors"`
	Threads  int     `json:"threads"`
	Response Times   `json:"response_ns"`
	Service  Times   `json:"service_ns"`
	// Vain means that the level had failed alike with fewer threads, in the try before with another number.
	Vain bool `json:"in_vain,omitempty"`
	// Judged is, for each condition of the result, the figure that it is about, over the whole
	// step: a time in nanoseconds, or measure.Hidden if too few calls support it or the condition
	// is not about a time.
	Judged []int64 `json:"judged_ns,omitempty"`
	// LateP99 is the part of the response time that is perfbench's own fault.
	LateP99 int64 `json:"lateness_p99_ns"`
	// CPU is how many processors perfbench used, Machine those used by all processes of
	// the machine; nil if not observed.
	CPU     *float64 `json:"cpu_cores,omitempty"`
	Machine *float64 `json:"machine_cores,omitempty"`
	// Behind is how much of what was due was left undone, in units per second, where that is over 1 % and more than
	// chance; else 0.
	Behind float64 `json:"behind_per_s,omitempty"`
	// Ours are the causes for which perfbench or its machine was measured rather than the store, in a step that did
	// not hold; none if the store was.
	Ours []string `json:"perfbench,omitempty"`
	// Stands means that this try stands for its level, or for one number of threads there, in tables and charts; find.json
	// has it, and Result.Stands tells.
	Stands bool `json:"stands,omitempty"`
	// Recovered is how the store did before and after an overload; nil where none is sought.
	Recovered *Recovered `json:"recovered,omitempty"`
}

// Unlimited is what a run did without a limit, over all operations that count.
type Unlimited struct {
	// Done is the rate in units per second, Response has nanoseconds.
	Done     float64 `json:"done_per_s"`
	Errors   int64   `json:"errors"`
	Threads  int     `json:"threads"`
	Response Times   `json:"response_ns"`
	// Parts are the shares of the tracks, where those at a rate are others, so that the two do not compare.
	Parts []Part `json:"parts,omitempty"`
}

// Part is the share of a track in what was done without a limit, and in what is due at a rate.
type Part struct {
	Track  string  `json:"track"`
	Share  float64 `json:"share"`
	AtRate float64 `json:"share_at_rate"`
}

// RecoverySought is what a search for recovery went by, in seconds: how long an overload lasted,
// how long the store might take to recover, and until when answers were in time.
type RecoverySought struct {
	PulseS    float64 `json:"pulse_s"`
	WithinS   float64 `json:"within_s"`
	DeadlineS float64 `json:"deadline_s"`
}

// Above returns a with empty fields taken from below, which may be nil.
func (a Asked) Above(below *Asked) Asked {
	if below == nil {
		return a
	}
	if len(a.Under) == 0 {
		a.Under = below.Under
	}
	return Asked{a.Under, cmp.Or(a.Over, below.Over), cmp.Or(a.From, below.From), cmp.Or(a.To, below.To), cmp.Or(a.Within, below.Within), a.Rough}
}

// Shown is a figure that a condition judges levels by.
type Shown struct {
	// Name is the figure as in its condition: p99.service.
	Name string
	at   int
}

// Of returns the figure of a step in nanoseconds; measure.Hidden if it is unknown.
func (f Shown) Of(s Step) int64 {
	if f.at >= len(s.Judged) {
		return measure.Hidden
	}
	return s.Judged[f.at]
}

// ofAll reports whether a condition is on this percentile of the response time of all calls.
func ofAll(e condition.Threshold, stat string) bool {
	return e == condition.Threshold{Text: e.Text, Stat: stat, Time: "response", Rel: e.Rel, Limit: e.Limit}
}

// Judged returns the figures that levels were judged by, in the order of the conditions, without
// p50 and p99 of the response time of all calls, which every table of levels has, and without errors.
func (r *Result) Judged() (out []Shown) {
	for i, text := range r.Under {
		e, err := condition.ParseThreshold(text)
		if err != nil || e.Time == "" || ofAll(e, "p50") || ofAll(e, "p99") {
			continue
		}
		out = append(out, Shown{strings.TrimSpace(text[:strings.IndexByte(text, '<')]), i})
	}
	return out
}

// Sought returns the figure that a picture of the levels shows: the one that is judged, if that is one
// time alone, else the p99 of all calls.
func (r *Result) Sought() (name string, of func(Step) int64) {
	limits, judged := r.Limits(), r.Judged()
	switch {
	case len(limits) == 1 && ofAll(limits[0], "p50"):
		return "p50", func(s Step) int64 { return s.Response.P50 }
	case len(limits) == 1 && len(judged) == 1:
		return judged[0].Name, judged[0].Of
	}
	return "p99", func(s Step) int64 { return s.Response.P99 }
}

// Half returns the p50 that a picture shows beside what is sought: that of the time in the store alone, if that is.
func (r *Result) Half() (name string, of func(Step) int64) {
	if sought, _ := r.Sought(); strings.HasSuffix(sought, ".service") {
		return "p50.service", func(s Step) int64 { return s.Service.P50 }
	}
	return "p50", func(s Step) int64 { return s.Response.P50 }
}

// Limits returns the conditions of the result that are on a time, such as p99<10ms.
func (r *Result) Limits() []condition.Threshold { return condition.Limits(r.Under) }

// Alone returns the conditions of the result on the time of calls in the store alone, such as
// p99.service<20ms for p99<20ms; none if no condition is on the response time.
func (r *Result) Alone() (out []string) {
	some := false
	for _, text := range r.Under {
		if e, err := condition.ParseThreshold(text); err == nil && e.Time == "response" {
			figure, limit, _ := strings.Cut(text, "<")
			text, some = strings.TrimSuffix(strings.TrimSpace(figure), ".response")+".service<"+strings.ReplaceAll(limit, " ", ""), true
		}
		out = append(out, text)
	}
	if !some {
		return nil
	}
	return out
}

// Advised returns the search to make next where perfbench itself was the limit: the same one under the
// time of calls in the store alone; nil if there is none.
func (r *Result) Advised() *Asked {
	alone := r.Alone()
	if r.Limit.By != ByPerfbench || len(alone) == 0 {
		return nil
	}
	a := r.Asked()
	a.Under = alone
	return &a
}

// enoughOurs is at how many tries perfbench must have been measured for a search under way to advise another one.
const enoughOurs = 2

// Instead returns the conditions of a search to make in place of one under way that learns nothing of the store, those
// of Alone, and what keeps it from that, as Step.Measured has it. Both are empty while something has held, or the store
// was measured in some of the last tries.
func (r *Result) Instead() (under []string, why string) {
	last := r.Steps[max(len(r.Steps)-enoughOurs, 0):]
	if len(last) < enoughOurs || r.anyHeld() || slices.ContainsFunc(last, func(s Step) bool { return len(s.Ours) == 0 }) {
		return nil, ""
	}
	if under = r.Alone(); len(under) == 0 {
		return nil, ""
	}
	return under, last[enoughOurs-1].Measured()
}

// InStore answers by the time of calls in the store alone, where perfbench itself was the limit: the
// highest level at which that met the conditions in one of its rows and what was due was done, and
// from the lowest up the levels at which it did not, of which those below make the answer doubtful;
// nil where there was none, or where a condition cannot be judged so.
func (r *Result) InStore() (holds *Step, failed []Step) {
	for _, shown := range r.Curve() {
		var not *Step
		met := false
		for _, row := range r.Rows(shown.Level) {
			s := row.Step
			if met || r.Over == OverRate && s.Done < nearly*s.Level {
				continue
			}
			known := false
			if met, known = r.met(&s); !known {
				return nil, nil
			}
			if met {
				holds = &s
			} else if not == nil {
				not = &s
			}
		}
		if !met && not != nil {
			failed = append(failed, *not)
		}
	}
	return holds, failed
}

// DidMore returns, of the higher rates that were not kept up with, the one at which most was done, if that
// was more than at a step and met the conditions by the time of calls in the store alone; nil if there is
// none.
func (r *Result) DidMore(than *Step) (most *Step) {
	curve := r.Curve()
	for i := range curve {
		s := &curve[i]
		if met, known := r.met(s); s.Level > than.Level && s.Done > than.Done && met && known && (most == nil || s.Done > most.Done) {
			most = s
		}
	}
	return most
}

// met reports whether a step met the conditions by the service time; known is false if that cannot
// be told.
func (r *Result) met(s *Step) (met, known bool) {
	met = len(r.Under) > 0
	for _, text := range r.Under {
		e, err := condition.ParseThreshold(text)
		if err != nil || e.Of != "" || e.Rel != "<" && e.Rel != "<=" {
			return false, false
		}
		v := 0.0
		switch t := s.Service.of(e.Stat); {
		case e.Stat == "errors" && e.Percent:
			v = 100 * float64(s.Errors) / float64(max(s.Calls+s.Errors, 1))
		case (e.Time == "response" || e.Time == "service") && t > 0:
			v = float64(t)
		default:
			return false, false
		}
		met = met && (v < e.Limit || e.Rel == "<=" && v == e.Limit)
	}
	return met, true
}

// Most returns that step of Curve at which most was done, as tables of levels have it; nil if there is none.
func (r *Result) Most() (most *Step) {
	for _, s := range r.Curve() {
		if most == nil || s.Done > most.Done {
			most = &s
		}
	}
	return most
}

// alike is how many times another throughput one may be to count as the same.
const alike = 1.05

// settle sets Best of a search over threads.
func (r *Result) settle() {
	if r.Over != OverThreads || r.Recovery != nil {
		return
	}
	held := slices.DeleteFunc(r.Curve(), func(s Step) bool { return s.Level > r.Found || !s.Held && s.Level < r.Found })
	most := 0.0
	for _, s := range held {
		most = max(most, s.Done)
	}
	for _, s := range held {
		if alike*s.Done >= most {
			r.Best, r.BestDone = s.Level, s.Done
			return
		}
	}
}

// Enough reports whether fewer threads than the highest number that holds do most.
func (r *Result) Enough() bool { return 0 < r.Best && r.Best < r.Found }

// Times are percentiles of a time. Those that too few calls support are measure.Hidden.
type Times struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99_9"`
	Max  int64 `json:"max"`
}

// of returns a percentile by its name, p99; 0 or less if there is none.
func (t Times) of(stat string) int64 {
	switch stat {
	case "p50":
		return t.P50
	case "p90":
		return t.P90
	case "p99":
		return t.P99
	case "p99.9":
		return t.P999
	case "max":
		return t.Max
	}
	return 0
}

// Schema is the version of the layout of find.json.
const Schema = 1

// Limit is what keeps a level from being sustainable.
type Limit struct {
	// By is "store", "perfbench", "threads", "machine" or "none".
	By string `json:"by"`
	// Causes are those causes of the verdict that point to perfbench.
	Causes []string `json:"causes,omitempty"`
	// Text states it in a sentence.
	Text string `json:"text"`
}

// What a level can be limited by.
const (
	ByStore     = "store"
	ByPerfbench = "perfbench"
	ByThreads   = "threads"
	ByMachine   = "machine"
	ByNone      = "none"
)

// Asked returns the request that the search was made for.
func (r *Result) Asked() Asked {
	a := Asked{Under: r.Under, Over: r.Over}
	if r.From > 0 {
		a.From = strconv.FormatFloat(r.From, 'f', -1, 64)
	}
	if r.To > 0 {
		a.To = strconv.FormatFloat(r.To, 'f', -1, 64)
	}
	if w := r.Recovery; w != nil {
		seconds := func(s float64) string { return time.Duration(s * float64(time.Second)).String() }
		a.Under = []string{Recovers + "<" + seconds(w.WithinS) + " after " + seconds(w.PulseS)}
	}
	return a
}

// leaveOpen makes no level too much that Narrow returns, as a search of an earlier version did, and says so of the limit.
func (r *Result) leaveOpen() {
	tooMuch := r.TooMuch
	r.TooMuch = 0
	narrow := r.Narrow()
	if r.TooMuch = tooMuch; narrow == nil || tooMuch > 0 && tooMuch != narrow.Level {
		return
	}
	r.TooMuch = 0
	r.Limit = Limit{By: ByThreads, Text: fmt.Sprintf("threads: no higher %s was tried with %d", r.Over, r.Outcome(r.Of(r.Found)).Shown.Threads)}
}

// Encode encodes the result for File.
func (r *Result) Encode() ([]byte, error) {
	out := *r
	out.Steps = slices.Clone(r.Steps)
	for i := range out.Steps {
		out.Steps[i].Stands = r.Stands(r.Steps[i])
	}
	data, err := json.MarshalIndent(&out, "", "  ")
	return append(data, '\n'), err
}

// Load reads the result of the search of the run in a folder, or in an archive of one;
// nil if there was no search.
func Load(dir string) (*Result, error) {
	data, err := rundir.ReadBeside(dir, File, infile.Found)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	r := &Result{}
	if err == nil {
		err = json.Unmarshal(infile.Harmless(data), r)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the search found: %w", err)
	}
	if r.Best == 0 { // written by an earlier version
		r.settle()
	}
	r.leaveOpen()
	return r, nil
}

// LoadAll reads the results of the searches of the runs in folders; none unless each of them
// was one for the same knob.
func LoadAll(dirs []string) (all []*Result, err error) {
	for _, dir := range dirs {
		r, err := Load(dir)
		if r == nil || err != nil || len(all) > 0 && all[0].Over != r.Over {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// Together is several searches for the same as one: the steps of all, and the median of what
// they found.
func Together(all []*Result) *Result {
	out := *all[0]
	var found []float64
	out.Steps = nil
	if len(all) > 1 { // that of each may be another
		out.Best, out.BestDone = 0, 0
	}
	for _, r := range all {
		out.Steps = append(out.Steps, r.Steps...)
		found = append(found, r.Found)
	}
	slices.Sort(found)
	out.Found = (found[(len(found)-1)/2] + found[len(found)/2]) / 2
	return &out
}
