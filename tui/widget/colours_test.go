package widget

import (
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
)

// A terminal gets the colours that it is known to have: what TERM says counts, within tmux, too,
// and what nothing is known of gets sixteen.
func TestColoursAreThoseThatATerminalIsKnownToHave(t *testing.T) {
	t.Setenv("PATH", "") // no tmux can be asked
	for environ, want := range map[string]colorprofile.Profile{
		"TERM=xterm":                                          colorprofile.ANSI,
		"TERM=xterm TMUX=/tmp/x":                              colorprofile.ANSI,
		"TERM=xterm COLORTERM=truecolor":                      colorprofile.TrueColor,
		"TERM=xterm-16color TMUX=/tmp/x":                      colorprofile.ANSI,
		"TERM=xterm-16color COLORTERM=":                       colorprofile.ANSI,
		"TERM=xterm-16color COLORTERM=truecolor":              colorprofile.TrueColor,
		"TERM=xterm-256color":                                 colorprofile.ANSI256,
		"TERM=xterm-256color TMUX=/tmp/x":                     colorprofile.ANSI256,
		"TERM=xterm-direct":                                   colorprofile.TrueColor,
		"TERM=xterm-kitty":                                    colorprofile.TrueColor,
		"TERM=linux":                                          colorprofile.ANSI,
		"TERM=never-heard-of":                                 colorprofile.ANSI,
		"TERM=tmux-256color TMUX=/tmp/x":                      colorprofile.ANSI256,
		"TERM=screen TMUX=/tmp/x":                             colorprofile.ANSI256,
		"TERM=screen-256color TMUX=/tmp/x COLORTERM=24bit":    colorprofile.TrueColor,
		"TERM=screen-256color COLORTERM=24bit":                colorprofile.ANSI256, // GNU screen has no more
		"TERM=vt100":                                          colorprofile.ASCII,
		"TERM=xterm-mono":                                     colorprofile.ASCII,
		"TERM=xterm-256color NO_COLOR=yes":                    colorprofile.ASCII,
		"TERM=xterm-256color NO_COLOR=0 COLORTERM=truecolor":  colorprofile.ASCII,
		"TERM=xterm-256color NO_COLOR= COLORTERM=truecolor":   colorprofile.TrueColor,
		"TERM=tmux-256color TMUX=/tmp/x COLORTERM=truecolor":  colorprofile.TrueColor,
		"TERM=tmux-256color TMUX=/tmp/x COLORTERM= NO_COLOR=": colorprofile.ANSI256,
	} {
		assert.Equal(t, want, Colours(strings.Fields(environ)), environ)
	}
}

func TestTheBackgroundIsTakenFromTheEnvironment(t *testing.T) {
	for text, dark := range map[string]bool{"": true, "15;0": true, "0;15": false, "0;default;7": false, "7;8": true, "default;default": true, "0;16": true} {
		assert.Equal(t, dark, Dark(text), text)
	}
}
