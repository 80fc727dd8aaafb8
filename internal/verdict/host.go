package verdict

import (
	"fmt"
	"math"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/units"
)

// The rules in this file look at the process and the machine.

func throttled(r *Record) finding {
	o := r.Observed
	if o == nil || o.Throttled == 0 {
		return finding{}
	}
	periods, held := 0.0, 0.0
	if o.Periods > 0 {
		periods = float64(o.Throttled) / float64(o.Periods)
	}
	if o.Seconds > 0 {
		held = o.ThrottledS / o.Seconds
	}
	if periods < throttledShare && held < throttledShare {
		return finding{}
	}
	return finding{Degraded, fmt.Sprintf("the quota of %s held perfbench back in %d of %d periods%s", processors(o.Quota), o.Throttled, o.Periods, heldFor(o.ThrottledS)),
		": raise the CPU limit of its container or control group, or ask for less"}
}

func heldFor(s float64) string {
	if s <= 0 {
		return ""
	}
	return ", " + length(s) + " in all"
}

func cpu(r *Record) finding {
	o := r.Observed
	if o == nil || o.Cores <= 0 || o.Worked() < cpuShare*o.Cores {
		return finding{}
	}
	whose := "of this machine"
	if o.Quota > 0 {
		whose = "of its quota"
	}
	return finding{Degraded, fmt.Sprintf("perfbench itself used %s of the %s %s (%s) and may have been the bottleneck, not the store", units.Digits(o.Worked(), 2), processors(o.Cores), whose, percent(min(o.Worked()/o.Cores, 1))),
		": give it more, make payloads smaller, or lower the load"}
}

func stolen(r *Record) finding {
	o := r.Observed
	if o == nil || o.Stolen < stolenShare || o.Stolen*o.Seconds < stolenLeast {
		return finding{}
	}
	return finding{Degraded, fmt.Sprintf("the hypervisor gave %s of this machine's time to others", percent(o.Stolen)), ": run on a machine of your own, or one that is not shared"}
}

// scheduler compares how long goroutines waited for a processor with the response
// times: each reply waits that long before its time is taken.
func scheduler(r *Record) finding {
	o := r.Observed
	if o == nil {
		return finding{}
	}
	worst, text, cure := 0.0, "", ""
	for _, op := range r.Ops {
		for _, s := range []struct {
			name string
			p    float64
			wait int64
			all  int64
		}{{"p50", 50, o.SchedP50, op.Response.P50}, {"p99", 99, o.SchedP99, op.Response.P99}} {
			if !measure.Enough(s.p, op.Response.Count) || s.all <= 0 || s.wait < schedLeast.Nanoseconds() {
				continue
			}
			if share := float64(s.wait) / float64(s.all); share >= schedShare && share > worst {
				worst = share
				text, cure = fmt.Sprintf("perfbench waited for a processor (%s %s), which is %s of the %s of %s", s.name, ns(s.wait), percent(min(share, 1)), s.name, op.Name), ": use fewer threads, or give perfbench more processors"
			}
		}
	}
	if text == "" && o.WakeP90 >= wakeLate.Nanoseconds() {
		text, cure = fmt.Sprintf("the system woke perfbench late: one time in ten by %s or more", ns(o.WakeP90)), "; leave the machine to perfbench"
	}
	if text == "" {
		return finding{}
	}
	return finding{Degraded, text, cure + crowd(o)}
}

// crowd says who else was using the machine.
func crowd(o *Observed) string {
	others := o.Machine - o.CPU
	if o.Machine <= 0 || others < 0.25 {
		return ""
	}
	return fmt.Sprintf(" (other processes, the store too if it is here, used %s)", processors(math.Round(10*others)/10))
}

func gc(r *Record) finding {
	const cure = ": make payloads or batches smaller, or set GOGC higher"
	o := r.Observed
	switch {
	case o == nil:
	case o.GCPauses >= gcPauses:
		return finding{Degraded, fmt.Sprintf("garbage collection stopped perfbench for %s of the time", percent(o.GCPauses)), cure}
	case o.Cores > 0 && o.GCCPU >= gcCPU*o.Cores:
		return finding{Degraded, fmt.Sprintf("garbage collection took %.2g of %s", o.GCCPU, processors(o.Cores)), cure}
	}
	return finding{}
}

