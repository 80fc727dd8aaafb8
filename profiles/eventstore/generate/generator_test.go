package generate

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// planted makes a generator with its trees, and returns those events in order.
func planted(t *testing.T, s *Shape) (*Generator, []wire.Event) {
	t.Helper()
	g := New(s, 0)
	var all []wire.Event
	require.NoError(t, g.Plant(wire.StampOf(s.Born), 100, 7, func(int64) error {
		assert.False(t, g.Batch.Parent.Set, "single events")
		assert.LessOrEqual(t, len(g.Batch.Events), 7)
		for _, e := range g.Batch.Events {
			e.ID.ID, e.Parent.ID = bytes.Clone(e.ID.ID), bytes.Clone(e.Parent.ID)
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
		{SingleRoot, 5, 3, 2, 1, 8},
		{SingleRoot, 1, 0, 0, 1, 1},
		{SingleRoot, 1, 2, 1, 1, 1},
		{MultiRoot, 3, 2, 3, 3, 27},
		{Mixed, 2, 1, 4, 2, 8},
	} {
		t.Run(fmt.Sprintf("%s depth %d of %d", c.mode, c.depth, c.children), func(t *testing.T) {
			s := Documented()
			s.Mode, s.Roots, s.Depth, s.Children = c.mode, c.roots, c.depth, c.children
			g, all := planted(t, s)
			assert.Len(t, all, c.trees*TreeSize(c.depth, c.children))
			level, below := map[string]int{}, map[string]int{}
			roots := 0
			for _, e := range all {
				if !e.Parent.Set {
					roots++
					level[string(e.ID.ID)] = 0
					continue
				}
				above, ok := level[string(e.Parent.ID)]
				require.True(t, ok, "a child comes after its parent")
				level[string(e.ID.ID)] = above + 1
				below[string(e.Parent.ID)]++
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
				g.Fill(wire.StampOf(s.Born+1e9), 3, 100)
				if !g.Batch.Parent.Set {
					bare++
				} else {
					met[string(g.Batch.Parent.ID)] = true
					assert.True(t, slices.Contains(leaves, string(g.Batch.Parent.ID)))
				}
				for i := range g.Batch.Events {
					assert.Equal(t, g.Batch.Parent, g.Batch.Events[i].Parent)
				}
			}
			assert.Len(t, met, c.leaves, "every leaf gets its batches")
			assert.Equal(t, map[bool]int{true: 30}[c.mode == Mixed], bare)
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
		s := Documented()
		s.Failures, s.Compat, s.Kind = c.rate, c.compat, BodyTable
		g := New(s, 0)
		require.NoError(t, g.Plant(wire.StampOf(s.Born), 50, 1000, func(int64) error { return nil }))
		g.made = 1 // the first of compat is special
		failed, all := 0, 0
		for range 200 {
			g.Fill(wire.StampOf(s.Born), 1000, 50)
			for i := range g.Batch.Events {
				all++
				if g.Batch.Events[i].Failed {
					failed++
				}
			}
		}
		assert.InDelta(t, c.want, float64(failed)*1000/float64(all), 0.3+c.want/50, "failureRate=%d", c.rate)
	}
}

// Made and encoded one event after the other, batches are those that are filled first.
func TestBatchesAreTheSameHoweverTheyAreMade(t *testing.T) {
	for name, change := range map[string]func(*Shape){
		"documented":  func(*Shape) {},
		"no parents":  func(s *Shape) { s.Mode, s.Roots = Mixed, 3 },
		"compat":      func(s *Shape) { s.Compat, s.Depth, s.Children = true, 2, 2 },
		"random text": func(s *Shape) { s.Kind, s.Description, s.Attached, s.Failures = BodyRandom, 20, 2, 300 },
	} {
		t.Run(name, func(t *testing.T) {
			s := Documented()
			change(s)
			a, b := New(s, 3), New(s, 3)
			for _, g := range []*Generator{a, b} {
				if !s.Compat {
					require.NoError(t, g.Plant(wire.StampOf(s.Born), 100, 1000, func(int64) error { return nil }))
				}
			}
			var made []byte
			for i := range 12 {
				now := wire.StampOf(s.Born + int64(i)*1e9)
				first := a.Fill(now, 9, 200+i)
				want := a.Encode(nil)
				var at int64
				var n int
				made, at, n = b.Make(made[:0], now, 9, 200+i)
				require.Equal(t, want, made)
				assert.Equal(t, first, at)
				assert.Equal(t, len(a.Batch.Events), n)
			}
			assert.Equal(t, a.Next, b.Next)
		})
	}
}
