package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// Rows of tables stay whole, and so does everything where there is no terminal.
func TestSentencesAreBrokenAtTheEdgeOfATerminal(t *testing.T) {
	text := "a b c d e f g h\n  x   y   z   0\n\nshort"
	assert.Equal(t, text, cli.Broken(text, 0))
	assert.Equal(t, "a b c d e\nf g h\n  x   y   z   0\n\nshort", cli.Broken(text, 10))
	assert.Equal(t, "  a b c d\n  e f", cli.Broken("  a b c d e f", 10), "what is indented stays so")
	assert.Equal(t, "limit  the processors, perfbench took\n       all of this machine", cli.Broken("limit  the processors, perfbench took all of this machine", 40))
	assert.Equal(t, "errors\n1\u2009108", cli.Broken("errors 1\u2009108", 10), "a long number is one word")
}

func TestALongNumberCanBePrinted(t *testing.T) {
	assert.Equal(t, "1\u2009108 calls?", cli.Plain("1\u2009108 calls\x07", false))
	assert.Equal(t, "1108 calls", cli.Plain("1\u2009108 calls", true))
}
