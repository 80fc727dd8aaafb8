package authz

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What a worker that is gone has not loaded makes nobody allowed: that is no wrong
// decision of the store. Whoever is allowed though not is one.
func TestDecisionsAboutWhatALostWorkerHasNotLoaded(t *testing.T) {
	t.Parallel()
	s := &spec{}
	s.phase = [][]*tenant{{{s: s, name: "a"}}}
	b, a := &binding{bound: &bound{s: s}}, s.phase[0][0]
	a.credit(0, 2, &tenantTold{Wrong: wrongTold{Counts: [2]int64{3, 0}, Examples: []string{"someone"}}, Changed: map[string]string{"member\x00resource": "viewer"}}, 100)
	assert.False(t, a.verdict().OK)
	assert.Equal(t, []string{"someone"}, a.verdict().Examples)
	b.lost(0, 2)
	assert.True(t, a.verdict().OK, "%+v", a.verdict())
	assert.Empty(t, a.others[0].changed, "it may have been changed again")
	a.loads[0].done(0, 2)
	a.loads[0].done(1, 2)
	assert.False(t, a.verdict().OK, "all was loaded")
	a.credit(1, 2, &tenantTold{Wrong: wrongTold{Counts: [2]int64{0, 1}}}, 100)
	assert.False(t, a.verdict().OK)
}
