package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
)

// company is what perfbench and a store on this machine had of its processors, and what
// others had, on average.
type company struct {
	// used and waited are how many processors perfbench and the store used, and how many
	// of their threads waited for one; others is what everybody else used.
	used, waited, others float64
	// most is what others used in the busiest second; 0 if that is not known.
	most float64
}

// companyOf adds up what is known of the processes of a run; false if it is not enough to
// tell what others used.
func companyOf(o *Observed) (c company, ok bool) {
	if o.Machine <= 0 || len(o.Processes) == 0 || o.Seconds <= 0 {
		return c, false
	}
	told := 0.0 // by the store's server itself
	if o.Store != nil && o.Store.CPU != nil {
		told = *o.Store.CPU / o.Seconds
	}
	whole, store, here := true, 0.0, false
	c.used = o.CPU
	for i, p := range o.Processes {
		if p.Elsewhere {
			continue
		}
		if own := i == 0; !own {
			here = true
			if p.CPU == nil && told == 0 {
				return c, false // it may be here, and be what others are said to use
			}
			if p.CPU != nil {
				store += *p.CPU
			}
		}
		if p.Queue == nil {
			whole = false
			continue
		}
		c.waited += *p.Queue
	}
	hidden := 0.0
	if here {
		hidden = max(told-store, 0) // what listens may only stand in for the one that works
	}
	c.used += store + hidden
	c.others = max(o.Machine-c.used, 0)
	if o.Others != nil {
		c.others = max(c.others, *o.Others-hidden)
	}
	if o.OthersMost != nil {
		c.most = max(*o.OthersMost-hidden, c.others)
	}
	if !whole {
		c.pressed(o.Pressure)
	}
	return c, true
}

// Others returns how many processors of this machine other processes used, as the verdict tells it;
// false if that is not known.
func Others(o *Observed) (float64, bool) {
	if o == nil {
		return 0, false
	}
	c, ok := companyOf(o)
	return c.others, ok
}

// TakenSoFar adds up who had the processors of this machine for how many seconds; nothing if that is not
// known.
func TakenSoFar(o *Observed) Taken {
	c, ok := companyOf(o)
	if !ok {
		return Taken{}
	}
	return Taken{Used: c.used * o.Seconds, Others: c.others * o.Seconds, Waited: c.waited * o.Seconds}
}

// Company is what one of several workers observed of its machine, and of itself there.
type Company struct {
	// Machine is the same for all processes of a machine, and for no others.
	Machine string `json:"machine"`
	// Cores is how many processors the worker could use; CPU how many it used, Store how many
	// the processes of the store did that are on this machine, and Busy all processes.
	Cores float64 `json:"cores"`
	CPU   float64 `json:"cpu_cores"`
	Store float64 `json:"store_cpu_cores,omitempty"`
	Busy  float64 `json:"machine_cores"`
	// Queue is how many threads of the worker waited for a processor, StoreQueue how many of
	// the store did; Pressure is the fraction of the time in which any thread did.
	Queue      *float64 `json:"run_queue_cores,omitempty"`
	StoreQueue float64  `json:"store_run_queue_cores,omitempty"`
	Pressure   float64  `json:"cpu_pressure,omitempty"`
	// Under is how many calls were under way.
	Under float64 `json:"under_way"`
}

// crowded looks for others on this machine, or on those of the workers, who took processors
// from perfbench or the store. Where both compete with each other alone, that is how the
// store does on this machine; of their waiting, the part counts that others caused by what
// they used. What it shifts is measured by the time that operations had: as many as were
// under way at a time, or as there are processors for them.
func crowded(r *Record) finding {
	if len(r.Workers) > 0 {
		return crowdedWorkers(r)
	}
	o := r.Observed
	if o == nil || r.Seconds <= 0 {
		return finding{}
	}
	c, ok := companyOf(o)
	if !ok || c.others*o.Seconds < crowdTime {
		return finding{}
	}
	under := 0.0 // way, on average
	for _, op := range r.Ops {
		under += op.Response.Mean * float64(op.Calls) / 1e9 / r.Seconds
	}
	if what := c.harm(r, under, o.Cores, "this machine"); what != "" {
		return finding{state: Degraded, what: what, cure: spared}
	}
	return finding{}
}

