package group

import (
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/ownership"
)

func TestListing(t *testing.T) {
	srv := redisOf(t)
	text := "groupNames=g1&g2,g3\ng1.operations=put1,pause\ng1.threadCount=1\ng1.totalInvocationCount=10\ng2.operations=add1\ng2.threadCount=1\ng2.totalInvocationCount=3\n" +
		"g3.operations=publish1,c1\ng3.threadCount=1\ng3.totalInvocationCount=2\nput1.map=map1\nput1.testCase=put\npause.sleep=1\nadd1.list=list1\nadd1.testCase=add\n" +
		"publish1.topic=topic1\npublish1.testCase=publish\nc1.mcache=c\nc1.testCase=put\nc1.ttl=60000\n"
	o, _ := runs(t, srv.URL(), []string{write(t, "g.properties", text)})
	errorless(t, o)
	p, err := fromFile(t, text)
	require.NoError(t, err)
	c := open(t, srv.URL())
	want := func(deleted string) string {
		return "\nRunning Group(s): g1 & g2\n\ngroup: g1\n  - name: map1\n    data: Map\n    size: 10\n    deleted: " + deleted +
			"\ngroup: g2\n  - name: list1\n    data: List\n    size: 3\n    deleted: " + deleted +
			"\n\nRunning Group(s): g3\n\ngroup: g3\n  - name: topic1\n    data: Topic\n    deleted: N/A\n  - name: c\n    data: MapCache\n    size: 2\n    deleted: " + deleted + "\n"
	}
	got, err := p.Binder.(binder).Listing(t.Context(), c, nil)
	require.NoError(t, err)
	assert.Equal(t, want("false"), got)
	claim, err := ownership.Hold(t.Context(), c, "perfbench", "a test")
	require.NoError(t, err)
	got, err = p.Binder.(binder).Listing(t.Context(), c, claim)
	require.NoError(t, err)
	assert.Equal(t, want("true"), got)
	require.NoError(t, claim.Release(t.Context()))
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	left, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	assert.Empty(t, left)
}
