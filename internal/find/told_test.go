package find

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Several tries of a level are told together, and a condition that all know is not said again.
func TestTriesOfALevelAreToldTogether(t *testing.T) {
	no := Step{Level: 20, Why: "p99<5ms did not hold: 6.36 % took longer"}
	doubt := Step{Level: 40, Doubtful: true, Why: "p99<5ms is in doubt: 3 of 95 took longer"}
	r := Result{Under: []string{"p99<5ms"}, Found: 20, Steps: []Step{
		{Level: 10, Held: true}, no, {Level: 20, Held: true}, {Level: 20, Held: true}, doubt, {Level: 30, Why: "the backlog grew"}, {Level: 30, Why: "the backlog grew"}, {Level: 50, Held: true}, {Level: 50, Held: true},
	}}
	for level, want := range map[float64]struct {
		words          string
		held, doubtful bool
	}{
		10: {"held", true, false},
		20: {"held 2 of 3; did not hold: 6.36 % took longer", true, true},
		30: {"held none of 2; the backlog grew", false, false},
		40: {"is in doubt: 3 of 95 took longer", false, true},
		50: {"held 2 of 2", true, false},
	} {
		words, held, doubtful := r.Told(level)
		assert.Equal(t, want.words, words)
		assert.Equal(t, want.held, held, words)
		assert.Equal(t, want.doubtful, doubtful, words)
	}
	r.Under = append(r.Under, "errors<1%")
	words, _, _ := r.Told(40)
	assert.Equal(t, doubt.Why, words)
}

// A result says what was asked for, so that it can be asked again.
func TestAResultCanBeAskedAgain(t *testing.T) {
	r := Result{Over: OverRate, Under: []string{"p99<5ms"}, From: 1500, To: 80000}
	assert.Equal(t, Asked{Under: []string{"p99<5ms"}, Over: OverRate, From: "1500", To: "80000"}, r.Asked())
	r = Result{Over: OverRate, Under: []string{Recovers}, Recovery: &RecoverySought{PulseS: 1, WithinS: 30}}
	a := r.Asked()
	assert.Equal(t, []string{"recovers<30s after 1s"}, a.Under)
	_, ok, err := readRecovery(a.Under[0])
	assert.True(t, ok)
	assert.NoError(t, err)
}
