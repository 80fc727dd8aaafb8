package remote

import (
	"maps"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// State is how it stands with a worker.
type State string

// States of a worker.
const (
	// Working: it joined and is heard of.
	Working State = "working"
	// Stalled: it is connected, and silent.
	Stalled State = "stalled"
	// Gone: its connection ended, and it is silent.
	Gone State = "gone"
	// GivenUp: it was silent for so long that nobody waits for it. Only notices say it; the
	// state stays what it was.
	GivenUp State = "given up"
	// Ended: its work is done and all of its figures are here.
	Ended State = "ended"
	// Refused: what it sent cannot be used, and nothing more of it is taken. Only notices say
	// it; members are then told of as Ended.
	Refused State = "refused"
	// Returned: it is back, and its part was dealt to another. Only notices say it.
	Returned State = "returned"
)

// Member is a worker as reports show it.
type Member struct {
	Hello
	State State
	// Offset is how far its clock is ahead of the coordinator's, known to half of Trip, the
	// fastest way there and back.
	Offset, Trip time.Duration
	// Skew is how much later than the moment agreed on it began; negative: earlier.
	Skew time.Duration
	// Last is the last second that it told of, Count the units that it did, Errors the
	// calls that failed.
	Last          int
	Count, Errors int64
	// LostAt is when it was found to be gone, or given up, since the start of the run; 0: it
	// was not.
	LostAt time.Duration
	// GivenUp says that nobody waited for it any longer at some time; it may have come back.
	GivenUp bool
	// Stalls is how often it was silent for a while and came back.
	Stalls int
	// Slowest is the longest that a change of settings took to get there.
	Slowest time.Duration
	// Applied is when the last change of each segment came into force there, by our clock,
	// since the run began.
	Applied map[int]time.Duration
	Doubts  []string
	Company *verdict.Company
	Err     string
	// Unusable says that something it sent could not be used, for which Err has the reason:
	// nothing later of it counts.
	Unusable bool
	// Part is the number of the part that it has, its own number unless it does the rest of
	// another's. Heir is the number of the worker that does the rest of its part; 0: none does.
	Part, Heir int
	// Dismissed says that it was back after its part was dealt to another, and told to end.
	Dismissed bool
}

// member is a worker as the coordinator knows it; guarded by Roster.mu.
type member struct {
	Hello    Hello
	standing standing
	duty     duty
	ready    bool
	beat     time.Time // when it was heard of last

	// part is the number of its part, heir of the member that does the rest of it, and host of
	// the one in whose process an heir is.
	part, heir, host int

	// Of its clock: see Member. began says that Skew is known.
	Offset, Trip, Skew time.Duration
	began              bool

	// What it told of its work: the number of its last report, and then as in Member.
	number        int64
	last          int
	count, errors int64
	gauges        []measure.Gauge
	unstarted     [][]int64
	ends          map[int]time.Duration // of the tracks that it is through with
	did           []workload.Did
	came          measure.Joined

	// How it answered: see Member.
	Slowest time.Duration
	applied map[int]time.Duration

	// What became of it: see Member.
	LostAt  time.Duration
	stalls  int
	givenUp bool // at some time
	doubts  []string
	company *verdict.Company
	err     string
}

func newMember(h Hello) *member {
	return &member{
		Hello: h, standing: standing{now: Working}, beat: time.Now(), last: -1 << 40,
		ends: map[int]time.Duration{}, applied: map[int]time.Duration{},
	}
}

// through takes that the member ended its part of a track then.
func (m *member) through(track int, at time.Duration) {
	if m.ends[track] == 0 {
		m.ends[track] = max(at, 1)
	}
}

// counts says whether what a member says now is taken: not where it is another's part, or what
// it sent before could not be used.
func (m *member) counts() bool { return !m.duty.passedOn() && m.standing.now != Refused }

// record takes in a report that can be used, of a run that began then.
func (m *member) record(r *Report, began time.Time) {
	m.beat = time.Now()
	if r.Began != 0 && !m.began {
		m.began, m.Skew = true, time.Duration(r.Began-began.Add(m.Offset).UnixNano())
	}
	if p := r.Part; p != nil {
		m.last = p.T
		m.gauges, m.unstarted = p.Gauges, p.Unstarted
		for track, g := range p.Gauges {
			if track < len(p.Spans) && !g.Running && p.Spans[track].To > 0 {
				m.through(track, time.Duration(p.Spans[track].To))
			}
		}
		if p.T >= 0 {
			count, errors := p.Sums()
			m.count, m.errors = m.count+count, m.errors+errors
		}
		m.tallyUp(p)
	}
	if r.Idle {
		m.duty.idle()
	}
	if r.Over {
		m.standing.on(finished)
		m.err, m.doubts, m.company = r.Err, r.Doubts, r.Company
	}
}

// tallyUp takes in what a part says of each operation.
func (m *member) tallyUp(p *measure.Increment) {
	at := func(op uint16) *workload.Did {
		for len(m.did) <= int(op) {
			m.did = append(m.did, workload.Did{})
		}
		return &m.did[op]
	}
	if p.T >= 0 {
		for _, r := range p.Rows {
			did := at(r.Op)
			did.Units, did.Timed = did.Units+r.Times.Count, did.Timed+r.Calls()
		}
	}
	m.came.Add(p.Arrivals)
	for _, f := range p.Classes { // of warm-up there are none
		at(f.Op).Failed += f.Count
	}
}

// report is the member as reports show it.
func (m *member) report() Member {
	return Member{
		Hello: m.Hello, State: m.standing.shown(), Offset: m.Offset, Trip: m.Trip, Skew: m.Skew, Last: m.last, Count: m.count, Errors: m.errors,
		Applied: maps.Clone(m.applied), LostAt: m.LostAt, GivenUp: m.givenUp, Stalls: m.stalls, Slowest: m.Slowest,
		Doubts: slices.Clone(m.doubts), Company: m.company, Err: m.err, Unusable: m.standing.now == Refused,
		Part: m.part, Heir: m.heir, Dismissed: m.duty == dismissed,
	}
}
