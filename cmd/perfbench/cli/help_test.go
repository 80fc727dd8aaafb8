package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Rows of tables stay whole, and so does everything where there is no terminal.
func TestSentencesAreBrokenAtTheEdgeOfATerminal(t *testing.T) {
	text := "a b c d e f g h\n  x   y   z   0\n\nshort"
	assert.Equal(t, text, Broken(text, 0))
	assert.Equal(t, "a b c d e\nf g h\n  x   y   z   0\n\nshort", Broken(text, 10))
}
