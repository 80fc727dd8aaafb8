package chart

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/widget"
)

var nan = math.NaN()

// Each step of a search is a point that shows whether it held, at the place of its level; what joins them
// goes through the try that stands for each level.
func TestASearchHasAPointForEachStepAndALineThroughOneOfEachLevel(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	at := func(level float64, p99 int64) find.Step {
		return find.Step{Level: level, Held: p99 < 10e6, Response: find.Times{P50: 1e6, P99: p99}}
	}
	r := &find.Result{Over: find.OverRate, Steps: []find.Step{at(1000, 2e6), at(2000, 40e6), at(4000, 9e6), at(2000, measure.Hidden), at(2020, 4e6), at(2000, 5e6)}}
	p := Latency(s, r)
	assert.Equal(t, []float64{0, 1, 2, 3}, p.Curves[0].At)
	assert.Equal(t, []float64{2e6, 5e6, 4e6, 9e6}, p.Curves[0].Values, "of those that came out as the level did")
	assert.Equal(t, []float64{1e6, 1e6, 1e6, 1e6}, p.Curves[1].Values)
	picture := ansi.Strip(strings.Join(p.Draw(s, 60, 14), ""))
	assert.GreaterOrEqual(t, strings.Count(picture, "●"), 4, picture)
	assert.Equal(t, 1, strings.Count(picture, "✗"), picture)
	assert.Equal(t, "p99 and p50 at each rate   evenly spaced   ● holds  ✗ too much", ansi.Strip(strings.Join(LatencyLegend(s, r, 100), "|")))
	assert.Equal(t, "p99 and p50 at each rate|evenly spaced|● holds  ✗ too much", ansi.Strip(strings.Join(LatencyLegend(s, r, 28), "|")), "each part whole")
	of := *r
	of.Under = []string{"p99.service<10ms"}
	for i := range of.Steps {
		of.Steps[i].Service.P50, of.Steps[i].Judged = 5e5, []int64{1e6}
	}
	assert.Equal(t, []float64{5e5, 5e5, 5e5, 5e5}, Latency(s, &of).Curves[1].Values, "of the same times as what is sought")
	assert.Equal(t, "p99.service and p50.service at each rate", ansi.Strip(LatencyLegend(s, &of, 50)[0]))
	r.Over = find.OverThreads
	assert.Contains(t, ansi.Strip(strings.Join(LatencyLegend(s, r, 100), "|")), "at each number of threads   ")
	assert.Equal(t, "p99 and p50 at each level", ansi.Strip(LatencyLegend(s, r, 28)[0]))
}

// What joins two levels is straight, also where the axis is logarithmic, and each has its mark on both curves.
func TestWhatJoinsLevelsOfASearchIsStraight(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	r := &find.Result{Over: find.OverRate, Steps: []find.Step{
		{Level: 1000, Held: true, Response: find.Times{P50: 1e6, P99: 1e6}}, {Level: 2000, Held: true, Response: find.Times{P50: 1e6, P99: 1e9}},
	}}
	rows := Latency(s, r).Draw(s, 60, 14)
	place := func(row string) (from, to int) {
		from = -1
		for x, c := range []rune(ansi.Strip(row))[labels+2:] {
			if c >= 0x2801 && c < 0x2900 {
				if to = x; from < 0 {
					from = x
				}
			}
		}
		return from, to
	}
	for y := 1; y < 11; y++ { // the same part of its way in each row
		from, to := place(rows[y])
		assert.InDelta(t, 50-50*float64(y)/12, float64(from+to)/2, 3, "row %d of\n%s", y, strings.Join(rows, "\n"))
	}
	assert.Equal(t, 1, strings.Count(strings.Join(rows, ""), "•"), "the p50 of the first level is below its p99")
}

// However close the levels are that a search has halved its way to, each is a sign of its own, and no label hides one.
func TestLevelsOfASearchAreToldApart(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	r := &find.Result{Over: find.OverRate, Under: []string{"p99<10ms"}}
	for i, level := range []float64{500, 1000, 2000, 64000, 1500, 1250, 1125, 1187, 1150, 1170} {
		p99 := int64(1e6 + 1e5*level)
		if level > 1160 {
			p99 = int64(1e9) * int64(i+1)
		}
		r.Steps = append(r.Steps, find.Step{Level: level, Held: p99 < 10e6, Response: find.Times{P50: 1e6, P99: p99}})
	}
	for _, w := range []int{34, 46, 60, 118} {
		rows := Latency(s, r).Draw(s, w, 12)
		picture := ansi.Strip(strings.Join(rows, "\n"))
		assert.Equal(t, len(r.Steps), strings.Count(picture, "●")+strings.Count(picture, "✗")+strings.Count(picture, "▲"), picture)
		assert.Contains(t, picture, "10 s", "the highest one: "+picture)
	}
}

