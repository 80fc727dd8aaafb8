package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

func TestATerminalWithoutTheLettersGetsASCII(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		poor    bool
	}{
		{"nothing is known", nil, false},
		{"UTF-8", []string{"LANG=en_GB.UTF-8"}, false},
		{"as Debian writes it", []string{"LC_ALL=C.utf8"}, false},
		{"C", []string{"LANG=C"}, true},
		{"Latin 1", []string{"LC_CTYPE=de_DE.ISO-8859-1"}, true},
		{"LC_ALL counts most", []string{"LANG=C", "LC_ALL=C.UTF-8"}, false},
		{"an empty one does not count", []string{"LC_ALL=", "LANG=de_DE.UTF-8"}, false},
		{"the console of Linux has no braille", []string{"TERM=linux", "LANG=de_DE.UTF-8"}, true},
		{"an old terminal", []string{"TERM=vt220"}, true},
		{"tmux", []string{"TERM=tmux-256color", "LANG=de_DE.UTF-8"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.poor, (&cli.Call{Env: cli.Env{Environ: c.environ}}).PoorLetters())
		})
	}
}
