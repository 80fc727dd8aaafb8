package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// Plan is what one run will do: phases in a graph, the tracks of a phase side by
// side. A profile's Design makes it from parameters alone, touching nothing; Bind
// connects it to a store, which fills in its Parts, Claims and the tracks' NewTask.
type Plan struct {
	// Mode is the profile's mode, empty when it has none.
	Mode string
	// Unit is what counts, rates and throughput are measured in: "entries".
	Unit   string
	Knobs  []Knob
	Phases []Phase

	// Parameters are all the fixed values of the plan under the names that users
	// type, with their origins, in display order.
	Parameters []Value
	// Corrected are the values in effect, by the name of the parameter, where what was written
	// cannot be done as it is: a batch that is rounded up to whole groups.
	Corrected map[string]string
	// Warnings are sentences to show before the run and to keep with its result.
	Warnings []string
	// Writes and Deletes say in words what the run will do to the store, and Cleanup what it deletes
	// besides at its end with --cleanup; empty: what it has made.
	Writes, Deletes, Cleanup []string
	// Ends says in one sentence why the run ends by itself although it was meant to
	// go on until stopped; empty if it does not.
	Ends string
	// Evenly is the value for which calls at a rate come evenly unless the user says otherwise,
	// as in what the plan imitates: "compat=on"; empty: they come independently.
	Evenly string
	// Replays means that calls come when they were made before, whatever arrivals are asked for.
	Replays bool
	// Connections is how many operations the profile may have under way at once,
	// when it is not the workers that call the store; 0 means one per thread.
	Connections int
	// Bytes is the total size of the values that the run will store, 0 if unknown.
	Bytes int64
	// Sized means that each unit that counts is one value, as large as the knob payload says: the
	// bytes that a run moves are known.
	Sized bool
	// Spaces are the named places that the run will write to.
	Spaces []store.Space
	// Claims are the spaces that the run uses on the store it was bound to. They are claimed
	// before Setup and dropped after Teardown. A Connector sets them.
	Claims []ownership.Space
	// Keeps is the connection to the store that holds the claims, if that is not
	// the run's own store. Whoever claims them closes it.
	Keeps store.Conn

	// Stages names what a batch of work passes on its way besides the operations of workers. They
	// are timed for Facts alone, by segment; see Iteration.Stage.
	Stages []string

	// KeySpreads say how calls are spread over records, where the plan chooses them.
	KeySpreads []KeySpread

	// Documents are the ids of the formats to write, beside those that every run
	// writes, when the user asked for none; empty means the profile's first.
	Documents []string

	// Via is the URL of what stands between the callers and the store, and can have faults of its own;
	// empty: nothing does. Through is what the connections to it go through, nil if they are direct;
	// whoever binds the plan sets it before.
	Via     string
	Through *proxy.Proxy

	// Binder connects the plan to stores.
	Binder Binder

	// Commands are those of the faults of its timetable, and of those by hand; nil: there are none.
	Commands *Commands

	// Broken means that a fault has been in force, so that what is verified has to be all rather than a
	// sample. The run sets it as it goes; it may be read once that has ended.
	Broken bool

	// Parts are what the plan is made of once it is bound.
	Parts
	// Shared is what processes that carry out the plan together share. Bind makes it, and a
	// Connector fills it.
	Shared *Shared
}

// of is what became of the calls of a track of the plan, by its index and by that of the
// operation within it, in what is told by operation of the whole plan.
func (p *Plan) of(did []Did, track, op int) Did {
	for _, t := range p.Tracks()[:track] {
		op += len(t.Ops)
	}
	if op >= len(did) {
		return Did{}
	}
	return did[op]
}

// Left tells what is left of the part of a lost process, for Shared.TakeOver, where figures contain
// did of that part, by operation.
func (p *Plan) Left(of Process, did []Did) []byte {
	return p.Shared.left(of, func(track, op int) Did { return p.of(did, track, op) })
}

// Phase is a set of tracks that run together; it ends when all have ended.
type Phase struct {
	Name string
	// After names the phases that must have ended before this one starts.
	After []string
	// Duration ends the phase this long after its measured part began; 0 means it
	// ends when its tracks run out of work. If only the duration is to end it, a
	// Connector gives its tasks endless work.
	Duration time.Duration
	Tracks   []Track
	// Kind is the same for phases that do the same work, such as those of later
	// tenants, so that the ceiling of perfbench itself is measured once for all of
	// them. Empty: the phase is unlike any other.
	Kind string
	// NoCeiling means that the speed of the phase on a store that does nothing
	// tells nothing about perfbench, because its tasks pause or set their own pace.
	NoCeiling bool
}

