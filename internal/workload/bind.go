package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
)

// Binder knows how to connect a plan to stores. A profile's Design makes it together
// with the plan: it is what Design found out about the run.
type Binder interface {
	// Connector returns what connects the plan to the stores of a driver; nil: the
	// plan does not run there.
	Connector(driver string) Connector
}

// Connector connects a plan to a store: it fills in Claims, Admit, Setup, Verify,
// Teardown, Facts and the tracks' NewTask. It may ask the store but changes nothing.
type Connector func(ctx context.Context, b *Bound) error

// Bound is a plan on its way to a store.
type Bound struct {
	*Plan
	// Conn is the connection to the store.
	Conn store.Conn
	// RunID is the id of the run.
	RunID string
}

// Lister is a Binder whose plan names things of its own that a listing shows in a
// layout of its own.
type Lister interface {
	// Listing describes what the plan names, with its size now; with a claim on the
	// namespace, what of it is ours is deleted.
	Listing(ctx context.Context, c store.Conn, remove *place.Claim) (string, error)
}

// Shared is a Binder whose plan several processes can carry out together. Each makes the
// whole plan from the same values, and then keeps its part of the work.
type Shared interface {
	// Share leaves in p, which is not bound yet, what the process of number i of n does:
	// together they do what one process would, to the byte. The error says why the work of
	// this plan cannot be divided so. Nothing that p shares with a copy of it is changed.
	Share(p *Plan, i, n int) error
}

// Divide calls Share where the plan can be shared, and else says that it cannot.
func (p *Plan) Divide(i, n int) error {
	s, ok := p.Binder.(Shared)
	if !ok {
		return errors.New("its work cannot be divided among workers yet")
	}
	return s.Share(p, i, n)
}

// On makes a Connector of one for connections of type C, which those of the driver
// are.
func On[C any](connect func(ctx context.Context, c C, b *Bound) error) Connector {
	return func(ctx context.Context, b *Bound) error {
		c, err := store.As[C](b.Conn)
		if err != nil {
			return fault.Store(err, "use another --target: perfbench list profiles says where each profile runs")
		}
		return connect(ctx, c, b)
	}
}

// Bind connects a copy of the plan to a store of that driver, for the run of that id,
// and returns the copy. A plan is bound once: what its Binder holds belongs to the run.
func (p *Plan) Bind(ctx context.Context, driver string, c store.Conn, runID string) (*Plan, error) {
	connect := p.Binder.Connector(driver)
	if connect == nil {
		return nil, fault.Input(fmt.Errorf("this plan does not run on %s", driver), "perfbench list profiles says where each profile runs")
	}
	q := *p
	q.Phases = slices.Clone(p.Phases)
	for i := range q.Phases {
		q.Phases[i].Tracks = slices.Clone(q.Phases[i].Tracks)
	}
	if err := connect(ctx, &Bound{Plan: &q, Conn: c, RunID: runID}); err != nil {
		return nil, err
	}
	return &q, nil
}
