package report

import (
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// processes writes all figures of the processes that were watched.
func (r *reporter) processes() {
	r.resources(facts.RoleOwn, "perfbench, generators and store stage", "estore-network")
	r.jvm(facts.RoleOwn, "Heap of perfbench")
	r.resources(facts.RoleBroker, "RabbitMQ", "rabbitmq-network")
	role := storeProcess(r.f.Store)
	title := "Cassandra"
	if role != "cassandra" {
		title = "Store: " + role
	}
	r.resources(role, title, "store-cpu", "store-memory")
	if role == "cassandra" {
		r.jvm(role, "JVM of Cassandra", "store-heap", "store-gc", "store-gc-time")
	}
}

func (r *reporter) receivedInFull() {
	r.printf("### Events received by estore, with the drain\n\n")
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		rows = append(rows, []string{
			s.Name, number("%.0f", ratio(s.Received.Events, s.Received.Batches)),
			number("%.0f", ratio(s.ReceivedBytes, s.Received.Batches)/1024), number("%.2f", ratio(s.ReceivedBytes, s.Received.Events)/1024),
			r.rate(three(r.receivedRate(s) / 1000)), mostEvents(s),
		})
	}
	table(&r.b, []string{
		"step", "events in batch (avg), count", "batch size, serialized protobuf (avg), KiB", "event size, serialized protobuf (avg), KiB",
		"event rate (avg), K item/s", "events in batch (max), count",
	}, rows...)
}

// mostEvents returns the largest number of events in one batch, for a step that
// received any.
func mostEvents(s *facts.Step) string {
	if s.Received.Batches == 0 {
		return unknown
	}
	return fmt.Sprint(s.MaxBatch)
}

func (r *reporter) cradleInFull() {
	r.printf("### Content, with the drain\n\n")
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
		raw, compressed := r.contentRates(s)
		rows = append(rows, []string{
			s.Name, r.rate(three(raw / (1 << 20))), r.rate(three(compressed / (1 << 20))), number("%.2f", ratio(s.RawBytes, s.CompressedBytes)),
			r.rate(three(float64(s.LinkBytes) / s.Seconds() / (1 << 20))), r.rate(three(float64(s.StoredBytes) / s.Seconds() / (1 << 20))),
			number("%.0f", ratio(s.StoredBytes, s.Stored.Events)), fmt.Sprint(s.Rows), fmt.Sprint(s.Statements),
		})
	}
	table(&r.b, []string{
		"step", "raw rate (avg), MiB/s", "compressed rate (avg), MiB/s", "compression (avg), times",
		"attached ids (avg), MiB/s", "handed to the store (avg), MiB/s", "handed to the store, bytes/event", "rows", "statements",
	}, rows...)
	r.printf("Rates of content leave out the attached message ids, as the original's do; those have a column of their own.\n\n")
}

// missing says why there are no figures for a process.
func (r *reporter) missing(role string, p *facts.Process) string {
	switch {
	case p != nil && len(p.Points) == 0 && p.Note != "":
		return p.Note
	case p != nil && len(p.Points) == 0:
		return "nothing was measured: the run was too short"
	case p == nil && (role == "embedded" || role == "memory" || role == "null" || role == "sqlite"):
		return "the store is within perfbench, see estore"
	case role == "rabbitmq" && r.f.Transport == facts.ViaDirect:
		return "no broker: via=direct"
	default:
		return "no such process was watched; it must be on this machine, or name it with --set watch=" + role + "=PID"
	}
}

// source says where the figures of a process come from.
func (r *reporter) source(p *facts.Process, note string) {
	words := []string{fmt.Sprintf("Process %d (%s), measured.", p.PID, p.Name)}
	if note != "" {
		words = append(words, "Note: "+strings.TrimSuffix(note, ".")+".")
	}
	r.printf("%s\n\n", strings.Join(words, " "))
}

// resources writes a table of what a process has used.
func (r *reporter) resources(role, title string, pictures ...string) {
	r.printf("### %s\n\n", title)
	p := r.f.Process(role)
	if p == nil || len(p.Points) == 0 {
		r.printf("n/a: %s.\n\n", r.missing(role, p))
		return
	}
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
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
	table(&r.b, []string{
		"step", "CPU (avg), cores", "CPU (max), cores", "CPU (peak), cores", "CPU throttling (max), %", "RAM (avg)", "RAM (max)",
		"network in (avg), Mbps", "network in (max), Mbps", "network out (avg), Mbps", "network out (max), Mbps",
		"load of the machine per core (avg)", "load of the machine per core (max)",
	}, rows...)
	r.source(p, p.Note)
	r.windows()
	r.show(pictures...)
}

// windows explains the maxima.
func (r *reporter) windows() {
	if len(r.steps) > 0 && facts.Long(r.steps[0]) {
		r.printf("Maxima are of means over %s, peaks of single samples; averages leave out the first %s of a step.\n\n", spell(int64(facts.Window)), spell(int64(facts.Settling)))
		return
	}
	r.printf("Samples are of %s; a step is too short for maxima of longer means.\n\n", spell(r.f.SeriesEveryNs))
}

// jvm writes a table of heap and collections.
func (r *reporter) jvm(role, title string, pictures ...string) {
	r.printf("### %s\n\n", title)
	p := r.f.Process(role)
	if p == nil || !p.Has(hasHeap) {
		why := r.missing(role, p)
		if p != nil && p.JVMNote != "" {
			why = p.JVMNote
		}
		r.printf("n/a: %s.\n\n", strings.TrimSuffix(why, "."))
		return
	}
	var rows [][]string
	for i := range r.f.Steps {
		s := &r.f.Steps[i]
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
	table(&r.b, []string{
		"step", "HEAP used (max)", "HEAP limit", "old gen used (max)", "young gen used (max)",
		"GC count old (max), times/min", "GC count young (max), times/min", "time in GC (max), %", "time in GC (avg), %",
	}, rows...)
	r.source(p, p.JVMNote)
	r.show(pictures...)
}

func hasRSS(x *facts.ResourcePoint) bool  { return x.RSS != nil }
func hasHeap(x *facts.ResourcePoint) bool { return x.Heap != nil }