// The table of a search has the figure by which levels are judged, however little room there is.
func TestASearchShowsTheFigureOfItsCondition(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{"p99.service<20ms"}, Steps: []find.Step{
		{Level: 53600, Held: true, Threads: 64, Response: find.Times{P50: 1e6, P99: 336e6}, Judged: []int64{12.5e6}},
	}}
	for _, w := range []int{46, 76, 118} {
		lines := Steps(s, r, w, 5, 0)
		require.Len(t, lines, 2)
		assert.Contains(t, lines[0], "p99.service", w)
		assert.Contains(t, lines[1], "12.5 ms", w)
		assert.Contains(t, lines[1], "336 ms", w)
	}
	r.Under = []string{"p99<20ms"}
	assert.Equal(t, 1, strings.Count(Steps(s, r, 118, 5, 0)[0], "p99"), "once is enough")
}

// Why a level was too much is in its row, and stands there alone where there is no room for both.
func TestTheReasonOfALevelIsInItsRow(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	times := find.Times{P50: 1e6, P99: 48e6}
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{"p99<10ms"}, Steps: []find.Step{
		{Level: 38000, Threads: 16, Done: 38000, Response: times, Why: "p99<10ms did not hold: 30 % took longer", Ours: []string{"lateness"}},
		{Level: 19000, FromS: 5, Threads: 16, Done: 9000, Response: times, Why: "the backlog grew: 50 % of what was due was done"},
	}}
	for w, want := range map[int][2]string{80: {"too much · backlog grew", "too much · perfbench was late"}, 40: {"backlog grew", "perfbench was late"}} {
		lines := Steps(s, r, w, 5, 0)
		require.Len(t, lines, 3)
		for i, why := range want {
			assert.Regexp(t, `✗  `+why+`$`, strings.TrimSpace(ansi.Strip(lines[1+i])), w)
		}
	}
}

// In a panel of a small terminal, the number of the try and the mark of the chosen level stay; what came out gives way.
func TestASmallPanelKeepsTheTryAndItsMark(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{"p99<10ms"}}
	for i := range 12 {
		r.Steps = append(r.Steps, find.Step{Level: 32100, FromS: float64(10 * i), Threads: 16, Response: find.Times{P50: 1e6, P99: 12.3e6}, Why: "p99<10ms did not hold: 30 % took longer"})
	}
	lines := Steps(s, r, 36, 5, 32100)
	require.Len(t, lines, 2)
	assert.Regexp(t, `^ *try +rate +p99 +came out$`, strings.TrimRight(ansi.Strip(lines[0]), " "))
	assert.Regexp(t, `^ *▸7 +32.1k +12.3 ms +✗  too much$`, strings.TrimRight(ansi.Strip(lines[1]), " "))
	r.Steps[3].Held = true
	assert.Regexp(t, `±  unclear: 1 of 12 held$`, strings.TrimRight(ansi.Strip(Steps(s, r, 60, 5, 32100)[1]), " "))
}

// Each number of threads with which a rate was tried has a row of its own, in its own words and with its own sign.
func TestTriesWithOtherThreadsHaveRowsOfTheirOwn(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{"p99<3ms"}, Found: 1000, TooMuch: 2000, Steps: []find.Step{
		{Level: 1000, Held: true, Threads: 8, Response: find.Times{P99: 1e6}},
		{Level: 2000, Threads: 8, FromS: 5, Response: find.Times{P99: 36e6}, Service: find.Times{P50: 205e3}, Why: "p99<3ms did not hold"},
		{Level: 2000, Threads: 32, FromS: 9, Doubtful: true, Response: find.Times{P99: 4e6}, Service: find.Times{P50: 307e3}, Why: "p99<3ms is in doubt"},
	}}
	for _, w := range []int{76, 118} {
		lines := LevelTable(s, r, w)
		require.Greater(t, len(lines), 3)
		assert.Regexp(t, `36 ms +205 µs +8 +✗  too much$`, strings.TrimSpace(ansi.Strip(lines[2])), w)
		assert.Regexp(t, `4 ms +307 µs +32 +±  unclear$`, strings.TrimSpace(ansi.Strip(lines[3])), w)
	}
}

