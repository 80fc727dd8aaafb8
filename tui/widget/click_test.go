package widget

import (
	"strings"
	"testing"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
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

func TestTheBottomLineKeepsTheWayBackAndTheHelp(t *testing.T) {
	k, s := AllKeys, NewStyles(ThemeMono, true, colorprofile.Ascii)
	keys := []key.Binding{k.Start, k.Toggle, k.SideA, k.SideB, k.Compare, k.Help, k.Filter, k.Order, k.Back, k.Quit}
	for w, want := range map[int]string{
		120: " enter start  space select  a put on side A  b put on side B  c compare  ? help  / filter  o sort  esc back  q quit",
		82:  " enter start  space select  a put on side A  b put on side B  ? help  esc back  …",
		80:  " enter start  space select  a put on side A  b put on side B  ? help  esc back",
		34:  " enter start  ? help  esc back  …",
		30:  " enter start  ? help  esc back",
		12:  " ? help  …",
	} {
		line := strings.TrimRight(ansi.Strip(Footer(s, w, keys)), " ")
		assert.Equal(t, want, line)
		at := strings.Index(line, "?")
		got, ok := FooterKey(keys, at, w)
		assert.True(t, ok, "%d", w)
		assert.Equal(t, "?", got.String(), "a click meets the key that is drawn there, at %d cells", w)
	}
	assert.Equal(t, " enter start  ? help  q quit  …", strings.TrimRight(ansi.Strip(Footer(s, 34, []key.Binding{k.Start, k.Toggle, k.Compare, k.Help, k.Filter, k.Quit})), " "), "where nothing leads back")
}

// A click on what is typed begins that, and types none of it.
func TestAClickOnCharactersTypesNone(t *testing.T) {
	got, ok := FooterKey([]key.Binding{AllKeys.TypeValue}, 1, 80)
	assert.True(t, ok)
	assert.Equal(t, "enter", got.String())
	assert.Equal(t, "a", Clicked(Bind("a", "put on side A", "a")).String())
}

// A line of the page is a row of the list only where one is drawn.
func TestRowsAreUnderTheMouseWhereTheyAreDrawn(t *testing.T) {
	r := Rows{Line: 5, Top: 20, N: 3}
	for line, want := range map[int]int{4: -1, 5: 20, 7: 22, 8: -1} {
		row, is := r.Under(line)
		if assert.Equal(t, want >= 0, is, line); is {
			assert.Equal(t, want, row)
		}
	}
	_, is := Rows{}.Under(0)
	assert.False(t, is)
	assert.Equal(t, -3, Wheel(tea.Mouse{Button: tea.MouseWheelUp}, 3))
	assert.Equal(t, 1, Wheel(tea.Mouse{Button: tea.MouseWheelDown}, 1))
}