// crowdedWorkers judges each machine that has workers. They are no company to each other, and
// neither is the coordinator, which may be on any of the machines.
func crowdedWorkers(r *Record) finding {
	type place struct {
		company
		workers            []int
		busy, cores, under float64
		store, storeQueue  float64
		pressure           float64
		whole              bool
	}
	places := map[string]*place{}
	var order []*place
	for _, w := range r.Workers {
		c := w.Company
		if c == nil {
			continue
		}
		p := places[c.Machine]
		if p == nil {
			p = &place{whole: true}
			places[c.Machine] = p
			order = append(order, p)
		}
		p.workers = append(p.workers, w.Number)
		p.used, p.under = p.used+c.CPU, p.under+c.Under
		p.busy, p.cores, p.pressure = max(p.busy, c.Busy), max(p.cores, c.Cores), max(p.pressure, c.Pressure)
		p.store, p.storeQueue = max(p.store, c.Store), max(p.storeQueue, c.StoreQueue)
		if c.Queue == nil {
			p.whole = false
			continue
		}
		p.waited += *c.Queue
	}
	var all []string
	for _, p := range order {
		p.used, p.waited = p.used+p.store, p.waited+p.storeQueue
		p.others = max(p.busy-p.used-r.Coordinator, 0)
		if !p.whole {
			p.pressed(p.pressure)
		}
		if what := p.harm(r, p.under, p.cores, "the machine of "+units.Numbered("worker", p.workers)); what != "" {
			all = append(all, what)
		}
	}
	if len(all) == 0 {
		return finding{}
	}
	return finding{state: Degraded, what: strings.Join(all, "; "), cure: spared}
}

// pressed estimates waiting by the pressure of the machine: at least one thread waited for so
// much of the time, as many of ours as of the rest.
func (c *company) pressed(pressure float64) {
	if c.used+c.others > 0 {
		c.waited = max(c.waited, pressure*c.used/(c.used+c.others))
	}
}

// CrowdedSecond is the fraction of the processors from which others that use them in a second can have made its
// slowest calls as slow as they are.
const CrowdedSecond = 0.25

// spared is what to do about others.
const spared = ": stop them, or use a machine that has processors to spare"

// harm says what others used where, and did to figures of operations of which so many were under way, with so
// many processors for them; "" if they did nothing that matters.
func (c *company) harm(r *Record, under, cores float64, where string) string {
	if c.others < crowdLeast || c.waited <= 0 {
		return ""
	}
	theirs := c.waited * c.others / (c.others + c.used)
	if shift := theirs / max(min(under, cores), c.used+c.waited); shift >= crowdShare {
		return fmt.Sprintf("other processes used %s of %s, so mean response times or throughput are some %s worse", hundredths(c.others), where, percent(min(shift, 1)))
	}
	if theirs < crowdTail || c.most > 0 && c.most < CrowdedSecond*cores || r.Observed != nil && r.Observed.Growth != nil {
		return ""
	}
	for _, op := range r.Ops {
		all, own := op.Response.P99, op.ServiceP99
		if measure.Enough(99, op.Response.Count) && all-own >= promptP99 && float64(all-own) >= crowdExcess*float64(all) {
			used := hundredths(c.others)
			if c.most > 0 {
				used = "up to " + hundredths(c.most)
			}
			return fmt.Sprintf("other processes used %s of %s, and p99 of %s is %s with a service time of %s", used, where, op.Name, ns(all), ns(own))
		}
	}
	return ""
}

// hundredths names processors to two places.
func hundredths(n float64) string { return processors(math.Round(100*n) / 100) }

// promptP99 is the wait at p99, in nanoseconds, below which it matters to nobody.
const promptP99 = 1_000_000
