package saga

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// between are records into which somebody else steps, before a branch is written.
type between struct {
	model.Records
	step func(pos int, status string)
}

func (b between) Branch(ctx context.Context, s *model.Saga, pos int) error {
	b.step(pos, s.Rows[pos].Status)
	return b.Records.Branch(ctx, s, pos)
}

// A client that stands still with a refusal, while another has the branch done, learns which
// outcome stands: a saga has each branch once, whoever is first. The scripts of Redis are dtm's,
// and know no first.
func TestABranchHasOneOutcome(t *testing.T) {
	for _, target := range []string{"memory", "sqlite", "mariadb", "postgres"} {
		t.Run(target, func(t *testing.T) {
			if target == "mariadb" || target == "postgres" {
				tier.Full(t, "the same on SQLite")
			}
			p, conn := ready(t, sagaTargets[target](t), alone(given("mode=saga", "threads=1", "transactions=1", "accountCount=4", "balance=100")))
			st, sp := storeOf(t, target, conn, p), p.Binder.(Binding).Spec
			late := func(gid string) *model.Saga { // whose lease is over
				s := &model.Saga{}
				s.Reset(gid, 0, 2, time.Now().Add(-time.Hour))
				s.Steps[0], s.Steps[1] = model.Transfer{Account: 1, Amount: -10}, model.Transfer{Account: 2, Amount: 10}
				s.Fate.FailAt = 2
				return s
			}
			through := func(branch func(pos int, status string)) model.Store {
				own := st
				own.Records = between{st.Records, branch}
				return own
			}
			stored := func(gid string) model.Stored {
				got, err := st.Read(t.Context(), 0, []string{gid})
				require.NoError(t, err)
				return got[0]
			}
			second := model.Action(1)

			t.Run("done first", func(t *testing.T) {
				s, steps := late("a"), 0
				overtaken := through(func(pos int, status string) {
					if pos != second {
						return
					}
					steps++
					assert.Equal(t, model.Failed, status)
					taken, err := st.Load(t.Context(), 0, "a")
					require.NoError(t, err)
					_, err = st.Move(t.Context(), taken, second)
					require.NoError(t, err)
					taken.Rows[second].Decide(model.Succeed, time.Now())
					require.NoError(t, st.Branch(t.Context(), taken, second))
				})
				c := &coordinator.Coordinator{Spec: sp, Store: overtaken, Counts: &coordinator.Counts{}}
				require.NoError(t, c.Submit(t.Context(), nil, s))
				assert.Equal(t, 1, steps)
				got := stored("a")
				assert.Equal(t, model.Succeed, got.Status)
				assert.Equal(t, []string{model.Prepared, model.Succeed, model.Prepared, model.Succeed}, got.Rows)
				assert.Equal(t, int64(10), got.Ledger["02action"].Amount)
				assert.True(t, s.Rows[second].RolledBack.IsZero())
			})
			t.Run("refused first", func(t *testing.T) {
				s, steps := late("b"), 0
				taker := through(func(pos int, status string) { // has the branch done, and writes that after the refusal
					if pos == second {
						steps++
						assert.Equal(t, model.Succeed, status)
						require.NoError(t, st.Branch(t.Context(), s, second))
					}
				})
				overtaken := through(func(pos int, _ string) {
					if pos == second {
						_, err := coordinator.Recovery(sp, taker).Resume(t.Context(), 0, "b")
						require.NoError(t, err)
					}
				})
				c := &coordinator.Coordinator{Spec: sp, Store: overtaken, Counts: &coordinator.Counts{}}
				assert.ErrorIs(t, c.Submit(t.Context(), nil, s), model.ErrMoved, "the other has undone the saga")
				assert.Equal(t, 1, steps)
				got := stored("b")
				assert.Equal(t, model.Failed, got.Status)
				assert.Equal(t, []string{model.Succeed, model.Succeed, model.Succeed, model.Failed}, got.Rows)
				assert.Equal(t, int64(-10), got.Ledger["02compensate"].Amount)
			})
			sum := int64(0)
			require.NoError(t, st.Balances(t.Context(), func(_, n, _ int64) { sum += n }))
			assert.Equal(t, int64(400), sum)
		})
	}
}
