package picker

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// profiles is the list to choose a profile from, and what it is filtered by.
type profiles struct {
	all    []workload.Profile
	stores []screen.StoreInfo
	filter widget.Filter
	// shown indexes the profiles that pass the filter; chosen is the selected one, of all: it stays
	// while none passes.
	shown  []int
	chosen int
	// matrix means that all profiles show the stores on which they run, not only the selected one.
	matrix bool
	// before is the profile that was selected when the filter began to be typed.
	before string
}

func newProfiles(c Catalogue) *profiles {
	l := &profiles{all: c.Profiles(), stores: c.Stores()}
	l.sift()
	return l
}

// built reports whether a profile can run yet.
func built(p *workload.Profile) bool { return p.Design != nil }

// selected returns the selected profile; nil if there is none at all.
func (l *profiles) selected() *workload.Profile {
	if l.chosen >= len(l.all) {
		return nil
	}
	return &l.all[l.chosen]
}

// at returns the place of the selected profile among those shown; -1 if it is not.
func (l *profiles) at() int { return slices.Index(l.shown, l.chosen) }

// sift finds the profiles that contain every word of the filter.
func (l *profiles) sift() {
	l.shown = l.shown[:0]
	for i := range l.all {
		if pr := &l.all[i]; widget.HasWords(pr.Name+" "+pr.Title+" "+pr.Summary, l.filter.Text()) {
			l.shown = append(l.shown, i)
		}
	}
}

// keep ends the typing of the filter and keeps it.
func (l *profiles) keep() {
	l.filter.Keep()
	l.before = ""
}

// prefer selects the profile of a name; if it does not pass the filter, the first that does, if one
// does.
func (l *profiles) prefer(name string) {
	is := func(i int) bool { return l.all[i].Name == name }
	if len(l.shown) > 0 && !slices.ContainsFunc(l.shown, is) {
		l.chosen = l.shown[0]
		return
	}
	for i := range l.all {
		if is(i) {
			l.chosen = i
		}
	}
}

// selectAt selects a profile by its place among those shown.
func (l *profiles) selectAt(at int) {
	if len(l.shown) > 0 {
		l.chosen = l.shown[max(min(at, len(l.shown)-1), 0)]
	}
}

// driver is a store in the head of the list.
type driver struct{ id, letter, title string }

// drivers lists the stores that any profile runs on, each with its own letter, at most
// as many as fit.
func (l *profiles) drivers(most int) []driver {
	var out []driver
	used := map[string]bool{}
	for _, st := range l.stores {
		runs := false
		for i := range l.all {
			b, ok := l.all[i].Binding(st.Driver)
			runs = runs || ok && b.Refuse == ""
		}
		if !runs || len(out) == most {
			continue
		}
		title, _, _ := strings.Cut(st.Title, " (")
		if ansi.StringWidth(title) > 18 {
			title = st.Driver
		}
		letter := "?"
		for _, r := range strings.ToUpper(title) {
			if l := string(r); !used[l] && r >= 'A' && r <= 'Z' {
				letter = l
				break
			}
		}
		used[letter] = true
		out = append(out, driver{st.Driver, letter, title})
	}
	return out
}

// lines draw the list, and below it where the selected profile runs, or what the dots and letters of all mean.
func (l *profiles) lines(s *widget.Styles, w, h int) []string {
	name := 12
	for i := range l.all {
		name = max(name, ansi.StringWidth(l.all[i].Title))
	}
	gap, ds := " ", l.drivers(len(l.stores))
	if s.Spoken {
		return l.spoken(s, ds, w)
	}
	var below []string
	if !l.matrix {
		for _, text := range l.runsOn(ds) {
			below = append(below, widget.Indent(widget.MutedLines(s, text, w-2))...)
		}
		ds = nil
	}
	all := len(ds)
	if len(ds)*2 > w-name-5 { // closer together if there is no room
		gap, ds = "", l.drivers(max(w-name-6, 0))
	}
	more := all - len(ds) // which a wider panel has
	var heads strings.Builder
	for i, d := range ds {
		if i > 0 {
			heads.WriteString(gap)
		}
		heads.WriteString(d.letter)
	}
	if more > 0 {
		heads.WriteString("…")
	} else {
		heads.WriteByte(' ')
	}
	filter := l.filter.View(s, "/ filter …", max(w-2*len(ds)-6, 8)+2)
	lines := []string{" " + widget.Spread(filter, s.Muted.On(heads.String()), w-2), ""}
	if len(l.shown) == 0 {
		lines = append(lines, " "+s.Muted.On("No profile matches."))
	}
	for _, n := range l.shown {
		pr := &l.all[n]
		lead, ink := "   ", s.Plain
		if n == l.chosen {
			lead, ink = " ▸ ", s.Selected
		}
		right := dots(s, pr, ds, gap)
		if !built(pr) {
			right = s.Muted.On("planned ")
			if n != l.chosen {
				ink = s.Muted
			}
		}
		lines = append(lines, widget.Spread(ink.On(lead+ansi.Truncate(pr.Title, max(w-5-ansi.StringWidth(right), 8), "…")), right, w-1))
	}
	room := max(h-len(lines)-1, 0)
	if l.matrix {
		below = legend(s, ds, more, w-2)
		below = below[max(len(below)-room, 0):]
	}
	below = below[:min(len(below), room)]
	for len(lines) < h-len(below) {
		lines = append(lines, "")
	}
	return append(lines, below...)
}