// A level that a backlog made too much says so in its row and in the legend, as its point may be below the limit; the
// reasons are in the order of the levels.
func TestALevelThatABacklogMadeTooMuchSaysSo(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	times := find.Times{P50: 1e5, P99: 5e5}
	r := &find.Result{Over: find.OverRate, Unit: "operations", Under: []string{"p99.service<1ms"}, Found: 1000, TooMuch: 2000, Steps: []find.Step{
		{Level: 1000, Held: true, Threads: 8, Done: 1000, Response: find.Times{P50: 1e5, P99: 9e6}, Service: times, Judged: []int64{5e5}},
		{Level: 2000, Threads: 8, FromS: 5, Done: 1500, Response: times, Service: times, Judged: []int64{5e5}, Why: "the backlog grew: 75 % of what was due was done"},
	}}
	assert.Contains(t, ansi.Strip(strings.Join(LatencyLegend(s, r, 100), "|")), "✗ too much (backlog)")
	lines := LevelTable(s, r, 90)
	require.Len(t, lines, 6)
	assert.Regexp(t, `✗  too much · backlog grew$`, strings.TrimSpace(ansi.Strip(lines[2])))
	assert.Regexp(t, `^ +1k +users wait`, ansi.Strip(lines[4]))
	assert.Regexp(t, `^ +2k +the backlog grew: 75 %`, ansi.Strip(lines[5]))
	assert.Regexp(t, `✗  too much$`, strings.TrimSpace(ansi.Strip(LevelTable(s, r, 50)[2])), "there is no room")
	r.Steps[1].Why = "p99.service<1ms did not hold: 8 % took longer"
	assert.NotContains(t, strings.Join(LatencyLegend(s, r, 100), "|"), "(")
	r.Steps = append(r.Steps, find.Step{Level: 4000, Threads: 8, Why: "the backlog grew: 30 % of what was due was done"})
	assert.Contains(t, ansi.Strip(strings.Join(LatencyLegend(s, r, 100), "|")), "✗ too much (limit or backlog)")
}

func TestBrailleJoinsValuesAndLeavesGaps(t *testing.T) {
	for _, c := range []struct {
		name string
		vals []float64
		w, h int
		top  float64
		want []string
	}{
		{"a flat line at the bottom is drawn", []float64{0, 0, 0, 0}, 2, 1, 10, []string{"⣀⣀"}},
		{"the top of the scale is the top row of dots", []float64{10, 10}, 1, 2, 10, []string{"⠉", " "}},
		{"a step is joined", []float64{0, 10}, 1, 2, 10, []string{"⢸", "⡸"}},
		{"a gap stays one", []float64{0, nan, nan, 0}, 2, 1, 10, []string{"⡀⢀"}},
		{"what is beyond the scale is cut", []float64{99, -5}, 1, 1, 10, []string{"⢱"}},
		{"fewer values leave the right free", []float64{0}, 3, 1, 10, []string{"⡀  "}},
		{"more values than columns are left out", []float64{0, 0, 10, 10}, 1, 1, 10, []string{"⣀"}},
		{"a scale without height draws nothing", []float64{1, 2}, 2, 1, 0, []string{"  "}},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, braille(c.vals, c.w, c.h, c.top)) })
	}
}

// braille draws vals as a line in a field w columns wide and h rows high. Each cell
// holds two values side by side and four rows of dots, so up to 2×w values are drawn,
// from the left. Consecutive values are joined; a gap in vals is a gap in the line. The
// bottom row of dots is 0, the topmost one is top.
func braille(vals []float64, w, h int, top float64) []string {
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
	return rows(c)
}

func rows(c *Canvas) []string {
	w, h := c.Size()
	out := make([]string, h)
	for y := range out {
		for x := range w {
			r, _ := c.At(x, y)
			out[y] += string(r)
		}
	}
	return out
}

func TestRuleKeepsTheLineInFront(t *testing.T) {
	c := NewCanvas(3, 2)
	c.Line([]float64{math.NaN(), math.NaN(), 0, 0}, 1)
	for _, x := range []int{0, 1, 2, 7, -1} {
		c.Rule(x, '┊', 2)
	}
	assert.Equal(t, []string{"┊┊┊", "┊⣀┊"}, rows(c))
}

