package dashboard

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/chart"
	"github.com/perfbench/perfbench/tui/widget"
)

// What is left of a run after its last whole second is drawn and told by no screen.
func TestARestOfASecondHasNoRateOnScreens(t *testing.T) {
	s := &measure.Snapshot{
		At: 2050 * time.Millisecond, Tracks: []string{"p"}, Gauges: make([]measure.Gauge, 1), Bucket: time.Second,
		Ops:      []measure.Totals{{Operation: measure.Operation{Track: "p", Op: "put"}}},
		Recent:   [][]measure.Row{{{T: 0, Count: 500, Seconds: 1}, {T: 1, Count: 510, Seconds: 1}, {T: 2, Count: 580, Seconds: 0.05}}},
		Timeline: [][]measure.Point{{{Count: 500, Seconds: 1}, {At: time.Second, Count: 510, Seconds: 1}, {At: 2 * time.Second, Count: 580, Seconds: 0.05}}},
	}
	line := NewAxis(100, 0, 3, 3, false, time.Second).Rate(s, -1)
	assert.InDelta(t, 510, chart.Peak(line.Vals), 0)
	f := digest(s, -1)
	assert.Equal(t, 1, f.second)
	assert.InDelta(t, 510, f.rate, 0)
	assert.InDelta(t, 510, chart.Peak(recentRates(s, 0, 2, 3)), 0)
}

// Bars are whole seconds, of a run that has just begun, too, or several where there is no room for each. Where
// the columns lie does not depend on that.
func TestBarsAreWholeSeconds(t *testing.T) {
	assert.Equal(t, time.Second, NewAxis(200, 0, 0, 0, false, 0).Bucket, "a run that prepares has none yet")
	fine := NewAxis(100, 0, 1, 0, false, time.Second)
	for _, later := range []Axis{NewAxis(100, 0, 29, 0, false, time.Second), NewAxis(100, 0, 31, 0, false, time.Second)} {
		assert.Equal(t, time.Second, later.Bucket)
		assert.Equal(t, fine.Cell(5), later.Cell(float64(later.Span/2)), "moments lie where they did")
	}
	coarse := NewAxis(30, 0, 100, 120, true, time.Second)
	assert.Equal(t, 2*time.Second, coarse.Bucket)
	s := &measure.Snapshot{
		At: 3 * time.Second, Bucket: time.Second, Ops: make([]measure.Totals, 1),
		Timeline: [][]measure.Point{{{Count: 500, Seconds: 0.9999}, {At: time.Second, Count: 1000, Seconds: 1}, {At: 2 * time.Second, Count: 100, Seconds: 1}}},
	}
	line := coarse.Rate(s, -1)
	assert.InDeltaSlice(t, []float64{750, 100}, line.Vals, 0.5)
	assert.Equal(t, 1, line.Whole, "the second is still short of one")
	odd := NewAxis(97, 0, 1, 0, false, time.Second)
	_, end := odd.Lit(odd.Rate(s, -1), 0, open)
	assert.Greater(t, end, odd.Cell(2.99), "the newest second is lit to its end, in the middle of a cell")
	_, end = coarse.Lit(line, 0, open)
	assert.Equal(t, coarse.Cell(2), end, "what is in progress is not")
	assert.Equal(t, "", barWord(fine.Bucket))
	assert.Equal(t, "  a bar is 2 s", barWord(coarse.Bucket))
}

// A bar is a value that was measured over all of its columns, and the highest is among them at any width.
func TestABarIsWhatWasMeasured(t *testing.T) {
	s := &measure.Snapshot{At: 40 * time.Second, Bucket: time.Second, Ops: make([]measure.Totals, 1), Timeline: make([][]measure.Point, 1)}
	for i := range 40 {
		s.Timeline[0] = append(s.Timeline[0], measure.Point{At: time.Duration(i) * time.Second, ResponseP99: int64(1 + i%7), ResponseMax: int64(10 + i%11)})
	}
	s.Timeline[0][23].ResponseMax = 893
	for cells := 4; cells < 300; cells++ {
		a := NewAxis(cells, 0, 41, 0, false, s.Bucket)
		line := a.Times(s, 0, func(p measure.Point) int64 { return p.ResponseMax })
		dots := a.Dots(line)
		require.InDelta(t, 893, chart.Peak(dots), 0, "%d cells", cells)
		for x, v := range dots {
			require.True(t, math.IsNaN(v) || slices.Contains(line.Vals, v), "column %d of %d cells", x, cells)
		}
	}
}

