package picker

import (
	"fmt"
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/perfbench/perfbench/tui/widget"
)

// finder searches for a row of the form while words of its name or its help are typed.
type finder struct {
	field widget.Field
	from  string // the key of the row that was selected before
}

// newFinder begins a search at the selected row.
func (f *form) newFinder() *finder {
	x := &finder{}
	if r := f.current(); r != nil {
		x.from = r.key()
	}
	return x
}

// matches returns the rows that contain every word, those first whose label does, then
// those with the help, then those with a name that a file or --set has for it.
func (x *finder) matches(rows []row) []int {
	var by [3][]int
	for i, r := range rows {
		shown := label(r.name)
		switch sought := x.field.Value(); {
		case widget.HasWords(shown, sought):
			by[0] = append(by[0], i)
		case widget.HasWords(shown+" "+r.help, sought):
			by[1] = append(by[1], i)
		case widget.HasWords(shown+" "+r.help+" "+r.name+" "+r.alias(), sought):
			by[2] = append(by[2], i)
		}
	}
	return slices.Concat(by[:]...)
}

// title is the form's heading while searching.
func (x *finder) title(rows []row) string {
	found := len(x.matches(rows))
	if found == 0 && x.field.Value() != "" {
		return fmt.Sprintf("/ %s · nothing matches", x.field.Value())
	}
	return fmt.Sprintf("/ %s · %d of %d", x.field.Value(), found, len(rows))
}

// pressFind handles a key while searching for a row.
func (f *form) pressFind(msg tea.KeyPressMsg) {
	x := f.find
	switch msg.String() {
	case "enter", "tab":
		f.find = nil
	case "esc":
		f.goBack()
		f.find = nil
	case "up":
		f.step(-1)
	case "down":
		f.step(1)
	default:
		var ours bool
		if x.field, ours = x.field.Update(msg); !ours {
			return
		}
		f.seek()
	}
}

// seek selects the first match; nothing found leaves the selection where it was.
func (f *form) seek() {
	f.goBack()
	if found := f.find.matches(f.rows); f.find.field.Value() != "" && len(found) > 0 {
		f.at = found[0]
	}
}

// goBack selects the row at which the search began.
func (f *form) goBack() {
	from := f.find.from
	f.goTo(func(r *row) bool { return r.key() == from })
}

// step selects the match before or after the selected row.
func (f *form) step(by int) {
	found := f.find.matches(f.rows)
	if i := slices.Index(found, f.at) + by; i >= 0 && i < len(found) {
		f.at = found[i]
	}
}

func findKeys() widget.KeyMap {
	list := []key.Binding{widget.Bind("enter", "go there", "enter"), widget.Bind("↑↓", "next", "up", "down"), widget.Bind("esc", "back", "esc")}
	return widget.KeyMap{Short: list, Full: [][]key.Binding{list}}
}