func TestSparkline(t *testing.T) {
	for _, c := range []struct {
		name string
		vals []float64
		w    int
		want string
	}{
		{"newest at the right", []float64{8, 4}, 4, "  █▄"},
		{"only the last ones", []float64{1, 2, 8, 8}, 2, "██"},
		{"nothing is not some", []float64{0, nan, 0.01}, 3, "  ▁"},
		{"no room", []float64{1}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Sparkline(c.vals, c.w, 8)) })
	}
}

func TestTrendShowsChangeAndNotHowMuchThereIs(t *testing.T) {
	assert.Equal(t, "▁▁██", Trend([]float64{100, 100, 200, 200}, 4), "from the lowest to the highest")
	assert.Equal(t, "▄▄▄▄", Trend([]float64{100, 100, 100, 100}, 4), "what does not change is flat")
	assert.Equal(t, "▃▅▃", Trend([]float64{1000, 1015, 1000}, 3), "a hundredth is no mountain")
	assert.Equal(t, " █ █", Trend([]float64{nan, 5, 0, 5}, 4), "nothing is not some")
	assert.Equal(t, "    ", Trend(nil, 4))
}

func TestRobustLeavesASpikeOut(t *testing.T) {
	vals := make([]float64, 40)
	for i := range vals {
		vals[i] = 10
	}
	vals[7] = 29
	assert.InDelta(t, 29, Robust(vals), 0, "three times as much is no spike")
	vals[7] = 500
	assert.InDelta(t, 15, Robust(vals), 1e-9)
	assert.InDelta(t, 500, Robust(vals[:19]), 0, "too few to tell")
	assert.InDelta(t, 0, Robust([]float64{nan, 0}), 0)
}

// A level that lasted is shown, however far below it all else is; a spike beside it is still left out.
func TestALevelThatLastedIsNotCut(t *testing.T) {
	vals := make([]float64, 100)
	for i := range vals {
		vals[i] = 10
	}
	vals[50], vals[51] = 500, 600
	assert.InDelta(t, 15, Lasting(vals), 1e-9)
	vals[52] = 550
	assert.InDelta(t, 600, Lasting(vals), 0)
	vals[80] = 9000
	assert.InDelta(t, 600, Lasting(vals), 0)
}

// What a run does while it settles sets no scale that hides all that comes later, and what it goes on
// doing does.
func TestTheBeginningOfARunDoesNotFlattenTheRest(t *testing.T) {
	vals := []float64{900, 500, 28, 10, 11, 10, 9, 10, 12}
	assert.InDelta(t, 28, Settled(vals, 4), 0, "three times as much fits")
	assert.InDelta(t, 900, Settled(vals, 0), 0, "none of it is early")
	assert.InDelta(t, 900, Settled(append(vals, 900), 4), 0, "it comes again")
	assert.InDelta(t, 900, Settled([]float64{900, nan}, 10), 0, "there is nothing else")
	assert.InDelta(t, 12, Settled([]float64{nan, nan, 10, 12}, 10), 0)
	assert.InDelta(t, 900, Settled([]float64{900, 900, 900, 10, 12}, 100), 0, "no more than half is early")
}

