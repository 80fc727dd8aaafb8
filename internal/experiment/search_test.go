package experiment

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/find"
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
