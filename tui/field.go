package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// field is a line of text being typed.
type field struct {
	text []rune
	pos  int
	// secret shows dots instead of letters, mask what it returns: as many letters.
	secret bool
	mask   func(text string) string
}

func newField(text string) field {
	return field{text: []rune(text), pos: len([]rune(text))}
}

func (f field) value() string { return string(f.text) }

// update takes a key or pasted text; false when the key is not one of a field's
// (enter, esc, tab and the like).
func (f field) update(msg tea.Msg) (field, bool) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		return f.insert(strings.Join(strings.Fields(msg.Content), " ")), true
	case tea.KeyPressMsg:
		switch msg.String() {
		case "left":
			f.pos = max(f.pos-1, 0)
		case "right":
			f.pos = min(f.pos+1, len(f.text))
		case "home", "ctrl+a":
			f.pos = 0
		case "end", "ctrl+e":
			f.pos = len(f.text)
		case "backspace":
			if f.pos > 0 {
				f.text = append(append([]rune{}, f.text[:f.pos-1]...), f.text[f.pos:]...)
				f.pos--
			}
		case "delete":
			if f.pos < len(f.text) {
				f.text = append(append([]rune{}, f.text[:f.pos]...), f.text[f.pos+1:]...)
			}
		case "ctrl+u":
			f.text, f.pos = append([]rune{}, f.text[f.pos:]...), 0
		default:
			if msg.Text == "" || msg.Mod.Contains(tea.ModAlt) {
				return f, false
			}
			return f.insert(msg.Text), true
		}
		return f, true
	}
	return f, false
}

func (f field) insert(s string) field {
	var in []rune
	for _, r := range s {
		if unicode.IsPrint(r) {
			in = append(in, r)
		}
	}
	f.text = append(append(append([]rune{}, f.text[:f.pos]...), in...), f.text[f.pos:]...)
	f.pos += len(in)
	return f
}

// view draws the field in w cells with its cursor, scrolled so that it is seen.
func (f field) view(s *styles, w int) string {
	shown := f.text
	if f.secret {
		shown = []rune(strings.Repeat("•", len(f.text)))
	}
	if f.mask != nil {
		shown = []rune(f.mask(string(f.text)))
	}
	from := 0
	for from < f.pos && ansi.StringWidth(string(shown[from:f.pos])) > w-1 {
		from++
	}
	at, rest := " ", ""
	if f.pos < len(shown) {
		at, rest = string(shown[f.pos]), string(shown[f.pos+1:])
	}
	return fit(string(shown[from:f.pos])+s.cursor.on(at)+rest, w)
}
