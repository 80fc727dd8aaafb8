package chart

import (
	"cmp"
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
		widget.Bind("▾ ▿", "a change, or one to come"), widget.Bind("◆", "a note"), widget.Bind("▸", "a phase began"),
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

// Lane is a row of cells above a chart with a sign for each moment, and their names where there is
// room, the newest first: to the right of the sign, or else to its left if it stands alone; moments of one cell
// share a name, whose sign they have. It is empty if no moment lies on the chart.
func Lane(s *widget.Styles, cells int, moments []Moment) string {
	c := NewCanvas(cells, 1)
	some := false
	put := func(m *Moment) {
		l := sign
		if m.Coming {
			l = later
		}
		c.Put(m.Cell, 0, string(m.Sign), l)
	}
	for _, m := range moments {
		if m.Cell >= 0 && m.Cell < cells {
			put(&m)
			some = true
		}
	}
	if !some {
		return ""
	}
	named := map[int]bool{}
	for _, m := range newest(cells, moments) {
		if m.Cell < 0 || m.Cell >= cells || named[m.Cell] {
			continue
		}
		for _, text := range m.names() {
			if nameBeside(c, m.Cell, text) {
				put(&m)
				named[m.Cell] = true
				break
			}
		}
	}
	return Paint(c, func(l Layer, _, _ int) widget.Ink {
		if l == sign {
			return s.Accent
		}
		return s.Muted
	})[0]
}

// newest returns moments with those of the newest cell that has come first.
func newest(cells int, moments []Moment) []Moment {
	last := -1
	for _, m := range moments {
		if !m.Coming && m.Cell < cells {
			last = max(last, m.Cell)
		}
	}
	var first, others []Moment
	for _, m := range moments {
		if m.Cell == last {
			first = append(first, m)
		} else {
			others = append(others, m)
		}
	}
	return append(first, others...)
}

// leastLast is how long the last word of a name is at least that is cut: "the…" says nothing.
const leastLast = 4

// names returns what the moment may be called, the longest first: its name, the brief one, and as many
// whole words of the name, or of the brief one of a note, as there is room for, but not an article without its noun.
// Of a knob, the value is the last to stay.
func (m *Moment) names() []string {
	if m.knob() {
		return append([]string{m.Name}, append(values(m.Name), m.Brief)...)
	}
	out := []string{m.Name, m.Brief}
	if m.Level {
		brief, _, _ := strings.Cut(m.Name, " · ")
		level, went, ok := strings.Cut(brief, ": ")
		if !ok {
			return out
		}
		_, value, _ := strings.Cut(level, " ")
		return append(out, brief, value+": "+went, went)
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

// values returns the value at the end of the name of a change, "20\u2009000" of "rate 20\u2009000", and in fewer digits,
// "20k"; none if it has none.
func values(name string) (out []string) {
	words := strings.Split(name, " ")
	at := slices.IndexFunc(words, func(word string) bool { return word != "" && '0' <= word[0] && word[0] <= '9' || word == "unlimited" })
	if at < 1 {
		return nil
	}
	value := strings.Join(words[at:], " ")
	out = append(out, value)
	if n, err := strconv.ParseFloat(strings.ReplaceAll(value, "\u2009", ""), 64); err == nil {
		out = append(out, units.Number(n))
	}
	return out
}

// nameBeside writes a name beside the sign in a lane, and reports whether there was room.
func nameBeside(c *Canvas, cell int, text string) bool {
	w, _ := c.Size()
	n := ansi.StringWidth(text)
	switch {
	case n == 0:
		return false
	case c.Free(cell+1, 0, n+1) || cell+1+n == w && c.Free(cell+1, 0, n):
		c.Put(cell+1, 0, text, called)
	case cell+1 < w && !c.Free(cell+1, 0, 1):
		return false // whose name it is could not be told
	case c.Free(cell-n-1, 0, n+1) || cell == n && c.Free(0, 0, n):
		c.Put(cell-n, 0, text, called)
	default:
		return false
	}
	return true
}
