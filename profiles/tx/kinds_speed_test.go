package tx

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// A transaction of any kind goes through Redis without an allocation, done or undone.
func TestTransactionsAllocateNothing(t *testing.T) {
	srv := labtest.Redis(t)
	for _, name := range []string{transSaga, transTCC, transMsg} {
		p, conn := ready(t, srv.URL(), inputs(given("mode=saga", "transType="+name, "accountCount=10")))
		sp := p.Binder.(Binder).Binder.(*sagaSpec)
		c := coordinator{spec: sp, store: newRedisSagas(conn.(redis.Typed), sp).layer().open(), rnd: newRand(1), tally: &sagaTally{}}
		for _, failAt := range []int{0, 1} {
			assert.Zero(t, leastAllocations(t, &c, failAt), "%s, refused by branch %d", name, failAt)
		}
	}
}

// leastAllocations is how many allocations a transaction makes, in the best of many
// tries: what other goroutines of this process allocate meanwhile is counted too.
func leastAllocations(t *testing.T, c *coordinator, failAt int) (least float64) {
	t.Helper()
	const tries, each = 100, 20
	s, now := &saga{}, time.Now()
	for try := range tries {
		var gids []string
		for range each + 1 { // the first is not counted
			gids = append(gids, string(appendGid(nil, c.spec.stamp, failAt, int64(try*(each+1)+len(gids)))))
		}
		n := testing.AllocsPerRun(each, func() {
			s.reset(gids[0], 0, 2, now)
			gids = gids[1:]
			s.steps[0], s.steps[1], s.timeout = transfer{1, -5}, transfer{2, 5}, time.Hour
			s.fate.failAt = failAt
			s.as(c.spec.kind)
			require.NoError(t, c.submit(t.Context(), nil, s))
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
