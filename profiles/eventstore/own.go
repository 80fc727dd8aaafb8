package eventstore

import (
	"context"
	"encoding/json"

	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
)

// own is a sample of a worker's process, which the worker reports to the coordinator.
// It is encoded as JSON, because gob does not distinguish 0 from unknown.
type own facts.ResourcePoint

// GobEncode implements gob.GobEncoder.
func (o *own) GobEncode() ([]byte, error) { return json.Marshal((*facts.ResourcePoint)(o)) }

// GobDecode implements gob.GobDecoder.
func (o *own) GobDecode(data []byte) error { return json.Unmarshal(data, (*facts.ResourcePoint)(o)) }

// sampleOwn samples this process, once a second, on the goroutine that reports it.
func (b *binding) sampleOwn(ctx context.Context) *own {
	if b.self == nil {
		b.self = watch.Self(ctx)
	}
	p := watched{facts: facts.Process{Role: facts.RoleOwn}}
	return (*own)(new(p.point(b.self.Take(ctx))))
}

// plus adds the sample of another process at the same moment; nil is none.
func (o *own) plus(p *own) *own {
	if o == nil || p == nil {
		if o == nil {
			return p
		}
		return o
	}
	return &own{
		CPU: sum(o.CPU, p.CPU), Throttled: higher(o.Throttled, p.Throttled), NetIn: sum(o.NetIn, p.NetIn), NetOut: sum(o.NetOut, p.NetOut),
		RSS: sum(o.RSS, p.RSS), Heap: sum(o.Heap, p.Heap), HeapMax: sum(o.HeapMax, p.HeapMax), Old: sum(o.Old, p.Old), Young: sum(o.Young, p.Young),
		OldGCs: sum(o.OldGCs, p.OldGCs), YoungGCs: sum(o.YoungGCs, p.YoungGCs), GCTimeNs: higher(o.GCTimeNs, p.GCTimeNs),
	}
}

// after combines this sample with the one before it.
func (o *own) after(earlier *own) *own {
	if o == nil || earlier == nil {
		return o.plus(earlier)
	}
	return (*own)(new(joined(facts.ResourcePoint(*earlier), facts.ResourcePoint(*o))))
}

// workers returns what the processes of all workers used together, second by second.
func (x *series) workers() []facts.ResourcePoint {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := []facts.ResourcePoint{}
	for _, l := range x.looks.Samples() {
		if l.Own != nil {
			p := facts.ResourcePoint(*l.Own)
			p.AtNs = l.AtNs
			out = append(out, p)
		}
	}
	return out
}