func TestWhatIsBeyondTheScaleIsMarked(t *testing.T) {
	c := NewCanvas(8, 2)
	whole := func(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
	Beyond(c, 10, whole, 1, []float64{nan, 20, 5, 5, 10, 10, 99, 5}, []float64{5, 5, 50, 50})
	assert.Equal(t, "▔▔ ▲99  ", rows(c)[0], "each column")
	c = NewCanvas(8, 2)
	Beyond(c, 100, whole, 1, []float64{nan, 20})
	assert.Equal(t, "        ", rows(c)[0])
	Beyond(c, 10, whole, 1, []float64{5, 5, 5, 5, 5, 5, 99, 99, 50, 50})
	assert.Equal(t, " 99▲▔   ", rows(c)[0], "the value hides no mark")
	c = NewCanvas(6, 2)
	Beyond(c, 10, whole, 1, []float64{5, 5, 20, 20, 99, 99, 20, 20})
	assert.Equal(t, []string{" ▔▲▔  ", "  99  "}, rows(c))
	c = NewCanvas(6, 2)
	Beyond(c, 10, whole, 1, []float64{20, 20, 99, 99, 20, 20, 20, 20, 20, 20})
	assert.Equal(t, "▔▲99▔ ", rows(c)[0], "among marks, it is plain that it stands for some")
	c = NewCanvas(8, 2)
	Beyond(c, 10, whole, 1, []float64{5, 5, 20, 20, 30, 30, 5, 5, 5, 5, 5, 5, 99, 99, 5, 5})
	assert.Equal(t, " ▔▲ 99▲ ", rows(c)[0], "far apart, each stretch has its highest")
}

func TestCanvasHasWhatWasDrawnLastInFront(t *testing.T) {
	c := NewCanvas(3, 1)
	c.Area(nil, []float64{1, 1, 0.5, nan}, 1, 2)
	c.Line([]float64{0, nan, nan, nan}, 3)
	r, l := c.At(0, 0)
	assert.Equal(t, "█", string(r), "no line tears an area open")
	assert.Equal(t, Layer(2), l, "where it ends it has an edge")
	r, _ = c.At(1, 0)
	assert.Equal(t, "▄", string(r), "which is accurate to an eighth")
	assert.True(t, c.Free(2, 0, 1))
	assert.False(t, c.Free(2, 0, 2), "nothing is free beyond the edge")
	c.Put(1, 0, "abc", 3)
	r, _ = c.At(2, 0)
	assert.Equal(t, "b", string(r), "letters stand over dots, and end at the edge")
}

func TestAnAreaShowsThroughWhereOneInFrontEnds(t *testing.T) {
	c := NewCanvas(2, 2)
	c.Area(nil, []float64{1, 1, 1, 1}, 1, 2)
	c.Area(nil, []float64{0.25, 0.25, nan, nan}, 3, 4)
	assert.Equal(t, []string{"██", "▄█"}, rows(c))
	_, l := c.At(0, 1)
	assert.Equal(t, Layer(4), l)
	assert.Equal(t, Layer(1), c.Under(0, 1))
	assert.Equal(t, Layer(0), c.Under(1, 1))
	c.Put(0, 1, "x", 5)
	assert.Equal(t, Layer(0), c.Under(0, 1), "nothing lies behind letters")
	c = NewCanvas(1, 1)
	c.Area(nil, []float64{7.0 / 8, 7.0 / 8}, 1, 2)
	c.Area(nil, []float64{7.0 / 8, 7.0 / 8}, 3, 4)
	assert.Equal(t, Layer(0), c.Under(0, 0), "nor behind what is as high")
}

func TestABandHasTwoEdges(t *testing.T) {
	c := NewCanvas(3, 3)
	c.Area([]float64{0.5, 0.5, 0.5, 0.5, 0.9, 0.9}, []float64{0.9, 0.9, 0.52, 0.52, 0.8, 0.8}, 1, 2)
	assert.Equal(t, []string{"▆ ▂", "▀━ ", "   "}, rows(c))
}

// The lower edge of a band goes by half cells: what moves by less does not make it ragged, and it follows what
// moves on, as far as half a cell tells.
func TestTheLowerEdgeOfABandIsEven(t *testing.T) {
	from, to := make([]float64, 40), make([]float64, 40)
	for x := range from {
		from[x], to[x] = 0.30+0.02*float64(x/2%2), 0.95
	}
	for _, row := range edges(from, to) {
		assert.Regexp(t, `^( +|█+|▀+|▅+)$`, row)
	}
	for x := range from {
		from[x] = 0.2 + 0.01*float64(x)
	}
	c := NewCanvas(20, 8)
	c.Area(from, to, 1, 2)
	for x := range 20 {
		low := 0.0
		for y := range 8 {
			switch r, _ := c.At(x, y); r {
			case '█':
				low = float64(7-y) / 8
			case '▀':
				low = (7.5 - float64(y)) / 8
			}
		}
		assert.InDelta(t, from[2*x], low, 0.4/8, "column %d", x)
	}
}

func edges(from, to []float64) []string {
	c := NewCanvas(len(to)/2, 8)
	c.Area(from, to, 1, 2)
	return rows(c)
}

func TestLabelsOfRoundValuesAreNeverCut(t *testing.T) {
	for power := 1.0; power < 1e13; power *= 10 {
		for _, by := range []float64{1, 2, 5} {
			assert.LessOrEqual(t, len([]rune(EdgeText(by*power))), labels, "%g", by*power)
		}
	}
}

func TestBar(t *testing.T) {
	assert.Equal(t, "██▌ ", Bar(5, 8, 4))
	assert.Equal(t, "████", Bar(80, 8, 4))
	assert.Equal(t, "▏   ", Bar(0.001, 8, 4), "what is there is seen")
	assert.Equal(t, "    ", Bar(0, 8, 4))
	assert.Equal(t, "    ", Bar(nan, 8, 4))
}

func TestScaleGrowsAtOnceAndShrinksAfterTenQuietSeconds(t *testing.T) {
	s := Ceiling{}.Next(43, 0)
	require.InDelta(t, 43, s.Most, 0)
	s = s.Next(51, 1)
	require.InDelta(t, 51, s.Most, 0, "grows at once")
	require.InDelta(t, 51, s.Next(9, 3).Most, 0)
	s = s.Next(9, 4)
	require.InDelta(t, 9, s.Most, 0, "three of them are enough after the first seconds")
	s = s.Next(51, 11)
	for second := 12; second <= 20; second++ {
		s = s.Next(9, second)
		require.InDelta(t, 51, s.Most, 0, "second %d", second)
	}
	s = s.Next(9, 21)
	require.InDelta(t, 9, s.Most, 0, "ten quiet seconds are over")
	s = s.Next(99, 22)
	for second := 23; second <= 32; second++ {
		s = s.Next(19, min(second, 27))
	}
	require.InDelta(t, 99, s.Most, 0, "the same second again is no time")
	assert.InDelta(t, 19, s.Next(3, 33).Most, 0, "shrinks to what the quiet seconds needed")
	for second := 30; second < 60; second++ {
		s = s.Next(85, second)
	}
	assert.InDelta(t, 99, s.Most, 0, "a little less is no reason to shrink")
}

func TestASCIIKeepsWidthAndEscapeCodes(t *testing.T) {
	assert.Equal(t, "+-- 50k | ** ** -+", ASCII("╭── 50k ┤ ⣀⣸ ⠉⠁ ─╮"))
	assert.Equal(t, "\x1b[1mus ->?? ?\x1b[m", ASCII("\x1b[1mµs → 漢 é\x1b[m"))
}

func FuzzChartsFillTheirField(f *testing.F) {
	f.Add(10, 4, 100.0, []byte{1, 2, 250, 0, 9})
	f.Add(0, -1, math.Inf(1), []byte{})
	f.Add(3, 1, math.NaN(), []byte{255, 254, 253})
	f.Fuzz(func(t *testing.T, w, h int, top float64, data []byte) {
		w, h = w%300, h%100
		vals := make([]float64, len(data))
		for i, b := range data {
			vals[i] = float64(b) * top / 200
			switch b {
			case 255:
				vals[i] = nan
			case 254:
				vals[i] = math.Inf(1)
			case 253:
				vals[i] = math.Inf(-1)
			}
		}
		lines := braille(vals, w, h, top)
		if w > 0 && h > 0 && len(lines) != h {
			t.Fatalf("%d lines for %d", len(lines), h)
		}
		for _, l := range append(lines, Sparkline(vals, w, top), Bar(top, top, w)) {
			if utf8.RuneCountInString(l) != max(w, 0) {
				t.Fatalf("%q is not %d wide", l, w)
			}
			if a := ASCII(l); len(a) != max(w, 0) || strings.Contains(a, "?") {
				t.Fatalf("%q became %q", l, a)
			}
		}
		s := Ceiling{}
		for i, v := range vals {
			if s = s.Next(v, i); !(s.Most >= 0) || math.IsInf(s.Most, 0) {
				t.Fatalf("scale %v after %v", s, v)
			}
		}
	})
}

// aSearch is a search that tried these levels, with these p99 in nanoseconds.
func aSearch(under string, p99 map[float64]int64) *find.Result {
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{under}}
	for _, level := range slices.Sorted(maps.Keys(p99)) {
		r.Steps = append(r.Steps, find.Step{Level: level, Held: p99[level] < 10e6, Response: find.Times{P50: p99[level] / 4, P99: p99[level]}})
	}
	return r
}

