package pbm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Transactions run on maps that are one structure each, wherever such a map can take
// part in one step, and find the very members that are there.
func TestTransactionsOnWholeMaps(t *testing.T) {
	for name, start := range pbmTargets {
		if name == "cluster" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			target := start(t)
			in := alone(given(append(small, "testCase=getall", "layout=map", "load=only")...))
			_, c := ready(t, target, in)
			for _, how := range []string{atomicScript, atomicFunction, atomicWatch, atomicNone} {
				if how != atomicScript && name != "redis" {
					continue
				}
				// Other threads than those that loaded: the members are still those that are there.
				in.Values = given(append(small, "testCase=tx", "load=never", "atomic="+how, "eligibility.threadCount=2")...)
				p := bound(t, c, driverOf(t, target), in)
				require.NoError(t, p.Setup(t.Context(), nil))
				profiletest.Work(t, p)
				f := p.Facts(nil).(*Facts)
				assert.Equal(t, layoutMap, f.Layout)
				assert.Equal(t, int64(200), f.Maps[0].Done, "%s: %+v", how, f.Maps[0])
				v := p.Verify(t.Context())
				assert.Equal(t, workload.Passed, v.State, "%s: %+v", how, v)
				assert.Equal(t, summary{5, 500}, wrote(t, c, in.Namespace, "x7"), how)
			}
		})
	}
}

// wrote is the summary that a run has left of a group.
func wrote(t *testing.T, c store.Conn, namespace, group string) summary {
	t.Helper()
	s := &Spec{namespace: namespace, layout: layoutMap, atomic: atomicScript}
	var st adapter
	var err error
	switch c := c.(type) {
	case redis.Typed:
		st, err = newRedisLayer(c, s)
	case sqlstore.Typed:
		st, err = newSQLLayer(c, s)
	default:
		var h *shapes
		h, err = newShapes(c, s)
		st = &memoryLayer{shapes: h}
	}
	require.NoError(t, err)
	got, found, err := st.Summary(t.Context(), []byte(group))
	require.NoError(t, err)
	require.True(t, found)
	return got.summary
}

// On a cluster two maps are on two nodes. The advice helps, as it stands.
func TestWholeMapsOnAClusterAreRefused(t *testing.T) {
	target := labtest.Shared(t, "redis-cluster").URL()
	in := alone(given(append(small, "testCase=getall", "layout=map", "load=only")...))
	_, c := ready(t, target, in)
	in.Values = given(append(small, "testCase=tx")...)
	err := bound(t, c, "redis", in).Setup(t.Context(), nil)
	require.ErrorContains(t, err, "one node of the cluster")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Contains(t, fault.HintOf(err), "--namespace "+in.Namespace+"-groups:")
	in.Namespace += "-groups"
	p := bound(t, c, "redis", in)
	require.NoError(t, p.Setup(t.Context(), nil))
	profiletest.Work(t, p)
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
}

// What ingestion records of a map tells the keys of every group, whichever way its
// threads shared them.
func TestKeysThatIngestionLeft(t *testing.T) {
	for name, tt := range map[string]struct {
		sets  string
		group string
		want  []string
	}{
		"shares of whole groups":    {`elig/"x"/1000/5/4/150/50=200`, "x11", []string{"x11:51:51000:51000", "x11:52:51001:51001", "x11:53:51002:51002", "x11:54:51003:51003", "x11:55:51004:51004"}},
		"shares that overlap":       {`elig/"x"/0/2/2/3/4=8`, "x2", []string{"x2:3:1000:1000", "x2:4:1001:1001", "x2:4:3000:3000", "x2:5:3001:3001"}},
		"a count, shared exactly":   {`elig/"x"/0/2/3/10/6=13`, "x7", []string{"x7:13:11000:11000"}},
		"of others and other names": {`others=7;elig/"y"/0/5/1/0/50=50;elig/"x/y"/0/5/1/0/50=50`, "x1", nil},
	} {
		s := &Spec{prefix: "x", layout: layoutMap, left: sharesOf(map[string]string{"keysets": tt.sets}, "x")}
		if tt.want == nil {
			assert.Empty(t, s.left, name)
			continue
		}
		var got []string
		for _, k := range s.memberKeys([]byte(tt.group)) {
			got = append(got, string(k))
		}
		for _, want := range tt.want {
			assert.Contains(t, got, want, name)
		}
	}
	assert.Equal(t, []padogrid.Share{{Entries: 10, Size: 5, Base: 7}, {First: 10, FirstGroup: 2, Entries: 10, Size: 5, Base: 7}},
		sharesOf(map[string]string{"threads": "2", "perThread": "10", "memberSetSize": "5", "baseDateMs": "7"}, "x"))
}