// Work returns the kind of work that the phase does.
func (p *Phase) Work() string {
	if p.Kind != "" {
		return p.Kind
	}
	return p.Name
}

// Track is a pool of workers doing the same task under the same settings.
type Track struct {
	Name string
	// Ops names the track's operations. Units that never started are counted under
	// the first.
	Ops []string
	// Counted is how many of Ops, from the first, count towards the totals; 0 means
	// all, a negative number none. Operations that are parts of the first do not
	// count, nor does what is measured beside the work.
	Counted int
	// OpUnits names the unit of each of Ops that does not use the plan's unit; such
	// units do not count towards the totals. Missing or empty: the plan's unit.
	OpUnits []string
	// Apart means that the track runs beside the plan's work, such as readers
	// beside a load: its threads and rate are not part of the totals, and only
	// changes aimed at this track affect it.
	Apart bool
	// Relays means that the track's operations do not call the store: they hand over what
	// the profile stores later, or wait for it; see Relay.
	Relays bool
	// Spares means that its operations may work without asking the store, as what a near cache
	// answers and pauses do.
	Spares bool
	// Pauses means that its workers pause of their own accord, as users think, and that the times
	// of its operations do not have these pauses in them; see Iteration.EndPaused.
	Pauses bool
	// Idle are the plan's knobs that have no effect on this track, each with the reason as a clause:
	// "entries go one by one". They keep their initial value here and cannot be aimed at it.
	Idle  map[string]string
	Start Settings
	// Units returns how many units one iteration covers under these settings, for
	// pacing; nil means 1.
	Units func(*Settings) int
	// Sessions, unless nil, have iterations come as those of users; see Visit.
	Sessions *Sessions
	// Recorded is when the calls were made that the track makes again, which decides when they
	// are due; nil: it makes calls of its own. Its number of threads does not change.
	Recorded Recorded
	// Iterations ends the track after this many; 0 means when its tasks are done or
	// its phase ends.
	Iterations int64
	// First is the number of the track's first worker in this process, when others
	// are in other processes: the workers given to NewTask and the iterations are
	// numbered from it.
	First int
	// Total is the number of units that the track will do, for progress; 0 if
	// unknown.
	Total   int64
	NewTask func(worker int) (Task, error)
}

// Whole reports whether an operation, by its index in Ops, is a whole piece of
// work: neither part of another operation nor measured beside the work.
func (t *Track) Whole(op int) bool { return t.Counted == 0 || op < t.Counted }

// Counts reports whether the units of an operation, by its index in Ops, count
// towards the totals of the run: it is a whole piece of work in the plan's unit.
func (t *Track) Counts(op int) bool { return t.Whole(op) && t.UnitOf(op) == "" }

// UnitOf returns the unit of an operation, by its index in Ops; empty means the
// plan's unit.
func (t *Track) UnitOf(op int) string {
	if op < len(t.OpUnits) {
		return t.OpUnits[op]
	}
	return ""
}

// Turns reports whether a knob of the plan has an effect on the track.
func (t *Track) Turns(k Knob) bool {
	_, idle := t.Idle[k.Name]
	return !idle
}

// Rest adds a knob, and the reason, to those that have no effect on the track.
func (t *Track) Rest(knob, why string) {
	if t.Idle == nil {
		t.Idle = map[string]string{}
	}
	t.Idle[knob] = why
}

// Adds reports whether the track's value of a knob is part of the total.
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

// TrackNames returns the names of all tracks, in the order of Tracks.
func (p *Plan) TrackNames() []string {
	out := []string{}
	for _, t := range p.Tracks() {
		out = append(out, t.Name)
	}
	return out
}

