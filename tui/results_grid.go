package tui

import (
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/units"
)

// column is one column of a grid.
type column struct {
	head string
	// right aligns numbers.
	right bool
	// drop tells which columns go first when room is short: the highest; 0 stays.
	drop int
	// most cuts longer cells; 0: as long as they are.
	most int
	// least is how wide it is at least.
	least int
}

// grid is a table of plain cells, inked cell by cell.
type grid struct {
	cols []column
	rows [][]string
	// ink colours a cell; nil draws all plain.
	ink func(row, col int) ink
	// airy widens the space between columns where there is room.
	airy bool
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

// gutter is the space between columns.
const gutter = 2

// shown picks the columns that fit into w cells, and their widths.
func (g *grid) shown(w int) (cols, widths []int) {
	all := make([]int, len(g.cols))
	for c, col := range g.cols {
		all[c] = max(ansi.StringWidth(col.head), col.least)
		for _, r := range g.rows {
			if c < len(r) {
				all[c] = max(all[c], ansi.StringWidth(r[c]))
			}
		}
		if col.most > 0 {
			all[c] = min(all[c], col.most)
		}
		cols = append(cols, c)
	}
	for {
		used, worst := 0, -1
		for i, c := range cols {
			used += all[c] + gutter
			if g.cols[c].drop > 0 && (worst < 0 || g.cols[c].drop >= g.cols[cols[worst]].drop) {
				worst = i
			}
		}
		if used-gutter <= w || worst < 0 {
			break
		}
		cols = append(cols[:worst:worst], cols[worst+1:]...)
	}
	for _, c := range cols {
		widths = append(widths, all[c])
	}
	return cols, widths
}

// wide is how many cells all columns take together.
func (g *grid) wide() int {
	_, widths := g.shown(1 << 20)
	sum := 0
	for _, n := range widths {
		sum += n + gutter
	}
	return sum - gutter
}

// lines draws the head and the rows in at most w cells each.
func (g *grid) lines(s *styles, w int) (head string, rows []string) {
	cols, widths := g.shown(w)
	gap := gutter
	if g.airy && len(cols) > 1 {
		used := 0
		for _, n := range widths {
			used += n
		}
		gap = min(max((w-used)/(len(cols)-1), gutter), 6)
	}
	draw := func(r int, cells []string) string {
		var b strings.Builder
		for i, c := range cols {
			text := ""
			if c < len(cells) {
				text = cells[c]
			}
			if i > 0 {
				b.WriteString(strings.Repeat(" ", gap))
			}
			cell := fit(text, widths[i])
			if g.cols[c].right {
				cell = fitRight(text, widths[i])
			}
			k := s.muted
			if r >= 0 {
				k = s.plain
				if g.ink != nil {
					k = g.ink(r, c)
				}
			}
			b.WriteString(k.on(cell))
		}
		return ansi.Truncate(b.String(), w, "…")
	}
	heads := make([]string, len(g.cols))
	for i, c := range g.cols {
		heads[i] = c.head
	}
	for i, r := range g.rows {
		rows = append(rows, draw(i, r))
	}
	return draw(-1, heads), rows
}

// indent puts a space before every line.
func indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if l != "" {
			out[i] = " " + l
		}
	}
	return out
}

// windowed returns the h lines from a scroll position on, which is first brought
// into the range in which there are lines.
func windowed(lines []string, scroll *int, h int) []string {
	*scroll = max(min(*scroll, len(lines)-h), 0)
	return lines[*scroll:min(*scroll+max(h, 0), len(lines))]
}

// secondsText writes a length in seconds.
func secondsText(s float64) string {
	if s <= 0 {
		return "0 s"
	}
	if s >= 100 {
		return (time.Duration(s) * time.Second).String()
	}
	return units.Duration(time.Duration(s * float64(time.Second)))
}

// numberText writes a setting's number as short as it can be.
func numberText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// dayText writes a moment as people speak of it: today 11:40, Mon 17:05, 3 May
// 11:40, 3 May 2025.
func dayText(t, now time.Time) string {
	if t.IsZero() {
		return "–"
	}
	t = t.In(now.Location())
	day := func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, t.Location()) }
	switch d := day(now).Sub(day(t)); {
	case now.IsZero() || d < 0:
		return t.Format("2 Jan 15:04")
	case d < 23*time.Hour:
		return t.Format("today 15:04")
	case d < 6*24*time.Hour:
		return t.Format("Mon 15:04")
	case t.Year() == now.Year():
		return t.Format("2 Jan 15:04")
	}
	return t.Format("2 Jan 2006")
}

// chosen draws a word of a row of words as the one that is chosen: not by colour
// alone.
func (s *styles) chosen(word string) string {
	if len(word) > 2 && word[0] == ' ' && word[len(word)-1] == ' ' {
		word = "[" + word[1:len(word)-1] + "]"
	}
	return s.selected.on(word)
}

// sortedSettings ranges over settings by name.
func sortedSettings(m map[string]float64) iter.Seq2[string, float64] {
	return func(yield func(string, float64) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}
