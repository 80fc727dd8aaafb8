package widget

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
)

func TestTheFirstLetterReplacesWhatAFieldHeld(t *testing.T) {
	for _, c := range []struct {
		name, want string
		msgs       []tea.Msg
	}{
		{"letters", "90", []tea.Msg{PressOf("9"), PressOf("0")}},
		{"a paste", "redis://h", []tea.Msg{tea.PasteMsg{Content: "redis://h\n"}}},
		{"a letter behind it", "2m40s9", []tea.Msg{PressOf("end"), PressOf("9")}},
		{"a letter before it", "92m40s", []tea.Msg{PressOf("home"), PressOf("9")}},
		{"a key that takes away", "2m409", []tea.Msg{PressOf("backspace"), PressOf("9")}},
		{"a key of others", "9", []tea.Msg{PressOf("tab"), PressOf("9")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := NewChosen("2m40s")
			for _, m := range c.msgs {
				f, _ = f.Update(m)
			}
			assert.Equal(t, c.want, f.Value())
		})
	}
	f, _ := NewField("2").Update(PressOf("9"))
	assert.Equal(t, "29", f.Value())
}
