package results

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/testing/tuitest"
	"github.com/perfbench/perfbench/tui/screen"
	"github.com/perfbench/perfbench/tui/widget"
)

// searchedRun is the newest run of the demo, with what a search on it has found.
func searchedRun(t *testing.T, w, h int) (*tuitest.Stage, *Results) {
	t.Helper()
	b, dir := tuitest.NewDemo(), t.TempDir()
	r := find.Result{
		Schema: find.Schema, Over: "rate", Unit: "entries", Under: []string{"p99<10ms"}, Found: 11e3, TooMuch: 11.3e3, Done: 11e3, Complete: true, Seconds: 94, Threads: 16,
		Limit: find.Limit{By: find.ByStore, Text: "the store: service p50 there is 9 ms, 20 times that of low load"},
	}
	for _, level := range []float64{2000, 4000, 8000, 16000, 12000} {
		r.Steps = append(r.Steps, tuitest.TriedStep(level))
	}
	data, err := r.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, find.File), data, 0o600))
	b.Keep(b.Past[0].ID, dir)
	page := New(b, b.Past[0].ID)
	a := tuitest.NewStage(t, page, w, h)
	page.run.loaded.folder.Dir = "results/" + b.Past[0].ID
	return a, page
}

func TestSearchPictures(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {60, 16}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			a, _ := searchedRun(t, size[0], size[1])
			tuitest.Golden(t, a.Picture(t))
		})
	}
}

func TestWhatASearchFoundIsThePageOfItsRun(t *testing.T) {
	a, r := searchedRun(t, 120, 40)
	assert.Equal(t, tabSearch, r.pages.at)
	a.Send(t, "shift+tab")
	assert.Equal(t, tabSummary, r.pages.at)
	_, other, _ := show(t, 120, 40)
	assert.NotContains(t, other.pages.list(), tabSearch)
}

// R asks what a search has found the same question again, in a run of the same length.
func TestASearchIsMadeAgain(t *testing.T) {
	a, _ := searchedRun(t, 120, 40)
	assert.Contains(t, a.Picture(t), "R search again")
	a.Send(t, "R")
	require.Len(t, a.Asked, 1)
	start := a.Asked[0].(screen.Start)
	assert.Equal(t, &find.Asked{Under: []string{"p99<10ms"}, Over: find.OverRate}, start.Search)
	assert.Empty(t, start.Request.Timetable)
	assert.NotContains(t, start.Request.Values, find.OverRate)
}

// Where perfbench was the limit, the page advises to search the store alone: f asks for that search, and
// the line of keys says so in time.
func TestASearchThatIsAdvisedIsAKeyAway(t *testing.T) {
	a, r := searchedRun(t, 60, 16)
	assert.NotContains(t, a.Picture(t), "f search")
	a.Send(t, "f")
	assert.Nil(t, a.Asked[0].(screen.AskSearch).Advised, "nothing is advised where the store was the limit")
	found := r.run.loaded.found
	found.Limit.By, found.From = find.ByPerfbench, 500
	assert.Contains(t, a.Picture(t), "tab page  f search the store alone")
	a.Send(t, "f")
	assert.Equal(t, &find.Asked{Under: []string{"p99.service<10ms"}, Over: find.OverRate, From: "500"}, a.Asked[1].(screen.AskSearch).Advised)
	a.Send(t, "tab", "shift+tab")
	found.Under = []string{"errors<1%"}
	assert.NotContains(t, a.Picture(t), "f search", "there is no such time")
}

// What was found and what limits, its picture and its table fit on a page of 80x24, and the notes follow.
func TestNotesFollowWhatASearchFound(t *testing.T) {
	_, r := searchedRun(t, 80, 24)
	page := ansi.Strip(strings.Join(searched(widget.NewStyles(widget.ThemeMono, true, colorprofile.Ascii), r.run.loaded.found, 76, 18), "\n"))
	order := []string{"11k entries/s under", "limit: the store", "● holds", "came out", "More", "took"}
	at := -1
	for _, text := range order {
		require.Greater(t, strings.Index(page, text), at, "%s\n%s", text, page)
		at = strings.Index(page, text)
	}
	assert.Less(t, strings.Count(page[:strings.Index(page, "16k      12.2k")], "\n"), 18)
}
