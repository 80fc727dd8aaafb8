package tx

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/workload"
)

// With pipelining all clients share two connections, which log in and choose the
// database; without, each has its own. The sagas are the same.
func TestPipelining(t *testing.T) {
	for _, pipelining := range []string{"on", "off"} {
		t.Run(pipelining, func(t *testing.T) {
			srv := labtest.Redis(t, "--requirepass", "correct-horse")
			in := inputs(given("mode=saga", "threads=8", "transactions=400", "failRate=0.1", "accountCount=50", "pipelining="+pipelining))
			p, conn := ready(t, "redis://:correct-horse@"+srv.Addr()+"/3", in)
			c := conn.(redis.Typed)
			drive(t.Context(), t, p, nil)
			shared := len(names(t, c, "evalsha"))
			if pipelining == "on" {
				assert.Equal(t, sharedConns, shared)
			} else {
				assert.Equal(t, 8, shared)
			}
			v := p.Verify(t.Context())
			assert.Equal(t, workload.Passed, v.State, "%+v", v)
			f := p.Facts().(*SagaFacts)
			assert.Equal(t, int64(400), f.Done+f.Undone)
			n, err := c.Client().DBSize(t.Context()).Result()
			require.NoError(t, err)
			assert.Positive(t, n)
		})
	}
}

// A target that allows one connection gets one.
func TestPipeliningKeepsToTheTarget(t *testing.T) {
	p, conn := ready(t, labtest.Redis(t).URL()+"?connections=1", inputs(given("mode=saga", "threads=4", "transactions=40")))
	assert.Equal(t, 1, newRedisSagas(conn.(redis.Typed), p.Private.(*sagaSpec)).run.links.each)
}

// A call that came to the wrong server of a cluster is done by the right one, and
// the next goes there at once.
func TestPipeliningFollowsTheCluster(t *testing.T) {
	p, conn := ready(t, labtest.Cluster(t).URL(), inputs(given("mode=saga", "threads=4", "transactions=60", "prefixes=8", "accountCount=50")))
	st := newRedisSagas(conn.(redis.Typed), p.Private.(*sagaSpec))
	all := map[*link]bool{}
	var lists [][]*link
	for shard := range 8 {
		list, err := st.run.links.to(t.Context(), shard)
		require.NoError(t, err)
		if !all[list[0]] {
			lists = append(lists, list)
		}
		all[list[0]] = true
	}
	require.Greater(t, len(lists), 1, "prefixes are on several masters")
	right, err := st.run.links.to(t.Context(), 0)
	require.NoError(t, err)
	wrong := lists[0]
	if wrong[0] == right[0] {
		wrong = lists[1]
	}
	st.run.links.of[0].Store(&wrong)
	save := func(gid string) *saga {
		s := &saga{}
		s.reset(gid, 0, 2, time.Now())
		require.NoError(t, st.Save(t.Context(), s))
		return s
	}
	s := save("moved")
	require.ErrorIs(t, st.Save(t.Context(), s), errTaken, "it was saved once, where it belongs")
	again, err := st.run.links.to(t.Context(), 0)
	require.NoError(t, err)
	assert.Same(t, right[0], again[0])
}
