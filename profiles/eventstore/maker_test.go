package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever knows seed, generator and number of an event knows the event.
func TestEventsCanBeMadeAgain(t *testing.T) {
	for _, change := range []func(*shape){
		func(*shape) {}, func(s *shape) { s.kind = bodyRandom }, func(s *shape) { s.description = 30 },
		func(s *shape) { s.kind, s.description, s.failures = bodyRandom, 12, 300 }, func(s *shape) { s.compat = true },
	} {
		s := testShape()
		change(s)
		g := newGenerator(s, 3)
		require.NoError(t, g.plant(stampOf(s.born), 400, 1000, func(int64) error { return nil }))
		g.made = 1 // the first of compat is special
		first := g.fill(stampOf(s.born), 20, 400)
		again := newMaker(s, 3)
		for i := range g.b.events {
			e := &g.b.events[i]
			assert.True(t, again.same(e, first+int64(i)))
			assert.False(t, again.same(e, first+int64(i)+1))
			e.body[len(e.body)/2] ^= 1
			assert.False(t, again.same(e, first+int64(i)), "a changed body")
		}
		assert.NotEqual(t, again.prefix, newMaker(s, 4).prefix)
	}
}

// Ids have 37 to 45 characters, the first 36 of them common to the generator.
func TestIdsHaveTheDocumentedForm(t *testing.T) {
	for next, length := range map[int64]int{1: 37, 1_000: 40, 90_000_001: 44, 999_999_000: 45} {
		g := newGenerator(testShape(), 0)
		require.NoError(t, g.plant(stampOf(g.m.s.born), 100, 1000, func(int64) error { return nil }))
		g.next = next
		g.fill(stampOf(g.m.s.born), 5, 100)
		for i := range g.b.events {
			id := g.b.events[i].id.id
			assert.Len(t, id, length)
			assert.Equal(t, g.m.prefix, id[:prefixLen])
		}
	}
	assert.Len(t, newMaker(testShape(), 0).prefix, prefixLen)
}
