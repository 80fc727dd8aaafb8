package group

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/inmemory"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/oncoherence"
	"github.com/perfbench/perfbench/profiles/group/onredis"
	"github.com/perfbench/perfbench/profiles/group/onsql"
	"github.com/perfbench/perfbench/profiles/group/run"
)

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded", Note: "no stopic, no near cache"},
		{Driver: "redis"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "cassandra", Note: "maps"},
		{Driver: "mysql", Note: "maps, entities"},
		{Driver: "postgres", Note: "maps, entities"},
		{Driver: "sqlite", Note: "maps, entities"},
		{Driver: "coherence", Note: "maps, mcaches, queues"},
		{Driver: "memcached", Refuse: "its items are neither maps that can be listed nor queues nor topics; use redis:// or embedded:"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no entries; use redis:// or embedded:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no entries; use redis:// or embedded:"},
	}
}

// plan works out the plan and how to connect it to stores.
func plan(in workload.Inputs) (*workload.Plan, error) {
	p, s, err := design.Design(in)
	if err != nil {
		return nil, err
	}
	p.Binder = binder{s}
	return p, nil
}

// binder connects a plan to stores, and lists what it names.
type binder struct{ s *model.Spec }

// Connector connects a plan to tables if it writes entities there, and otherwise to the
// layer for the driver.
func (b binder) Connector(driver string) workload.Connector {
	s := b.s
	switch {
	case s.Database:
		return run.Connector(s, onsql.New)
	case driver == "embedded", driver == "redis":
		return run.Connector(s, onredis.New)
	case driver == "coherence":
		return run.Connector(s, oncoherence.New)
	case driver == "memory", driver == "null":
		return run.Connector(s, inMemory)
	}
	return run.Connector(s, onMaps)
}

// Needs says which structures are more than commands of their own.
func (b binder) Needs(driver string) []store.Need {
	if driver != "redis" || b.s.Database {
		return nil
	}
	var out []store.Need
	for _, o := range b.s.Order {
		switch o.Kind {
		case model.KindCache:
			out = append(out, store.Need{Ability: store.Scripts, For: "a map cache (mcache)", Instead: "use a map, or a bucket, whose entries can expire too"})
		case model.KindRTopic:
			out = append(out, store.Need{Ability: store.Streams, For: "a reliable topic (rtopic)", Instead: "use a topic or a queue"})
		}
	}
	return out
}

// Share divides the callers of each group.
func (b binder) Share(p *workload.Plan, i, n int) error {
	s, err := run.Share(b.s, p, i, n)
	if err == nil {
		p.Binder = binder{s}
	}
	return err
}

// Passes says that any caller can invoke what another has left.
func (b binder) Passes() error { return nil }

// onMaps provides maps through the shapes that every store has.
func onMaps(_ context.Context, s *model.Spec, c store.Conn) (model.Adapter, error) {
	return model.NewMaps(s, c), noNearCache(s)
}

// inMemory provides every structure in this process.
func inMemory(_ context.Context, s *model.Spec, c store.Conn) (model.Adapter, error) {
	return inmemory.New(s, c), noNearCache(s)
}

func noNearCache(s *model.Spec) error {
	if s.Near {
		return fault.Input(fmt.Errorf("nearCache: %s has no client-side caching", s.Driver), "use redis:// or coherence://")
	}
	return nil
}
