package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
)

// Binder connects a plan to stores. A profile's Design creates it together with
// the plan, and it holds what Design worked out about the run.
type Binder interface {
	// Connector returns the function that connects the plan to the stores of a
	// driver, or nil if the plan does not run on that driver.
	Connector(driver string) Connector
}

// Needy is a Binder whose plan needs what some servers lack that speak the protocol of a
// driver.
type Needy interface {
	// Needs returns what the plan needs of a store of the driver.
	Needs(driver string) []store.Need
}

// Needs returns what the plan needs of a store of the driver beyond its shapes.
func (p *Plan) Needs(driver string) []store.Need {
	if n, ok := p.Binder.(Needy); ok {
		return n.Needs(driver)
	}
	return nil
}

// Connector connects a plan to a store: it fills in Claims, Parts and the tracks'
// NewTask, and registers what is Shared. It may query
// the store but must not change anything.
type Connector func(ctx context.Context, b *Bound) error

// Bound is a plan that is being connected to a store.
type Bound struct {
	*Plan
	// Conn is the connection to the store.
	Conn store.Conn
	// RunID is the id of the run.
	RunID string
}

// Lister is a Binder that can list what its plan creates in a store, in a layout
// of its own.
type Lister interface {
	// Listing lists what the plan's names refer to in the store, with current
	// sizes. With a claim on the namespace, it also deletes those that belong to
	// us.
	Listing(ctx context.Context, c store.Conn, remove *ownership.Claim) (string, error)
}

// Divisible is a Binder whose plan several processes can carry out together. Each of
// them designs the whole plan from the same values and then keeps its own part of
// the work.
type Divisible interface {
	// Share reduces p, which must not be bound yet, to the work of process i of n.
	// Together the processes do exactly what a single one would, to the byte. The
	// error says why the work of this plan cannot be divided. Data that p shares
	// with copies of itself is not modified.
	Share(p *Plan, i, n int) error
}

// Divide calls Share if the plan can be shared, and otherwise returns an error
// saying that it cannot.
func (p *Plan) Divide(i, n int) error {
	s, ok := p.Binder.(Divisible)
	if !ok {
		return errors.New("its work cannot be divided among workers yet")
	}
	return s.Share(p, i, n)
}

// Heritable is a Divisible whose parts another process can finish; see Pass.
type Heritable interface {
	// Passes says why that is not possible; nil if it is.
	Passes() error
}

// Passes says why nobody can finish the part of a lost process; nil if another can.
func (p *Plan) Passes() error {
	s, ok := p.Binder.(Heritable)
	if !ok {
		return errors.New("each worker has a part of the work that no other can take on")
	}
	return s.Passes()
}

// On makes a Connector from a function that takes connections of type C, the type
// that the driver's connections have.
func On[C any](connect func(ctx context.Context, c C, b *Bound) error) Connector {
	return func(ctx context.Context, b *Bound) error {
		c, err := store.As[C](b.Conn)
		if err != nil {
			return fault.Store(err, "use another --target: perfbench list profiles says where each profile runs")
		}
		return connect(ctx, c, b)
	}
}

// Bind connects a copy of the plan to a store of the named driver, for the run
// with that id, and returns the copy. A plan is bound only once, because its
// Binder holds state that belongs to the run.
func (p *Plan) Bind(ctx context.Context, driver string, c store.Conn, runID string) (*Plan, error) {
	connect := p.Binder.Connector(driver)
	if connect == nil {
		return nil, fault.Input(fmt.Errorf("this plan does not run on %s", driver), "perfbench list profiles says where each profile runs")
	}
	if err := store.Require(ctx, c, p.Needs(driver)); err != nil {
		return nil, err
	}
	q := *p
	q.Shared = &Shared{}
	q.Phases = slices.Clone(p.Phases)
	for i := range q.Phases {
		q.Phases[i].Tracks = slices.Clone(q.Phases[i].Tracks)
	}
	if err := connect(ctx, &Bound{Plan: &q, Conn: c, RunID: runID}); err != nil {
		return nil, err
	}
	return &q, nil
}
