package report

import (
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// The original's tables, with its headings and column names: the steps without the
// drain, each value with its unit.

// metrics writes all of them.
func (r *reporter) metrics() {
	r.printf("## metrics during performance tests execution\n\n")
	r.received()
	r.cradle()
	r.estoreResources()
	r.estoreJVM()
	r.broker()
	r.storeResources()
}

// table writes one of the original's tables; without rows it says that there are none.
func (r *reporter) table(head []string, rows [][]string) {
	if len(rows) == 0 {
		row := make([]string, len(head))
		for i := range row {
			row[i] = unknown
		}
		rows = [][]string{row}
	}
	table(&r.b, head, rows...)
}

// perStep writes a table with a row for each step.
func (r *reporter) perStep(head []string, cells func(*facts.Step) []string) {
	var rows [][]string
	for _, s := range r.steps {
		rows = append(rows, append([]string{s.Name}, cells(s)...))
	}
	r.table(head, rows)
}

func (r *reporter) received() {
	r.printf("### events received by estore (avg)\n\n")
	r.perStep([]string{"step", "events in batch", "batch size<br/>(serialized protobuf)", "event size<br/>(serialized protobuf)", "event rate"}, func(s *facts.Step) []string {
		return []string{
			number("%.0f", ratio(s.Received.Events, s.Received.Batches)), number("%.0f KiB", ratio(s.ReceivedBytes, s.Received.Batches)/1024),
			number("%.2f KiB", ratio(s.ReceivedBytes, s.Received.Events)/1024), r.rate(with(three(r.receivedRate(s)/1000), "K item/s")),
		}
	})
	r.show("event-rate", "batch-events", "batch-bytes", "event-bytes")
}

// receivedRate returns how many events per second a step received.
func (r *reporter) receivedRate(s *facts.Step) float64 {
	if facts.Long(s) {
		return facts.Over(s, r.f.Values(func(p *facts.SeriesPoint) float64 { return p.Received })).Mean
	}
	return float64(s.Received.Events) / s.Seconds()
}

// contentRates returns the bytes per second of content, before and after compression.
func (r *reporter) contentRates(s *facts.Step) (raw, compressed float64) {
	if facts.Long(s) {
		return facts.Over(s, r.f.Values(func(p *facts.SeriesPoint) float64 { return p.Raw })).Mean, facts.Over(s, r.f.Values(func(p *facts.SeriesPoint) float64 { return p.Compressed })).Mean
	}
	return float64(s.RawBytes) / s.Seconds(), float64(s.CompressedBytes) / s.Seconds()
}

func (r *reporter) cradle() {
	r.printf("### cradle (avg)\n\n")
	r.perStep([]string{"step", "raw rate", "compressed rate", "compression"}, func(s *facts.Step) []string {
		raw, compressed := r.contentRates(s)
		return []string{
			r.rate(with(three(raw/(1<<20)), " MiB/s")), r.rate(with(three(compressed/(1<<20)), " MiB/s")), number("%.2f times", ratio(s.RawBytes, s.CompressedBytes)),
		}
	})
	r.show("content")
}

func (r *reporter) estoreResources() {
	p := r.f.Process(facts.RoleOwn)
	r.printf("### computation resources by estore (max)\n\n")
	r.perStep([]string{"step", "CPU", "CPU throttling", "RAM"}, func(s *facts.Step) []string {
		return []string{
			number("%.2f", p.Top(s, func(x *facts.ResourcePoint) *float64 { return x.CPU })),
			number("%.1f %%", 100*p.Top(s, func(x *facts.ResourcePoint) *float64 { return x.Throttled })),
			memory(p.TopWhole(s, func(x *facts.ResourcePoint) *int64 { return x.RSS })),
		}
	})
	r.why(facts.RoleOwn, p, hasRSS)
	r.show("estore-cpu", "estore-throttling", "estore-memory")
}

func (r *reporter) estoreJVM() {
	p := r.f.Process(facts.RoleOwn)
	r.printf("### JVM metrics of estore (max)\n\n")
	r.perStep([]string{"step", "HEAP", "old gen", "yang gen", "GC count<br/>old gen", "GC count<br/>yang gen"}, func(s *facts.Step) []string {
		return []string{
			memory(p.TopWhole(s, func(x *facts.ResourcePoint) *int64 { return x.Heap })), memory(p.TopWhole(s, func(x *facts.ResourcePoint) *int64 { return x.Old })),
			memory(p.TopWhole(s, func(x *facts.ResourcePoint) *int64 { return x.Young })),
			number("%.0f times/min", p.TopCount(s, func(x *facts.ResourcePoint) *int64 { return x.OldGCs })), number("%.0f times/min", p.TopCount(s, func(x *facts.ResourcePoint) *int64 { return x.YoungGCs })),
		}
	})
	r.why(facts.RoleOwn, p, hasHeap)
	r.show("estore-heap", "estore-gc", "estore-gc-time")
}

func (r *reporter) broker() {
	p := r.f.Process(facts.RoleBroker)
	r.printf("## Computation resources RabbitMQ (max)\n\n")
	r.perStep([]string{"step", "CPU", "RAM"}, func(s *facts.Step) []string {
		return []string{number("%.2f", p.Top(s, func(x *facts.ResourcePoint) *float64 { return x.CPU })), memory(p.TopWhole(s, func(x *facts.ResourcePoint) *int64 { return x.RSS }))}
	})
	r.why(facts.RoleBroker, p, hasRSS)
	r.show("rabbitmq-cpu", "rabbitmq-memory")
}

func (r *reporter) storeResources() {
	role := storeProcess(r.f.Store)
	p := r.f.Process(role)
	r.printf("## Computation resources Cassandra (max)\n\n")
	r.perStep([]string{"step", "CPU", "RAM", "Network"}, func(s *facts.Step) []string {
		return []string{
			number("%.2f", p.Top(s, func(x *facts.ResourcePoint) *float64 { return x.LoadPerCPU })), memory(p.TopWhole(s, func(x *facts.ResourcePoint) *int64 { return x.MachineUsed })),
			number("%.2f Mbps", p.Top(s, func(x *facts.ResourcePoint) *float64 { return x.NetIn })*8/1e6),
		}
	})
	r.why(role, p, func(x *facts.ResourcePoint) bool { return x.LoadPerCPU != nil })
	r.show("store-load", "store-machine-memory", "store-network")
}

// storeProcess returns the role of the store's process.
func storeProcess(driver string) string {
	if driver == "" {
		return "cassandra"
	}
	return driver
}

// why says why a table has no figures.
func (r *reporter) why(role string, p *facts.Process, what func(*facts.ResourcePoint) bool) {
	if p == nil || !p.Has(what) {
		r.printf("n/a: %s.\n\n", r.missing(role, p))
	}
}

// with adds a unit to a known value.
func with(text, unit string) string {
	if text == unknown {
		return text
	}
	return text + unit
}
