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
	"github.com/perfbench/perfbench/internal/fleet"
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
	const others = "use --duration alone, or degrade, which names what is missing, or end"
	if !in.Wraps() {
		return refuse("redeal holds up threads and rates, and a run with a count ends once each thread has done its share, which no other can take on", others)
	}
	if name := once(plan, in); name != "" {
		return refuse("redeal holds up threads and rates, and phase "+name+" does its work once, of which each thread has a share that no other can take on", others)
	}
	return nil
}

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
	if c.ask.OnLoss == Redeal {
		copy(away, c.Away())
	}
	n, rank := 0, make([]int, c.n)
	for i := range away {
		if rank[i] = n; !away[i] {
			n++
		}
	}
	w := c.deals.last
	tell(w.Segment, func(i int) []workload.Settings {
		if away[i] {
			return nil // it is told when it is back
		}
		mine := make([]workload.Settings, len(w.Tracks))
		for k, s := range w.Tracks {
			mine[k] = Part(s, n, rank[i])
		}
		return mine
	})
}

// redeal deals the totals anew, now that a worker is away for good, or back.
func (c *Crew) redeal(worker int, host string, now fleet.State) {
	if note := c.dealAgain(worker, host, now); note != "" {
		c.mark(note) // whoever marks may be telling settings
	}
}

// dealAgain is redeal, and says what was done; empty: nothing.
func (c *Crew) dealAgain(worker int, host string, now fleet.State) (note string) {
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
	case now == fleet.GivenUp:
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
