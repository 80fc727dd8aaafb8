package dashboard

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
)

// How thresholds stand is told while a run goes on: those missed first where there is little room, and those
// that only its end can answer as such.
func TestThresholdsAreToldWhileARunGoesOn(t *testing.T) {
	a, d, _ := live(t, 0, 120, 40)
	r := *d.now
	r.info.Request.Thresholds = []string{"p99<5ms", "errors<1%", "lost=0", "p50<1ms"}
	r.verdict.Thresholds = []rundir.Threshold{{Expr: "p99<5ms", Got: "187 ms"}, {Expr: "errors<1%", OK: true, Got: "0 %"}}
	s := a.Env.Styles
	assert.Equal(t, "✗ p99<5ms: 187 ms so far", ansi.Strip(r.stand(s, 80)))
	assert.Equal(t, "✗ p99<5ms", ansi.Strip(r.stand(s, 12)))
	assert.Empty(t, r.stand(s, 3))
	assert.Equal(t, "thresholds so far: p99<5ms missed at 187 ms, errors<1% met", r.thresholdsSaid())
	var rows []string
	for _, l := range r.thresholdRows(s, 60) {
		rows = append(rows, ansi.Strip(l))
	}
	text := tuitest.Sprint(rows)
	for _, want := range []string{"✗ p99<5ms: 187 ms so far", "✓ errors<1%: 0 % so far", "· lost=0 is judged at the end", "· p50<1ms is judged once enough calls have ended"} {
		assert.Contains(t, text, want)
	}
	r.verdict.Thresholds[0].OK = true
	assert.Equal(t, "✓ p99<5ms: 187 ms so far · ✓ errors<1%: 0 % so far", ansi.Strip(r.stand(s, 80)))
	assert.Equal(t, "✓ 2 thresholds", ansi.Strip(r.stand(s, 20)))
}

// The limits in the chart of response times are those on what it shows.
func TestAChartHasTheLimitsOfWhatItShows(t *testing.T) {
	_, d, _ := live(t, 0, 120, 40)
	r := *d.now
	first := r.snap.Ops[0].Operation
	r.info.Request.Thresholds = []string{"p99<5ms", first.Op + ".p99<9ms", "p99.service<3ms", "errors<1%"}
	texts := func(op int) (out []string) {
		for _, e := range r.limits(op) {
			out = append(out, e.Text)
		}
		return out
	}
	other := 0
	for i, o := range r.snap.Ops {
		if o.Op != first.Op {
			other = i
		}
	}
	assert.Equal(t, []string{"p99<5ms"}, texts(-1))
	assert.Equal(t, []string{"p99<5ms", first.Op + ".p99<9ms"}, texts(0))
	assert.Equal(t, []string{"p99<5ms"}, texts(other))
	assert.NotZero(t, other)
}