// The condition of a search is a line with its words, and what missed it by far does not set the scale.
func TestASearchHasALineAtItsLimit(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	r := aSearch("p99<10ms", map[float64]int64{1000: 2e6, 2000: 3e6, 4000: 5e6, 8000: 9e6, 12000: 30e6, 16000: 60e9})
	p := Latency(s, r)
	picture := p.Draw(s, 80, 16)
	at := map[string]int{}
	for y, line := range picture {
		line = ansi.Strip(line)
		if strings.Contains(line, "╌") {
			at["line"] = y
			assert.Contains(t, line, "p99<10ms")
			assert.Contains(t, line, "10 ms ┤", "it is where the scale has its value")
		}
		if strings.Contains(line, "▲") {
			at["beyond"] = y
			assert.Contains(t, line, "60 s▲", "what is above the scale says how much")
		}
	}
	assert.Contains(t, at, "line")
	assert.Equal(t, 0, at["beyond"])
	assert.Contains(t, ansi.Strip(picture[0]), "1 s ┤", "a hundred times the limit")

	r.Under = []string{"errors<1%"}
	p = Latency(s, r)
	assert.Empty(t, p.Limits)
	assert.NotContains(t, strings.Join(p.Draw(s, 80, 16), ""), "╌")
}

// Every point of a curve is drawn where the labels of its axis say, on any scale, and one beyond the
// scale at its end: whoever reads the picture reads the figure of the table.
func TestEveryPointIsDrawnAtItsValue(t *testing.T) {
	s := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	random := rand.New(rand.NewPCG(1, 2))
	points := 0
	for range 400 {
		c := Curve{}
		x, log := 0.0, random.IntN(2) == 0
		for range 2 + random.IntN(12) {
			x += 1 + 9*random.Float64()
			v := math.Pow(10, 6*random.Float64())
			if !log {
				v = 1000 * random.Float64()
			}
			c.At, c.Values = append(c.At, x), append(c.Values, v)
		}
		p := Plot{Curves: []Curve{c}, Log: log, Format: func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }, Across: func(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }}
		if random.IntN(3) == 0 {
			p.Most = 2 * lowest(c.Values)
		}
		w, h := 60+random.IntN(80), 8+random.IntN(20)
		lines := p.Draw(s, w, h)
		require.Len(t, lines, h)
		rows, value := lines[:h-1], axisOf(t, lines[:h-1], log)
		for i, v := range c.Values {
			col := labels + 2 + min(int((c.At[i]-c.At[0])/(c.At[len(c.At)-1]-c.At[0])*float64(w-labels-3)+0.5), w-labels-3)
			found := false
			for y, row := range rows {
				switch sign := []rune(ansi.Strip(row))[col]; {
				case sign == '•' && math.Abs(value(v)-float64(y)) < 1.5, sign == '▲' && y == 0 && value(v) < 1: // labels are in whole rows, and so are points
					found = true
				}
			}
			points++
			assert.True(t, found, "%v at %v:\n%s", v, c.At[i], strings.Join(lines, "\n"))
		}
	}
	assert.Greater(t, points, 1000)
}

