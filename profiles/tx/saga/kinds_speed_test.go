package saga

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onredis"
)

// A transaction of any kind goes through Redis without an allocation, done or undone.
func TestTransactionsAllocateNothing(t *testing.T) {
	srv := labtest.Redis(t)
	for _, name := range []string{model.TransSaga, model.TransTCC, model.TransMsg} {
		p, conn := ready(t, srv.URL(), inputs(given("mode=saga", "transType="+name, "accountCount=10")))
		sp := p.Binder.(Binding).Spec
		c := coordinator.Coordinator{Spec: sp, Store: onredis.New(conn.(redis.Typed), sp).Layer().Open(), Rand: newRand(1), Counts: &coordinator.Counts{}}
		for _, failAt := range []int{0, 1} {
			assert.Zero(t, leastAllocations(t, &c, failAt), "%s, refused by branch %d", name, failAt)
		}
	}
}

// leastAllocations is how many allocations a transaction makes, in the best of many
// tries: what other goroutines of this process allocate meanwhile is counted too.
func leastAllocations(t *testing.T, c *coordinator.Coordinator, failAt int) (least float64) {
	t.Helper()
	const tries, each = 100, 20
	s, now := &model.Saga{}, time.Now()
	for try := range tries {
		var gids []string
		for range each + 1 { // the first is not counted
			gids = append(gids, string(model.AppendGid(nil, c.Spec.Stamp, failAt, int64(try*(each+1)+len(gids)))))
		}
		n := testing.AllocsPerRun(each, func() {
			s.Reset(gids[0], 0, 2, now)
			gids = gids[1:]
			s.Steps[0], s.Steps[1], s.Timeout = model.Transfer{Account: 1, Amount: -5}, model.Transfer{Account: 2, Amount: 5}, time.Hour
			s.Fate.FailAt = failAt
			s.As(c.Spec.Kind)
			require.NoError(t, c.Submit(t.Context(), nil, s))
		})
		if try == 0 || n < least {
			least = n
		}
		if least == 0 {
			break
		}
	}
	return least
}
