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
		sp := p.Private.(*sagaSpec)
		c := coordinator{spec: sp, store: newRedisSagas(conn.(redis.Typed), sp), rnd: newRand(1), tally: &sagaTally{}}
		s, now := &saga{}, time.Now()
		gids := make([]string, 0, 1000)
		for n := range cap(gids) {
			gids = append(gids, string(appendGid(nil, sp.stamp, 0, int64(n))))
		}
		for _, failAt := range []int{0, 1} {
			n := testing.AllocsPerRun(100, func() {
				s.reset(gids[0], 0, 2, now)
				gids = gids[1:]
				s.steps[0], s.steps[1], s.timeout = transfer{1, -5}, transfer{2, 5}, time.Hour
				s.fate.failAt = failAt
				s.as(sp.kind)
				require.NoError(t, c.submit(t.Context(), nil, s))
			})
			assert.Zero(t, n, "%s, refused by branch %d", name, failAt)
		}
	}
}
