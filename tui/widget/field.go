package widget

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Field is a line of text being typed.
type Field struct {
	Text []rune
	Pos  int
	// Secret shows dots instead of letters, mask what it returns: as many letters.
	Secret bool
	Mask   func(text string) string
	// whole says that the text was there before: what is typed first replaces it, unless
	// a key that edits comes before.
	whole bool
}

// NewField returns a field that holds a text, its cursor behind it.
func NewField(text string) Field {
	return Field{Text: []rune(text), Pos: len([]rune(text))}
}

// NewChosen returns a field that holds a text which the first letter typed replaces.
func NewChosen(text string) Field {
	f := NewField(text)
	f.whole = text != ""
	return f
}

// Value is the text as it stands.
func (f Field) Value() string { return string(f.Text) }

// Update takes a key or pasted text; false when the key is not one of a field's
// (enter, esc, tab and the like).
func (f Field) Update(msg tea.Msg) (Field, bool) {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		return f.insert(strings.Join(strings.Fields(msg.Content), " ")), true
	case tea.KeyPressMsg:
		switch msg.String() {
		case "left":
			f.Pos = max(f.Pos-1, 0)
		case "right":
			f.Pos = min(f.Pos+1, len(f.Text))
		case "home", "ctrl+a":
			f.Pos = 0
		case "end", "ctrl+e":
			f.Pos = len(f.Text)
		case "backspace":
			if f.Pos > 0 {
				f.Text = append(append([]rune{}, f.Text[:f.Pos-1]...), f.Text[f.Pos:]...)
				f.Pos--
			}
		case "delete":
			if f.Pos < len(f.Text) {
				f.Text = append(append([]rune{}, f.Text[:f.Pos]...), f.Text[f.Pos+1:]...)
			}
		case "ctrl+u":
			f.Text, f.Pos = append([]rune{}, f.Text[f.Pos:]...), 0
		default:
			if msg.Text == "" || msg.Mod.Contains(tea.ModAlt) {
				return f, false
			}
			return f.insert(msg.Text), true
		}
		f.whole = false
		return f, true
	}
	return f, false
}

func (f Field) insert(s string) Field {
	var in []rune
	for _, r := range s {
		if unicode.IsPrint(r) {
			in = append(in, r)
		}
	}
	if f.whole {
		f.Text, f.Pos, f.whole = nil, 0, false
	}
	f.Text = append(append(append([]rune{}, f.Text[:f.Pos]...), in...), f.Text[f.Pos:]...)
	f.Pos += len(in)
	return f
}

// View draws the field in w cells with its cursor, scrolled so that it is seen.
func (f Field) View(s *Styles, w int) string {
	shown := f.Text
	if f.Secret {
		shown = []rune(strings.Repeat("•", len(f.Text)))
	}
	if f.Mask != nil {
		shown = []rune(f.Mask(string(f.Text)))
	}
	from := 0
	for from < f.Pos && ansi.StringWidth(string(shown[from:f.Pos])) > w-1 {
		from++
	}
	at, rest := " ", ""
	if f.Pos < len(shown) {
		at, rest = string(shown[f.Pos]), string(shown[f.Pos+1:])
	}
	before := string(shown[from:f.Pos])
	if f.whole {
		before = s.cursor.On(before)
	}
	return Fit(before+s.cursor.On(at)+rest, w)
}
