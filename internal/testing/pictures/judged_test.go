package pictures

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

// What is judged of three runs with the same p99: with little lateness, with much, and with as many
// failures as answers.
func TestVerdicts(t *testing.T) {
	const p99, calls = 12 * ms, 100_000
	const left, right = edge, 384.0
	scale := func(d time.Duration) float64 { return left + float64(d)/float64(p99)*(right-left) }
	p := picture{title: "What a verdict says of a p99: valid, degraded by our own lateness, invalid because half of the calls failed", height: 290}
	p.text(edge, 30, "b", "Three runs with a p99 of %s", units.Duration(p99))
	for i, c := range []struct {
		late   time.Duration
		failed int64
		state  string
		ink    string
		says   string
	}{
		{400 * time.Microsecond, 0, verdict.Valid, "good", "lateness %s: these are figures of the store"},
		{3400 * time.Microsecond, 0, verdict.Degraded, "wait", "lateness %s: more than a tenth is our own; read the service time"},
		{0, calls + 1, verdict.Invalid, "ours", "more than half of the calls failed: a p99 of few answers says little"},
	} {
		times := func(d time.Duration) measure.Summary {
			n := int64(d)
			return measure.Summary{Count: calls, Min: n, Mean: float64(n), P50: n, P90: n, P95: n, P99: n, P999: n, P9999: n, Max: n}
		}
		v := verdict.Judge(verdict.Record{Seconds: 30, Ops: []verdict.Op{{
			Name: "get", Counts: true, Count: calls, Calls: calls, Errors: c.failed, Response: times(p99), Lateness: times(c.late), ServiceMean: float64(p99 - c.late), ServiceP50: int64(p99 - c.late), ServiceP99: int64(p99 - c.late),
		}}})
		require.Equal(t, c.state, v.State, "%v", v.Reasons)
		top := 50 + 70*float64(i)
		p.bar(left, scale(c.late), top, 26, "ours")
		failed := scale(time.Duration(float64(p99) * float64(c.failed) / float64(c.failed+calls)))
		p.bar(scale(c.late), right-(failed-left), top, 26, "store")
		p.bar(right-(failed-left), right, top, 26, "calm")
		p.bar(410, 420, top+4, 18, c.ink)
		p.text(430, top+18, "b", "%s", v.State)
		if c.late > 0 {
			c.says = fmt.Sprintf(c.says, units.Duration(c.late))
		}
		p.text(edge, top+46, "dim", "%s", c.says)
	}
	for _, k := range []struct {
		x           float64
		class, says string
	}{{24, "ours", "our own lateness"}, {180, "store", "the store, and waits for it"}, {400, "calm", "calls that failed"}} {
		p.bar(k.x, k.x+12, 262, 12, k.class)
		p.text(k.x+18, 273, "dim", "%s", k.says)
	}
	p.drawn(t, "verdict.svg")
}

// side is five runs that do so many calls a second, each off by its share.
func side(rate, off float64) (s compare.Set) {
	for _, by := range []float64{-1, -0.4, 0.1, 0.5, 0.8} {
		s.Runs = append(s.Runs, &compare.Run{Parts: []compare.Measured{{
			Calls: 1e6, Figures: map[compare.Figure]compare.Estimate{compare.Throughput: {Value: rate * (1 + by*off), SE: math.NaN()}},
		}}})
	}
	return s
}

// What is judged of two sides of five runs each.
func TestUncertainty(t *testing.T) {
	const middle, point = 360.0, 2200.0 // of no change, and for a change of 1
	x := func(change float64) float64 { return min(max(middle+point*change, 150), wide-edge) }
	p := picture{title: "Better, worse, the same and unsure, as ranges of a change", height: 280}
	p.text(edge, 30, "b", "How much more does B do than A? What the change is at least and at most")
	p.bar(x(-compare.DefaultTolerance), x(compare.DefaultTolerance), 48, 166, "near")
	p.path("line", "M%g 48V214", middle)
	for i, c := range []struct {
		change, off float64
		want        compare.Verdict
		ink         string
	}{
		{0.065, 0.008, compare.Better, "good"},
		{-0.07, 0.010, compare.Worse, "ours"},
		{0.004, 0.006, compare.Same, "store"},
		{0.01, 0.045, compare.Unsure, "calm"},
	} {
		f := compare.Sets(side(10000, c.off), side(10000*(1+c.change), c.off), compare.Options{}).Parts[0].Findings[0]
		require.Equal(t, c.want, f.Verdict, "%+v", f)
		y := 60 + 38*float64(i)
		p.bar(x(f.Lo), x(f.Hi), y, 14, c.ink)
		p.bar(x(f.Change)-1.5, x(f.Change)+1.5, y-4, 22, c.ink)
		p.text(edge, y+12, "b", "%s", f.Words())
	}
	for _, tick := range []float64{-0.08, -0.04, 0.04, 0.08} {
		p.text(x(tick), 234, "m dim", "%s%.0f %%", map[bool]string{true: "+", false: "−"}[tick > 0], 100*math.Abs(tick))
	}
	p.text(middle, 234, "m dim", "no change")
	p.text(edge, 262, "dim", "Unsure is an answer: more runs, or longer ones, make the range narrower.")
	p.drawn(t, "uncertainty.svg")
}
