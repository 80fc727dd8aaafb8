package tx

import (
	"context"
	"fmt"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/ab"
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
		{Driver: "dtm", Note: "saga"},
		{Driver: ab.Driver, Note: "saga, without accounts"},
	}
}

// binder connects the plan of a mode to stores, and refuses those that the mode does
// not run on.
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

// refused says why a mode does not run on the stores of a driver; nil: of another
// driver nothing is known.
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
