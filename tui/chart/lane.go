package chart

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Moment is a moment of a run in a column of cells: a change, a note, a fault, a phase.
type Moment struct {
	Cell int
	Sign rune
	Name string
	// Brief is written where there is no room for the name.
	Brief string
	// Whole is what it is where it is read, if the name says too little.
	Whole string
	// Level means that the name is how a level of a search went, "rate 146k: too much · 10.1 % took longer", or what
	// else was noted during one. No other part of it says anything but how it went.
	Level bool
	// Searched means that a search did it, which does much: it is in the lane only where its name has room.
	Searched bool
	// Coming means that the timetable has it, and that it has not come yet.
	Coming bool
	// At is when it is, since measurement began.
	At time.Duration
}

// Outage is the sign of a time in which nothing was done, Emptied of one in which the store answered, but
// without records that it had acknowledged. Both times are shaded with their signs.
const Outage, Emptied = '░', '╱'

// OwnPause names an outage in which perfbench itself did not run, and so asked for nothing.
const OwnPause = "perfbench did not run"

// Signs explains the signs of lanes and charts, for the help.
func Signs() []key.Binding {
	return []key.Binding{
		widget.Bind("▾ ▿", "a change, or one to come"), widget.Bind("▾×5", "five changes"), widget.Bind("◆", "a note"), widget.Bind("▸", "a phase began"),
		widget.Bind("▒", "a fault was in force"), widget.Bind(string(Outage), "nothing was done"), widget.Bind(string(Emptied), "answered without records"),
		widget.Bind("✗", "calls failed"), widget.Bind("▲ ▔", "above the scale"),
	}
}

// String is the moment as it is named beside a chart: its sign and name.
func (m *Moment) String() string { return string(m.Sign) + " " + cmp.Or(m.Whole, m.Name) }

// read reports whether the moment can be read: it has come, and has a name.
func (m *Moment) read() bool { return m.Name != "" && !m.Coming }

// The layers of a lane.
const (
	sign Layer = iota + 1
	later
	called
)

// Lane is a row of cells above a chart with a sign for each moment, and the name to its right where that ends before
// the next sign, or at the end to its left; changes that are too close for names are counted, ▾×5. Moments of one cell share a name, that of the newest which has room, and its sign. Where several
// changes are all of one knob, a value may stand alone. What a search did is left out where its name has no room. The lane
// is empty if no moment lies on the chart.
func Lane(s *widget.Styles, cells int, moments []Moment) string {
	c, shown := inLane(cells, moments)
	if len(shown) == 0 {
		return ""
	}
	return Paint(c, func(l Layer, _, _ int) widget.Ink {
		if l == sign {
			return s.Accent
		}
		return s.Muted
	})[0]
}

// InLane returns the moments that have a sign in the lane above a chart of so many cells.
func InLane(cells int, moments []Moment) []Moment {
	_, shown := inLane(cells, moments)
	return shown
}

// inLane writes the lane, and returns the moments that are in it.
func inLane(cells int, moments []Moment) (c *Canvas, shown []Moment) {
	c = NewCanvas(cells, 1)
	put := func(m *Moment) {
		l := sign
		if m.Coming {
			l = later
		}
		c.Put(m.Cell, 0, string(m.Sign), l)
	}
	for _, m := range moments {
		if m.Cell >= 0 && m.Cell < cells && !m.Searched {
			put(&m)
			shown = append(shown, m)
		}
	}
	named, one := map[int]bool{}, oneKnob(moments)
	for _, beside := range []func(*Canvas, int, string) bool{nameAfter, nameBefore} {
		for _, m := range newest(moments) {
			if m.Cell < 0 || m.Cell >= cells || named[m.Cell] || m.Searched && !c.Free(m.Cell, 0, 1) {
				continue
			}
			texts := m.names()
			if one {
				_, value := m.parts()
				texts = append(texts, value)
			}
			if slices.ContainsFunc(texts, func(text string) bool { return beside(c, m.Cell, text) }) {
				put(&m)
				if named[m.Cell] = true; m.Searched {
					shown = append(shown, m)
				}
			}
		}
	}
	crowds(c, shown, named)
	return c, shown
}

// A crowd is crowd changes or more, each at most aside cells from the next, that have no name in the lane.
const crowd, aside = 3, 8

