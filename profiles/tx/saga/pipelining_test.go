package saga

import (
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// With pipelining all clients share two connections, which log in and choose the
// database; without, each has its own. The sagas are the same.
func TestPipelining(t *testing.T) {
	for _, pipelining := range []string{"on", "off"} {
		t.Run(pipelining, func(t *testing.T) {
			srv := labtest.Redis(t, "--requirepass", "correct-horse")
			in := inputs(given("mode=saga", "threads=8", "transactions=100000000", "failRate=0.1", "accountCount=50", "pipelining="+pipelining))
			p, conn := ready(t, "redis://:correct-horse@"+srv.Addr()+"/3", in)
			c := conn.(redis.Typed)
			const other = 2 // hold the lease of the space from time to time, by a script as well: the next may begin while one waits
			least := link.Conns
			if pipelining == "off" {
				least += other + 1
			}
			shared := 0 // the most that were seen while it ran
			profiletest.WorkUntil(t, p, func() bool {
				clients, err := c.Client().(*goredis.Client).ClientList(t.Context()).Result()
				require.NoError(t, err)
				shared = max(shared, strings.Count(clients, " cmd=evalsha "))
				f := p.Facts(nil).(*Facts)
				return f.Done+f.Undone >= 400 && shared >= least
			})
			most := link.Conns + other
			if pipelining == "off" {
				most = 8 + other
			}
			assert.LessOrEqual(t, shared, most)
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			n, err := c.Client().DBSize(t.Context()).Result()
			require.NoError(t, err)
			assert.Positive(t, n)
		})
	}
}
