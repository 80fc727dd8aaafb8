package report

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// binds says what kept a step from storing more, as far as the figures show.
func (r *reporter) binds(s *facts.Step) string {
	cores, sum := r.cores(s)
	cpus, whose := r.cpus()
	waited := float64(s.BlockedNs) / float64(max(s.ToNs-s.FromNs, 1))
	yes, _ := r.sustained(s)
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

// cpus returns how many processors the machines have on which the run's processes were
// watched.
func (r *reporter) cpus() (n float64, whose string) {
	hosts := map[string]int{}
	for _, w := range r.run.Workers {
		hosts[w.Host] = w.CPUs
	}
	for _, c := range hosts {
		n += float64(c)
	}
	if n > 0 {
		return n, "the workers' machines"
	}
	switch c := r.run.Environment["cpus"].(type) {
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
func (r *reporter) cores(s *facts.Step) (text string, sum float64) {
	var all []string
	for i := range r.f.Processes {
		p := &r.f.Processes[i]
		if v := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return x.CPU })).Mean; v > 0 {
			all, sum = append(all, fmt.Sprintf("%s used %s", p.Role, three(v))), sum+v
		}
	}
	if len(all) == 0 {
		return "what the processes used is not known", 0
	}
	return strings.Join(all, ", ") + " cores", sum
}
