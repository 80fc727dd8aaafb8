package coherence

import (
	"context"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

// beans are what the members report through JMX, summed over all of them. Backups are
// reported separately.
var beans = []store.BeanReading{
	store.ProcessorBean, store.UptimeBean,
	{Bean: watch.Bean{Name: "Coherence:type=Node,*", Attribute: "MemoryAvailableMB"}, Name: "free_heap_bytes", Scale: 1 << 20},
	{Bean: watch.Bean{Name: "Coherence:type=Cache,tier=back,*", Attribute: "TotalPuts"}, Name: "puts_per_s", Sum: true},
	{Bean: watch.Bean{Name: "Coherence:type=Cache,tier=back,*", Attribute: "TotalGets"}, Name: "gets_per_s", Sum: true},
	{Bean: watch.Bean{Name: "Coherence:type=Cache,tier=back,*", Attribute: "Size"}, Name: "entries"},
	{Bean: watch.Bean{Name: "Coherence:type=Service,*", Attribute: "TaskBacklog"}, Name: "waiting_tasks"},
	{Bean: watch.Bean{Name: "Coherence:type=Service,*", Attribute: "RequestPendingCount"}, Name: "pending_requests"},
	{Bean: watch.Bean{Name: "Coherence:type=Service,*", Attribute: "RequestTotalCount"}, Name: "service_requests_per_s", Sum: true},
	{Bean: watch.Bean{Name: "Coherence:type=Node,*", Attribute: "PacketsResent"}, Name: "resent_packets_per_s", Sum: true},
}

// Meter reads what the agent of a member reports.
type Meter struct {
	agent *watch.Agent // nil if none is known
}

// Usage returns the processor time of a member that has an agent.
func (mt *Meter) Usage(ctx context.Context) store.Usage {
	readings, _ := mt.Readings(ctx) // what is not reported is unknown
	return store.UsageOf(readings, "", "")
}

// Readings returns what the agent of a member reports. Coherence itself does not tell
// clients anything of the kind, so without an agent there are none.
func (mt *Meter) Readings(ctx context.Context) ([]store.Reading, error) {
	if mt.agent == nil {
		return nil, nil
	}
	return store.ReadBeans(ctx, mt.agent, beans)
}
