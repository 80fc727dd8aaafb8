package widget

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// FooterKey returns the key for a click on column x of the bottom line. If two keys
// share a text, "↑↓", the half that was hit decides.
func FooterKey(keys []key.Binding, x, w int) (tea.KeyPressMsg, bool) {
	at := 1
	for _, k := range footed(keys, w) {
		h := k.Help()
		name := ansi.StringWidth(h.Key)
		n := footerWidth(k)
		if x >= at && x < at+n {
			names := k.Keys()
			if len(names) == 0 {
				return tea.KeyPressMsg{}, false
			}
			if len(names) == 2 && (x-at >= (name+1)/2) {
				return PressOf(names[1]), true
			}
			return Clicked(k), true
		}
		at += n + footerGap
	}
	return tea.KeyPressMsg{}, false
}

// Clicked returns the message for a click on a binding, which has a key at least: its first or, of characters that begin
// to type a value, enter, which begins that without one.
func Clicked(b key.Binding) tea.KeyPressMsg {
	names := b.Keys()
	if len(names) > 2 && !slices.ContainsFunc(names, func(name string) bool { return len(name) > 1 }) {
		return PressOf("enter")
	}
	return PressOf(names[0])
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
		"f1": tea.KeyF1, "f5": tea.KeyF5, "f9": tea.KeyF9,
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

// footerGap is the space between two keys of the bottom line.
const footerGap = 2

// footerWidth returns how many cells a key takes in the bottom line.
func footerWidth(k key.Binding) int {
	return ansi.StringWidth(k.Help().Key) + 1 + ansi.StringWidth(k.Help().Desc)
}

// footed returns the keys that the bottom line has room for in w cells: the first ones, and in
// any case the way out, back or else q, and the help, which names all others.
func footed(keys []key.Binding, w int) []key.Binding {
	out := "q"
	if slices.ContainsFunc(keys, func(k key.Binding) bool { return k.Help().Key == "esc" }) {
		out = "esc"
	}
	kept := func(k key.Binding) bool { return k.Help().Key == out || k.Help().Key == "?" }
	reserved := 0
	for _, k := range keys {
		if kept(k) {
			reserved += footerWidth(k) + footerGap
		}
	}
	var shown []key.Binding
	used, full := 1, false
	for _, k := range keys {
		n := footerWidth(k)
		if kept(k) {
			reserved -= n + footerGap
		} else {
			full = full || used+n+reserved > w
		}
		if full && !kept(k) || used+n > w {
			continue
		}
		shown, used = append(shown, k), used+n+footerGap
	}
	return shown
}

// Footer draws the bottom line: the keys that work now, and dimmed those that do not.
func Footer(s *Styles, w int, keys []key.Binding) string {
	var b strings.Builder
	b.WriteByte(' ')
	shown := footed(keys, w)
	for _, k := range shown {
		h := k.Help()
		if k.Enabled() {
			b.WriteString(s.Key.On(h.Key) + " " + s.Muted.On(h.Desc) + "  ")
		} else {
			b.WriteString(s.KeyOff.On(h.Key+" "+h.Desc) + "  ")
		}
	}
	line := strings.TrimRight(b.String(), " ")
	if len(shown) < len(keys) && ansi.StringWidth(line)+2 < w {
		line += " " + s.Muted.On(" …")
	}
	return Fit(line, w)
}

// Wheel returns by how many rows the wheel moves: so many up or down.
func Wheel(m tea.Mouse, rows int) int {
	if m.Button == tea.MouseWheelUp {
		return -rows
	}
	return rows
}

// Rows is where a list has drawn its rows, for the mouse: on which line of the page the first one, which that
// is, and how many. The zero value has drawn none.
type Rows struct{ Line, Top, N int }

// Under returns which row of the list is on a line of the page; false if none is.
func (r Rows) Under(line int) (row int, ok bool) {
	at := line - r.Line
	return r.Top + at, at >= 0 && at < r.N
}
