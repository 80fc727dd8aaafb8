package pbm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// Three workers do what one process would, and tell of it what one would: on maps that
// each are one structure, which only the coordinator knows.
func TestWorkersTransactAsOneProcessWould(t *testing.T) {
	target := labtest.Redis(t).URL()
	c := mode.Case(target, append(small, "testCase=tx", "namespace=t")...)
	load := c.With("eligibility.testCase=getall", "profile.testCase=get", "layout=map").Run(t)
	require.NoError(t, load.Err)
	one, all := c.Run(t), c.Together(t, 3)
	require.NoError(t, one.Err)
	assert.Equal(t, workload.Passed, all.Run.Verification.State, "%+v", all.Run.Verification)
	assert.Equal(t, one.Run.Verification, all.Run.Verification)
	want, got := profiletest.Facts[Facts](t, one), profiletest.Facts[Facts](t, all)
	assert.Equal(t, layoutMap, got.Layout)
	for _, f := range []*Facts{&want, &got} {
		for i := range f.Maps {
			m := &f.Maps[i]
			assert.Len(t, m.ThreadMS, m.ThreadCount)
			m.Started, m.Stopped, m.ThreadMS, m.Conflicts = nil, nil, nil, 0
		}
	}
	assert.Equal(t, want, got)
}

// A worker that sends what no worker does is named, and neither the store nor the run's other
// figures are blamed.
func TestAWorkerThatSendsGarbage(t *testing.T) {
	t.Parallel()
	tier.Full(t, "ingestion's")
	mode.Case(labtest.Redis(t).URL(), append(small, "testCase=tx")...).Hostile(t)
}
