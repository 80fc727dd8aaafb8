package widget

import (
	"testing"

	"charm.land/bubbles/v2/key"
	"github.com/stretchr/testify/assert"
)

func TestClicksOnTheBottomLineAreKeys(t *testing.T) {
	k := AllKeys
	keys := KeyMap{Short: []key.Binding{k.Start, Bind("↑↓", "choose", "up", "down"), k.Quit}}.Short
	for _, c := range []struct {
		x    int
		want string
	}{{1, "enter"}, {11, "enter"}, {14, "up"}, {15, "down"}, {18, "down"}, {25, "q"}} {
		got, ok := FooterKey(keys, c.x, 80)
		assert.True(t, ok, "%d", c.x)
		assert.Equal(t, c.want, got.String(), "%d", c.x)
	}
	for _, x := range []int{0, 12, 13, 40} {
		_, ok := FooterKey(keys, x, 80)
		assert.False(t, ok, "%d", x)
	}
	for _, name := range []string{"a", "+", "space", "shift+tab", "ctrl+u", "pgdown", "?", "L", "esc"} {
		assert.Equal(t, name, PressOf(name).String())
	}
}
