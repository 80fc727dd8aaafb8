package dashboard

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// A search says how many threads it may take, which is more than the form shows unless their
// number was set.
func TestAPlannedSearchSaysItsThreads(t *testing.T) {
	free := NewPlannedSearch(nil, "Mix", screen.AskSearch{}, nil)
	assert.Contains(t, free.will(), "Threads: up to 64, where those of the form are too few; set their number to keep to it.")
	set := workload.Values{"threads": {Name: "threads", Text: "16", Origin: workload.OriginFlag}}
	fixed := NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: request.Request{Values: set}}, nil)
	assert.Contains(t, fixed.will(), "Threads: 16, as was set.")
}

// A replay offers no search, which needs calls that do not end, and says so.
func TestAReplayOffersNoSearch(t *testing.T) {
	a, d, run := live(t, 3*time.Second, 120, 40)
	short := func() (keys []string) {
		for _, b := range d.Keys().Short {
			keys = append(keys, b.Help().Desc)
		}
		return keys
	}
	assert.Contains(t, short(), "search")
	run.Designed.Replays = true
	assert.NotContains(t, short(), "search")
	a.Send(t, "f")
	assert.Contains(t, a.Picture(t), "a search needs calls that do not end")
}

// The form begins with what was asked for last, else with the thresholds of the request, and says what
// of it a search leaves out.
func TestAPlannedSearchKeepsWhatWasTyped(t *testing.T) {
	last := Sought{}
	r := request.Request{Thresholds: []string{"errors<1%", "p99<5ms", "p99<1s abort after 5s"}, Timetable: []string{"3s:threads=9"}}
	s := NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: r}, last)
	assert.Equal(t, []string{"p99<5ms"}, s.panel.asked().Under)
	assert.Contains(t, s.will(), "The timetable is left out: a search turns the knobs itself.")
	assert.Empty(t, screen.Searching(r, s.panel.asked()).Timetable)
	s.panel.Paste(tea.PasteMsg{Content: "p90<7ms"})
	_, cmd := s.Update(tea.KeyPressMsg{Code: tea.KeyEscape}, screen.Env{})
	assert.NotNil(t, cmd)
	again := NewPlannedSearch(nil, "Mix", screen.AskSearch{}, last)
	assert.Equal(t, []string{"p90<7ms"}, again.panel.asked().Under)
	assert.NotContains(t, strings.Join(again.will(), " "), "timetable")
	advised := NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: r, Advised: &find.Asked{Under: []string{"p99.service<5ms"}, Over: find.OverThreads}}, last)
	assert.Equal(t, find.Asked{Under: []string{"p99.service<5ms"}, Over: find.OverThreads, Within: find.Within}, advised.panel.asked())
	assert.Equal(t, []string{"p90<7ms"}, NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: r}, last).panel.asked().Under, "what was typed is kept until it is asked for")
	advised.Update(tea.KeyPressMsg{Code: tea.KeyEscape}, screen.Env{})
	assert.Equal(t, []string{"p90<7ms"}, NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: r}, last).panel.asked().Under, "and so it is where the advice is not taken")
}

// A search has a length of its own, which its form says and which is kept for the next one; that of
// the request is not its.
func TestAPlannedSearchHasItsOwnLength(t *testing.T) {
	last := Sought{}
	r := request.Request{Values: workload.Values{"duration": {Name: "duration", Text: "10s", Origin: workload.OriginFlag}}}
	s := NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: r}, last)
	assert.Contains(t, s.will(), "Enter starts a run against embedded: for up to 3m; until then there is none.")
	assert.Contains(t, s.will(), "The time limit replaces the duration of 10s.")
	for range 4 {
		s.panel.Press(tea.KeyPressMsg{Code: tea.KeyDown})
	}
	s.panel.Paste(tea.PasteMsg{Content: "5m"})
	assert.Contains(t, s.will()[0], "for up to 5m")
	assert.Equal(t, "5m", screen.Searching(r, s.panel.asked()).Values["duration"].Text)
	s.Update(tea.KeyPressMsg{Code: tea.KeyEscape}, screen.Env{})
	assert.Equal(t, "5m", NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: r}, last).panel.asked().Within)
	assert.Equal(t, "10s", screen.Searching(r, find.Asked{}).Values["duration"].Text, "a search that is done again has the length that it had")
}

// What was typed is kept for its profile and target alone, in each form of a search, which says what it would be otherwise.
func TestASearchBeginsWithWhatWasTypedForItsProfileAndTarget(t *testing.T) {
	kept := Sought{}
	r := request.Request{Profile: "mix", Target: "redis://u:secret@h", Thresholds: []string{"p99<5ms"}}
	from := beginningOf(kept, r)
	a, note := from.asked()
	assert.Equal(t, find.Asked{Under: []string{"p99<5ms"}, Over: find.OverRate, Within: find.Within}, a)
	assert.Empty(t, note)
	a.Under, a.Within = []string{"p99<1ms"}, "45s"
	from.keep(a)
	for key := range kept {
		assert.NotContains(t, key, "secret")
	}
	again := beginningOf(kept, r)
	typed, note := again.asked()
	assert.Equal(t, a, typed)
	assert.Equal(t, "As typed last; otherwise p99<5ms, 3m.", note)
	r.Target = ""
	other := beginningOf(kept, r)
	typed, note = other.asked()
	assert.Equal(t, other.usual, typed, "another target")
	assert.Empty(t, note)

	stage, d, _ := live(t, 3*time.Second, 120, 40)
	d.search.kept, d.now.info.Request = kept, request.Request{Profile: "mix", Target: "redis://u:secret@h"}
	stage.Send(t, "f")
	assert.Equal(t, a, d.search.panel.asked(), "on a run, too")
	assert.Contains(t, stage.Picture(t), "As typed last; otherwise p99<10ms, 3m.")
}

// A search says that its run keeps the warm-up that was set, and not the duration.
func TestAPlannedSearchSaysItsWarmUp(t *testing.T) {
	set := workload.Values{"warmup": {Name: "warmup", Text: "5s", Origin: workload.OriginFlag}}
	s := NewPlannedSearch(nil, "Mix", screen.AskSearch{Request: request.Request{Values: set}}, nil)
	assert.Contains(t, s.will(), "A warm-up of 5s comes first.")
	assert.Equal(t, "5s", screen.Searching(s.req, s.panel.asked()).Values["warmup"].Text)
}
