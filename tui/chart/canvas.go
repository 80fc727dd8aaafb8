package chart

import (
	"slices"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// Layer is what a cell of a canvas belongs to; callers give each layer its colour.
// Layer 0 is the background.
type Layer uint8

// Canvas is a grid of cells on which areas, lines and text are drawn over each other: a
// cell belongs to the layer last drawn in it. Each cell holds two columns and four rows
// of dots.
type Canvas struct {
	w, h   int
	dots   []rune
	text   []rune
	layers []Layer
	// under is the layer of an area behind a block that fills a part of its cell.
	under []Layer
	block []bool
	// tops are the blocks in which an area ends, shared those in which another is seen to end, too.
	tops, shared []bool
}

// NewCanvas returns an empty canvas of w×h cells.
func NewCanvas(w, h int) *Canvas {
	w, h = max(w, 0), max(h, 0)
	return &Canvas{w: w, h: h, dots: make([]rune, w*h), text: make([]rune, w*h), layers: make([]Layer, w*h), under: make([]Layer, w*h), block: make([]bool, w*h), tops: make([]bool, w*h), shared: make([]bool, w*h)}
}

// Size returns the number of columns and of rows of cells.
func (c *Canvas) Size() (w, h int) { return c.w, c.h }

// row converts a fraction of the height, from 0 at the bottom to 1, to a row of dots;
// -1 if it cannot be drawn.
func (c *Canvas) row(v float64) int { return level(v, 1, 4*c.h-1) }

// Row returns the row of cells for a fraction of the height; -1 if it cannot be drawn.
func (c *Canvas) Row(v float64) int {
	if at := c.row(v); at >= 0 {
		return (4*c.h - 1 - at) / 4
	}
	return -1
}

func (c *Canvas) dot(x, up int, l Layer) {
	y := 4*c.h - 1 - up
	i := y/4*c.w + x/2
	if c.block[i] { // an area is not torn open by the line above it
		return
	}
	c.dots[i] |= dot(x%2, y%4)
	c.layers[i], c.text[i] = l, 0
}

// Area fills each column of cells from one value to another, both fractions of the
// height given by column of dots, with blocks that are accurate to an eighth of a cell: the
// cell in which an area ends is of the layer of its edge. A gap in either is a gap in the
// area. A nil from is the bottom; another lower edge goes by half cells, and leaves its height only
// where that is more than a quarter of a cell off, so that it is not ragged.
func (c *Canvas) Area(from, to []float64, l, edge Layer) {
	held := -half
	for x := range min((len(to)+1)/2, c.w) {
		low, high := 0, -1
		if from != nil {
			low = -1
		}
		for i := 2 * x; i < min(2*x+2, len(to)); i++ {
			if v := level(to[i], 1, 8*c.h); v >= 0 && (from == nil || level(from[i], 1, 8*c.h) >= 0) {
				high = max(high, v)
				if from != nil {
					if v := level(from[i], 1, 8*c.h); low < 0 || v < low {
						low = v
					}
				}
			}
		}
		if high < 0 {
			held = -half
			continue
		}
		if from != nil {
			if held < 0 || max(low-held, held-low) > half/2 {
				held = (low + half/2) / half * half
			}
			low = held
		}
		high = max(high, 1)
		low = min(low, high-1)
		for r := low / 8; 8*r < high; r++ {
			c.fill(x, c.h-1-r, max(low-8*r, 0), min(high-8*r, 8), high <= 8*(r+1), l, edge)
		}
	}
}

// half is half a cell, in eighths.
const half = 4

// fill puts a block into a cell, from and to eighths of its height.
func (c *Canvas) fill(x, y, from, to int, last bool, l, edge Layer) {
	i := y*c.w + x
	sign := '━'
	switch {
	case from == 0:
		sign = sparks[to]
	case to == 8 && from <= 1:
		sign = '█'
	case to == 8 && from <= 5:
		sign = '▀'
	case from+to > 10:
		sign = '▔'
	case from+to < 6:
		sign = '▂'
	}
	behind := Layer(0)
	if c.block[i] {
		if behind = c.under[i]; c.text[i] == '█' || c.text[i] == '▇' && sign != '▇' { // of what is as high, nothing is seen
			behind = c.layers[i]
		}
	}
	if last {
		l = edge
	}
	c.dots[i], c.text[i], c.layers[i], c.under[i], c.block[i], c.tops[i] = 0, sign, l, behind, true, last
}

// Edge draws where an area ends once more, over the areas that hide it: as a line on them. Where the one in front ends
// in the same cell, it has the lower half of that, and this one the upper half, whichever is a little higher: the cell
// looks the same in column after column. Of several, that is the first one.
func (c *Canvas) Edge(to []float64, edge Layer) {
	for x := range min((len(to)+1)/2, c.w) {
		high := -1
		for i := 2 * x; i < min(2*x+2, len(to)); i++ {
			high = max(high, level(to[i], 1, 8*c.h))
		}
		if high < 0 {
			continue
		}
		row := (max(high, 1) - 1) / 8
		i := (c.h-1-row)*c.w + x
		switch {
		case !c.block[i] || c.layers[i] == edge:
		case !c.tops[i]:
			c.fill(x, c.h-1-row, half-1, half+1, true, edge, edge) // in the middle, which is no end also without colours
		case !c.shared[i]:
			c.text[i], c.under[i], c.shared[i] = '▄', edge, true
		}
	}
}

// Line joins consecutive values, which are fractions of the height, one per column of
// dots.
func (c *Canvas) Line(vals []float64, l Layer) {
	last := -1
	for x, v := range vals[:min(len(vals), 2*c.w)] {
		at := c.row(v)
		if at < 0 {
			last = -1
			continue
		}
		lo, hi := at, at
		if last >= 0 && last < at {
			lo = last + 1
		} else if last > at {
			hi = last - 1
		}
		for ; lo <= hi; lo++ {
			c.dot(x, lo, l)
		}
		last = at
	}
}

// Stroke is a line of values, which are fractions of the height, one per column of dots; a thin one, or a thick one.
type Stroke struct {
	Vals  []float64
	Layer Layer
	Thin  bool
}

// thins are the signs of a thin line within a cell, from its foot up.
var thins = []rune("▁─▔")

// Strokes draws several lines, so that none hides another: of two thick ones that pass through one cell, each has a half
// of it, and where lines run along each other, each has some columns in turn. They are not joined where they jump.
func (c *Canvas) Strokes(list []Stroke) {
	type mark struct {
		sign  rune
		layer Layer
	}
	for x := range c.w {
		through := make([][]mark, c.h)
		for _, s := range list {
			level := func(steps int) int {
				at := -1
				for i := 2 * x; i < min(2*x+2, len(s.Vals)); i++ {
					at = max(at, level(s.Vals[i], 1, steps*c.h-1))
				}
				return at
			}
			at, y, sign := level(2), 0, '▄'
			if s.Thin {
				at = level(len(thins))
				y = c.h - 1 - at/len(thins)
				sign = thins[max(at, 0)%len(thins)]
			} else if y = c.h - 1 - at/2; at%2 == 1 {
				sign = '▀'
			}
			if at >= 0 {
				through[y] = append(through[y], mark{sign, s.Layer})
			}
		}
		for y, marks := range through {
			if len(marks) == 0 {
				continue
			}
			at, i := marks[x/turn%len(marks)], y*c.w+x
			c.dots[i], c.text[i], c.layers[i], c.under[i], c.block[i] = 0, at.sign, at.layer, 0, true
			for _, other := range marks {
				if at.sign == '▀' && other.sign == '▄' || at.sign == '▄' && other.sign == '▀' {
					c.under[i] = other.layer
				}
			}
		}
	}
}

// turn is for how many columns each of several lines in a row has the cells.
const turn = 2

// Put writes text starting at a cell, over what is there; text that does not fit is cut
// off.
func (c *Canvas) Put(x, y int, text string, l Layer) {
	for _, r := range text {
		if x >= 0 && x < c.w && y >= 0 && y < c.h {
			i := y*c.w + x
			c.text[i], c.layers[i], c.under[i], c.block[i] = r, l, 0, false
		}
		x++
	}
}

// Rule writes a sign into the cells of a column that are empty.
func (c *Canvas) Rule(x int, sign rune, l Layer) {
	for y := range c.h {
		if c.Free(x, y, 1) {
			c.Put(x, y, string(sign), l)
		}
	}
}

// Level draws a line across a row of cells where nothing is drawn; with a text where there is room
// for that: on the line, or else above or below it.
func (c *Canvas) Level(y int, text string, l Layer) {
	if y < 0 || y >= c.h {
		return
	}
	if !c.write(y, text, l) && !c.write(y-1, text, l) {
		c.write(y+1, text, l)
	}
	for x := range c.w {
		if c.Free(x, y, 1) {
			c.Put(x, y, "╌", l)
		}
	}
}

// write writes a text into the first place of a row that has room for it and for a cell on both
// sides, and reports whether there is one.
func (c *Canvas) write(y int, text string, l Layer) bool {
	n := ansi.StringWidth(text)
	for x := range max(c.w-n-1, 0) {
		if c.Free(x, y, n+2) {
			c.Put(x+1, y, text, l)
			return true
		}
	}
	return false
}

// Free reports whether n cells starting at x lie on the canvas and are empty.
func (c *Canvas) Free(x, y, n int) bool {
	if x < 0 || y < 0 || y >= c.h || x+n > c.w {
		return false
	}
	for i := y*c.w + x; n > 0; i, n = i+1, n-1 {
		if c.dots[i] != 0 || c.text[i] != 0 {
			return false
		}
	}
	return true
}

// Signed reports whether a cell of the canvas has a sign, such as that of a point or a block of an area.
func (c *Canvas) Signed(x, y int) bool { return c.text[y*c.w+x] != 0 }

// At returns a cell and its layer.
func (c *Canvas) At(x, y int) (rune, Layer) {
	i := y*c.w + x
	switch {
	case c.text[i] != 0:
		return c.text[i], c.layers[i]
	case c.dots[i] != 0:
		return blank + c.dots[i], c.layers[i]
	}
	return ' ', 0
}

// Under returns the layer of the area that shows behind the block in a cell; 0 if there is
// none.
func (c *Canvas) Under(x, y int) Layer { return c.under[y*c.w+x] }

// Settling is how long after the start of measurement a run may still be settling: connections are
// made, and pools and caches fill.
const Settling = 10 * time.Second

// Settled is Robust of a run over time, of which the first early values, those of its warm-up and of
// Settling, do not set the scale either where they are more than three times above all that came later.
func Settled(vals []float64, early int) float64 {
	early = max(min(early, len(vals)/2), 0)
	later := Robust(vals[early:])
	if !(later > 0) {
		return Robust(vals)
	}
	end := later
	for _, v := range vals[:early] {
		if v <= 3*later {
			end = max(end, v)
		}
	}
	return end
}

// Beyond marks each column in which values lie above the end of a scale in the first row: of a stretch of
// such columns the highest with ▲, the others with ▔. It writes the highest value of all beside its own
// mark, or below it where some of its columns would lose their marks and others have none. Values are by
// column of dots.
func Beyond(c *Canvas, high float64, format func(float64) string, l Layer, lists ...[]float64) {
	high *= 1 + 1e-9
	highest, at := high, -1
	marked, tops := make([]bool, c.w), make([]float64, c.w)
	for _, vals := range lists {
		for x, v := range vals[:min(len(vals), 2*c.w)] {
			if !(v > high) {
				continue
			}
			marked[x/2], tops[x/2] = true, max(tops[x/2], v)
			if v > highest {
				highest, at = v, x/2
			}
		}
	}
	if at < 0 {
		return
	}
	for x := 0; x < c.w; x++ {
		if !marked[x] {
			continue
		}
		top, end := x, x
		for ; x < c.w && x-end <= stretch; x++ {
			if !marked[x] {
				continue
			}
			if end = x; tops[x] > tops[top] {
				top = x
			}
			c.Put(x, 0, "▔", l)
		}
		c.Put(top, 0, "▲", l)
		x = end
	}
	text := format(highest)
	n := ansi.StringWidth(text)
	x, left := at+1, max(at-n, 0)
	if x+n > c.w {
		x = left
	}
	misleads := func(x int) bool {
		over := marked[x:min(x+n, c.w)]
		return slices.Contains(over, true) && slices.Contains(over, false)
	}
	y := 0
	if misleads(x) {
		if x = left; misleads(left) {
			x, y = min(at, max(c.w-n, 0)), min(1, c.h-1)
		}
	}
	c.Put(x, y, text, l)
}

// stretch is how many columns apart marks of Beyond are at most that belong to one stretch.
const stretch = 3

// lasting is how many values in a row are a level, and no spike.
const lasting = 3

// Lasting is Robust, but never below a level that lasted for some values in a row: a rate before it was lowered.
func Lasting(vals []float64) float64 {
	end := Robust(vals)
	cut, row, top := end, 0, 0.0
	for _, v := range vals {
		if !(v > cut) {
			row, top = 0, 0
			continue
		}
		if row, top = row+1, max(top, v); row >= lasting {
			end = max(end, top)
		}
	}
	return end
}

// Robust returns the end of a scale that shows vals without being dominated by a few
// outliers: the maximum, unless it is more than three times the 95th percentile; then
// one and a half times that percentile.
func Robust(vals []float64) float64 {
	var known []float64
	for _, v := range vals {
		if finite(v) && v > 0 {
			known = append(known, v)
		}
	}
	peak := Peak(known)
	const enough = 20 // too few for a 95th percentile
	if len(known) < enough {
		return peak
	}
	if most := quantile(known, 0.95); peak > 3*most {
		return 1.5 * most
	}
	return peak
}
