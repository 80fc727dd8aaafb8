package headless

import (
	"fmt"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
)

// writePlan writes the plan file that leads to the same runs.
func (a command) writePlan(file *request.File, all []Task) error {
	out := *file
	out.Runs = nil
	for _, t := range all {
		out.Runs = append(out.Runs, t.Asked())
	}
	_, err := a.Stdout.Write(request.Write("What perfbench run would do; perfbench run FILE does it.", &out))
	return err
}

// printPlan writes the whole plan to stdout.
func (a command) printPlan(p *session.Prepared) {
	v := p.Preview()
	fmt.Fprintln(a.Stdout, "This is the plan; nothing was touched.")
	a.printLines("run", v.Run)
	a.printLines("live settings at the start", v.Settings)
	a.printLines("parameters", v.Parameters)
	var keys []string
	for i := range v.Keys {
		keys = append(keys, v.Keys[i].Words())
	}
	a.printList("keys of files", keys)
	a.printList("tracks", v.Tracks)
	a.printList("timetable", v.Timetable)
	a.printList("thresholds", v.Thresholds)
	a.printList("writes", v.Writes)
	a.printList("deletes", v.Deletes)
	a.printList("documents", v.Documents)
	size := "unknown: any size"
	if v.Bytes > 0 {
		size = fmt.Sprintf("%s (%d bytes)", v.SizeOf(), v.Bytes)
	}
	a.printList("data size", []string{size + " of values in the store"})
	a.printList("connections", []string{v.Over()})
	a.printList("warnings", v.Warnings)
}

func (a command) printLines(title string, lines []request.Line) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", title)
	cli.Table(a.Stdout, func(row func(cells ...string)) {
		for _, l := range lines {
			row("  "+l.Name, l.Text, l.From)
		}
	})
}

func (a command) printList(title string, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(a.Stdout, "\n%s\n", title)
	for _, s := range list {
		fmt.Fprintf(a.Stdout, "  %s\n", cli.Printable(s))
	}
}
