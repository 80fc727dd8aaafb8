package tx

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/ab"
	"github.com/perfbench/perfbench/profiles/tx/baseline"
	"github.com/perfbench/perfbench/profiles/tx/saga"
)

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded"},
		{Driver: "redis"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "cassandra", Note: "pbm: get, getall"},
		{Driver: "mysql"},
		{Driver: "postgres"},
		{Driver: "sqlite"},
		{Driver: "coherence", Note: "pbm"},
		{Driver: "memcached", Refuse: "it has no step over several items; use redis:// or embedded:"},
		{Driver: "dtm", Note: "saga"},
		{Driver: ab.Driver, Note: "saga, without accounts"},
	}
}

// binder connects the plan of a mode to stores, and refuses those on which the mode
// does not run.
type binder struct {
	workload.Binder
	mode string
}

// Connector connects the plan to stores of a driver.
func (b binder) Connector(driver string) workload.Connector {
	if c := b.Binder.Connector(driver); c != nil {
		return c
	}
	return refused(driver, b.mode)
}

// Needs returns what the plan of the mode needs.
func (b binder) Needs(driver string) []store.Need {
	return (&workload.Plan{Binder: b.Binder}).Needs(driver)
}

// Share divides the work of the mode.
func (b binder) Share(p *workload.Plan, i, n int) error {
	s, ok := b.Binder.(workload.Divisible)
	if !ok {
		return fault.Hint(fmt.Errorf("mode=%s cannot be divided among workers: %s", b.mode, undivided[b.mode]), "leave --workers out, or use --set mode=pbm or saga")
	}
	if err := s.Share(p, i, n); err != nil {
		return err
	}
	p.Binder = binder{p.Binder, b.mode}
	return nil
}

// Passes says why nobody can do what another process has left in the mode.
func (b binder) Passes() error { return (&workload.Plan{Binder: b.Binder}).Passes() }

// undivided says why the work of a mode cannot be divided between processes.
var undivided = map[string]string{
	saga.Mode:     "what dtm's benchmark server answered stays in the process of its clients",
	baseline.Mode: "it measures what one client machine can do, row after row",
}

// refused says why a mode does not run on the stores of a driver; nil if nothing is
// known about the driver.
func refused(driver, mode string) workload.Connector {
	why, ok := map[string][2]string{
		"cassandra": {"Cassandra: it has no transactions over several rows", "use --set mode=pbm with get and getall, or redis://, postgres: or embedded:"},
		"coherence": {"Coherence: its Go client has neither transactions nor scripts over several entries", "use --set mode=pbm, or redis://"},
		"dtm":       {"a dtm server: it coordinates sagas and stores nothing else", "use --set mode=saga, or redis://"},
		ab.Driver:   {"dtm's benchmark server: it carries out sagas and nothing else", "use --preset dtm, or redis://"},
	}[driver]
	if !ok {
		return nil
	}
	return func(context.Context, *workload.Bound) error {
		return fault.Input(fmt.Errorf("mode=%s does not run on %s", mode, why[0]), why[1])
	}
}
