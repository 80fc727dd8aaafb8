package chart

// dot returns the bit of a braille cell for a column 0..1 and a row 0..3 from
// the top.
//
//	0 3
//	1 4
//	2 5
//	6 7
func dot(x, y int) rune {
	if y == 3 {
		return 1 << (6 + x)
	}
	return 1 << (y + 3*x)
}

// blank is a braille cell without dots; it is drawn as a space.
const blank = 0x2800

// Braille draws vals as a line in a field w columns wide and h rows high; each
// cell holds two values side by side and four rows of dots, so up to 2×w values
// are drawn, from the left. Values that follow each other are joined; a gap in
// vals is a gap in the line. The bottom row of dots is 0, the top one is top.
func Braille(vals []float64, w, h int, top float64) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	cells := make([]rune, w*h)
	last := -1
	for x, v := range vals[:min(len(vals), 2*w)] {
		l := level(v, top, 4*h-1)
		if l < 0 {
			last = -1
			continue
		}
		lo, hi := l, l
		if last >= 0 && last < l {
			lo = last + 1
		} else if last > l {
			hi = last - 1
		}
		for ; lo <= hi; lo++ {
			y := 4*h - 1 - lo
			cells[y/4*w+x/2] |= dot(x%2, y%4)
		}
		last = l
	}
	out := make([]string, h)
	line := make([]rune, w)
	for y := range h {
		for x := range w {
			line[x] = ' '
			if c := cells[y*w+x]; c != 0 {
				line[x] = blank + c
			}
		}
		out[y] = string(line)
	}
	return out
}

// Rule puts mark into the given columns of a chart wherever nothing is drawn.
func Rule(lines []string, cols []int, mark rune) []string {
	if len(cols) == 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, l := range lines {
		cells := []rune(l)
		for _, c := range cols {
			if c >= 0 && c < len(cells) && cells[c] == ' ' {
				cells[c] = mark
			}
		}
		out[i] = string(cells)
	}
	return out
}
