package workload

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// Plan is what one run will do: phases in a graph, the tracks of a phase side by
// side. A profile's Design makes it from parameters alone, touching nothing; Bind
// connects it to a store, which fills in Setup, Verify, Teardown and the tracks'
// NewTask.
type Plan struct {
	// Mode is the profile's mode, empty when it has none.
	Mode string
	// Unit is what counts, rates and throughput count: "entries".
	Unit   string
	Knobs  []Knob
	Phases []Phase

	// Parameters are all fixed values of the plan by the name a user types, with
	// their origins, in the order to show them.
	Parameters []Value
	// Warnings are sentences to show before the run and keep with it.
	Warnings []string
	// Writes and Deletes say in words what the run will do to the store.
	Writes, Deletes []string
	// Ends says in one sentence why the run ends by itself where it was to go on until it is
	// stopped; empty: it does not.
	Ends string
	// Connections is how many operations the profile may have under way at once, when
	// it is not its workers that call the store; 0: one for each thread.
	Connections int
	// Bytes is the volume of values that the run will store, 0 when unknown.
	Bytes int64
	// Spaces are the named places that the run will write to.
	Spaces []store.Space
	// Claims are the spaces that the run uses on the store that it was bound to, and
	// Admit what it makes of what is there; see place.Want. They are claimed before Setup,
	// and dropped after Teardown. A Connector sets both.
	Claims []place.Space
	Admit  func(ctx context.Context, c *place.Claim) error
	// Keeps is where the claims are, when it is another store than the run's. Whoever
	// claims them closes it.
	Keeps store.Conn

	// Documents are the ids of the formats to write when none were asked for,
	// beside those of every run; empty: the profile's first.
	Documents []string

	// Binder connects the plan to stores.
	Binder Binder

	// Watch, when set, is given the processes that are watched during the run, to add
	// others or to be told of them. It is called after Setup.
	Watch func(ctx context.Context, processes *watch.Set)
	// Setup prepares the store: tables, data to be read. The spaces have been claimed and
	// recorded by then. progress may be called from any goroutine.
	Setup func(ctx context.Context, progress func(done, total int64)) error
	// Resume takes the place of Setup in a run that another process had prepared, which has
	// died: Admit has been called with what was there before the run, and found is what Found
	// told. nil: where there is a Setup, only the process that prepared the run can end it.
	Resume func(ctx context.Context, found []byte) error
	// Verify compares what is stored with what was acknowledged. It is called
	// after the last phase, also after a failure.
	Verify func(ctx context.Context) Verification
	// Teardown removes what this run made beside its spaces, or nil; called with
	// --cleanup only.
	Teardown func(ctx context.Context) error
	// UnderWay, when set, names what the profile itself waits for at the end, beside
	// operations of its workers, and since when none of it has ended; nil: nothing. Any
	// goroutine may call it.
	UnderWay func() (what []string, since time.Time)
	// Ledger, where the work can be shared out, tells what became of it in this process
	// since the last call, and Credit takes that in from another. A Connector sets both.
	Ledger func() []byte
	Credit func(ledger []byte) error
	// Found, where the work can be shared out, tells what Admit and Setup have found in the
	// store that the work goes by, and Adopt takes that in where others have found it; nil:
	// nothing. A Connector sets both.
	Found func() []byte
	Adopt func(found []byte) error
	// Lost says that process i of n is gone before it told all: of its part anything may
	// have been attempted.
	Lost func(i, n int)
	// Settle, where the work can be shared out, ends in a process that has done its part what
	// goes on beside its workers, before Ledger is called for the last time; nil: nothing does.
	Settle func(ctx context.Context)
	// Facts returns the profile's own documented record for reports, as a value
	// that encodes to JSON. Any goroutine may call it, once a second.
	Facts func() any
}

// Phase is a set of tracks that run together; it ends when all have ended.
type Phase struct {
	Name string
	// After names the phases that must have ended before this one starts.
	After []string
	// Duration ends the phase that long after its measured part began; 0: when
	// its tracks run out of work. Where only the duration is to end it, a Connector gives
	// its tasks work without end.
	Duration time.Duration
	Tracks   []Track
	// Kind is the same for phases that do the same work, such as those of later tenants:
	// how fast perfbench alone goes in them is found out once. Empty: no other is like it.
	Kind string
	// NoCeiling says that how fast the phase goes on a store that does nothing says
	// nothing of perfbench: its tasks pause, or set their pace themselves.
	NoCeiling bool
}

// Work names the kind of work that the phase does.
func (p *Phase) Work() string {
	if p.Kind != "" {
		return p.Kind
	}
	return p.Name
}

