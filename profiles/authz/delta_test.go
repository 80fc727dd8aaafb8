package authz

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
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
	assert.True(t, a.Merge(workload.Process{Of: 2}, tenantDelta{Wrong: wrongDelta{Counts: [2]int64{3, 0}, Examples: []string{"someone"}}, Changed: map[string]string{"member\x00resource": "viewer"}}))
	assert.False(t, a.verdict().OK)
	assert.Equal(t, []string{"someone"}, a.verdict().Examples)
	s.shared.Lose(workload.Process{Of: 2})
	assert.True(t, a.verdict().OK, "%+v", a.verdict())
	assert.Empty(t, a.others[0].changed, "it may have been changed again")
	a.loads[0].done(0, 2)
	a.loads[0].done(1, 2)
	assert.False(t, a.verdict().OK, "all was loaded")
	assert.True(t, a.Merge(workload.Process{Number: 1, Part: 1, Of: 2}, tenantDelta{Wrong: wrongDelta{Counts: [2]int64{0, 1}}}))
	assert.False(t, a.verdict().OK)
}

// What a lost worker had to load and nobody has stored is said: it was denied afterwards, and nobody
// else will do it. Of what it told nothing is missing, and its heir counts as itself.
func TestWhatNobodyLoadedIsSaid(t *testing.T) {
	t.Parallel()
	begin := func(part int) (*binding, *workload.Plan) {
		p, _ := design(t, "users=40", "groups=10", "threads=4", "runs=2", "loadBatch=7", "tests=valid", "load=only")
		if part >= 0 {
			require.NoError(t, p.Divide(part, 2))
		}
		c := conn(t, "memory:")
		p, err := p.Bind(t.Context(), "memory", c, "260102-030405-authz-x")
		require.NoError(t, err)
		return p.Parts[0].(*binding), p
	}
	whole, plan := begin(-1)
	require.NoError(t, plan.Setup(t.Context(), nil))
	half, p := begin(1)
	require.NoError(t, p.Shared.Adopt(plan.Shared.Findings()))
	require.NoError(t, p.Join(t.Context()))
	assert.Empty(t, whole.undone())
	plan.Shared.Lose(workload.Process{Number: 1, Part: 1, Of: 2})
	all := int64(0)
	half.each(func(tn *tenant) {
		for k := range tn.loads[0].kinds {
			all += tn.loads[0].missingOf(k, half.site.stretch)
		}
	})
	items := fmt.Sprintf("%d of the %d items", all, all)
	assert.Contains(t, whole.undone(), "nobody stored "+items+" of the load that a lost worker had")
	profiletest.Work(t, p)
	require.NoError(t, plan.Shared.Merge(workload.Process{Number: 1, Part: 1, Of: 2}, p.Shared.Delta()))
	assert.Empty(t, whole.undone())
}
