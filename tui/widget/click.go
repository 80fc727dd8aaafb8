package widget

import (
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// FooterKey returns the key for a click on column x of the bottom line. If two keys
// share a text, "↑↓", the half that was hit decides.
func FooterKey(keys []key.Binding, x, w int) (tea.KeyPressMsg, bool) {
	at := 1
	for _, k := range keys {
		h := k.Help()
		name := ansi.StringWidth(h.Key)
		n := name + 1 + ansi.StringWidth(h.Desc)
		if at+n > w {
			break
		}
		if x >= at && x < at+n {
			names := k.Keys()
			if len(names) == 0 {
				return tea.KeyPressMsg{}, false
			}
			if len(names) == 2 && (x-at >= (name+1)/2) {
				return PressOf(names[1]), true
			}
			return PressOf(names[0]), true
		}
		at += n + 2
	}
	return tea.KeyPressMsg{}, false
}

// PressOf returns the message of a key given its name: "a", "shift+left", "enter".
func PressOf(name string) tea.KeyPressMsg {
	var k tea.KeyPressMsg
	for {
		mod, rest, ok := strings.Cut(name, "+")
		m, known := map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "shift": tea.ModShift, "alt": tea.ModAlt}[mod]
		if !ok || !known || rest == "" {
			break
		}
		k.Mod |= m
		name = rest
	}
	codes := map[string]rune{
		"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"backspace": tea.KeyBackspace, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "delete": tea.KeyDelete,
	}
	switch c, ok := codes[name]; {
	case ok:
		k.Code = c
	case name == "space":
		k.Code, k.Text = tea.KeySpace, " "
	default:
		k.Code = []rune(name)[0]
		if k.Mod == 0 {
			k.Text = name
		}
	}
	return k
}

// TabSpot is the position of a name in a row of names; at is its index.
type TabSpot struct {
	At       int
	Name     string
	From, To int
}

// Footer draws the bottom line: the keys that work now, and dimmed those that do not.
func Footer(s *Styles, w int, keys []key.Binding) string {
	var b strings.Builder
	used := 1
	b.WriteByte(' ')
	for _, k := range keys {
		h := k.Help()
		n := ansi.StringWidth(h.Key) + 1 + ansi.StringWidth(h.Desc) + 2
		if used+n-2 > w {
			break
		}
		used += n
		if k.Enabled() {
			b.WriteString(s.Key.On(h.Key) + " " + s.Muted.On(h.Desc) + "  ")
		} else {
			b.WriteString(s.KeyOff.On(h.Key+" "+h.Desc) + "  ")
		}
	}
	return Fit(strings.TrimRight(b.String(), " "), w)
}
