package dashboard

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

func number(v float64) string { return fmt.Sprintf("%g", v) }

func flat(n int, v float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

func drawn(p Plot) string {
	return ansi.Strip(strings.Join(p.Draw(widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)), "\n"))
}

func TestWhatGoesBeyondTheScaleIsCutAndSaysHowFar(t *testing.T) {
	vals := flat(20, 3)
	vals[8], vals[9] = 80, 80
	p := Plot{Cells: 10, Rows: 2, Scale: plot.Scale{High: 10}, Label: number, Areas: []Area{{To: vals}}, Fresh: 10}
	assert.Equal(t, "    ▲80   ", strings.Split(drawn(p), "\n")[0])
	vals = flat(20, 3)
	vals[19] = 123
	p.Areas[0].To = vals
	assert.Equal(t, "      123▲", strings.Split(drawn(p), "\n")[0], "at the right edge the value stands before it")
}

// Each second above the scale is marked, and the line goes up to its mark: none looks calm, or empty.
func TestEachSecondAboveTheScaleIsMarked(t *testing.T) {
	top := flat(20, 3)
	for _, x := range []int{4, 5, 10, 11, 18, 19} {
		top[x] = 20 + float64(x)
	}
	p := Plot{Cells: 10, Rows: 3, Scale: plot.Scale{High: 10}, Label: number, Areas: []Area{{To: flat(20, 2)}}, Above: top, Fresh: 10}
	lines := strings.Split(drawn(p), "\n")
	assert.Equal(t, "  ▔⡆ ▲⡆39▲", lines[0])
	for _, x := range []int{2, 5, 9} {
		assert.NotEqual(t, ' ', []rune(lines[1])[x], "the line reaches the mark: %s", lines[1])
	}
	assert.Equal(t, ' ', []rune(lines[1])[7], lines[1])
}

func TestMomentsHaveNamesWhereThereIsRoom(t *testing.T) {
	p := Plot{
		Cells: 20, Rows: 3, Scale: plot.Scale{High: 10}, Label: number, Areas: []Area{{To: flat(40, 1)}}, Fresh: 20, Failed: []int{2, 19},
		Moments: []chart.Moment{{Cell: 2, Sign: '▾', Name: "5"}, {Cell: 14, Sign: '◆', Name: "drain"}, {Cell: 15, Sign: '▾', Name: "much too long a name"}, {Cell: 99, Sign: '▾', Name: "later"}},
	}
	s := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	assert.Equal(t, "  ▾5          ◆▾    ", ansi.Strip(p.Lane(s)), "above the chart")
	assert.Equal(t, "  ┊           ┊┊    \n"+
		"  ┊           ┊┊    \n"+
		"▂▂✗▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂✗", drawn(p), "never over data")
	p.Moments[1].Name, p.Moments[1].Cell, p.Moments[2].Name = "a note of many words", 13, "threads 32"
	assert.Equal(t, "  ▾5         ◆ ▾    ", ansi.Strip(p.Lane(s)), "no name on the other side, and no value without its knob")
	p.Cross, p.CrossAt = true, 7
	assert.Contains(t, drawn(p), "▂▂│▂▂", "but for what the user points at")
	p.Moments = p.Moments[3:]
	assert.Empty(t, p.Lane(s))
}

func TestWhatIsPendingIsAnAlarmFromASecondOn(t *testing.T) {
	s := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	gap := math.NaN()
	p := Plot{Cells: 6, Rows: 3, Scale: plot.Scale{High: 10}, Alarm: 5, Label: number, Pending: []float64{2, 2, gap, gap, 6, 6, gap, gap, gap, gap, 90, 90}, Fresh: 6}
	c := p.canvas()
	find := func(x int) widget.Ink {
		for y := range p.Rows {
			if r, l := c.At(x, y); r != ' ' {
				return p.ink(s, l, x, y)
			}
		}
		return s.Plain
	}
	assert.Equal(t, s.Past, find(0))
	assert.Equal(t, s.Plain, find(1), "a gap stays one")
	assert.Equal(t, s.Warn, find(2))
	assert.Contains(t, drawn(p), "90▲", "what is beyond the scale says how old it is")
}

