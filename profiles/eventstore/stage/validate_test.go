package stage

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

func TestInvalidBatchesAreRefused(t *testing.T) {
	now := generate.Documented().Born + 2e9
	for want, spoil := range map[string]func(*wire.Batch){
		"the id of its parent is empty":   func(b *wire.Batch) { b.Parent.ID = nil },
		"is in it twice":                  func(b *wire.Batch) { b.Events[2].ID.ID = b.Events[1].ID.ID },
		"of another book or scope":        func(b *wire.Batch) { b.Events[1].ID.Scope = []byte("other") },
		"neither the batch's nor earlier": func(b *wire.Batch) { b.Events[1].Parent.ID = []byte("stranger") },
		"has no name":                     func(b *wire.Batch) { b.Events[1].Name = nil },
		"has no id":                       func(b *wire.Batch) { b.Events[1].ID.ID = nil },
		"ends before it starts":           func(b *wire.Batch) { b.Events[1].End.Sec-- },
		"starts in the future":            func(b *wire.Batch) { b.Events[1].ID.Start.Sec += 100; b.Events[1].End.Sec += 100 },
		"attached message id":             func(b *wire.Batch) { b.Messages[0].Sequence = 0 },
	} {
		g := eventstoretest.Some(t, generate.Documented(), 5, 100)
		v := newValidator()
		_, err := v.check(&g.Batch, now)
		require.NoError(t, err)
		spoil(&g.Batch)
		_, err = v.check(&g.Batch, now)
		require.ErrorIs(t, err, errInvalid)
		assert.ErrorContains(t, err, want)
	}
}
