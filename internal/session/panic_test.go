package session_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// A panic of a task is a bug of ours, never the store's: it has a class of its own
// and says where it was, also when ten other messages came before.
func TestAPanicIsAPanicAndNamesWhere(t *testing.T) {
	e := env(t)
	for name, fall := range map[string]func(seq int64){
		"ours":    func(int64) { panic("boom") },
		"runtime": func(seq int64) { _ = make([]int, 1)[seq] },
	} {
		t.Run(name, func(t *testing.T) {
			p := boundBy(tiny, func(_ context.Context, b *workload.Bound, _ workload.Connector) error {
				for i, tr := range b.Tracks() {
					tr.NewTask = func(int) (workload.Task, error) {
						return workload.TaskFunc(func(_ context.Context, it *workload.Iteration) error {
							m := it.Begin(0)
							if i == 0 && it.Seq == 20 {
								fall(it.Seq)
							}
							return it.End(m, 1, fmt.Errorf("refusal %d", it.Seq))
						}), nil
					}
				}
				return nil
			}, "memory")
			e.Profiles = []workload.Profile{p}
			o := carryOut(t, prepare(t, e, asked(t, "threads", "2", "count", "60")))
			i := slices.IndexFunc(o.Run.Errors, func(e rundir.Error) bool { return e.Class == store.Panicked.String() })
			require.GreaterOrEqual(t, i, 0, "%+v", o.Run.Errors)
			assert.EqualValues(t, 1, o.Run.Errors[i].Count)
			require.NotEmpty(t, o.Run.Errors[i].Messages)
			assert.Contains(t, o.Run.Errors[i].Messages[0], "(at panic_test.go:")
		})
	}
}
