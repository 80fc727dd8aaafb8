package experiment

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/report"
)

// The mark of a try has the word that tables and the panel have for its level, not one of its own.
func TestTheMarkOfATryIsThatOfItsLevel(t *testing.T) {
	r := &find.Result{Over: find.OverRate, Under: []string{"p99<10ms"}}
	assert.Equal(t, "rate 2k: holds", tried(r, find.Step{Level: 2000, Held: true, Threads: 8}))
	failed := find.Step{Level: 2000, Threads: 8, Why: "p99<10ms did not hold: 3 % took longer"}
	words := tried(r, failed)
	assert.Equal(t, "rate 2k: unclear · held 1 of 2 tries · 3 % took longer", words)
	told, _, _ := r.Told(2000)
	assert.Equal(t, "rate 2k: "+told, words)
}

// What the error says of the store alone is what the answer says.
func TestTheErrorOfASearchSaysWhatTheStoreAloneHolds(t *testing.T) {
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{"p99<10ms"}, TooMuch: 1000, Limit: find.Limit{By: find.ByPerfbench}}
	for level, ms := range map[float64]int64{1000: 12, 2000: 8} {
		r.Steps = append(r.Steps, find.Step{Level: level, Done: level, Calls: 1000, Why: "p99<10ms did not hold", Service: find.Times{P99: ms * 1e6}, Response: find.Times{P99: 90e6}})
	}
	err := KeepFound(t.TempDir(), r)
	require.ErrorContains(t, err, "; in the store alone, 2k entries/s met p99.service<10ms, but 1k did not: doubtful")
	assert.Contains(t, report.FoundAnswer(r).Limits[0], "2k entries/s met p99.service<10ms, but 1k did not")
}
