package dashboard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/effect"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/screen"
)

// coming returns what the timetable will still change, in order of time.
func (r *reading) coming() []measure.Change {
	if r.progress.Stage > screen.Measuring {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.info.Planned), func(c measure.Change) bool {
		return c.At <= r.snap.At || r.info.Duration > 0 && c.At >= r.info.Duration && c.Ramp == 0
	})
}

// comingText says what the first of several planned changes will do, a ramp as a whole.
func (r *reading) comingText(list []measure.Change) string {
	c := list[0]
	for _, end := range list[1:] {
		if c.Ramp > 0 && end.Ramp == c.Ramp {
			return effect.Turned(c.Name, c.To, end.To, r.commands())
		}
	}
	if kind, fault := workload.FaultSetting(c.Name); fault && c.To == 0 { // it has not healed yet
		return workload.FaultKinds()[kind].Name + " ends"
	}
	if c.Ramp > 0 {
		return "ramp ends at " + effect.Brief(c, r.commands())
	}
	return effect.Brief(c, r.commands())
}

// after says what the timetable changes next, all at one moment, and when; nil if nothing.
func (r *reading) after() (what []string, at time.Duration) {
	list := r.coming()
	for _, f := range r.inForce() { // its end is said with it
		if i := slices.IndexFunc(list, func(c measure.Change) bool { return c.Name == f.Setting }); i >= 0 && list[i].To == 0 {
			list = slices.Delete(list, i, i+1)
		}
	}
	if len(list) == 0 {
		return nil, 0
	}
	for i := range list {
		if list[i].At != list[0].At {
			break
		}
		what = append(what, r.comingText(list[i:]))
	}
	return what, list[0].At
}

// inForce returns the faults that are in force.
func (r *reading) inForce() []workload.InForce {
	if r.progress.Stage > screen.Measuring {
		return nil
	}
	return r.plan.InForce(r.snap.Changes, r.info.Planned, r.snap.At)
}

// nowBroken says which faults are in force, and for how long, in fewer and fewer words; nil if none is.
func (r *reading) nowBroken() []string {
	list := r.inForce()
	if len(list) == 0 {
		return nil
	}
	var all []string
	for _, f := range list {
		all = append(all, f.String())
	}
	kind, _, _ := strings.Cut(list[0].Name, ":")
	out := []string{"fault " + strings.Join(all, " · "), "fault " + all[0]}
	if n := len(list) - 1; n > 0 {
		out[1] = fmt.Sprintf("fault %s +%d", all[0], n)
		kind += fmt.Sprintf(" +%d", n)
	}
	return append(out, strings.TrimPrefix(out[1], "fault "), "fault "+kind) // value and time left are worth more than the word
}

// nexts says what is broken and what the timetable changes next, and in how long, in fewer and fewer
// words; nil if nothing is, and it changes nothing more. The end of a fault is said with the fault.
func (r *reading) nexts() []string {
	broken, next := r.nowBroken(), r.changesNext()
	if len(broken) == 0 {
		return next
	}
	var out []string
	for _, n := range next {
		out = append(out, broken[0]+" · "+n)
	}
	return append(out, broken...)
}

// changesNext is nexts without what is broken.
func (r *reading) changesNext() []string {
	what, at := r.after()
	if len(what) == 0 {
		return nil
	}
	in := " in " + whole(at-r.snap.At)
	out := []string{"next: " + strings.Join(what, ", ") + in}
	if n := len(what) - 1; n > 0 {
		out = append(out, fmt.Sprintf("next: %s +%d%s", what[0], n, in))
	}
	return append(out, "next change"+in)
}

// announce puts what comes at its place in a chart: into the lane, and the time of a fault as a shade.
func (r *reading) announce(c *Plot, a Axis) {
	list := r.coming()
	since := map[string]time.Duration{}
	for i, p := range list {
		name, brief := r.comingText(list[i:]), ""
		if i > 0 && p.Ramp > 0 && slices.ContainsFunc(list[:i], func(b measure.Change) bool { return b.Ramp == p.Ramp }) {
			name = "" // its beginning says it
		}
		if name != "" {
			brief = strings.TrimPrefix(p.Knob(), "fault-")
		}
		c.Moments = append(c.Moments, chart.Moment{Cell: a.Cell(p.At.Seconds()), Sign: '▿', Name: name, Brief: brief, At: p.At, Coming: true})
		if _, ok := workload.FaultSetting(p.Name); !ok {
			continue
		}
		if from, ok := since[p.Name]; ok && p.To == 0 {
			c.Coming = append(c.Coming, [2]int{a.Cell(from.Seconds()), a.Cell(p.At.Seconds())})
			delete(since, p.Name)
		} else if p.To != 0 {
			since[p.Name] = p.At
		} else { // it is in force
			c.Coming = append(c.Coming, [2]int{a.Cell(r.snap.At.Seconds()), a.Cell(p.At.Seconds())})
		}
	}
}