// Track is a pool of workers doing the same task under the same settings.
type Track struct {
	Name string
	// Ops names the track's operations; the first carries what never started.
	Ops []string
	// Counted is how many of Ops, from the first, are counted in the plan's unit and
	// so make up totals; 0: all, below 0: none. Operations that are parts of the first
	// are not, nor is what is measured beside the work.
	Counted int
	// OpUnits names what each of Ops counts where that is not the plan's unit: its units
	// then make up no totals either. Missing or empty: the plan's unit.
	OpUnits []string
	// Apart says that the track works beside the plan's work, such as readers beside a
	// load: its threads and its rate are no part of the totals, and only a change aimed
	// at it reaches them.
	Apart bool
	// Idle names the plan's knobs that turn nothing on this track: they keep their start
	// there, and cannot be aimed at it.
	Idle  []string
	Start Settings
	// Units tells how many units one iteration covers under these settings, for
	// pacing; nil: 1.
	Units func(*Settings) int
	// Iterations ends the track after that many; 0: when its tasks are done or
	// its phase ends.
	Iterations int64
	// First is the number of the first of its workers, where others of the track are in
	// other processes: NewTask and iterations have numbers from there on.
	First int
	// Total is the number of units that the track will do, for progress; 0: unknown.
	Total   int64
	NewTask func(worker int) (Task, error)
}

// Whole says whether an operation, by its index in Ops, is work of its own: neither a
// part of another nor measured beside the work.
func (t *Track) Whole(op int) bool { return t.Counted == 0 || op < t.Counted }

// Counts says whether the units of an operation, by its index in Ops, count in the
// totals of the run: it is work of its own, and counts what the plan does.
func (t *Track) Counts(op int) bool { return t.Whole(op) && t.UnitOf(op) == "" }

// UnitOf is what an operation, by its index in Ops, counts; empty: the plan's unit.
func (t *Track) UnitOf(op int) string {
	if op < len(t.OpUnits) {
		return t.OpUnits[op]
	}
	return ""
}

// Turns says whether a knob of the plan turns anything on the track.
func (t *Track) Turns(k Knob) bool { return !slices.Contains(t.Idle, k.Name) }

// Adds says whether the track's value of a knob is part of the total.
func (t *Track) Adds(k Knob) bool { return k.Sum && !t.Apart && t.Turns(k) }

// Tracks returns the tracks of all phases, in order.
func (p *Plan) Tracks() []*Track {
	var out []*Track
	for i := range p.Phases {
		for j := range p.Phases[i].Tracks {
			out = append(out, &p.Phases[i].Tracks[j])
		}
	}
	return out
}

// Length is how long the phases take that have a duration, one after the other as they
// follow; 0: none has one.
func (p *Plan) Length() time.Duration {
	ends := map[string]time.Duration{}
	longest := time.Duration(0)
	for range p.Phases { // often enough for any order in which they are listed
		for i := range p.Phases {
			ph, from := &p.Phases[i], time.Duration(0)
			for _, name := range ph.After {
				from = max(from, ends[name])
			}
			ends[ph.Name] = from + ph.Duration
			longest = max(longest, ends[ph.Name])
		}
	}
	return longest
}

// Knob returns the plan's knob of that name.
func (p *Plan) Knob(name string) (Knob, bool) {
	for _, k := range p.Knobs {
		if k.Name == name {
			return k, true
		}
	}
	return Knob{}, false
}

// Verification is what the comparison of stored and acknowledged data found.
type Verification struct {
	// State is "passed", "failed", "skipped" (nothing to verify) or "incomplete"
	// (the store could not be asked).
	State string `json:"state"`
	// Summary says it in one sentence.
	Summary string `json:"summary"`
	// Checks lists what was compared.
	Checks []Check `json:"checks,omitempty"`
}

// Brief says in one sentence what was found: of a failure the worst that is wrong,
// with an example. The rest stands in reports.
func (v Verification) Brief() string {
	worst, failed, most := -1, 0, int64(-1)
	for i, c := range v.Checks {
		if c.OK {
			continue
		}
		failed++
		if n := c.off(); n > most {
			worst, most = i, n
		}
	}
	if v.State != Failed || worst < 0 {
		return v.Summary
	}
	c := v.Checks[worst]
	s := c.Name + ": " + c.Words()
	if len(c.Examples) > 0 {
		s += ", such as " + c.Examples[0]
	}
	switch failed {
	case 1:
	case 2:
		s += "; one more check failed"
	default:
		s += fmt.Sprintf("; %d more checks failed", failed-1)
	}
	return s
}

// Check is one comparison of a verification.
type Check struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Of is how many entries, events or others were looked at; 0: Want says it.
	Of int64 `json:"of,omitempty"`
	// Want is what was expected and Got what was found: numbers or words, as fits the
	// check.
	Want string `json:"want"`
	Got  string `json:"got"`
	// Examples names up to ten offenders.
	Examples []string `json:"examples,omitempty"`
}

// off is how far apart what was expected and what was found are; 0 unless both are
// numbers.
func (c Check) off() int64 {
	want, err := strconv.ParseInt(c.Want, 10, 64)
	got, err2 := strconv.ParseInt(c.Got, 10, 64)
	if err != nil || err2 != nil {
		return 0
	}
	return max(want-got, got-want)
}

// Words says what was expected and what was found.
func (c Check) Words() string {
	s := "expected " + c.Want + ", found " + c.Got
	if c.Of > 0 {
		s += " among " + strconv.FormatInt(c.Of, 10)
	}
	return s
}

// States of a Verification.
const (
	Passed     = "passed"
	Failed     = "failed"
	Skipped    = "skipped"
	Incomplete = "incomplete"
)
