package archive

import (
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
)

// beside is the comparison of two runs of the demo on a stage.
func beside(t testing.TB, w, h int) (*tuitest.Stage, *Comparison) {
	t.Helper()
	b := tuitest.NewDemo()
	c := NewComparison(b, []string{b.Past[1].ID}, []string{b.Past[0].ID})
	a := tuitest.NewStage(t, c, w, h)
	require.NotNil(t, c.made)
	return a, c
}

func TestComparePictures(t *testing.T) {
	for _, c := range []struct {
		name  string
		w, h  int
		ascii bool
		steps []any
	}{
		{name: "120x40", w: 120, h: 40},
		{name: "80x24 one operation", w: 80, h: 24, steps: []any{"tab"}},
		{name: "60x16", w: 60, h: 16},
		{name: "60x16 scrolled", w: 60, h: 16, steps: []any{tea.MouseWheelMsg{Button: tea.MouseWheelDown}, "down"}},
		{name: "120x40 ascii", w: 120, h: 40, ascii: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, _ := beside(t, c.w, c.h)
			a.ASCII = c.ascii
			a.Send(t, c.steps...)
			tuitest.Golden(t, a.Picture(t))
		})
	}
}

func TestSetsOfRunsAreCompared(t *testing.T) {
	b := tuitest.NewDemo()
	a := tuitest.NewStage(t, NewComparison(b, []string{b.Past[1].ID, b.Past[2].ID}, []string{b.Past[0].ID}), 120, 40)
	got := a.Picture(t)
	assert.Contains(t, got, "A  2 runs")
	assert.Contains(t, got, "2 runs against 1")
	c := a.Top.(*Comparison)
	assert.Equal(t, 2*c.made.parts[0].db.Total, c.made.parts[0].da.Total, "the distribution is of all runs of a side")
	a.Send(t, "v")
	assert.Equal(t, []screen.Destination{screen.Compare{A: c.b, B: c.a}}, a.Asked)
}

func TestNoScreenIsTooNarrowForTheVerdict(t *testing.T) {
	for _, w := range []int{60, 80, 120} {
		a, c := beside(t, w, 24)
		cpu := compare.Range{Value: 11600, Lo: 11500, Hi: 11700}
		c.made.parts[0].Findings = append(c.made.parts[0].Findings, compare.Finding{
			Figure: compare.ClientCPU, A: cpu, B: cpu, Change: 0.0012, Lo: -0.03, Hi: 0.03, Verdict: compare.Same, Within: 0.03,
		})
		assert.Regexp(t, `client CPU/op +11.6 µs.*same within 3 %`, a.Picture(t), "%d wide", w)
	}
}

func TestAComparisonIsCopiedAsText(t *testing.T) {
	a, c := beside(t, 120, 40)
	cmd := a.Update(tuitest.KeyPress("y"))
	require.NotNil(t, cmd)
	text := tuitest.Sprint(cmd())
	assert.Contains(t, text, "A 260503-114000-ingestion-redis")
	assert.Contains(t, text, "better")
	assert.NotContains(t, c.made.text(), "\x1b")
}

func TestRunsThatCannotBeReadAreNotCompared(t *testing.T) {
	a := tuitest.NewStage(t, NewComparison(tuitest.NewDemo(), []string{"gone"}, []string{"lost"}), 80, 24)
	assert.Contains(t, a.Picture(t), "run gone: not found")
	a.Send(t, "tab", "down", "v", "y", "esc")
	assert.Equal(t, 1, a.Backs)
}

func BenchmarkCompareView(b *testing.B) {
	a, _ := beside(b, 120, 40)
	for b.Loop() {
		a.Top.View(a.Env)
	}
}