// A p99 of too few calls is dimmed, as long as it is of those.
func TestAP99OfFewCallsIsDimmed(t *testing.T) {
	s := &measure.Snapshot{At: 3 * time.Second, Bucket: time.Second, Ops: make([]measure.Totals, 1), Timeline: make([][]measure.Point, 1)}
	for i, n := range []int64{1000, 999, 5000} {
		s.Timeline[0] = append(s.Timeline[0], measure.Point{At: time.Duration(i) * time.Second, Count: n, ResponseP50: 1, ResponseP99: 5, ResponseMax: 9})
	}
	a := NewAxis(4, 0, 3, 4, false, s.Bucket)
	assert.Equal(t, []bool{false, true, false, false}, a.Few(s, 0))
	s.Spreads = [][]measure.Spread{{{T: 2, Width: 1, Counts: []int64{300, 200}}}}
	assert.Equal(t, []bool{false, true, true, false}, a.Few(s, 0), "5000 units of 500 calls")
	assert.Equal(t, []bool{true, false, false, false}, NewAxis(4, 0, 3, 8, false, 2*time.Second).Few(&measure.Snapshot{
		At: 4 * time.Second, Bucket: 2 * time.Second, Ops: s.Ops, Timeline: [][]measure.Point{{{Count: 999, ResponseP99: 5, ResponseMax: 9}, {At: 2 * time.Second, Count: 1001, ResponseP99: 5, ResponseMax: 9}}},
	}, 0))

	styles := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	p := Plot{Cells: 4, Rows: 2, Scale: plot.Scale{High: 10}, Label: number, Areas: []Area{{To: flat(8, 9), Series: 1, Few: []bool{false, true, true, false}}}, Fresh: 4}
	assert.Equal(t, styles.Unsure(1, false), p.ink(styles, area+1, 1, 1), "in its own colour: grey is what the figures are not of")
	assert.Equal(t, styles.Unsure(1, true), p.ink(styles, edge+1, 2, 0))
	p.Warm = 2
	assert.Equal(t, styles.Dimmed(false), p.ink(styles, area+1, 1, 1))
	assert.Equal(t, styles.Series[1], p.ink(styles, edge+1, 3, 0))
	assert.Equal(t, "   █ p50 to p99, dimmed if of fewer than 1000 calls", legendFor(false, "Latency", "", 70, true, nil))
	assert.Equal(t, "   █ p50 to p99, dimmed: few calls", legendFor(false, "Latency", "", 55, true, nil))
	assert.Equal(t, "   █ p50 to p99  ⠒ max", legendFor(false, "Latency", "", 45, true, nil))
	assert.Equal(t, "   ─ p50  ▄ p99  ⠒ max", legendFor(true, "Latency", "", 45, false, nil))
}

// The band of several operations is that of all their calls, as the figures beside it are.
func TestABandIsOfAllCalls(t *testing.T) {
	s := &measure.Snapshot{
		At: time.Second, Bucket: time.Second, Ops: make([]measure.Totals, 2), Segments: []measure.Segment{{}},
		Timeline: [][]measure.Point{{{ResponseP50: 50, ResponseP99: 60, ResponseMax: 70}}, {{ResponseP50: 5, ResponseP99: 90, ResponseMax: 95}}},
		Whole:    []measure.Point{{ResponseP50: 6, ResponseP99: 80, ResponseMax: 95}},
	}
	p50 := func(p measure.Point) int64 { return p.ResponseP50 }
	a := NewAxis(30, 0, 1, 0, false, time.Second)
	assert.Equal(t, []float64{6}, a.Times(s, -1, p50).Vals)
	assert.Equal(t, []float64{80}, a.Latency(s, -1).Vals)
	assert.Equal(t, []float64{5}, a.Times(s, 1, p50).Vals)
}

