package archive

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
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
		{name: "200x60", w: 200, h: 60},
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

// Whatever a terminal shows of a comparison, a larger one shows, too.
func TestNoFigureVanishesAsTheTerminalGrows(t *testing.T) {
	a, c := beside(t, 60, 16)
	var all []string
	for _, f := range c.made.parts[0].Findings {
		all = append(all, f.Text(f.A, false), f.Text(f.B, false), f.ChangeText(), f.RangeText())
	}
	shown := map[[2]int]map[string]bool{}
	const step = 3
	for w := 60; w <= 240; w += step {
		for _, h := range []int{24, 30, 38, 45, 60} {
			a.Send(t, tea.WindowSizeMsg{Width: w, Height: h})
			got, has := a.Picture(t), map[string]bool{}
			for _, text := range all {
				has[text] = strings.Contains(got, " "+text+" ")
				if text != "" && shown[[2]int{w - step, h}][text] {
					require.True(t, has[text], "%s at %dx%d", text, w, h)
				}
			}
			shown[[2]int{w, h}] = has
		}
	}
	for _, text := range all {
		assert.True(t, shown[[2]int{240, 60}][text] || text == "", text)
	}
}

func TestMoreRunsOfAComparisonAreSetUp(t *testing.T) {
	a, c := beside(t, 120, 40)
	assert.Contains(t, a.Picture(t), "R: one more run of A, then of B")
	assert.Contains(t, a.Picture(t), "One run a side: only its own variation counts as chance.")
	for _, want := range []struct {
		said string
		run  *rundir.Run
	}{{"one more run of side A", c.made.a}, {"one more run of side B", c.made.b}, {"one more run of side A", c.made.a}} {
		cmd := a.Update(tuitest.KeyPress("R"))
		require.NotNil(t, cmd)
		assert.Equal(t, screen.SetUpMsg{Request: report.Asked(want.run), Said: want.said, From: c}, cmd())
	}
}

// Two searches are compared by what they hold, and drawn as one picture with their bands.
func TestTwoSearchesAreDrawnAsOnePicture(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}} {
		b := tuitest.NewDemo()
		for i, most := range []float64{11e3, 8e3} {
			r := find.Result{Schema: find.Schema, Over: find.OverRate, Unit: "entries", Under: []string{"p99<10ms"}, Found: most, TooMuch: most * 1.03, Complete: true}
			for _, level := range []float64{2000, 4000, 8000, 11000, 16000, 8000} {
				r.Steps = append(r.Steps, tuitest.TriedStep(level))
			}
			r.Steps[2].Response.P99 *= 4
			data, err := r.Encode()
			require.NoError(t, err)
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, find.File), data, 0o600))
			b.Keep(b.Past[i].ID, dir)
		}
		c := NewComparison(b, []string{b.Past[1].ID}, []string{b.Past[0].ID})
		a := tuitest.NewStage(t, c, size[0], size[1])
		require.NotNil(t, c.made, "%v", c.err)
		got := a.Picture(t)
		for range 20 { // a small screen scrolls
			a.Send(t, "down")
			got += a.Picture(t)
		}
		assert.Contains(t, got, "p99 A  p50 A  p99 B  p50 B")
		assert.Contains(t, got, "░", "8,000/s was tried twice")
		assert.Regexp(t, `A holds up to 8k [a-z]+/s`, got)
		assert.NotContains(t, got, "Latency of one call")
		a.Send(t, "tab")
		if len(c.made.parts) > 1 {
			assert.NotContains(t, a.Picture(t), "Latency over load", "an operation has no load of its own")
		}
	}
}

func TestSetsOfRunsAreCompared(t *testing.T) {
	b := tuitest.NewDemo()
	a := tuitest.NewStage(t, NewComparison(b, []string{b.Past[1].ID, b.Past[2].ID}, []string{b.Past[0].ID}), 120, 40)
	got := a.Picture(t)
	assert.Regexp(t, `A  threads 16 +B  threads 32`, got, "what tells the sides apart is their name")
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
		assert.Regexp(t, `client CPU/entry +11.6 µs.*same within 3 %`, a.Picture(t), "%d wide", w)
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
