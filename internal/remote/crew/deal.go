package crew

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// What may come of a run one of whose workers is lost: the others go on, or they are dealt
// its threads and its rate, or the run ends.
const (
	Degrade = "degrade"
	Redeal  = "redeal"
	End     = "end"
)

// onLoss says what is wrong with what was asked for the loss of a worker of a plan.
func (a Ask) onLoss(plan *workload.Plan, in workload.Inputs) error {
	refuse := func(why, hint string) error {
		return fault.Field("on-loss", fault.Input(errors.New("on-loss: "+why), hint))
	}
	switch a.OnLoss {
	case "", Degrade, End:
		return nil
	case Redeal:
	default:
		return refuse(strconv.Quote(a.OnLoss)+" is not known", "use degrade, redeal or end")
	}
	if why := plan.Passes(); byPart(plan, in) && why != nil {
		return refuse("redeal: "+why.Error(), "use degrade, which names what is missing, or end")
	}
	return nil
}

// byPart says that what a lost worker has left to do is done by another in its place. Where
// the work has no end but time, its threads and its rate are shared out instead.
func byPart(plan *workload.Plan, in workload.Inputs) bool { return !in.Wraps() || once(plan, in) != "" }

// once names a phase of a plan without a count that ends when its work is done all the same;
// empty: there is none. What is measured beside the work does not matter.
func once(plan *workload.Plan, in workload.Inputs) (name string) {
	var last string
	for _, ph := range plan.Phases {
		if !slices.ContainsFunc(ph.Tracks, func(t workload.Track) bool { return !t.Apart }) {
			continue
		}
		if in.Duration > 0 && ph.Duration == 0 || slices.ContainsFunc(ph.Tracks, func(t workload.Track) bool { return t.Total > 0 }) {
			return ph.Name
		}
		if last != "" && in.Duration == 0 && len(ph.After) > 0 {
			return last // only the last goes on until it is stopped
		}
		last = ph.Name
	}
	return ""
}

// shares owns who has what share of the settings of a run, and deals them anew where a worker is
// away for good, or back.
type shares struct {
	workers *remote.Coordinator
	plan    *workload.Plan
	n       int
	// redeals says that what an absent worker has is dealt to the others.
	redeals bool

	mu   sync.Mutex
	last workload.Word // the settings that came last
	// given is when what a worker had was dealt to others, since the run began.
	given map[int]time.Duration
}

func newShares(plan *workload.Plan, n int, redeals bool) *shares {
	s := &shares{plan: plan, n: n, redeals: redeals, given: map[int]time.Duration{}}
	for _, t := range plan.Tracks() {
		s.last.Tracks = append(s.last.Tracks, t.Start)
	}
	return s
}

// change has each worker told its part of settings that were changed.
func (s *shares) change(w workload.Word) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = w
	s.deal(s.workers.Commands.Change)
}

// deal has each worker told its part of the settings that came last: of those who are
// there, where the others' are dealt to them. The caller holds mu.
func (s *shares) deal(tell func(segment int, of func(worker int) []workload.Settings)) {
	away := make([]bool, s.n)
	if s.redeals {
		copy(away, s.workers.Roster.Lost())
	}
	n, rank := 0, make([]int, s.n)
	for i := range away {
		if rank[i] = n; !away[i] {
			n++
		}
	}
	parts := s.workers.Roster.Parts()
	tell(s.last.Segment, func(i int) []workload.Settings {
		if i >= len(parts) || parts[i] < 0 || away[parts[i]] {
			return nil // it is told when it is back, or takes on a part
		}
		return s.settings(n, rank[parts[i]])
	})
}

// settings are those that came last for one of n parts. The caller holds mu.
func (s *shares) settings(n, part int) []workload.Settings {
	mine := make([]workload.Settings, len(s.last.Tracks))
	for k, all := range s.last.Tracks {
		mine[k] = Part(all, n, part)
	}
	return mine
}

// left is what is left of a part whose worker is lost.
func (s *shares) left(part int, did []workload.Did) remote.Handoff {
	s.mu.Lock()
	defer s.mu.Unlock()
	return remote.Handoff{Left: s.plan.Left(workload.Process{Part: part, Of: s.n}, did), Segment: s.last.Segment, Settings: s.settings(s.n, part)}
}

// passed takes that the rest of the part of a worker is done by another from now on.
func (s *shares) passed(from int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.given[from] = s.workers.Roster.Elapsed()
}

// redeal deals the totals anew, now that a worker is away for good, or back, and says what was
// done; empty: nothing.
func (s *shares) redeal(worker int, host string, now remote.State) (note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var others []string
	for i, away := range s.workers.Roster.Lost() {
		if !away {
			others = append(others, strconv.Itoa(i+1))
		}
	}
	_, given := s.given[worker]
	switch {
	case len(others) == 0:
		return ""
	case now == remote.GivenUp:
		s.given[worker] = s.workers.Roster.Elapsed()
		note = fmt.Sprintf("threads and rate of worker %d (%s) were dealt to %s", worker+1, host, named(others))
	case given:
		delete(s.given, worker)
		note = fmt.Sprintf("worker %d (%s) has its threads and its rate again", worker+1, host)
	default:
		return "" // it was silent for a moment
	}
	s.deal(s.workers.Commands.Deal)
	return note
}

// dealt is when what a worker had was dealt to others; nil: it was not.
func (s *shares) dealt(worker int) *float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.given[worker]
	if !ok {
		return nil
	}
	return new(at.Seconds())
}

// named names workers: "worker 1", "workers 1 and 3".
func named(workers []string) string {
	if len(workers) == 1 {
		return "worker " + workers[0]
	}
	return "workers " + units.Listed(workers)
}
