package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Limits of the rule about faults that a run has made itself.
const (
	lasting = 0.8 // of a period, for which a fault was there
	ofCalls = 0.5 // of the time of calls, that it makes them wait at least
	ofWidth = 0.7 // of a bandwidth, that was used
	resent  = 0.2 // seconds until TCP sends again what was lost
	ownWord = "which this run set itself"
)

// inForce returns the faults of the run that were there for most of a time.
func inForce(f *rundir.Folder, from, to float64) (out []rundir.Fault) {
	for _, b := range rundir.FaultSpans(&f.Run) {
		if to > from && min(b.To, to)-max(b.From, from) >= lasting*(to-from) {
			out = append(out, b)
		}
	}
	return out
}

// ofItself names faults as what held the run back.
func ofItself(list []rundir.Fault) string { return "the " + named(list) + ", " + ownWord }

// named lists faults as the timetable has them.
func named(list []rundir.Fault) string {
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name()
	}
	what := "fault "
	if len(names) > 1 {
		what = "faults "
	}
	return what + strings.Join(names, " and ")
}

// sizeOf returns the kind of a fault and how large it was; false if it is a command of the user.
func sizeOf(b *rundir.Fault) (kind string, v float64, ok bool) {
	i, v, err := workload.ParseFault(b.Name(), "", &workload.Commands{})
	if err != nil {
		return "", 0, false
	}
	k := &workload.FaultKinds()[i]
	if k.Via { // calls do not go there
		return "", 0, false
	}
	return k.Kind, v, true
}

// makesWait returns for how long, in seconds, each call has to wait at least for a fault, on average.
func makesWait(b *rundir.Fault) float64 {
	switch kind, v, _ := sizeOf(b); kind {
	case "delay", workload.SlowSync:
		return v / 1000
	case "jitter":
		return v / 2000
	case "loss":
		return v / 100 * resent
	}
	return 0
}

// ownFault is true of a period in which the run itself broke something, if that is where the
// time of its calls, or the width of its connections, went.
func ownFault(s *stretch) found {
	if f := s.madeToWait(); f.limit != "" {
		return f
	}
	for _, b := range inForce(s.f, s.from, s.to) {
		kind, width, _ := sizeOf(&b)
		if kind != "bandwidth" {
			continue
		}
		most := 0.0
		for _, source := range []string{rundir.OfClient, rundir.OfProcess, rundir.OfStore} {
			for _, name := range []string{"net_in_bytes_per_s", "net_out_bytes_per_s"} {
				v, _ := s.mean(source, name)
				most = max(most, v)
			}
		}
		if most >= ofWidth*width {
			return found{limit: ofItself([]rundir.Fault{b}), uses: []rundir.Use{{What: "bandwidth", Used: most, Of: width, Unit: rundir.UsedBytes, Note: "in one direction", Limit: true}}}
		}
	}
	return found{}
}

// madeToWait looks for faults that make each call wait: then no more calls can be made than there are
// threads to wait.
func (s *stretch) madeToWait() found {
	var list []rundir.Fault
	wait := 0.0
	for _, b := range inForce(s.f, s.from, s.to) {
		if w := makesWait(&b); w > 0 {
			list, wait = append(list, b), wait+w
		}
	}
	calls, inside := 0.0, 0.0
	for _, o := range s.ops {
		if s.f.Run.Whole(o) {
			calls, inside = calls+float64(o.Calls), inside+float64(o.Calls)*o.Service.Mean/1e9
		}
	}
	all := s.length() * s.threads
	if wait <= 0 || calls <= 0 || all <= 0 || wait < ofCalls*inside/calls || inside < inCalls*all {
		return found{}
	}
	who := units.Number(s.threads) + " threads that each wait"
	if s.threads == 1 {
		who = "1 thread that waits"
	}
	return found{
		limit: ofItself(list),
		hint: fmt.Sprintf("%s %s or longer make no more than %s calls/s; for more it takes more threads, or a smaller fault",
			who, units.Duration(time.Duration(wait*1e9)), units.Number(s.threads/wait)),
		uses: []rundir.Use{{What: "calls made", Used: calls / s.length(), Of: s.threads / wait, Unit: "calls/s", Note: "of " + duration(inside*1e9/calls) + " each", Limit: true}},
	}
}
