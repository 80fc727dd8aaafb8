// Package eventstoretest provides what the tests of several parts of the event store
// need.
package eventstoretest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// Some makes a batch of n events, as from a generator that has already made many.
func Some(t testing.TB, s *generate.Shape, n, payload int) *generate.Generator {
	t.Helper()
	g := generate.New(s, 0)
	g.Next = 90_000_001 // ids of 44 characters, as after a quarter of an hour
	require.NoError(t, g.Plant(wire.StampOf(s.Born), payload, 1000, func(int64) error { return nil }))
	g.Fill(wire.StampOf(s.Born+1e9), n, payload)
	return g
}