// spoken is the list as it is read, and below it where the profile that is selected runs.
func (l *profiles) spoken(s *widget.Styles, ds []driver, w int) []string {
	lines := []string{" " + l.filter.View(s, "/ filter", w-2)}
	if len(l.shown) == 0 {
		return append(lines, " No profile matches.")
	}
	for _, n := range l.shown {
		lead := "   "
		if n == l.chosen {
			lead = " ▸ "
		}
		lines = append(lines, lead+l.all[n].Title)
	}
	for _, text := range l.runsOn(ds) {
		lines = append(lines, " "+text)
	}
	return lines
}

// runsOn says where the selected profile runs: on which stores wholly, and on which in part.
func (l *profiles) runsOn(ds []driver) (lines []string) {
	pr := l.selected()
	switch {
	case pr == nil:
		return nil
	case !built(pr):
		return []string{"planned"}
	}
	var whole, part []string
	for _, d := range ds {
		switch bind, ok := pr.Binding(d.id); {
		case !ok || bind.Refuse != "":
		case bind.Note != "":
			part = append(part, d.title)
		default:
			whole = append(whole, d.title)
		}
	}
	for _, some := range []struct {
		where  string
		stores []string
	}{{"runs on", whole}, {"in part on", part}} {
		if len(some.stores) > 0 {
			lines = append(lines, some.where+" "+strings.Join(some.stores, ", "))
		}
	}
	return lines
}

// dots shows the stores on which a profile runs.
func dots(s *widget.Styles, pr *workload.Profile, ds []driver, gap string) string {
	var b strings.Builder
	for i, d := range ds {
		if i > 0 {
			b.WriteString(gap)
		}
		bind, ok := pr.Binding(d.id)
		switch {
		case !ok || bind.Refuse != "":
			b.WriteString(s.Muted.On("·"))
		case bind.Note != "":
			b.WriteString(s.OK.On("○"))
		default:
			b.WriteString(s.OK.On("●"))
		}
	}
	return b.String() + " "
}

// legend explains dots and letters, and says for how many more stores there is no room.
func legend(s *widget.Styles, ds []driver, more, w int) []string {
	if len(ds) == 0 {
		return nil
	}
	words := make([]string, len(ds))
	for i, d := range ds {
		words[i] = d.letter + " " + d.title
	}
	if more > 0 {
		words = append(words, fmt.Sprintf("… %d more", more))
	}
	signs := []string{"● supported", "○ partly", "· not supported"}
	if ansi.StringWidth(strings.Join(signs, "  ")) > w { // one line, or the letters push it out
		signs = []string{"● yes", "○ partly", "· no"}
	}
	out := flowed(s, signs, w)
	return append(out, flowed(s, words, w)...)
}

// flowed lays out words side by side, in as many lines of w cells as needed.
func flowed(s *widget.Styles, words []string, w int) (out []string) {
	line := ""
	for _, word := range words {
		if line != "" && ansi.StringWidth(line+"  "+word) > w {
			out = append(out, " "+s.Muted.On(line))
			line = ""
		}
		if line != "" {
			line += "  "
		}
		line += word
	}
	return append(out, " "+s.Muted.On(line))
}
