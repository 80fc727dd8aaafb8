package authz

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// What a worker that is gone has not loaded makes nobody allowed: that is no wrong
// decision of the store. Whoever is allowed though not is one.
func TestDecisionsAboutWhatALostWorkerHasNotLoaded(t *testing.T) {
	t.Parallel()
	s := &site{s: &spec{model: &model.Model{Local: make([]string, 10)}}, shared: &workload.Shared{}}
	s.tenants = [][]*tenant{{{s: s.s, site: s, name: "a"}}}
	a := s.tenants[0][0]
	(&binding{bound: &bound{s: s.s}, site: s}).share(s.shared)
	assert.True(t, a.Take(workload.Process{Of: 2}, tenantTold{Wrong: wrongTold{Counts: [2]int64{3, 0}, Examples: []string{"someone"}}, Changed: map[string]string{"member\x00resource": "viewer"}}))
	assert.False(t, a.verdict().OK)
	assert.Equal(t, []string{"someone"}, a.verdict().Examples)
	s.shared.Lose(workload.Process{Of: 2})
	assert.True(t, a.verdict().OK, "%+v", a.verdict())
	assert.Empty(t, a.others[0].changed, "it may have been changed again")
	a.loads[0].done(0, 2)
	a.loads[0].done(1, 2)
	assert.False(t, a.verdict().OK, "all was loaded")
	assert.True(t, a.Take(workload.Process{Number: 1, Part: 1, Of: 2}, tenantTold{Wrong: wrongTold{Counts: [2]int64{0, 1}}}))
	assert.False(t, a.verdict().OK)
}
