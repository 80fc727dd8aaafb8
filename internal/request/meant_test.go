package request

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// The words that others have for our keys lead to the right one, each to one alone, and none is a
// key itself.
func TestWordsOfOthersAreUnderstood(t *testing.T) {
	keys := []string{wordSet, wordRuns, wordStop, wordFind, wordSweep}
	for _, k := range Keys() {
		keys = append(keys, k.Name)
	}
	seen := map[string]string{}
	for key, words := range meant {
		assert.Contains(t, keys, key)
		for _, w := range words {
			assert.Empty(t, seen[w], "%s is meant by %s, too", w, key)
			seen[w] = key
			assert.Equal(t, key, Meant(w, keys))
		}
	}
	assert.Equal(t, "payload", Meant("value_size", keys))
	assert.Empty(t, Meant("timetable", []string{"threads"}), "only what there is")
	assert.False(t, slices.ContainsFunc(faults, func(w string) bool { return seen[w] != "" }))
}

func TestAWrongKeyOfAPlanLeadsToTheRightOne(t *testing.T) {
	for word, want := range map[string]string{
		"timetable":   "did you mean at? write  at: [",
		"thresholds":  "did you mean threshold?",
		"store":       "did you mean target?",
		"faults":      "faults stand in the timetable, at:",
		"concurrency": "did you mean threads?",
		"duraton":     "did you mean duration",
		"testCase":    "knobs and parameters of a profile go under set:",
	} {
		_, err := Read("p.yaml", []byte("profile: mix\n"+word+": x\n"), nil)
		require.ErrorContains(t, err, "p.yaml:2:1: a plan has no key \""+word+"\"")
		assert.Contains(t, fault.HintOf(err), want, word)
	}
}
