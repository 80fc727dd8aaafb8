package ingestion

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/padogrid"
)

func TestPayloads(t *testing.T) {
	g := newGenerator(1, "profile")
	one := append([]byte(nil), g.fill(nil, 2, 1, 1000)...)
	require.NoError(t, checkValue(one, 2))
	assert.Equal(t, one, newGenerator(1, "profile").fill(nil, 2, 1, 1000), "the same seed, the same value")
	assert.NotEqual(t, one[8:996], g.fill(nil, 2, 2, 1000)[8:996], "another run")
	assert.NotEqual(t, one[8:996], newGenerator(2, "profile").fill(nil, 2, 1, 1000)[8:996], "another seed")
	assert.NotEqual(t, one[8:996], newGenerator(1, "eligibility").fill(nil, 2, 1, 1000)[8:996], "another map")
	for _, size := range []int{0, 1, 15, 16, 17} {
		assert.Len(t, g.fill(nil, 0, 0, size), size)
		require.NoError(t, checkValue(g.fill(nil, 4, 0, size), 4))
	}
}

func TestMarks(t *testing.T) {
	for _, stride := range []int64{1, 3} {
		m := &mapSpec{shares: []padogrid.Share{{Entries: 1000}, {Entries: 0}, {Entries: 130}}}
		k := newMarks(m)
		k.stride = stride
		want := map[[2]int64]bool{}
		for _, r := range [][3]int64{{0, 0, 1}, {0, 60, 10}, {0, 190, 700}, {2, 0, 130}} {
			k.set(int(r[0]), r[1], r[2])
			for e := r[1]; e < r[1]+r[2]; e++ {
				if e%stride == 0 {
					want[[2]int64{r[0], e}] = true
				}
			}
		}
		assert.Equal(t, int64(len(want)), k.count())
		got := 0
		k.spread(1<<40, func(share int, entry int64) {
			got++
			assert.True(t, want[[2]int64{int64(share), entry}], "%d %d", share, entry)
		})
		assert.Len(t, want, got)
		got = 0
		k.spread(50, func(int, int64) { got++ })
		assert.Equal(t, 50, got)
	}
}

func TestKeySets(t *testing.T) {
	k := parseKeySets("")
	for i := range 40 {
		k.add(fmt.Sprint("set", i), 10)
	}
	k.add("set39", 15)
	k.add("set39", 5)
	assert.Equal(t, int64(405), k.total())
	back := parseKeySets(k.String())
	assert.Equal(t, k, back)
	assert.LessOrEqual(t, len(k.names), maxKeySets)
	assert.Empty(t, parseKeySets("bad;worse=x;=").names)
}
