package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfbench/perfbench/internal/rundir"
)

// What the counts and series of a step come to.

// receivedRate returns how many events per second a step received.
func receivedRate(f *Facts, s *Step) float64 {
	if Long(s) {
		return Over(s, f.Values(func(p *SeriesPoint) float64 { return p.Received })).Mean
	}
	return float64(s.Received.Events) / s.Seconds()
}

// contentRates returns the bytes per second of content, before and after compression.
func contentRates(f *Facts, s *Step) (raw, compressed float64) {
	if Long(s) {
		return Over(s, f.Values(func(p *SeriesPoint) float64 { return p.Raw })).Mean, Over(s, f.Values(func(p *SeriesPoint) float64 { return p.Compressed })).Mean
	}
	return float64(s.RawBytes) / s.Seconds(), float64(s.CompressedBytes) / s.Seconds()
}

// backlogSlope returns how fast the backlog grew within a step, in events per second.
func backlogSlope(f *Facts, s *Step) float64 {
	return Slope(s, f.Values(func(p *SeriesPoint) float64 { return float64(p.BacklogEvents) }))
}

// sustained says whether a step's rate could be sustained.
func sustained(f *Facts, s *Step) (string, string) {
	if s.Rate == 0 {
		return "n/a", "closed loop: nothing is due before it is sent"
	}
	offered, grows := s.Offered.Events, backlogSlope(f, s)
	part := ratio(s.Stored.Events, offered)
	switch {
	case math.IsNaN(part):
		return "n/a", "nothing was offered"
	case part < SustainedPart:
		return "no", fmt.Sprintf("%.1f %% of what was offered was stored within the step", part*100)
	case math.IsNaN(grows):
		return "n/a", "the step is too short to tell how the backlog grew"
	case grows > SustainedSlope*s.Rate:
		return "no", fmt.Sprintf("the backlog grew by %.0f events/s", grows)
	}
	return "yes", fmt.Sprintf("%.1f %% stored within the step, the backlog grew by less than %g %% of the rate", min(part, 1)*100, SustainedSlope*100)
}

// binds says what kept a step from storing more, as far as the figures show.
func binds(src *source, s *Step) string {
	cores, sum := cores(src.f, s)
	cpus, whose := processors(src.run)
	waited := float64(s.BlockedNs) / float64(max(s.ToNs-s.FromNs, 1))
	yes, _ := sustained(src.f, s)
	switch {
	case yes == "yes":
		return "the rate that was offered: " + cores
	case cpus > 0 && sum >= busy*cpus:
		return fmt.Sprintf("the processors of %s, %g: %s", whose, cpus, cores)
	case waited >= 0.1:
		return fmt.Sprintf("the store: for room under the limits %.1f threads waited on average; %s", waited, cores)
	}
	return "not the limits of the store stage, and not the processors: " + cores
}

// processors returns how many processors the machines have on which the run's processes were
// watched.
func processors(run *rundir.Run) (n float64, whose string) {
	hosts := map[string]int{}
	for _, w := range run.Workers {
		hosts[w.Host] = w.CPUs
	}
	for _, c := range hosts {
		n += float64(c)
	}
	if n > 0 {
		return n, "the workers' machines"
	}
	switch c := run.Environment["cpus"].(type) {
	case int:
		n = float64(c)
	case float64: // in JSON
		n = c
	}
	return n, "this machine"
}

// busy is the fraction from which the processors count as used up: the kernel, the
// network and other programs take the rest.
const busy = 0.85

// cores says how many cores each watched process has used, and returns their total.
func cores(f *Facts, s *Step) (text string, sum float64) {
	var all []string
	for i := range f.Processes {
		p := &f.Processes[i]
		if v := Over(s, p.Values(func(x *ResourcePoint) *float64 { return x.CPU })).Mean; v > 0 {
			all, sum = append(all, fmt.Sprintf("%s used %s", p.Role, three(v))), sum+v
		}
	}
	if len(all) == 0 {
		return "what the processes used is not known", 0
	}
	return strings.Join(all, ", ") + " cores", sum
}