// crowds counts the changes of each crowd at the first of them, where as many signs would tell nothing: ▾×5.
func crowds(c *Canvas, moments []Moment, named map[int]bool) {
	w, _ := c.Size()
	var list []Moment
	flush := func() {
		if n := len(list); n >= crowd {
			first, last, text := list[0].Cell, list[n-1].Cell, "▾×"+strconv.Itoa(n)
			long := ansi.StringWidth(text)
			if over := first + long - 1 - last; over <= 0 || c.Free(last+1, 0, over) {
				c.Put(first, 0, strings.Repeat(" ", last-first+1), sign)
				c.Put(first, 0, text, sign)
			}
		}
		list = nil
	}
	for _, m := range slices.SortedStableFunc(slices.Values(moments), func(x, y Moment) int { return cmp.Compare(x.Cell, y.Cell) }) {
		if m.Cell < 0 || m.Cell >= w {
			continue
		}
		if n := len(list); n > 0 && m.Cell-list[n-1].Cell > aside || m.Sign != '▾' || named[m.Cell] {
			flush()
		}
		if m.Sign == '▾' && !named[m.Cell] {
			list = append(list, m)
		}
	}
	flush()
}

// newest returns moments with the newest first, but those that have not come yet last.
func newest(moments []Moment) []Moment {
	out := slices.Clone(moments)
	slices.SortStableFunc(out, func(x, y Moment) int {
		switch {
		case x.Coming != y.Coming && x.Coming:
			return 1
		case x.Coming != y.Coming:
			return -1
		case x.Coming:
			return cmp.Compare(x.At, y.At)
		}
		return cmp.Compare(y.At, x.At)
	})
	return out
}

// leastLast is how long the last word of a name is at least that is cut: "the…" says nothing.
const leastLast = 4

// names returns what the moment may be called, the longest first: its name, the brief one, and as many
// whole words of the name, or of the brief one of a note, as there is room for, but not an article without its noun.
// The number in the name of a change is short.
func (m *Moment) names() []string {
	if m.knob() {
		return []string{shortened(m.Name), m.Brief}
	}
	out := []string{m.Name, m.Brief}
	if m.Level {
		brief, _, _ := strings.Cut(m.Name, " · ")
		level, went, ok := strings.Cut(brief, ": ")
		if !ok {
			return out
		}
		_, value, _ := strings.Cut(level, " ")
		return append(out, brief, value+": "+went)
	}
	words := strings.Split(m.Name, " ")
	if m.Sign == '◆' && m.Brief != "" {
		words = strings.Split(m.Brief, " ")
	}
	for n := len(words) - 1; n >= 1; n-- {
		if text := strings.TrimRight(strings.Join(words[:n], " "), ",:;"); len(words[n-1]) >= leastLast && !strings.HasSuffix(text, "→") {
			out = append(out, text+"…")
		}
	}
	return out
}

// knob reports whether the moment is a change of a setting.
func (m *Moment) knob() bool { return m.Sign == '▾' || m.Sign == '▿' }

// parts returns the knob and the value in the name of a change, "rate" and "20k"; none if it has no value.
func (m *Moment) parts() (knob, value string) {
	words := strings.Split(shortened(m.Name), " ")
	at := slices.IndexFunc(words, func(word string) bool { return word != "" && '0' <= word[0] && word[0] <= '9' || word == "unlimited" })
	if !m.knob() || at < 1 {
		return "", ""
	}
	return strings.Join(words[:at], " "), strings.Join(words[at:], " ")
}

// oneKnob reports whether there are several changes, and all are of one knob.
func oneKnob(moments []Moment) bool {
	only, n := "", 0
	for _, m := range moments {
		if m.knob() {
			knob, _ := m.parts()
			if knob == "" || only != "" && only != knob {
				return false
			}
			only, n = knob, n+1
		}
	}
	return n > 1
}

// long is a number of more than three digits as texts have it.
var long = regexp.MustCompile(`\d{1,3}(\x{2009}\d{3})+(\.\d+)?`)

// shortened is a text with its long numbers in fewer digits: "rate 20k".
func shortened(text string) string {
	return long.ReplaceAllStringFunc(text, func(number string) string {
		n, _ := strconv.ParseFloat(strings.ReplaceAll(number, "\u2009", ""), 64) // the pattern is that of a number
		return units.Number(n)
	})
}

// apart is how many cells are at least between a name in a lane and the next sign.
const apart = 2

// nameAfter writes a name to the right of the sign in a lane, and reports whether there was room.
func nameAfter(c *Canvas, cell int, text string) bool {
	w, _ := c.Size()
	n := ansi.StringWidth(text)
	room := min(n+apart, w-cell-1)
	if n == 0 || n > room || !c.Free(cell+1, 0, room) {
		return false
	}
	c.Put(cell+1, 0, text, called)
	return true
}

// nameBefore writes a name to the left of the last sign in a lane, and reports whether there was room.
func nameBefore(c *Canvas, cell int, text string) bool {
	w, _ := c.Size()
	n := ansi.StringWidth(text)
	if after := w - cell - 1; n == 0 || after > 0 && !c.Free(cell+1, 0, after) || !c.Free(cell-n-apart, 0, n+apart) {
		return false
	}
	c.Put(cell-n, 0, text, called)
	return true
}
