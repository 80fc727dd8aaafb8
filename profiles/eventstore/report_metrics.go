package eventstore

// The tables of the original, by its headings and names of columns: the steps without
// the drain, each value with its unit.

// metrics are all of them.
func (r *reporter) metrics() {
	r.printf("## metrics during performance tests execution\n\n")
	r.received()
	r.cradle()
	r.estoreResources()
	r.estoreJVM()
	r.broker()
	r.storeResources()
}

// table writes a table of the original; without rows it has one that says so.
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
func (r *reporter) perStep(head []string, cells func(*StepFacts) []string) {
	var rows [][]string
	for _, s := range r.steps {
		rows = append(rows, append([]string{s.Name}, cells(s)...))
	}
	r.table(head, rows)
}

func (r *reporter) received() {
	r.printf("### events received by estore (avg)\n\n")
	r.perStep([]string{"step", "events in batch", "batch size<br/>(serialized protobuf)", "event size<br/>(serialized protobuf)", "event rate"}, func(s *StepFacts) []string {
		return []string{
			number("%.0f", ratio(s.Received.Events, s.Received.Batches)), number("%.0f KiB", ratio(s.ReceivedBytes, s.Received.Batches)/1024),
			number("%.2f KiB", ratio(s.ReceivedBytes, s.Received.Events)/1024), r.rate(with(three(r.receivedRate(s)/1000), "K item/s")),
		}
	})
	r.show("event-rate", "batch-events", "batch-bytes", "event-bytes")
}

// receivedRate is events a second that a step received.
func (r *reporter) receivedRate(s *StepFacts) float64 {
	if long(s) {
		return over(s, r.f.values(func(p *SeriesPoint) float64 { return p.Received })).mean
	}
	return float64(s.Received.Events) / s.seconds()
}

// contentRates are bytes a second of content before and after compression.
func (r *reporter) contentRates(s *StepFacts) (raw, compressed float64) {
	if long(s) {
		return over(s, r.f.values(func(p *SeriesPoint) float64 { return p.Raw })).mean, over(s, r.f.values(func(p *SeriesPoint) float64 { return p.Compressed })).mean
	}
	return float64(s.RawBytes) / s.seconds(), float64(s.CompressedBytes) / s.seconds()
}

func (r *reporter) cradle() {
	r.printf("### cradle (avg)\n\n")
	r.perStep([]string{"step", "raw rate", "compressed rate", "compression"}, func(s *StepFacts) []string {
		raw, compressed := r.contentRates(s)
		return []string{
			r.rate(with(three(raw/(1<<20)), " MiB/s")), r.rate(with(three(compressed/(1<<20)), " MiB/s")), number("%.2f times", ratio(s.RawBytes, s.CompressedBytes)),
		}
	})
	r.show("content")
}

func (r *reporter) estoreResources() {
	p := r.f.process(roleOwn)
	r.printf("### computation resources by estore (max)\n\n")
	r.perStep([]string{"step", "CPU", "CPU throttling", "RAM"}, func(s *StepFacts) []string {
		return []string{
			number("%.2f", p.top(s, func(x *ResourcePoint) *float64 { return x.CPU })),
			number("%.1f %%", 100*p.top(s, func(x *ResourcePoint) *float64 { return x.Throttled })),
			memory(p.topWhole(s, func(x *ResourcePoint) *int64 { return x.RSS })),
		}
	})
	r.why(roleOwn, p, hasRSS)
	r.show("estore-cpu", "estore-throttling", "estore-memory")
}

func (r *reporter) estoreJVM() {
	p := r.f.process(roleOwn)
	r.printf("### JVM metrics of estore (max)\n\n")
	r.perStep([]string{"step", "HEAP", "old gen", "yang gen", "GC count<br/>old gen", "GC count<br/>yang gen"}, func(s *StepFacts) []string {
		return []string{
			memory(p.topWhole(s, func(x *ResourcePoint) *int64 { return x.Heap })), memory(p.topWhole(s, func(x *ResourcePoint) *int64 { return x.Old })),
			memory(p.topWhole(s, func(x *ResourcePoint) *int64 { return x.Young })),
			number("%.0f times/min", p.topCount(s, func(x *ResourcePoint) *int64 { return x.OldGCs })), number("%.0f times/min", p.topCount(s, func(x *ResourcePoint) *int64 { return x.YoungGCs })),
		}
	})
	r.why(roleOwn, p, hasHeap)
	r.show("estore-heap", "estore-gc", "estore-gc-time")
}

func (r *reporter) broker() {
	p := r.f.process(roleBroker)
	r.printf("## Computation resources RabbitMQ (max)\n\n")
	r.perStep([]string{"step", "CPU", "RAM"}, func(s *StepFacts) []string {
		return []string{number("%.2f", p.top(s, func(x *ResourcePoint) *float64 { return x.CPU })), memory(p.topWhole(s, func(x *ResourcePoint) *int64 { return x.RSS }))}
	})
	r.why(roleBroker, p, hasRSS)
	r.show("rabbitmq-cpu", "rabbitmq-memory")
}

func (r *reporter) storeResources() {
	role := storeProcess(r.f.Store)
	p := r.f.process(role)
	r.printf("## Computation resources Cassandra (max)\n\n")
	r.perStep([]string{"step", "CPU", "RAM", "Network"}, func(s *StepFacts) []string {
		return []string{
			number("%.2f", p.top(s, func(x *ResourcePoint) *float64 { return x.LoadPerCPU })), memory(p.topWhole(s, func(x *ResourcePoint) *int64 { return x.MachineUsed })),
			number("%.2f Mbps", p.top(s, func(x *ResourcePoint) *float64 { return x.NetIn })*8/1e6),
		}
	})
	r.why(role, p, func(x *ResourcePoint) bool { return x.LoadPerCPU != nil })
	r.show("store-load", "store-machine-memory", "store-network")
}

// storeProcess is the role of the store's process.
func storeProcess(driver string) string {
	if driver == "" {
		return "cassandra"
	}
	return driver
}

// why says why a table has no figures.
func (r *reporter) why(role string, p *ProcessFacts, what func(*ResourcePoint) bool) {
	if p == nil || !p.has(what) {
		r.printf("n/a: %s.\n\n", r.missing(role, p))
	}
}

// with adds a unit to what is known.
func with(text, unit string) string {
	if text == unknown {
		return text
	}
	return text + unit
}
