package picker

import (
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/widget"
)

// finder searches for a row of the form while words of its name or its help are typed.
type finder struct {
	field widget.Field
	from  int // the row that was selected before
}

// matches returns the rows that contain every word.
func (x *finder) matches(rows []row) []int {
	var out []int
	for i, r := range rows {
		if widget.HasWords(r.name+" "+r.help, x.field.Value()) {
			out = append(out, i)
		}
	}
	return out
}

// title is the form's heading while searching.
func (x *finder) title(rows []row) string {
	return fmt.Sprintf("/ %s · %d of %d", x.field.Value(), len(x.matches(rows)), len(rows))
}

// pressFind handles a key while searching for a row.
func (f *form) pressFind(msg tea.KeyPressMsg) {
	x := f.find
	switch msg.String() {
	case "enter", "tab":
		f.find = nil
	case "esc":
		f.at, f.find = x.from, nil
	case "up":
		before := f.at
		for _, i := range x.matches(f.rows) {
			if i < before {
				f.at = i // the last match before the selected row remains
			}
		}
	case "down":
		f.next(f.at + 1)
	default:
		var ours bool
		if x.field, ours = x.field.Update(msg); ours {
			f.next(0)
		}
	}
}

// next selects the first matching row from a given one on.
func (f *form) next(from int) {
	for _, i := range f.find.matches(f.rows) {
		if i >= from {
			f.at = i
			return
		}
	}
}

func findKeys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "go there", "enter"), widget.Bind("↑↓", "next", "up", "down"), widget.Bind("esc", "back", "esc")}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}
