package explain

import (
	"fmt"
	"strconv"

	"github.com/perfbench/perfbench/internal/rundir"
)

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

// Names of those whose processors are told, besides Thread and stretch.machine.
const (
	ofPerfbench = "perfbench"
	ofStore     = "store"
)

// nameOfWorker names the worker of which the processors are told.
func nameOfWorker(number string) string { return "worker " + number + " (the busiest)" }

// headroom says how far the processors were from their limits.
func (s *stretch) headroom() (out []rundir.Use) {
	add := func(what string, used, of float64, note string) {
		out = append(out, rundir.Use{What: what, Used: used, Of: of, Unit: rundir.UsedProcessors, Note: note})
	}
	if v, ok := s.worked(); ok && !s.f.Run.Store.InProcess && len(s.f.Run.Workers) == 0 {
		of, note := 0.0, ""
		if o := s.f.Run.Observed; o != nil {
			of = o.Cores
		}
		if v := s.polled(); v >= pollTold {
			note = rundir.Decimals(v) + " more polling for replies"
		}
		add(ofPerfbench, v, of, note)
	}
	if n, used, of := s.busiest(); of > 0 {
		add(nameOfWorker(n), used, of, "")
	}
	if v, node, ok := s.most(rundir.OfStore, "main_thread_cpu_cores"); ok {
		if node != "" {
			node = "at " + node
		}
		add(Thread, v, 1, node)
	} else if v, ok := s.mean(rundir.OfProcess, "cpu_cores"); ok {
		add(ofStore, v, s.processors(), "")
	} else if v, ok := s.mean(rundir.OfStore, "cpu_cores"); ok {
		add(ofStore, v, 0, "")
	}
	if v, ok := s.busy(); ok && !s.f.Run.Store.InProcess {
		note := ""
		if v := s.stolen(); v >= stolenTold {
			note = "a hypervisor gave " + percent(v) + " of its time to others"
		}
		add(s.machine(), v, s.processors(), note)
	}
	return out
}
