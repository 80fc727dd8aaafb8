package widget

import (
	"fmt"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Field is a line of text being typed.
type Field struct {
	Text []rune
	Pos  int
	// Secret shows dots instead of letters. Mask returns the text to show, of the same
	// length.
	Secret bool
	Mask   func(text string) string
	// whole means that the text was there before: the first text typed replaces it,
	// unless an editing key is pressed first.
	whole bool
}

// NewField returns a field that holds a text, with the cursor at its end.
func NewField(text string) Field {
	return Field{Text: []rune(text), Pos: len([]rune(text))}
}

// NewChosen returns a field that holds a text which the first letter typed replaces.
func NewChosen(text string) Field {
	f := NewField(text)
	f.whole = text != ""
	return f
}

// Value returns the current text.
func (f Field) Value() string { return string(f.Text) }

// Untouched reports whether nothing has been typed: the text is empty, or that of before.
func (f Field) Untouched() bool { return f.whole || len(f.Text) == 0 }

// Update handles a key or pasted text; false if the key is not one of a field's (enter,
// esc, tab and the like).
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

// View draws the field in w cells, scrolled so that its cursor is visible.
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

// Filter is the text that a list is filtered by, which is typed above the list. The
// zero value passes everything. It belongs to the event loop.
type Filter struct {
	field  Field
	typing bool
}

// Text returns what is filtered by; empty if nothing.
func (f *Filter) Text() string { return f.field.Value() }

// Typing reports whether the filter is being typed.
func (f *Filter) Typing() bool { return f.typing }

// Begin starts typing the filter.
func (f *Filter) Begin() { f.typing = true }

// Keep ends the typing and keeps the text.
func (f *Filter) Keep() { f.typing = false }

// Clear removes the filter.
func (f *Filter) Clear() { *f = Filter{} }

// Press handles a key while the filter is being typed.
func (f *Filter) Press(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "enter", "down", "up", "tab":
		f.Keep()
	case "esc":
		f.Clear()
	default:
		f.field, _ = f.field.Update(msg)
	}
}

// Paste inserts text into the filter.
func (f *Filter) Paste(msg tea.PasteMsg) { f.field, _ = f.field.Update(msg) }

// NoMatch says that nothing of that name passes the filter, and what to do.
func (f *Filter) NoMatch(what string) string {
	return fmt.Sprintf("no %s matches %q: esc clears the filter", what, f.Text())
}

// View draws the filter, in w cells while it is being typed; without a filter it shows
// hint.
func (f *Filter) View(s *Styles, hint string, w int) string {
	switch {
	case f.typing:
		return s.Accent.On("/ ") + f.field.View(s, w-2)
	case f.Text() != "":
		return s.Accent.On("/ ") + f.Text()
	}
	return s.Muted.On(Brief(hint, w))
}

// HasWords reports whether a text contains every word of sought, ignoring case.
func HasWords(text, sought string) bool {
	text = strings.ToLower(text)
	for w := range strings.FieldsSeq(strings.ToLower(sought)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}
