package report

import (
	"cmp"
	"fmt"
	"strings"
)

// watched is one of the run's processes, by its role.
type watched struct {
	*Process   // nil if none was watched
	role       string
	brokerless bool // nothing stood between generators and store stage
}

func watchedAs(f *Facts, role string) watched {
	return watched{f.Process(role), role, f.Transport == ViaDirect}
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
	case p.role == RoleBroker && p.brokerless:
		return "no broker: via=direct"
	default:
		return "no such process was watched; it must be on this machine, or name it with --set watch=" + p.role + "=PID"
	}
}

// why says why a table has no figures.
func (p watched) why(w *page, what func(*ResourcePoint) bool) {
	if p.Process == nil || !p.Has(what) {
		w.printf("n/a: %s.\n\n", p.missing())
	}
}

// storeProcess returns the role of the store's process.
func storeProcess(driver string) string { return cmp.Or(driver, "cassandra") }

// processes writes all figures of the processes that were watched.
func processes(w *page, src *source) {
	resources(w, src, RoleOwn, "perfbench, generators and store stage", "estore-network")
	jvm(w, src.f, RoleOwn, "Heap of perfbench")
	resources(w, src, RoleBroker, "RabbitMQ", "rabbitmq-network")
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
func origin(w *page, p *Process, note string) {
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
		cpu := Over(s, p.Values(func(x *ResourcePoint) *float64 { return x.CPU }))
		throttled := Over(s, p.Values(func(x *ResourcePoint) *float64 { return x.Throttled }))
		rss := Over(s, p.Values(func(x *ResourcePoint) *float64 { return Whole(x.RSS) }))
		in := Over(s, p.Values(func(x *ResourcePoint) *float64 { return x.NetIn }))
		out := Over(s, p.Values(func(x *ResourcePoint) *float64 { return x.NetOut }))
		load := Over(s, p.Values(func(x *ResourcePoint) *float64 { return x.LoadPerCPU }))
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
	if len(src.steps) > 0 && Long(src.steps[0]) {
		w.printf("Maxima are of means over %s, peaks of single samples; averages leave out the first %s of a step.\n\n", spell(int64(Window)), spell(int64(Settling)))
		return
	}
	w.printf("Samples are of %s; a step is too short for maxima of longer means.\n\n", spell(src.f.SeriesEveryNs))
}

// jvm writes a table of heap and collections.
func jvm(w *page, f *Facts, role, title string, pictures ...string) {
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
		get := func(of func(*ResourcePoint) *float64) Stat { return Over(s, p.Values(of)) }
		heap := get(func(x *ResourcePoint) *float64 { return Whole(x.Heap) })
		limit := get(func(x *ResourcePoint) *float64 { return Whole(x.HeapMax) })
		old := get(func(x *ResourcePoint) *float64 { return Whole(x.Old) })
		young := get(func(x *ResourcePoint) *float64 { return Whole(x.Young) })
		oldGC := Over(s, p.PerMinute(func(x *ResourcePoint) *int64 { return x.OldGCs }))
		youngGC := Over(s, p.PerMinute(func(x *ResourcePoint) *int64 { return x.YoungGCs }))
		pause := Over(s, p.PerMinute(func(x *ResourcePoint) *int64 { return x.GCTimeNs }))
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

func hasRSS(x *ResourcePoint) bool  { return x.RSS != nil }
func hasHeap(x *ResourcePoint) bool { return x.Heap != nil }
