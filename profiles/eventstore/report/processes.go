package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// watched is one of the run's processes, by its role.
type watched struct {
	*facts.Process // nil if none was watched
	role           string
	brokerless     bool // nothing stood between generators and store stage
}

func watchedAs(f *facts.Facts, role string) watched {
	return watched{f.Process(role), role, f.Transport == facts.ViaDirect}
}

// missing says why there are no figures for the process.
func (p watched) missing() string {
	switch {
	case p.Process != nil && len(p.Points) == 0 && p.Note != "":
		return p.Note
	case p.Process != nil && len(p.Points) == 0:
		return "nothing was measured: the run was too short"
	case p.Process == nil && within(p.role):
		return "the store is within perfbench, see estore"
	case p.role == facts.RoleBroker && p.brokerless:
		return "no broker: via=direct"
	default:
		return "no such process was watched; it must be on this machine, or name it with --set watch=" + p.role + "=PID"
	}
}

// why says why a table has no figures.
func (p watched) why(w *page, what func(*facts.ResourcePoint) bool) {
	if p.Process == nil || !p.Has(what) {
		w.printf("n/a: %s.\n\n", p.missing())
	}
}

// storeProcess returns the role of the store's process.
func storeProcess(driver string) string { return cmp.Or(driver, "cassandra") }

// processes writes all figures of the processes that were watched.
func processes(w *page, src *source) {
	resources(w, src, facts.RoleOwn, "perfbench, generators and store stage", "estore-network")
	jvm(w, src.f, facts.RoleOwn, "Heap of perfbench")
	resources(w, src, facts.RoleBroker, "RabbitMQ", "rabbitmq-network")
	role := storeProcess(src.f.Store)
	title := "Cassandra"
	if role != "cassandra" {
		title = "Store: " + role
	}
	resources(w, src, role, title, "store-cpu", "store-memory")
	if role == "cassandra" {
		jvm(w, src.f, role, "JVM of Cassandra", "store-heap", "store-gc", "store-gc-time")
	}
}

// origin says where the figures of a process come from.
func origin(w *page, p *facts.Process, note string) {
	words := []string{fmt.Sprintf("Process %d (%s), measured.", p.PID, p.Name)}
	if note != "" {
		words = append(words, "Note: "+strings.TrimSuffix(note, ".")+".")
	}
	w.printf("%s\n\n", strings.Join(words, " "))
}

// resources writes a table of what a process has used.
func resources(w *page, src *source, role, title string, pictures ...string) {
	w.printf("### %s\n\n", title)
	p := watchedAs(src.f, role)
	if p.Process == nil || len(p.Points) == 0 {
		w.printf("n/a: %s.\n\n", p.missing())
		return
	}
	var rows [][]string
	for i := range src.f.Steps {
		s := &src.f.Steps[i]
		if p.Silent(s, hasRSS) {
			continue
		}
		cpu := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return x.CPU }))
		throttled := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return x.Throttled }))
		rss := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return facts.Whole(x.RSS) }))
		in := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return x.NetIn }))
		out := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return x.NetOut }))
		load := facts.Over(s, p.Values(func(x *facts.ResourcePoint) *float64 { return x.LoadPerCPU }))
		rows = append(rows, []string{
			s.Name, number("%.2f", cpu.Mean), number("%.2f", cpu.Top), number("%.2f", cpu.Peak), number("%.1f", throttled.Top*100),
			memory(rss.Mean), memory(rss.Top), three(in.Mean * 8 / 1e6), three(in.Top * 8 / 1e6), three(out.Mean * 8 / 1e6), three(out.Top * 8 / 1e6),
			number("%.2f", load.Mean), number("%.2f", load.Top),
		})
	}
	w.table([]string{
		"step", "CPU (avg), cores", "CPU (max), cores", "CPU (peak), cores", "CPU throttling (max), %", "RAM (avg)", "RAM (max)",
		"network in (avg), Mbps", "network in (max), Mbps", "network out (avg), Mbps", "network out (max), Mbps",
		"load of the machine per core (avg)", "load of the machine per core (max)",
	}, rows...)
	origin(w, p.Process, p.Note)
	windows(w, src)
	w.show(pictures...)
}

// windows explains the maxima.
func windows(w *page, src *source) {
	if len(src.steps) > 0 && facts.Long(src.steps[0]) {
		w.printf("Maxima are of means over %s, peaks of single samples; averages leave out the first %s of a step.\n\n", spell(int64(facts.Window)), spell(int64(facts.Settling)))
		return
	}
	w.printf("Samples are of %s; a step is too short for maxima of longer means.\n\n", spell(src.f.SeriesEveryNs))
}

// jvm writes a table of heap and collections.
func jvm(w *page, f *facts.Facts, role, title string, pictures ...string) {
	w.printf("### %s\n\n", title)
	p := watchedAs(f, role)
	if p.Process == nil || !p.Has(hasHeap) {
		why := p.missing()
		if p.Process != nil && p.JVMNote != "" {
			why = p.JVMNote
		}
		w.printf("n/a: %s.\n\n", strings.TrimSuffix(why, "."))
		return
	}
	var rows [][]string
	for i := range f.Steps {
		s := &f.Steps[i]
		if p.Silent(s, hasHeap) {
			continue
		}
		get := func(of func(*facts.ResourcePoint) *float64) facts.Stat { return facts.Over(s, p.Values(of)) }
		heap := get(func(x *facts.ResourcePoint) *float64 { return facts.Whole(x.Heap) })
		limit := get(func(x *facts.ResourcePoint) *float64 { return facts.Whole(x.HeapMax) })
		old := get(func(x *facts.ResourcePoint) *float64 { return facts.Whole(x.Old) })
		young := get(func(x *facts.ResourcePoint) *float64 { return facts.Whole(x.Young) })
		oldGC := facts.Over(s, p.PerMinute(func(x *facts.ResourcePoint) *int64 { return x.OldGCs }))
		youngGC := facts.Over(s, p.PerMinute(func(x *facts.ResourcePoint) *int64 { return x.YoungGCs }))
		pause := facts.Over(s, p.PerMinute(func(x *facts.ResourcePoint) *int64 { return x.GCTimeNs }))
		rows = append(rows, []string{
			s.Name, memory(heap.Top), memory(limit.Peak), memory(old.Top), memory(young.Top),
			number("%.0f", oldGC.Top), number("%.0f", youngGC.Top), number("%.1f", pause.Top/6e10*100), number("%.1f", pause.Mean/6e10*100),
		})
	}
	w.table([]string{
		"step", "HEAP used (max)", "HEAP limit", "old gen used (max)", "young gen used (max)",
		"GC count old (max), times/min", "GC count young (max), times/min", "time in GC (max), %", "time in GC (avg), %",
	}, rows...)
	origin(w, p.Process, p.JVMNote)
	w.show(pictures...)
}

func hasRSS(x *facts.ResourcePoint) bool  { return x.RSS != nil }
func hasHeap(x *facts.ResourcePoint) bool { return x.Heap != nil }