func TestTicks(t *testing.T) {
	text := func(p Plot) (out []string) {
		for _, t := range p.Ticks() {
			out = append(out, fmt.Sprint(t.Row, " ", t.Text))
		}
		return out
	}
	assert.Equal(t, []string{"2 0", "0 10"}, text(Plot{Rows: 3, Scale: plot.Scale{High: 10}, Label: number}))
	assert.Equal(t, []string{"8 0", "4 5", "0 10"}, text(Plot{Rows: 9, Scale: plot.Scale{High: 10}, Label: number}))
	assert.Equal(t, []string{"9 0", "7 1", "5 2", "3 3", "1 4"}, text(Plot{Rows: 10, Scale: plot.Scale{High: 4.5}, Label: number}), "the end of the scale has a label only if it is a multiple")
	assert.Equal(t, []string{"6 10", "4 100", "2 1000", "0 10000"}, text(Plot{Rows: 7, Scale: plot.Scale{Low: 10, High: 1e4, Log: true}, Label: number}))
	assert.Equal(t, []string{"1 1", "0 10000"}, text(Plot{Rows: 2, Scale: plot.Scale{Low: 1, High: 1e4, Log: true}, Label: number}), "as many decades as there are rows for")
}

// An area is drawn in the shades of its series, and what is not counted in none of them.
func TestAreasHaveAGradient(t *testing.T) {
	s := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	p := Plot{Cells: 4, Rows: 10, Scale: plot.Scale{High: 10}, Label: number, Areas: []Area{{To: flat(8, 10), Series: 2}}, Above: flat(8, math.NaN()), Warm: 1, Fresh: 3}
	inks := map[widget.Ink]bool{}
	for y := range 10 {
		_, l := p.canvas().At(2, y)
		inks[p.ink(s, l, 2, y)] = true
		assert.Equal(t, s.Dimmed(y == 0), p.ink(s, l, 0, y), "warm-up is dimmed")
		assert.Equal(t, s.Dimmed(y == 0), p.ink(s, l, 3, y), "so is the bucket in progress")
	}
	for _, k := range s.Ramp[2][:widget.Steps-1] {
		assert.True(t, inks[k])
	}
	assert.True(t, inks[s.Series[2]], "the edge has the full colour")
}

// A fault shades the time in which it was in force, up to now if it goes on, and never over data.
func TestFaultsAreShaded(t *testing.T) {
	at := func(s int) time.Duration { return time.Duration(s) * time.Second }
	s := &measure.Snapshot{At: at(18), Changes: []measure.Change{
		{At: at(2), Name: "fault-delay", To: 5}, {At: at(3), Name: "threads", From: 1, To: 2}, {At: at(6), Name: "fault-delay", From: 5},
		{At: at(10), Name: "fault-kill", To: 2}, {At: at(11), Name: "fault-kill", From: 2}, {At: at(16), Name: "fault-pause", To: 1},
	}}
	a := NewAxis(20, 0, 20, 20, false, time.Second)
	p := Plot{Cells: 20, Rows: 2, Scale: plot.Scale{High: 10}, Label: number, Areas: []Area{{To: flat(40, 1)}}, Fresh: 20, Broken: brokenIn(s, a)}
	assert.Equal(t, "  ▒▒▒▒    ▒     ▒▒  ", strings.Split(drawn(p), "\n")[0])
	assert.NotContains(t, strings.Split(drawn(p), "\n")[1], "▒")
}

// Where every call fails at once, none waits: no line goes on as if it was the maximum.
func TestNothingIsPendingWhereAllCallsFail(t *testing.T) {
	s := &measure.Snapshot{At: 4 * time.Second, Bucket: time.Second, Ops: make([]measure.Totals, 1), Timeline: [][]measure.Point{{
		{Count: 100, ResponseMax: 9e6, Oldest: 20 * time.Millisecond}, {At: time.Second, Errors: 100, Oldest: 20 * time.Millisecond},
		{At: 2 * time.Second, Oldest: 900 * time.Millisecond}, {At: 3 * time.Second, Errors: 1, Oldest: 2 * time.Second},
	}}}
	got := NewAxis(40, 0, 4, 0, false, time.Second).Pending(s, 0).Vals
	assert.Equal(t, 20e6, got[0])
	assert.True(t, math.IsNaN(got[1]))
	assert.Equal(t, []float64{900e6, 2e9}, got[2:], "what waits")
}

