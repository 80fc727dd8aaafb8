package chart

import "math"

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

// Braille draws vals as a line in a field w columns wide and h rows high. Each cell
// holds two values side by side and four rows of dots, so up to 2×w values are drawn,
// from the left. Consecutive values are joined; a gap in vals is a gap in the line. The
// bottom row of dots is 0, the topmost one is top.
func Braille(vals []float64, w, h int, top float64) []string {
	if w <= 0 || h <= 0 {
		return nil
	}
	parts := make([]float64, len(vals))
	for i, v := range vals {
		if parts[i] = v / top; !finite(v) || !finite(top) || top <= 0 {
			parts[i] = math.NaN()
		}
	}
	c := NewCanvas(w, h)
	c.Line(parts, 1)
	out := make([]string, h)
	line := make([]rune, w)
	for y := range h {
		for x := range w {
			line[x], _ = c.At(x, y)
		}
		out[y] = string(line)
	}
	return out
}

// Rule writes mark into the given columns of a chart wherever nothing is drawn.
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
