package tx

import (
	"context"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// plainPrimitives makes the calls of the suite on a store of the plain shapes:
// each is a put, or several.
type plainPrimitives struct {
	s *baselineSpec
	c store.Conn
}

func (p plainPrimitives) space() store.Space {
	return store.Space{Namespace: p.s.namespace, Name: baselineSpace, Shape: store.Map}
}

// spaces is the one map that the calls write.
func (p plainPrimitives) spaces() []place.Space {
	return []place.Space{{Space: p.space()}}
}

func (p plainPrimitives) create(context.Context) error { return nil }

func (p plainPrimitives) title(row *suiteRow) string { return row.name + " (as puts)" }
func (p plainPrimitives) note(*suiteRow) string {
	return "a store without commands: SET is a put, scripts are puts one after the other"
}

func (p plainPrimitives) caller(row *suiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	set, err := store.As[store.Setter](p.c)
	if err != nil {
		return nil, err
	}
	times := row.depth
	if row.name == "eval-loop10" || row.name == "cjson10" {
		times = 10
	}
	sp, key, value := p.space(), []byte(row.ownKey()), []byte(row.text())
	return func(ctx context.Context, _ *workload.Iteration) (int, error) {
		for range times {
			if err := set.Set(ctx, sp, key, value); err != nil {
				return row.depth, err
			}
		}
		return row.depth, nil
	}, nil
}
