package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// processes shows what was used by perfbench, and by a store on the same machine.
func processes(r *rundir.Run) Section {
	if r.Observed == nil {
		return Section{}
	}
	s := Section{Heading: "Processes", Table: Table{Left: 2, Columns: []string{"process", "name", "pid", "cores", "most cores", "most memory", "in per second", "out per second"}}}
	cores := func(v float64) string { return fmt.Sprintf("%.2f", v) }
	size := func(v float64) string { return units.Size(int64(v)) }
	for _, p := range r.Observed.Processes {
		if p.PID == 0 {
			s.Text = append(s.Text, "Nothing could be measured of "+p.Role+": "+p.Note+".")
			continue
		}
		s.Table.Add(p.Role, p.Name, strconv.Itoa(p.PID), known(p.CPU, cores), known(p.CPUMost, cores), known(p.RSSMost, units.Size), known(p.NetIn, size), known(p.NetOut, size))
	}
	if told := describeUse(r.Observed.Store); told != "" {
		s.Text = append(s.Text, told)
	}
	return s
}

// shares shows how evenly threads have shared the work.
func shares(r *rundir.Run) Section {
	s := Section{Heading: "Threads", Table: Table{Left: 1, Columns: []string{"track", "threads", "least", "median", "most", "deviation"}}}
	others, paced := 0, false
	for _, x := range r.Shares {
		s.Table.Add(x.Track, strconv.Itoa(x.Threads), Whole(x.Min), Whole(x.Median), Whole(x.Max), Percent(x.Deviation))
		others += x.Others
	}
	if len(r.Shares) == 0 {
		return Section{}
	}
	for _, segment := range r.Segments {
		for name, v := range segment.Settings {
			paced = paced || v > 0 && (name == "rate" || strings.HasSuffix(name, ".rate"))
		}
	}
	s.Text = []string{"Successful calls of each thread, and how far the threads are from their mean."}
	if others > 0 {
		s.Text = append(s.Text, Several(others, "other thread")+" worked for only part of the run and "+map[bool]string{true: "is", false: "are"}[others == 1]+" left out.")
	}
	if paced {
		s.Text = append(s.Text, "Where a rate leaves threads idle, it does not matter which of them work.")
	}
	return s
}

// mostNotes is how many kinds of entries from the store's own log are listed.
const mostNotes = 20

// noted shows what took the store's servers a long time, as logged by themselves: the
// kinds that took longest.
func noted(r *rundir.Run) Section {
	if r.Observed == nil || len(r.Observed.Noted) == 0 {
		return Section{}
	}
	list := explain.Kinds(r.Observed.Noted)
	s := Section{Heading: "Noted by the store", Table: Table{Left: 2, Columns: []string{"what", "node", "times", "longest", "at"}}}
	several := slices.ContainsFunc(list, func(k explain.Kind) bool { return k.Node != "" })
	if !several {
		s.Table.Left, s.Table.Columns = 1, slices.Delete(s.Table.Columns, 1, 2)
	}
	s.Text = []string{"What its servers logged as slow; the time of a command is that of its execution alone. Of a command only the name is shown, and the pattern of a key of this run."}
	for i, k := range list {
		if i == mostNotes {
			s.Text = append(s.Text, fmt.Sprintf("The first %d of %d kinds are listed.", mostNotes, len(list)))
			break
		}
		row := []string{Plain(k.What()), Plain(k.Node), strconv.Itoa(k.Times), Nanos(int64(k.ForMs * 1e6)), plot.Clock(float64(k.AtS))}
		if !several {
			row = slices.Delete(row, 1, 2)
		}
		s.Table.Add(row...)
	}
	if n := r.Observed.NotedMore; n > 0 {
		s.Text = append(s.Text, Several(int(n), "more note")+", of shorter times, "+map[bool]string{true: "is", false: "are"}[n == 1]+" not kept.")
	}
	return s
}

// workers shows the processes that carried out the run together.
func workers(r *rundir.Run) Section {
	if len(r.Workers) == 0 {
		return Section{}
	}
	s := Section{Heading: "Workers", Table: Table{Left: 3, Columns: []string{"worker", "machine", "state", "processors", r.Unit, "errors", "clock", "began late", "change"}}}
	ms := func(v float64) string { return fmt.Sprintf("%.1f ms", v) }
	for _, w := range r.Workers {
		change := "–"
		if w.ChangeMS > 0 {
			change = ms(w.ChangeMS)
		}
		s.Table.Add(strconv.Itoa(w.Number), w.Host, w.State, strconv.Itoa(w.CPUs), Whole(w.Count), Whole(w.Errors), ms(w.OffsetMS), ms(w.SkewMS), change)
	}
	s.Text = []string{"Figures are of all of them together. Clock is how far a worker's clock is ahead of the coordinator's; change is the longest that a live change took to get there."}
	return s
}

// known formats a number, or returns a dash if there is none.
func known[T any](v *T, format func(T) string) string {
	if v == nil {
		return "-"
	}
	return format(*v)
}

// describeUse says in a sentence what a store reports about itself; "" if nothing.
func describeUse(u *verdict.Used) string {
	if u == nil {
		return ""
	}
	var parts []string
	if u.CPU != nil {
		parts = append(parts, fmt.Sprintf("used %.2f s of processor time", *u.CPU))
	}
	if u.Calls != nil {
		parts = append(parts, fmt.Sprintf("counted %d %s", *u.Calls, u.Kind))
	}
	if u.Received != nil && u.Sent != nil {
		parts = append(parts, "received "+units.Size(*u.Received)+" and sent "+units.Size(*u.Sent))
	}
	if u.Memory != nil {
		parts = append(parts, "held "+units.Size(*u.Memory)+" of data at the end")
	}
	return "By its own counters, the store " + strings.Join(parts, ", ") + "."
}
