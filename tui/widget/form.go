package widget

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"charm.land/bubbles/v2/key"
	"github.com/perfbench/perfbench/internal/fault"
)

// FormRow is one value that a form asks for.
type FormRow struct {
	// Name is what errors call it, Label and Help are for display.
	Name, Label, Help string
	// Choices are the words that ←→ step through; without any the value is typed.
	Choices []string
	field   Field
}

// Masked returns the row with its text shown by mask, which returns as many letters.
func (r FormRow) Masked(mask func(text string) string) FormRow {
	r.field.Mask = mask
	return r
}

// shown returns the displayed value of the row.
func (r FormRow) shown() string {
	if r.field.Mask == nil {
		return r.field.Value()
	}
	return r.field.Mask(r.field.Value())
}

// Form asks for a few values. Its zero value has no rows.
type Form struct {
	Rows []FormRow
	at   int
	// faults are the errors by row name, and live those of what is being typed; rest are those of no row.
	faults, live map[string]string
	rest         []error
}

// NewRow returns a row that holds a text.
func NewRow(name, label, text, help string, choices ...string) FormRow {
	return FormRow{Name: name, Label: label, Help: help, Choices: choices, field: NewChosen(text)}
}

// Begun returns the row with its text to be continued rather than replaced.
func (r FormRow) Begun() FormRow {
	r.field = NewField(r.field.Value())
	return r
}

// Holding returns the row with another text.
func (r FormRow) Holding(text string) FormRow {
	r.field = NewChosen(text)
	return r
}

// Value returns the text of a row.
func (f *Form) Value(name string) string {
	for i := range f.Rows {
		if f.Rows[i].Name == name {
			return f.Rows[i].field.Value()
		}
	}
	return ""
}

// Blame shows errors beside the rows they concern, and moves to the first of these. Those of no row are shown where no row
// is wrong: they may come of one that is.
func (f *Form) Blame(err error) {
	f.faults, f.rest = f.of(err)
	if len(f.faults) > 0 {
		f.rest = nil
		f.at = slices.IndexFunc(f.Rows, func(r FormRow) bool { return f.faults[r.Name] != "" })
	}
}

// Check shows errors of values that are being typed beside their rows; nil takes them back.
func (f *Form) Check(err error) { f.live, _ = f.of(err) }

// Wrong reports whether the form shows an error.
func (f *Form) Wrong() bool { return len(f.faults)+len(f.live)+len(f.rest) > 0 }

// of returns errors by the rows they concern, without their names, which stand beside them, and those of no row.
func (f *Form) of(err error) (faults map[string]string, rest []error) {
	faults = map[string]string{}
	for _, part := range fault.Parts(err) {
		i := slices.IndexFunc(f.Rows, func(r FormRow) bool { return r.Name == fault.FieldOf(part) })
		if i < 0 || faults[f.Rows[i].Name] != "" {
			rest = append(rest, part)
			continue
		}
		r := f.Rows[i]
		text := strings.TrimPrefix(Unflagged(part.Error(), f.Rows...), r.Name+": ")
		if typed := r.field.Value(); r.field.Mask != nil && typed != "" {
			text = strings.ReplaceAll(text, typed, r.shown())
		}
		faults[r.Name] = text
	}
	return faults, rest
}

// Untouched reports whether nothing has been typed into the selected row.
func (f *Form) Untouched() bool {
	return len(f.Rows) == 0 || len(f.Rows[f.at].Choices) > 0 || f.Rows[f.at].field.Untouched()
}

// Press handles a key; false if it is not one of a form's, such as enter and esc. What was wrong with a
// row is no longer shown once its value is another.
func (f *Form) Press(msg tea.Msg) bool {
	if len(f.Rows) == 0 {
		return false
	}
	r := &f.Rows[f.at]
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch k.String() {
		case "up", "shift+tab":
			f.at = (f.at + len(f.Rows) - 1) % len(f.Rows)
			return true
		case "down", "tab":
			f.at = (f.at + 1) % len(f.Rows)
			return true
		case "left", "right", "space":
			if len(r.Choices) > 0 {
				by := map[bool]int{true: -1, false: 1}[k.String() == "left"]
				at := slices.Index(r.Choices, r.field.Value())
				r.field = NewField(r.Choices[(at+by+len(r.Choices))%len(r.Choices)])
				f.changed(r.Name)
				return true
			}
		}
	}
	if len(r.Choices) > 0 {
		k, _ := msg.(tea.KeyPressMsg)
		next, ok := Choice(r.Choices, r.field.Value(), k.Text)
		if ok = ok && k.Text != ""; ok {
			r.field = NewField(next)
			f.changed(r.Name)
		}
		return ok
	}
	before := r.field.Value()
	var ours bool
	if r.field, ours = r.field.Update(msg); r.field.Value() != before {
		f.changed(r.Name)
	}
	return ours
}

// changed drops what was said of a row that has another value now, and of the whole.
func (f *Form) changed(name string) {
	delete(f.faults, name)
	f.rest = nil
}

// Keys returns the keys of a form; does is what enter does.
func (f *Form) Keys(does string) KeyMap {
	list := []key.Binding{Bind("enter", does, "enter"), Bind("↑↓", "row", "up", "down", "tab", "shift+tab")}
	if len(f.Rows) > 0 && len(f.Rows[f.at].Choices) > 0 {
		list = append(list, Bind("←→", "change", "left", "right", "space"))
	} else {
		list = append(list, Bind("ctrl+u", "clear", "ctrl+u"))
	}
	list = append(list, Bind("esc", "cancel", "esc"))
	short := slices.Clip(list)
	if f.Untouched() {
		short = append(short, AllKeys.Help)
	}
	return KeyMap{Short: short, Full: [][]key.Binding{list}}
}

// Lines draws the form in w cells: a line for each row, its errors below, and the help
// of the selected row if it has none.
func (f *Form) Lines(s *Styles, w int) []string {
	column := 0
	for _, r := range f.Rows {
		column = max(column, ansi.StringWidth(r.Label)+4)
	}
	var out []string
	for i, r := range f.Rows {
		lead, ink := "  ", s.Muted
		if i == f.at {
			lead, ink = "▸ ", s.Selected
		}
		value := s.Bold.On(ansi.Truncate(r.shown(), max(w-column, 1), "…"))
		switch {
		case i == f.at && len(r.Choices) > 0:
			value = s.Accent.On("◂ ") + s.Bold.On(r.field.Value()) + s.Accent.On(" ▸")
		case i == f.at:
			value = r.field.View(s, w-column)
		case r.field.Value() == "":
			value = s.Muted.On("–")
		}
		out = append(out, ink.On(Fit(lead+r.Label, column))+value)
		below, ink := "", s.Muted
		if i == f.at {
			below = r.Help
		}
		if bad := cmp.Or(f.faults[r.Name], f.live[r.Name]); bad != "" {
			below, ink = bad, s.Bad
		}
		if below == "" {
			continue
		}
		for _, l := range Wrap(below, max(w-column, 12)) {
			out = append(out, Fit("", column)+ink.On(l))
		}
	}
	for _, err := range f.rest {
		out = append(out, "")
		for _, l := range Sentences(s, err, w) {
			out = append(out, Unflagged(l, f.Rows...))
		}
	}
	return out
}
