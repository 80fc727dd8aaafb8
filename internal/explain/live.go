package explain

import (
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Now says how much of each resource was in use in the second of some samples, and which of that was at its
// limit, as a period of a run that is over has it. inProcess means that the store is a library in perfbench;
// cpus are the processors of its machine and cores those that perfbench may use, 0 if they are not known.
func Now(samples []rundir.Sample, inProcess bool, cpus, cores int) []rundir.Use {
	if len(samples) == 0 {
		return nil
	}
	f := &rundir.Folder{Samples: samples, Run: rundir.Run{Environment: map[string]any{"cpus": cpus}, Observed: &verdict.Observed{Cores: float64(cores)}}}
	f.Run.Store.InProcess = inProcess
	for _, x := range samples {
		if x.Source == rundir.OfWorker { // then perfbench is only the coordinator
			f.Run.Workers = []rundir.Worker{{}}
		}
	}
	at := float64(samples[0].T)
	s := stretchOf(f, at, at+1)
	full := map[string]float64{ofPerfbench: clientFull, Thread: threadFull, ofStore: storeFull, s.machine(): machineFull}
	out := s.headroom()
	for i := range out {
		u := &out[i]
		u.Limit = u.Of > 0 && u.Used >= full[u.What]*u.Of
	}
	return out
}
