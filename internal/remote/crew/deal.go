package crew

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
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

// deals is who has what share of the totals.
type deals struct {
	mu   sync.Mutex
	last workload.Word // the settings that came last
	// given is when the threads and the rate of a worker were dealt to others, since the run
	// began.
	given map[int]time.Duration
}

// share has each worker told its part of the settings that came last: of those who are
// there, where the others' are dealt to them. The caller holds deals.mu.
func (c *Crew) share(tell func(segment int, of func(worker int) []workload.Settings)) {
	away := make([]bool, c.n)
	if c.ask.OnLoss == Redeal && !c.byPart {
		copy(away, c.Away())
	}
	n, rank := 0, make([]int, c.n)
	for i := range away {
		if rank[i] = n; !away[i] {
			n++
		}
	}
	parts := c.Parts()
	tell(c.deals.last.Segment, func(i int) []workload.Settings {
		if i >= len(parts) || parts[i] < 0 || away[parts[i]] {
			return nil // it is told when it is back, or takes on a part
		}
		return c.settings(n, rank[parts[i]])
	})
}

// settings are those that came last for one of n parts. The caller holds deals.mu.
func (c *Crew) settings(n, part int) []workload.Settings {
	mine := make([]workload.Settings, len(c.deals.last.Tracks))
	for k, s := range c.deals.last.Tracks {
		mine[k] = Part(s, n, part)
	}
	return mine
}

// dealt notes that what was left of the part of that number was dealt to another.
type dealt struct {
	Dealt int `json:"dealt"`
}

// pass says what is left of a part whose worker is lost.
func (c *Crew) pass(part int, did []workload.Did) remote.Handoff {
	<-c.begun
	c.Note(dealt{Dealt: part + 1})
	c.deals.mu.Lock()
	defer c.deals.mu.Unlock()
	return remote.Handoff{Rest: c.plan.Left(workload.Process{Part: part, Of: c.n}, did), Segment: c.deals.last.Segment, Settings: c.settings(c.n, part)}
}

// passed notes that the rest of the part of a worker is done by another from now on.
func (c *Crew) passed(from, heir, host int) {
	c.deals.mu.Lock()
	c.deals.given[from] = c.Elapsed()
	c.deals.mu.Unlock()
	c.mark(fmt.Sprintf("what worker %d had left to do was dealt to worker %d, as worker %d", from+1, host+1, heir+1))
}

// redeal deals the totals anew, now that a worker is away for good, or back.
func (c *Crew) redeal(worker int, host string, now remote.State) {
	if note := c.dealAgain(worker, host, now); note != "" {
		c.mark(note) // whoever marks may be telling settings
	}
}

// dealAgain is redeal, and says what was done; empty: nothing.
func (c *Crew) dealAgain(worker int, host string, now remote.State) (note string) {
	c.deals.mu.Lock()
	defer c.deals.mu.Unlock()
	var others []string
	for i, away := range c.Away() {
		if !away {
			others = append(others, strconv.Itoa(i+1))
		}
	}
	_, given := c.deals.given[worker]
	switch {
	case len(others) == 0:
		return ""
	case now == remote.GivenUp:
		c.deals.given[worker] = c.Elapsed()
		note = fmt.Sprintf("threads and rate of worker %d (%s) were dealt to %s", worker+1, host, named(others))
	case given:
		delete(c.deals.given, worker)
		note = fmt.Sprintf("worker %d (%s) has its threads and its rate again", worker+1, host)
	default:
		return "" // it was silent for a moment
	}
	c.share(c.Deal)
	return note
}

// named names workers: "worker 1", "workers 1 and 3".
func named(workers []string) string {
	if len(workers) == 1 {
		return "worker " + workers[0]
	}
	last := len(workers) - 1
	return "workers " + strings.Join(slices.Clone(workers[:last]), ", ") + " and " + workers[last]
}

// dealt is when what a worker had was dealt to others; nil: it was not.
func (c *Crew) dealt(worker int) *float64 {
	c.deals.mu.Lock()
	defer c.deals.mu.Unlock()
	at, ok := c.deals.given[worker]
	if !ok {
		return nil
	}
	return new(at.Seconds())
}
