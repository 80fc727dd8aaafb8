package report

import ()

// The original's tables, with its headings and column names: the steps without the
// drain, each value with its unit.

// metrics writes all of them.
func metrics(w *page, src *source) {
	w.printf("## metrics during performance tests execution\n\n")
	received(w, src)
	content(w, src)
	estoreResources(w, src)
	estoreJVM(w, src)
	brokerResources(w, src)
	storeResources(w, src)
}

// perStep writes a table with a row for each step.
func perStep(w *page, steps []*Step, head []string, cells func(*Step) []string) {
	var rows [][]string
	for _, s := range steps {
		rows = append(rows, append([]string{s.Name}, cells(s)...))
	}
	w.stepTable(head, rows)
}

func received(w *page, src *source) {
	w.printf("### events received by estore (avg)\n\n")
	perStep(w, src.steps, []string{"step", "events in batch", "batch size<br/>(serialized protobuf)", "event size<br/>(serialized protobuf)", "event rate"}, func(s *Step) []string {
		return []string{
			number("%.0f", ratio(s.Received.Events, s.Received.Batches)), number("%.0f KiB", ratio(s.ReceivedBytes, s.Received.Batches)/1024),
			number("%.2f KiB", ratio(s.ReceivedBytes, s.Received.Events)/1024), src.rate(with(three(receivedRate(src.f, s)/1000), "K item/s")),
		}
	})
	w.show("event-rate", "batch-events", "batch-bytes", "event-bytes")
}

func content(w *page, src *source) {
	w.printf("### cradle (avg)\n\n")
	perStep(w, src.steps, []string{"step", "raw rate", "compressed rate", "compression"}, func(s *Step) []string {
		raw, compressed := contentRates(src.f, s)
		return []string{
			src.rate(with(three(raw/(1<<20)), " MiB/s")), src.rate(with(three(compressed/(1<<20)), " MiB/s")), number("%.2f times", ratio(s.RawBytes, s.CompressedBytes)),
		}
	})
	w.show("content")
}

func estoreResources(w *page, src *source) {
	p := watchedAs(src.f, RoleOwn)
	w.printf("### computation resources by estore (max)\n\n")
	perStep(w, src.steps, []string{"step", "CPU", "CPU throttling", "RAM"}, func(s *Step) []string {
		return []string{
			number("%.2f", p.Top(s, func(x *ResourcePoint) *float64 { return x.CPU })),
			number("%.1f %%", 100*p.Top(s, func(x *ResourcePoint) *float64 { return x.Throttled })),
			memory(p.TopWhole(s, func(x *ResourcePoint) *int64 { return x.RSS })),
		}
	})
	p.why(w, hasRSS)
	w.show("estore-cpu", "estore-throttling", "estore-memory")
}

func estoreJVM(w *page, src *source) {
	p := watchedAs(src.f, RoleOwn)
	w.printf("### JVM metrics of estore (max)\n\n")
	perStep(w, src.steps, []string{"step", "HEAP", "old gen", "yang gen", "GC count<br/>old gen", "GC count<br/>yang gen"}, func(s *Step) []string {
		return []string{
			memory(p.TopWhole(s, func(x *ResourcePoint) *int64 { return x.Heap })), memory(p.TopWhole(s, func(x *ResourcePoint) *int64 { return x.Old })),
			memory(p.TopWhole(s, func(x *ResourcePoint) *int64 { return x.Young })),
			number("%.0f times/min", p.TopCount(s, func(x *ResourcePoint) *int64 { return x.OldGCs })), number("%.0f times/min", p.TopCount(s, func(x *ResourcePoint) *int64 { return x.YoungGCs })),
		}
	})
	p.why(w, hasHeap)
	w.show("estore-heap", "estore-gc", "estore-gc-time")
}

func brokerResources(w *page, src *source) {
	p := watchedAs(src.f, RoleBroker)
	w.printf("## Computation resources RabbitMQ (max)\n\n")
	perStep(w, src.steps, []string{"step", "CPU", "RAM"}, func(s *Step) []string {
		return []string{number("%.2f", p.Top(s, func(x *ResourcePoint) *float64 { return x.CPU })), memory(p.TopWhole(s, func(x *ResourcePoint) *int64 { return x.RSS }))}
	})
	p.why(w, hasRSS)
	w.show("rabbitmq-cpu", "rabbitmq-memory")
}

func storeResources(w *page, src *source) {
	p := watchedAs(src.f, storeProcess(src.f.Store))
	w.printf("## Computation resources Cassandra (max)\n\n")
	perStep(w, src.steps, []string{"step", "CPU", "RAM", "Network"}, func(s *Step) []string {
		return []string{
			number("%.2f", p.Top(s, func(x *ResourcePoint) *float64 { return x.LoadPerCPU })), memory(p.TopWhole(s, func(x *ResourcePoint) *int64 { return x.MachineUsed })),
			number("%.2f Mbps", p.Top(s, func(x *ResourcePoint) *float64 { return x.NetIn })*8/1e6),
		}
	})
	p.why(w, func(x *ResourcePoint) bool { return x.LoadPerCPU != nil })
	w.show("store-load", "store-machine-memory", "store-network")
}

// with adds a unit to a known value.
func with(text, unit string) string {
	if text == unknown {
		return text
	}
	return text + unit
}
