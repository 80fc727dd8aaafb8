package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Column is one column of a grid.
type Column struct {
	Head string
	// Right aligns numbers.
	Right bool
	// Spare determines which columns are dropped first when room is short: the highest;
	// 0 stays. A column that may be dropped is also dropped if it has neither a head
	// nor any content.
	Spare int
	// Most truncates longer cells, unless there is room for more; 0 means no limit. A column with a limit
	// is cut further, to leastText, where otherwise it would be dropped, or the last columns would not fit.
	Most int
	// Least is its minimum width, also where it would be dropped otherwise.
	Least int
}

// cut is the least width of a column of text that would be dropped otherwise.
func (c Column) cut() int {
	if c.Least > 0 {
		return c.Least
	}
	return leastText
}

// Grid is a table of plain cells, coloured cell by cell.
type Grid struct {
	Cols []Column
	rows [][]string
	// Ink colours a cell; if nil, all are plain.
	Ink func(row, col int) Ink
	// Airy widens the space between columns if there is room.
	Airy bool
}

// Add appends a row.
func (g *Grid) Add(cells ...string) { g.rows = append(g.rows, cells) }

// leastText is how far a column of text is cut for others.
const leastText = 10

// gutter is the space between columns.
const gutter = 2

// cells returns how wide a column is, cut to its Most, and whole.
func (g *Grid) cells(c int) (cut, whole int) {
	col := g.Cols[c]
	whole = max(ansi.StringWidth(col.Head), col.Least)
	for _, r := range g.rows {
		if c < len(r) {
			whole = max(whole, ansi.StringWidth(r[c]))
		}
	}
	if col.Most > 0 {
		return min(whole, col.Most), whole
	}
	return whole, whole
}

// Narrow returns how many cells all columns take together, each cut to its Most.
func (g *Grid) Narrow() int {
	sum := -gutter
	for c := range g.Cols {
		cut, _ := g.cells(c)
		sum += cut + gutter
	}
	return sum
}

// shown selects the columns that fit into w cells, and their widths.
func (g *Grid) shown(w int) (cols, widths []int) {
	all, whole := make([]int, len(g.Cols)), make([]int, len(g.Cols))
	for c, col := range g.Cols {
		all[c], whole[c] = g.cells(c)
		if col.Spare == 0 || all[c] > 0 {
			cols = append(cols, c)
		}
	}
	used := -gutter
	var dropped []int
	for {
		used = -gutter
		worst := -1
		for i, c := range cols {
			used += all[c] + gutter
			if g.Cols[c].Spare > 0 && (worst < 0 || g.Cols[c].Spare >= g.Cols[cols[worst]].Spare) {
				worst = i
			}
		}
		if used <= w || worst < 0 {
			break
		}
		if c := cols[worst]; g.Cols[c].Most > 0 && all[c]-(used-w) >= g.Cols[c].cut() {
			all[c] -= used - w
			used = w
			break
		}
		dropped = append(dropped, cols[worst])
		cols = append(cols[:worst:worst], cols[worst+1:]...)
	}
	for _, c := range slices.Backward(dropped) { // a wide one has made room for one that is not
		room := w - used - gutter
		if g.Cols[c].Most > 0 && room >= g.Cols[c].cut() {
			all[c] = min(all[c], room)
		}
		if all[c] <= room {
			cols, used = append(cols, c), used+gutter+all[c]
		}
	}
	slices.Sort(cols)
	for _, c := range cols {
		if over := used - w; over > 0 && g.Cols[c].Most > 0 {
			cut := min(over, max(all[c]-g.Cols[c].cut(), 0))
			all[c], used = all[c]-cut, used-cut
		}
	}
	for _, c := range cols { // what nothing else needs
		more := min(whole[c]-all[c], max(w-used, 0))
		all[c], used = all[c]+more, used+more
	}
	for _, c := range cols {
		widths = append(widths, all[c])
	}
	return cols, widths
}

// Shows reports whether there is room for a column in w cells.
func (g *Grid) Shows(col, w int) bool {
	cols, _ := g.shown(w)
	return slices.Contains(cols, col)
}

// Least returns how many cells the columns take together that are dropped last: those whose
// Spare is 2 or less.
func (g *Grid) Least() int {
	sum := -gutter
	for c, col := range g.Cols {
		if col.Spare <= 2 {
			_, whole := g.cells(c)
			sum += whole + gutter
		}
	}
	return sum
}

// Wide returns how many cells all columns take together.
func (g *Grid) Wide() int {
	_, widths := g.shown(1 << 20)
	sum := 0
	for _, n := range widths {
		sum += n + gutter
	}
	return sum - gutter
}

// Lines draws the head and the rows in at most w cells each. Where they are spoken, each row has
// the heads of its columns, and none is left out.
func (g *Grid) Lines(s *Styles, w int) (head string, rows []string) {
	if s.Spoken {
		return "", g.spoken()
	}
	cols, widths := g.shown(w)
	gap := gutter
	if g.Airy && len(cols) > 1 {
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
			cell := Fit(text, widths[i])
			if g.Cols[c].Right {
				cell = FitRight(text, widths[i])
			}
			k := s.Muted
			if r >= 0 {
				k = s.Plain
				if g.Ink != nil {
					k = g.Ink(r, c)
				}
			}
			b.WriteString(k.On(cell))
		}
		return ansi.Truncate(b.String(), w, "…")
	}
	heads := make([]string, len(g.Cols))
	for i, c := range g.Cols {
		heads[i] = c.Head
	}
	for i, r := range g.rows {
		rows = append(rows, draw(i, r))
	}
	return draw(-1, heads), rows
}

// spoken returns the rows as they are read: the first cell, and every other one after its head.
func (g *Grid) spoken() []string {
	out := make([]string, len(g.rows))
	for i, row := range g.rows {
		var parts []string
		for c, text := range row {
			if text = strings.TrimRight(text, " "); c > 0 && c < len(g.Cols) && text != "" {
				text = strings.TrimSpace(g.Cols[c].Head + " " + text)
			}
			if strings.TrimSpace(text) != "" {
				parts = append(parts, text)
			}
		}
		out[i] = strings.Join(parts, "  ")
	}
	return out
}

// Indent puts a space before every line.
func Indent(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if l != "" {
			out[i] = " " + l
		}
	}
	return out
}

// Windowed returns the h lines starting at a scroll position, which is first brought
// into range.
func Windowed(lines []string, scroll *int, h int) []string {
	*scroll = max(min(*scroll, len(lines)-h), 0)
	return lines[*scroll:min(*scroll+max(h, 0), len(lines))]
}

// Chosen draws a word in a row of words as the selected one, not by colour alone.
func (s *Styles) Chosen(word string) string {
	if s.Spoken {
		return strings.TrimSpace(word) + " selected"
	}
	if len(word) > 2 && word[0] == ' ' && word[len(word)-1] == ' ' {
		word = "[" + word[1:len(word)-1] + "]"
	}
	return s.Selected.On(word)
}