// Of two operations whose p99 lie on each other, both are seen, and that of one behind the other is a line on it.
func TestTheEdgeOfAHiddenAreaIsSeen(t *testing.T) {
	p := Plot{Cells: 4, Rows: 4, Scale: plot.Scale{High: 8}, Label: number, Fresh: 4, Areas: []Area{
		{From: flat(8, 0), To: append(flat(4, 3), flat(4, 7)...), Series: 0}, {From: flat(8, 0), To: flat(8, 7), Series: 1},
	}}
	c := p.canvas()
	at := func(x, y int) chart.Layer {
		_, l := c.At(x, y)
		return l
	}
	assert.Equal(t, edge, at(0, 2))
	assert.Equal(t, area+1, c.Under(0, 2), "on the other")
	assert.Equal(t, edge+1, at(0, 0))
	for x := 2; x < 4; x++ {
		sign, l := c.At(x, 0)
		assert.Equal(t, []any{'▄', edge + 1, edge}, []any{sign, l, c.Under(x, 0)}, "both in each column, that in front below")
	}
	p.Areas = append(p.Areas, Area{From: flat(8, 0), To: flat(8, 7), Series: 2})
	c = p.canvas()
	assert.Equal(t, []chart.Layer{edge + 2, edge}, []chart.Layer{at(2, 0), c.Under(2, 0)}, "of three the lowest and the highest")
}

// The lines of several operations are all seen where they lie on each other, and those of p50 are thin.
func TestLinesOnEachOtherAreAllSeen(t *testing.T) {
	p := Plot{Cells: 8, Rows: 4, Scale: plot.Scale{High: 8}, Label: number, Fresh: 8, Lined: true}
	for i := range 2 {
		p.Areas = append(p.Areas, Area{From: flat(16, 1), To: flat(16, 5-2*float64(i)), Series: i})
	}
	assert.Equal(t, "        \n▄▄▄▄▄▄▄▄\n▀▀▀▀▀▀▀▀\n────────", drawn(p), "apart")
	p.Areas[1].To = flat(16, 6)
	assert.Equal(t, "        \n▄▄▀▀▄▄▀▀\n        \n────────", drawn(p), "in the halves of a row")
	c := p.canvas()
	for x := range 8 {
		_, l := c.At(x, 1)
		assert.ElementsMatch(t, []chart.Layer{edge, edge + 1}, []chart.Layer{l, c.Under(x, 1)}, "both in each column")
	}
	p.Areas[1].To = flat(16, 5)
	c = p.canvas()
	for _, y := range []int{1, 3} {
		seen := map[chart.Layer]int{}
		for x := range 8 {
			_, l := c.At(x, y)
			seen[l]++
		}
		assert.Equal(t, map[chart.Layer]int{edge: 4, edge + 1: 4}, seen, "in turn")
	}
	s := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	p.Warm = 4
	assert.NotEqual(t, p.ink(s, edge, 0, 0), p.ink(s, edge+1, 0, 0), "also where they are dimmed")
	assert.NotEqual(t, p.ink(s, edge, 0, 0), p.ink(s, edge, 4, 0))
}

// Phases that follow each other have their bands; only what lies over each other is drawn as lines.
func TestOnlyWhatLiesOverEachOtherIsLined(t *testing.T) {
	nan := math.NaN()
	first := Area{To: []float64{1, 1, 1, 1, 1, 1, nan, nan, nan, nan, nan, nan}}
	p := Plot{Cells: 6, Areas: []Area{first, {To: []float64{nan, nan, nan, nan, 2, 2, 2, 2, 2, 2, 2, 2}}}}
	assert.False(t, p.overlaps())
	p.Areas[1].To = []float64{nan, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}
	assert.True(t, p.overlaps())
	p.Areas = p.Areas[:1]
	assert.False(t, p.overlaps())
}
