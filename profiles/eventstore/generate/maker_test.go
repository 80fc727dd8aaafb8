package generate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Whoever knows seed, generator and number of an event knows the event.
func TestEventsCanBeMadeAgain(t *testing.T) {
	for _, change := range []func(*Shape){
		func(*Shape) {}, func(s *Shape) { s.Kind = BodyRandom }, func(s *Shape) { s.Description = 30 },
		func(s *Shape) { s.Kind, s.Description, s.Failures = BodyRandom, 12, 300 }, func(s *Shape) { s.Compat = true },
	} {
		s := Documented()
		change(s)
		g := New(s, 3)
		require.NoError(t, g.Plant(wire.StampOf(s.Born), 400, 1000, func(int64) error { return nil }))
		g.made = 1 // the first of compat is special
		first := g.Fill(wire.StampOf(s.Born), 20, 400)
		again := NewMaker(s, 3)
		for i := range g.Batch.Events {
			e := &g.Batch.Events[i]
			assert.True(t, again.Same(e, first+int64(i)))
			assert.False(t, again.Same(e, first+int64(i)+1))
			e.Body[len(e.Body)/2] ^= 1
			assert.False(t, again.Same(e, first+int64(i)), "a changed body")
		}
		assert.NotEqual(t, again.Prefix, NewMaker(s, 4).Prefix)
	}
}

// Ids have 37 to 45 characters, the first 36 of them common to the generator.
func TestIdsHaveTheDocumentedForm(t *testing.T) {
	for next, length := range map[int64]int{1: 37, 1_000: 40, 90_000_001: 44, 999_999_000: 45} {
		g := New(Documented(), 0)
		require.NoError(t, g.Plant(wire.StampOf(g.m.s.Born), 100, 1000, func(int64) error { return nil }))
		g.Next = next
		g.Fill(wire.StampOf(g.m.s.Born), 5, 100)
		for i := range g.Batch.Events {
			id := g.Batch.Events[i].ID.ID
			assert.Len(t, id, length)
			assert.Equal(t, g.m.Prefix, id[:PrefixLen])
		}
	}
	assert.Len(t, NewMaker(Documented(), 0).Prefix, PrefixLen)
}