// axisOf reads the axis of a picture: which row a value is in by the labels, fractions included.
func axisOf(t *testing.T, rows []string, log bool) func(v float64) float64 {
	t.Helper()
	var at, values []float64
	for y, row := range rows {
		label, _, ok := strings.Cut(ansi.Strip(row), " ┤")
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(label), 64)
		require.NoError(t, err)
		at, values = append(at, float64(y)), append(values, v)
	}
	require.GreaterOrEqual(t, len(at), 2, "an axis has two labels:\n%s", strings.Join(rows, "\n"))
	place := func(v float64) float64 {
		if log {
			return math.Log(v)
		}
		return v
	}
	n := len(at) - 1
	return func(v float64) float64 {
		return at[0] + (place(v)-place(values[0]))/(place(values[n])-place(values[0]))*(at[n]-at[0])
	}
}

// A name in the lane of markers is told to be that of its sign: it stands to the left only of a sign that
// stands alone, and moments of one cell have one name.
func TestANameInTheLaneIsThatOfOneSign(t *testing.T) {
	lane := func(list ...Moment) string {
		return ansi.Strip(Lane(widget.NewStyles(widget.ThemeMono, true, colorprofile.TrueColor), 40, list))
	}
	at := func(cell int, name string) Moment {
		return Moment{Cell: cell, Sign: '▾', Name: name, At: time.Duration(cell) * time.Second}
	}
	assert.Equal(t, "            ▾   ▾longer                 ", lane(at(12, "payload"), at(16, "longer")), "never left of its sign")
	assert.Equal(t, "            ▾▾longer                    ", lane(at(12, "payload"), at(13, "longer")))
	assert.Equal(t, "            ▾payload                    ", lane(at(12, "payload"), at(12, "threads much longer than there is room")), "the newest that has room")
	later := at(12, "threads")
	later.At++
	assert.Equal(t, "            ▾threads                    ", lane(at(12, "payload"), later), "the newest")
	assert.Equal(t, "     ▾rate 20k  ▾           ▾rate 40k   ", lane(at(5, "rate 20\u2009000"), at(16, "threads 32"), at(28, "rate 40\u2009000")), "two cells before the next sign, and no value without its knob")
	assert.Equal(t, "   ▾5.5M   ▾20k  ▾600k     ▾rate 40k    ", lane(at(3, "rate 5\u2009500\u2009000"), at(11, "rate 20\u2009000"), at(17, "rate 600\u2009000"), at(27, "rate 40\u2009000")), "all of one knob")
	assert.Equal(t, "                           rate 20k▾    ", lane(at(35, "rate 20\u2009000")), "at the end to the left")
	assert.Equal(t, "                         ▾         ▾    ", lane(at(25, ""), at(35, "rate 20\u2009000")), "not beside another sign; of a single one, no value without its knob")
	assert.Equal(t, "  ▾×4         ▾threads 5   ▾×4          ", lane(at(2, "threads 1"), at(5, "payload 2"), at(9, "threads 3"), at(12, "payload 4"), at(14, "threads 5"), at(27, "payload 2"), at(28, "payload 3"), at(28, "payload 33"), at(30, "threads much longer than there is")), "a crowd without names is counted")
	note := Moment{Cell: 26, Sign: '◆', Name: "the cache was warm"}
	assert.Equal(t, "                     ▾5   ◆     ▾6      ", lane(at(21, "5"), note, at(32, "6")), "no article alone")
	level := Moments(nil, []measure.Mark{{Note: "rate 8k: too much · p99<5ms: 30 % took longer"}}, []measure.Change{{Name: "rate", From: 8000, To: 4000, By: measure.BySearch}}, nil)
	assert.Equal(t, "◆rate 8k: too much                      ", lane(level...))
	level[0].Cell, level[1].Cell = 9, 9
	for next, want := range map[int]string{26: "◆8k: too much    ▾9", 20: "▾rate 4k   ▾9", 14: "              ▾9"} {
		assert.Contains(t, lane(append(level, at(next, "9"))...), want, "no other part of it says how it went")
	}
	assert.Equal(t, "                     ▾5   ◆the cache…  ▾", lane(at(21, "5"), note, at(39, "")))
	assert.Equal(t, "               ▾5       ▾threads   ▿9   ", lane(at(15, "5"), Moment{Cell: 35, Sign: '▿', Name: "9", Coming: true}, at(24, "threads")))
	var levels []Moment
	for i, to := range []float64{2000, 4000, 8000, 16000, 12000} {
		m := Moments(nil, nil, []measure.Change{{Name: "rate", To: to, By: measure.BySearch}}, nil)[0]
		m.Cell, m.At = 3+3*i, time.Duration(i)
		levels = append(levels, m)
	}
	assert.Equal(t, "   ▾2k   ▾8k   ▾rate 12k                ", lane(levels...), "what a search did has a name, or no sign")
	assert.Len(t, InLane(40, levels), 3, "nor a rule")
	again := Moments(nil, []measure.Mark{{Note: "the server was started again and came back empty"}}, nil, nil)
	for cell, want := range map[int]string{2: "◆server restarted, came back empty", 8: "◆server restarted, came back…", 20: "◆server restarted…"} {
		again[0].Cell = cell
		assert.Contains(t, lane(append(again, Moment{Sign: '░'})...), want)
	}
}

