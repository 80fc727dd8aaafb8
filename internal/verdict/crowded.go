package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
)

// company is what perfbench and a store on this machine had of its processors, and what
// others had, on average.
type company struct {
	// used and waited are how many processors perfbench and the store used, and how many
	// of their threads waited for one; others is what everybody else used.
	used, waited, others float64
	// who names the processes that waited, each with how many of its threads did.
	who []string
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
		if c.waited += *p.Queue; *p.Queue >= 0.005 {
			c.who = append(c.who, fmt.Sprintf("%.2g of %s", *p.Queue, p.Role))
		}
	}
	if here {
		store = max(store, told) // what listens may only stand in for the one that works
	}
	c.used += store
	if c.others = max(o.Machine-c.used, 0); !whole && c.used+c.others > 0 {
		// At least one thread waited for so much of the time: as many of ours as of the rest.
		c.waited = max(c.waited, o.Pressure*c.used/(c.used+c.others))
	}
	return c, true
}

// crowded looks for others on this machine who took processors from perfbench or the
// store. Where both compete with each other alone, that is how the store does on this
// machine; of their waiting, the part counts that others caused by what they used. What it
// shifts is measured by the time that operations had: as many as were under way at a
// time, or as there are processors for them.
func crowded(r *Record) (string, string) {
	o := r.Observed
	if o == nil {
		return "", ""
	}
	c, ok := companyOf(o)
	if !ok || c.others < crowdLeast || c.others*o.Seconds < crowdTime || c.waited <= 0 || r.Seconds <= 0 {
		return "", ""
	}
	theirs := c.waited * c.others / (c.others + c.used)
	under := 0.0 // way, on average
	for _, op := range r.Ops {
		under += op.Response.Mean * float64(op.Calls) / 1e9 / r.Seconds
	}
	shift := theirs / max(min(under, o.Cores), c.used+c.waited)
	text := fmt.Sprintf("other processes used %s of this machine while threads of the run waited for one", processors(math.Round(100*c.others)/100))
	if len(c.who) > 0 {
		text += " (" + strings.Join(c.who, " and ") + ", on average)"
	}
	if shift >= crowdShare {
		return Degraded, text + fmt.Sprintf(", which moves its figures by some %s: stop them, or use a machine that has processors to spare", percent(min(shift, 1)))
	}
	if theirs < crowdTail || o.Growth != nil {
		return "", ""
	}
	for _, op := range r.Ops {
		all, own := op.Response.P99, op.ServiceP99
		if measure.Enough(99, op.Response.Count) && all-own >= promptP99 && float64(all-own) >= crowdExcess*float64(all) {
			return Degraded, text + fmt.Sprintf(", and p99 of %s is %s with a service time of %s: stop them, or use a machine that has processors to spare", op.Name, ns(all), ns(own))
		}
	}
	return "", ""
}

// promptP99 is the wait at p99, in nanoseconds, below which it matters to nobody.
const promptP99 = 1_000_000
