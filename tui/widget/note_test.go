package widget

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What answers a key that does nothing goes before another message would, and the next key ends both.
func TestANoteThatAnswersAKeyIsBrief(t *testing.T) {
	now := time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC)
	var n Note
	n.Say(now, "kept", false)
	n.Tick(now.Add(Answered))
	assert.Equal(t, "kept", n.Text)
	n.Tick(now.Add(Said))
	assert.Empty(t, n.Text)
	n.Tell(now, "x does nothing here")
	assert.Equal(t, "x does nothing here", n.Text)
	n.Tick(now.Add(Answered - 1))
	assert.NotEmpty(t, n.Text)
	n.Tick(now.Add(Answered))
	assert.Empty(t, n.Text)
	n.Tell(now, "x does nothing here")
	n.Tell(now, "")
	assert.Empty(t, n.Text)
	n.Say(now, "kept", false)
	n.Tell(now, "")
	assert.Empty(t, n.Text)
}