// Length returns how long the phases that have a duration take along the longest
// chain of them; 0 if none has one.
func (p *Plan) Length() time.Duration {
	ends := map[string]time.Duration{}
	longest := time.Duration(0)
	for range p.Phases { // enough passes for any order in which they are listed
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

// Idle returns why a knob of the plan has no effect while the run goes on, on a track by its number or,
// with AllTracks, on any of them; empty: it has one.
func (p *Plan) Idle(track int, k Knob) string {
	if k.Fixed != "" {
		return k.Fixed
	}
	var why []string
	for i, t := range p.Tracks() {
		switch {
		case track != AllTracks && track != i:
		case t.Turns(k):
			return ""
		case !slices.Contains(why, t.Idle[k.Name]):
			why = append(why, t.Idle[k.Name])
		}
	}
	return strings.Join(why, ", and ")
}

// Live returns the plan's knobs that have an effect while a run goes on, on at least one track.
func (p *Plan) Live() []Knob {
	return slices.DeleteFunc(slices.Clone(p.Knobs), func(k Knob) bool { return p.Idle(AllTracks, k) != "" })
}

// Verification is the outcome of comparing stored with acknowledged data.
type Verification struct {
	// State is "passed", "failed", "skipped" (nothing to verify) or "incomplete"
	// (the store could not be asked).
	State string `json:"state"`
	// Summary states the outcome in one sentence.
	Summary string `json:"summary"`
	// Checks lists what was compared.
	Checks []Check `json:"checks,omitempty"`
	// Missed is how many entries the run itself asked for and did not find, which is no
	// error.
	Missed int64 `json:"missed,omitempty"`
	// Lost is how many of what was acknowledged were looked for and are missing, or not what was
	// acknowledged; nil: nobody knows.
	Lost *int64 `json:"lost,omitempty"`
	// Unread is how many more were acknowledged and not looked for, as a sample was: of them, nobody
	// knows how many are lost.
	Unread int64 `json:"unread,omitempty"`
	// Unanswered are the writes whose callers were told nothing; nil: nobody counted them.
	Unanswered *Unanswered `json:"unanswered,omitempty"`
	// Differ is how many answers are not those that were expected; nil: none were compared.
	Differ *int64 `json:"differ,omitempty"`
	// Unlike says in one sentence in which way calls that were made again met something else than when
	// they were recorded, and what to do about it; empty: in none.
	Unlike string `json:"unlike,omitempty"`
	// Undone says in one sentence what nobody has done that later work builds on, because the worker
	// that was to do it was lost; empty: nothing.
	Undone string `json:"undone,omitempty"`
}

// Lose adds n to Lost; 0 says that what was acknowledged was looked for.
func (v *Verification) Lose(n int64) {
	if v.Lost == nil {
		v.Lost = new(int64)
	}
	*v.Lost += max(n, 0)
}

// Brief states the outcome in one sentence: for a failure the worst problem, with
// an example. The rest is in the reports.
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
	// Of is how many entries, events or other items were looked at; 0 means Want
	// says it.
	Of int64 `json:"of,omitempty"`
	// Want is what was expected and Got what was found, as numbers or words,
	// whichever suits the check.
	Want string `json:"want"`
	Got  string `json:"got"`
	// Examples names up to ten of the items that are wrong.
	Examples []string `json:"examples,omitempty"`
}

// off returns how far Got is from Want; 0 unless both are numbers.
func (c Check) off() int64 {
	want, err := strconv.ParseInt(c.Want, 10, 64)
	got, err2 := strconv.ParseInt(c.Got, 10, 64)
	if err != nil || err2 != nil {
		return 0
	}
	return max(want-got, got-want)
}

// Words states what was expected and what was found or, of a check that counts what is wrong, how many
// of those that were checked: "2 of the 4,300 checked".
func (c Check) Words() string {
	s := "expected " + c.Want + ", found " + c.Got
	switch n := c.off(); {
	case c.Of <= 0 || c.Want == "0" && n > c.Of: // it counts several of one
		return s
	case c.Want == "0" && (n > 0 || c.Got == "0"):
		return units.Whole(n) + " of the " + units.Whole(c.Of) + " checked"
	}
	return s + " among " + units.Whole(c.Of)
}

// States of a Verification.
const (
	Passed     = "passed"
	Failed     = "failed"
	Skipped    = "skipped"
	Incomplete = "incomplete"
)

// Hurried sums up a verification that was not done because the run was interrupted twice.
const Hurried = "a second interrupt left no time for it"

// Breaks notes that faults have come into force, if there are any.
func (p *Plan) Breaks(f Faults) {
	p.Broken = p.Broken || f != Faults{}
}
