package group

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// A group reads values as large as it asks for: what an earlier run has loaded with others is loaded
// again, which is said. What the group writes itself stays, which is said, too.
func TestValuesAreAsLargeAsAskedFor(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	reads := write(t, "reads.properties", `groupNames=g1
g1.operations=get1
g1.threadCount=2
g1.totalInvocationCount=200
get1.map=m1
get1.testCase=get
get1.totalEntryCount=100
`)
	both := write(t, "both.properties", `groupNames=g1
g1.operations=put1,get1
g1.threadCount=2
g1.totalInvocationCount=50
put1.map=m1
put1.testCase=put
put1.totalEntryCount=50
get1.map=m1
get1.testCase=get
get1.totalEntryCount=100
`)
	sizes := func() map[int]int {
		t.Helper()
		all, err := c.HVals(t.Context(), "grouped:m1").Result()
		require.NoError(t, err)
		out := map[int]int{}
		for _, v := range all {
			out[len(v)]++
		}
		return out
	}
	held := func(o *session.Concluded) string {
		for _, n := range o.Run.Notices {
			if strings.Contains(n, "deleted and") || strings.Contains(n, " holds ") {
				return n
			}
		}
		return ""
	}
	deletes := func(file string, values ...string) []string {
		t.Helper()
		p, err := caseOf(srv.URL(), []string{file}, values...).Prepare(t.Context(), t)
		require.NoError(t, err)
		return p.Preview().Deletes
	}
	first, _ := runs(t, srv.URL(), []string{reads}, "namespace", "grouped", "payload", "100")
	assert.Empty(t, held(first), "nothing was there")
	require.Equal(t, map[int]int{100: 100}, sizes())
	assert.Equal(t, []string{"earlier m1, if of another size"}, deletes(reads, "payload", "300"))
	assert.Empty(t, deletes(reads, "payload", "300", "load", "never"))
	assert.Empty(t, deletes(both, "payload", "300"), "what is written stays")
	polls := write(t, "polls.properties", "groupNames=g1\ng1.operations=poll1\npoll1.queue=q1\npoll1.testCase=poll\n")
	assert.Equal(t, []string{"during the run what operations take from q1"}, deletes(polls))
	second, f := runs(t, srv.URL(), []string{reads}, "namespace", "grouped", "payload", "300")
	assert.Contains(t, held(second), "deleted and loaded again with 300 B: grouped:m1, which run ")
	assert.Contains(t, held(second), " had left with records of 100 B")
	assert.Equal(t, map[int]int{300: 100}, sizes())
	assert.Zero(t, f.Groups[0].Ops[0].Misses)
	third, _ := runs(t, srv.URL(), []string{reads}, "namespace", "grouped", "payload", "300")
	assert.Empty(t, held(third), "they are as large as that")
	fourth, _ := runs(t, srv.URL(), []string{both}, "namespace", "grouped", "payload", "500")
	assert.Contains(t, held(fourth), "grouped:m1 holds values of 300 B, which run ")
	assert.Contains(t, held(fourth), "reads find them, too, beside those of 500 B")
	assert.Positive(t, sizes()[300])
	fifth, _ := runs(t, srv.URL(), []string{reads}, "namespace", "grouped", "payload", "500")
	assert.Contains(t, held(fifth), "with records of 500 B and 300 B")
	assert.Equal(t, map[int]int{500: 100}, sizes())
}
