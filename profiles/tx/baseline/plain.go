package baseline

import (
	"context"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// plainPrimitives makes the calls of the suite on a store with the plain shapes: each
// is one put, or several.
type plainPrimitives struct {
	s *Spec
	c store.Conn
}

func (p plainPrimitives) Space() store.Space {
	return store.Space{Namespace: p.s.namespace, Name: baselineSpace, Shape: store.Map}
}

// Spaces returns the only map that the calls write.
func (p plainPrimitives) Spaces() []ownership.Space {
	return []ownership.Space{{Space: p.Space()}}
}

func (p plainPrimitives) Create(context.Context) error { return nil }

func (p plainPrimitives) title(row *SuiteRow) string { return row.Name + " (as puts)" }
func (p plainPrimitives) note(*SuiteRow) string {
	return "a store without commands: SET is a put, scripts are puts one after the other"
}

func (p plainPrimitives) caller(row *SuiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	set, err := store.As[store.Setter](p.c)
	if err != nil {
		return nil, err
	}
	times := row.Depth
	if row.Name == "eval-loop10" || row.Name == "cjson10" {
		times = 10
	}
	sp, key, value := p.Space(), []byte(row.ownKey()), []byte(row.text())
	return func(ctx context.Context, _ *workload.Iteration) (int, error) {
		for range times {
			if err := set.Set(ctx, sp, key, value); err != nil {
				return row.Depth, err
			}
		}
		return row.Depth, nil
	}, nil
}