func memory(r *Record) finding {
	o := r.Observed
	if o == nil || o.Seconds <= 0 || o.MajorFaults < faultsLeast || float64(o.MajorFaults) < faultsRate*o.Seconds {
		return finding{}
	}
	return finding{Degraded, fmt.Sprintf("perfbench's memory had to be read from disk %d times", o.MajorFaults), ": this machine is short of memory; free some, or store less"}
}

func pool(r *Record) finding {
	o := r.Observed
	if o == nil || o.PoolWaits == 0 {
		return finding{}
	}
	busy := 0.0
	for _, op := range r.Ops {
		busy += op.ServiceMean * float64(op.Calls)
	}
	if busy <= 0 || float64(o.PoolWaitNs) < poolShare*busy {
		return finding{}
	}
	return finding{Degraded, fmt.Sprintf("operations waited %d times for a connection from the pool of %d, %s in all (%s of their time)",
		o.PoolWaits, o.PoolSize, ns(o.PoolWaitNs), percent(min(float64(o.PoolWaitNs)/busy, 1))), ": raise connections= in the target"}
}

// ceiling looks for the phase whose rate is closest to what the harness alone does in
// it.
func ceiling(r *Record) finding {
	share, c := r.reached()
	if share < ceilingShare {
		return finding{}
	}
	where := "here"
	if len(r.Phases) > 1 {
		where = "in " + c.Phase + " here"
	}
	return finding{Degraded, fmt.Sprintf("without a store, perfbench does no more than %s calls/s %s, and this run reached %s of that: it measured perfbench, not the store", units.Number(c.PerS), where, percent(share)),
		"; use a faster machine, or larger calls, of more data each"}
}

// reached returns how much of what perfbench does without a store a phase did, of the phase that came closest to it,
// and that ceiling; 0 if none is known.
func (r *Record) reached() (share float64, of PhaseCeiling) {
	if r.Observed == nil {
		return 0, of
	}
	for _, c := range r.Observed.Ceilings {
		for _, ph := range r.Phases {
			if ph.Name != c.Phase || ph.Seconds < measure.ShortestRate || c.PerS <= 0 {
				continue
			}
			if s := float64(ph.Calls) / ph.Seconds / c.PerS; s > share {
				share, of = s, c
			}
		}
	}
	return share, of
}

func clock(r *Record) finding {
	o := r.Observed
	if o == nil {
		return finding{}
	}
	if n := len(o.Steps); n > 0 {
		s := o.Steps[0]
		how := "forward"
		if s.ByS < 0 {
			how = "back"
		}
		text := fmt.Sprintf("the clock of this machine was set %s by %s at %s", how, length(math.Abs(s.ByS)), plot.At(s.AtS))
		switch {
		case n == 2:
			text += ", and once more later"
		case n > 2:
			text += fmt.Sprintf(", and %d more times later", n-1)
		}
		return finding{Degraded, text, ": durations are right, but times of day in documents, and what the store expires by the clock, may not be"}
	}
	fastest, name := int64(0), ""
	for _, op := range r.Ops {
		if op.Calls > 0 && op.ServiceP50 > 0 && (fastest == 0 || op.ServiceP50 < fastest) {
			fastest, name = op.ServiceP50, op.Name
		}
	}
	switch limit := clockShare * float64(fastest); {
	case fastest == 0:
	case o.ClockCost >= clockLeast && float64(o.ClockCost) >= limit:
		return finding{Degraded, fmt.Sprintf("reading the clock takes %s here, and half of all %s take no more than %s", ns(o.ClockCost), name, ns(fastest)), ": choose a faster clock source for this machine (tsc, kvm-clock)"}
	case o.ClockTick >= clockLeast && float64(o.ClockTick) >= limit:
		return finding{Degraded, fmt.Sprintf("the clock here moves in steps of %s, and half of all %s take no more than %s", ns(o.ClockTick), name, ns(fastest)), ": their times are only as fine as that"}
	}
	return finding{}
}

func processors(n float64) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%.3g processors", n)
}
