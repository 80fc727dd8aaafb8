package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInvalidBatchesAreRefused(t *testing.T) {
	now := testShape().born + 2e9
	for want, spoil := range map[string]func(*batch){
		"the id of its parent is empty":   func(b *batch) { b.parent.id = nil },
		"is in it twice":                  func(b *batch) { b.events[2].id.id = b.events[1].id.id },
		"of another book or scope":        func(b *batch) { b.events[1].id.scope = []byte("other") },
		"neither the batch's nor earlier": func(b *batch) { b.events[1].parent.id = []byte("stranger") },
		"has no name":                     func(b *batch) { b.events[1].name = nil },
		"has no id":                       func(b *batch) { b.events[1].id.id = nil },
		"ends before it starts":           func(b *batch) { b.events[1].end.sec-- },
		"starts in the future":            func(b *batch) { b.events[1].id.start.sec += 100; b.events[1].end.sec += 100 },
		"attached message id":             func(b *batch) { b.messages[0].sequence = 0 },
	} {
		g := some(t, testShape(), 5, 100)
		v := newValidator()
		_, err := v.check(&g.b, now)
		require.NoError(t, err)
		spoil(&g.b)
		_, err = v.check(&g.b, now)
		require.ErrorIs(t, err, errInvalid)
		assert.ErrorContains(t, err, want)
	}
}
