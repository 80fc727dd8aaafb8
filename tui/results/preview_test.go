package results

import (
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/archive"
	"github.com/perfbench/perfbench/tui/widget"
)

// readings counts how often each run is read.
type readings struct {
	*tuitest.Bench
	of map[string]int
	no string // cannot be read
}

func (r *readings) Load(id string) (*rundir.Folder, error) {
	r.of[id]++
	if id == r.no {
		return nil, errors.New("series.csv: no such file")
	}
	return r.Bench.Load(id)
}

// Below a list of runs stands what the selected one came to, read once, where there is room for both.
func TestAListShowsWhatTheSelectedRunCameTo(t *testing.T) {
	b := &readings{Bench: tuitest.NewDemo(), of: map[string]int{}}
	first, second := b.Past[0].ID, b.Past[1].ID
	b.no = second
	a := tuitest.NewStage(t, archive.NewRuns(b, "", map[string]bool{}, NewPreview(b)), 120, 40)
	assert.NotContains(t, a.Picture(t), "Throughput", "it is not read yet")
	a.Send(t, a.Frame(), a.Frame())
	tuitest.Golden(t, a.Picture(t))
	a.Send(t, "down", a.Frame())
	picture := a.Picture(t)
	assert.Contains(t, picture, "series.csv: no such file")
	assert.NotContains(t, picture, "Throughput")
	a.Send(t, "up", a.Frame())
	assert.Contains(t, a.Picture(t), "Throughput")
	assert.Equal(t, map[string]int{first: 1, second: 1}, b.of)

	a.Send(t, "/", "n", "o", "n", "e", a.Frame())
	assert.NotContains(t, a.Picture(t), "Throughput", "no run is selected")
	a.Send(t, "esc", "esc", tea.WindowSizeMsg{Width: 120, Height: 24}, "G", a.Frame())
	assert.NotContains(t, a.Picture(t), "Throughput")
	assert.Len(t, b.of, 2, "nothing is read that is not shown")
}

// A preview never ends with the head of its table, and the charts of the first page make room for a few last lines.
func TestChartsMakeRoomForTheLastLines(t *testing.T) {
	b := tuitest.NewDemo()
	run, err := loadRun(b, b.Past[0].ID)
	require.NoError(t, err)
	ops := run.folder.Run.Operations
	run.folder.Run.Operations = append(slices.Clone(ops), ops[0], ops[0])
	s := widget.NewStyles(widget.ThemeMono, true, 0)
	for h := 6; h < 60; h++ {
		glance := run.glance(s, 116, h)
		if at := slices.IndexFunc(glance, func(l string) bool { return strings.HasPrefix(ansi.Strip(l), "operation ") }); at >= 0 {
			assert.NotEqual(t, h-1, at, "%d", h)
		}
		m := &moment{}
		over := len(run.page(s, m, nil, 116, h)) - h
		assert.False(t, over > 0 && over <= fewLines && m.plots.Dy() > leastBoth+over, "%d lines over in %d, and charts of %d", over, h, m.plots.Dy())
	}
}

// Of a search, the preview has the answer and its curve.
func TestAPreviewOfASearchIsItsAnswer(t *testing.T) {
	a, r := searchedRun(t, 120, 40)
	p := NewPreview(nil)
	p.Take(previewMsg{p, preview{id: "it", run: r.run.loaded}})
	text := ansi.Strip(strings.Join(p.Draw(a.Env, "it", "find ingestion rate", 20), "\n"))
	assert.Contains(t, text, "11k entries/s")
	assert.Contains(t, text, "p99 and p50 at each")
	assert.NotContains(t, text, "Throughput, each second")
}