// Phases that share a second share its rate: it is no sum of two.
func TestPhasesOfOneSecondMakeOneRate(t *testing.T) {
	half := 500 * time.Millisecond
	s := &measure.Snapshot{
		At: time.Second, Tracks: []string{"a", "b"}, Bucket: time.Second,
		Ops:      []measure.Totals{{Operation: measure.Operation{Track: "a", Op: "put"}}, {Operation: measure.Operation{Track: "b", Op: "get"}}},
		Ran:      []measure.Phase{{Name: "a", Tracks: []string{"a"}, To: half}, {Name: "b", Tracks: []string{"b"}, From: half, To: time.Second}},
		Timeline: [][]measure.Point{{{Count: 250, Seconds: 0.5}}, {{Count: 250, Seconds: 0.5}}},
	}
	assert.Equal(t, []float64{500}, NewAxis(1, 0, 1, 1, false, time.Second).Rate(s, -1).Vals)
}

func TestAxisLeapsAndNeverRedrawsThePast(t *testing.T) {
	for _, c := range []struct {
		name                   string
		warmup, elapsed, total int
		whole                  bool
		span                   int
	}{
		{"a run begins with ten seconds", 0, 1, 600, false, 10},
		{"a shorter one with all of it", 0, 1, 8, false, 8},
		{"full, it grows by half", 0, 11, 600, false, 15},
		{"and on", 0, 16, 600, false, 20},
		{"warm-up belongs to it", 5, 8, 600, false, 15},
		{"up to its end", 0, 41, 45, false, 45},
		{"what is planned is seen from the start", 0, 1, 600, true, 600},
		{"an unknown end is never far", 0, 100, 0, false, 120},
		{"a run that ends stays as it was", 0, 15, 14, false, 14},
		{"a run beyond its end grows on", 0, 62, 60, true, 80},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.span, NewAxis(60, c.warmup, c.elapsed, c.total, c.whole, time.Second).Span)
		})
	}
	run := tuitest.NewRun(1)
	var before []float64
	span := 0
	for range 60 {
		run.Tick(time.Second)
		a := NewAxis(100, 5, widget.Seconds(run.At)+1, 60, false, time.Second)
		dots := a.Dots(a.Rate(run.Snapshot(), -1))
		if a.Span != span { // it leapt
			span, before = a.Span, nil
		}
		for i, v := range before {
			if v == v {
				require.InDelta(t, v, dots[i], 1e-9, "column %d at %v", i, run.At)
			}
		}
		before = dots
	}
}

// A table that has no room for all begins with what runs, not with phases that are over.
func TestTheTableBeginsWithWhatRuns(t *testing.T) {
	op := func(track string) measure.Totals {
		return measure.Totals{Operation: measure.Operation{Track: track, Op: "put"}}
	}
	r := &reading{snap: &measure.Snapshot{
		Tracks: []string{"g1", "g2", "g3"}, Ops: []measure.Totals{op("g1"), op("g1"), op("g2"), op("g3")},
		Gauges: []measure.Gauge{{}, {Running: true}, {Running: true}},
	}}
	assert.Equal(t, 2, r.firstRunning())
	r.snap.Gauges = make([]measure.Gauge, 3)
	assert.Zero(t, r.firstRunning())
}

// No two operations of a table have one colour: calls that are in no chart of all are grey.
func TestColoursStandForOneOperation(t *testing.T) {
	st := widget.NewStyles(widget.ThemeDark, true, colorprofile.TrueColor)
	sel := selection{now: &reading{snap: &measure.Snapshot{Ops: make([]measure.Totals, 5), Apart: []bool{true, false, false, true, true}}}, op: -1}
	assert.Equal(t, []int{1, 2}, sel.apart())
	assert.Equal(t, []widget.Ink{st.Muted, st.Series[0], st.Series[1], st.Muted, st.Muted}, inks(&sel, st))
	sel.op = 4
	assert.Equal(t, []widget.Ink{st.Muted, st.Muted, st.Muted, st.Muted, st.Series[0]}, inks(&sel, st), "charts show the selected one alone")
	sel.op, sel.now.snap.Apart = -1, nil
	assert.Nil(t, sel.apart(), "too many")
	assert.Equal(t, slices.Repeat([]widget.Ink{st.Muted}, 5), inks(&sel, st))
}

func inks(sel *selection, st *widget.Styles) (out []widget.Ink) {
	for op := range sel.now.snap.Ops {
		out = append(out, sel.ink(st, op))
	}
	return out
}