// The interval of each point of a sweep is a bar, which does not set the scale.
func TestASweepShowsHowFarItsPointsAreCertain(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	r := &sweep.Result{Unit: "entries", Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "2", "4"}}}}
	for i, runs := range [][]float64{{100, 110}, {1000, 100}, {450}} {
		r.Points = append(r.Points, sweep.Point{Values: r.Axes[0].Values[i : i+1]})
		for _, v := range runs {
			r.Runs = append(r.Runs, sweep.Run{Point: i, Done: num(v)})
		}
	}
	st := widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii)
	rows := Throughput(st, r).Draw(st, 50, 12)
	picture := strings.Join(rows, "\n")
	assert.Contains(t, picture, "•")
	assert.NotContains(t, picture, "5k", "a bar that goes on above the scale does not set it")
	bars := make([]int, 50)
	for _, row := range rows[:11] {
		for x, sign := range []rune(ansi.Strip(row)) {
			if sign == '│' && x > labels+1 {
				bars[x]++
			}
		}
	}
	at := func(n float64) int { return labels + 2 + int((n-1)/3*float64(50-labels-3)+0.5) }
	assert.Positive(t, bars[at(1)])
	assert.Equal(t, 10, bars[at(2)], "all rows but that of the point")
	assert.Zero(t, bars[at(4)], "one run has no interval")
}
