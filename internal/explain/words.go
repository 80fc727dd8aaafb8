package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
)

// decimals formats a number with few digits.
func decimals(v float64) string {
	if v >= 100 {
		return units.Number(v)
	}
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.2f", v), "0"), ".")
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func processors(n float64) string {
	if n == 1 {
		return "1 processor"
	}
	return fmt.Sprintf("%.3g processors", n)
}

// processors returns how many this machine has, 0 if unknown.
func (s *stretch) processors() float64 {
	switch v := s.f.Run.Environment["cpus"].(type) {
	case float64:
		return v
	case int:
		return float64(v)
	}
	return 0
}

// whole reports whether the period is all that was measured.
func (s *stretch) whole() bool { return s.from <= 0 && s.to >= s.f.Run.MeasuredS }

// polled returns how many processors perfbench used to look for replies before it slept. That is no
// work: whoever wants them gets them.
func (s *stretch) polled() float64 {
	v, _ := s.mean(rundir.OfClient, "busy_poll_cores")
	return v
}

// worked returns how many processors perfbench used for work.
func (s *stretch) worked() (float64, bool) {
	v, ok := s.mean(rundir.OfClient, "cpu_cores")
	return max(v-s.polled(), 0), ok
}

// busy returns how many processors of the machine were busy with work, from samples or over
// the whole run.
func (s *stretch) busy() (float64, bool) {
	if v, ok := s.mean(rundir.OfMachine, "cpu_cores"); ok {
		v = max(v-s.polled(), 0)
		if own, ok := s.worked(); ok && len(s.f.Run.Workers) == 0 { // which the machine counts in coarser steps
			v = max(v, own)
		}
		return v, true
	}
	if o := s.f.Run.Observed; o != nil && o.Machine > 0 {
		return max(o.Machine-o.Polled, 0), true
	}
	return 0, false
}

// machine names the machine of which all processors were sampled.
func (s *stretch) machine() string {
	if len(s.f.Run.Workers) > 0 {
		return "the coordinator's machine"
	}
	return "this machine"
}

// busiest returns the worker that used the largest fraction of its processors, how many
// it used and has; 0 for a run without workers.
func (s *stretch) busiest() (number string, used, of float64) {
	for _, w := range s.f.Run.Workers {
		n, sum := 0, 0.0
		for _, x := range s.f.Samples {
			if x.Source == rundir.OfWorker && x.Node == strconv.Itoa(w.Number) && x.Name == "cpu_cores" && x.T >= s.first && x.T < s.first+s.n && !s.dead[x.T] {
				n, sum = n+1, sum+x.Value
			}
		}
		if cpus := float64(w.CPUs); 2*n >= s.alive() && n > 0 && cpus > 0 && (of == 0 || sum/float64(n)/cpus > used/of) {
			number, used, of = strconv.Itoa(w.Number), sum/float64(n), cpus
		}
	}
	return number, used, of
}

// stolenTold is the fraction of the time that a hypervisor must have taken to be told.
const stolenTold = 0.05

// pollTold is how many processors polling must have taken to be told.
const pollTold = 0.05

// headroom says how far the processors were from their limits.
func (s *stretch) headroom() []string {
	var parts []string
	if v, ok := s.worked(); ok && !s.f.Run.Store.InProcess && len(s.f.Run.Workers) == 0 {
		text := "perfbench used " + decimals(v)
		if o := s.f.Run.Observed; o != nil && o.Cores > 0 {
			text += " of " + processors(o.Cores)
		}
		if v := s.polled(); v >= pollTold {
			text += ", and " + decimals(v) + " more polling for replies"
		}
		parts = append(parts, text)
	}
	if n, used, of := s.busiest(); of > 0 {
		parts = append(parts, fmt.Sprintf("worker %s, the busiest, used %s of %s", n, decimals(used), processors(of)))
	}
	if v, _, ok := s.most(rundir.OfStore, "main_thread_cpu_cores"); ok {
		parts = append(parts, "the store's main thread "+decimals(v)+" of 1")
	} else if v, ok := s.mean(rundir.OfProcess, "cpu_cores"); ok {
		parts = append(parts, "the store "+decimals(v))
	} else if v, ok := s.mean(rundir.OfStore, "cpu_cores"); ok {
		parts = append(parts, "the store "+decimals(v))
	}
	if v, ok := s.busy(); ok && !s.f.Run.Store.InProcess {
		text := "all of " + s.machine() + " " + decimals(v)
		if n := s.processors(); n > 0 {
			text += " of " + processors(n)
		}
		if v := s.stolen(); v >= stolenTold {
			text += ", and a hypervisor gave " + percent(v) + " of its time to others"
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, ", ")}
}
