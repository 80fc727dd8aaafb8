package eventstore

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted makes a generator with its trees, and returns those events in order.
func planted(t *testing.T, s *shape) (*generator, []event) {
	t.Helper()
	g := newGenerator(s, 0)
	var all []event
	require.NoError(t, g.plant(stampOf(s.born), 100, 7, func(int64) error {
		assert.False(t, g.b.parent.set, "single events")
		assert.LessOrEqual(t, len(g.b.events), 7)
		for _, e := range g.b.events {
			e.id.id, e.parent.id = bytes.Clone(e.id.id), bytes.Clone(e.parent.id)
			all = append(all, e)
		}
		return nil
	}))
	return g, all
}

// Trees have the levels and children that were asked for, parents before children;
// batches hang on one leaf each, and of MIXED every tenth has no parent.
func TestTreesAndModes(t *testing.T) {
	for _, c := range []struct {
		mode                   string
		roots, depth, children int
		trees, leaves          int
	}{
		{modeSingleRoot, 5, 3, 2, 1, 8},
		{modeSingleRoot, 1, 0, 0, 1, 1},
		{modeSingleRoot, 1, 2, 1, 1, 1},
		{modeMultiRoot, 3, 2, 3, 3, 27},
		{modeMixed, 2, 1, 4, 2, 8},
	} {
		t.Run(fmt.Sprintf("%s depth %d of %d", c.mode, c.depth, c.children), func(t *testing.T) {
			s := testShape()
			s.mode, s.roots, s.depth, s.children = c.mode, c.roots, c.depth, c.children
			g, all := planted(t, s)
			assert.Len(t, all, c.trees*treeSize(c.depth, c.children))
			level, below := map[string]int{}, map[string]int{}
			roots := 0
			for _, e := range all {
				if !e.parent.set {
					roots++
					level[string(e.id.id)] = 0
					continue
				}
				above, ok := level[string(e.parent.id)]
				require.True(t, ok, "a child comes after its parent")
				level[string(e.id.id)] = above + 1
				below[string(e.parent.id)]++
			}
			assert.Equal(t, c.trees, roots)
			leaves := []string{}
			for id, depth := range level {
				if depth == c.depth {
					leaves = append(leaves, id)
					assert.Zero(t, below[id])
				} else {
					assert.Equal(t, c.children, below[id])
				}
			}
			assert.Len(t, leaves, c.leaves)
			bare, met := 0, map[string]bool{}
			for range 300 {
				g.fill(stampOf(s.born+1e9), 3, 100)
				if !g.b.parent.set {
					bare++
				} else {
					met[string(g.b.parent.id)] = true
					assert.True(t, slices.Contains(leaves, string(g.b.parent.id)))
				}
				for i := range g.b.events {
					assert.Equal(t, g.b.parent, g.b.events[i].parent)
				}
			}
			assert.Len(t, met, c.leaves, "every leaf gets its batches")
			assert.Equal(t, map[bool]int{true: 30}[c.mode == modeMixed], bare)
		})
	}
}

// The status follows the failure rate by the thousand, exactly none at 0; compat fails
// one in a thousand more, as the original.
func TestFailuresFollowTheirRate(t *testing.T) {
	for _, c := range []struct {
		rate   int
		compat bool
		want   float64
	}{{0, false, 0}, {5, false, 5}, {300, false, 300}, {1000, false, 1000}, {0, true, 1}, {5, true, 6}} {
		s := testShape()
		s.failures, s.compat, s.kind = c.rate, c.compat, bodyTable
		g := newGenerator(s, 0)
		require.NoError(t, g.plant(stampOf(s.born), 50, 1000, func(int64) error { return nil }))
		g.made = 1 // the first of compat is special
		failed, all := 0, 0
		for range 200 {
			g.fill(stampOf(s.born), 1000, 50)
			for i := range g.b.events {
				all++
				if g.b.events[i].failed {
					failed++
				}
			}
		}
		assert.InDelta(t, c.want, float64(failed)*1000/float64(all), 0.3+c.want/50, "failureRate=%d", c.rate)
	}
}
