package pbm

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Look-ups and transactions on a real Coherence; transactions of the same group at
// the same time are conflicts and are tried again.
func TestPBMOnCoherence(t *testing.T) {
	srv := labtest.Coherence(t)
	target := srv.Patient()
	words := []string{
		"mapNames=eligibility,profile", "eligibility.testCase=tx", "profile.testCase=getall", "eligibility.totalEntryCount=200", "eligibility.threadCount=4",
		"profile.totalEntryCount=200", "profile.threadCount=2", "profile.batchSize=20", "memberSetSize=5", "payloadSize=100", "payload=500",
	}
	p, c := ready(t, target, inputs(given(words...)))
	profiletest.Work(t, p)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	f := p.Facts(nil).(*Facts)
	assert.Equal(t, atomicReplace, f.Atomic)
	for _, m := range f.Maps {
		assert.Zero(t, m.Failed, m.Map)
		assert.Positive(t, m.Done, m.Map)
	}
	assert.Contains(t, p.Warnings, howCoherence)
	fillings(t, p)

	typed, ok := c.(*coherence.Conn)
	require.True(t, ok)
	shapes, err := newShapes(c, p.Binder.(*Spec))
	require.NoError(t, err)
	h := &coherenceLayer{shapes: shapes, maps: typed.Maps}
	conflicts := make(chan error, 2)
	gate := make(chan struct{})
	met := false
	for range 50 {
		for range 2 {
			go func() {
				<-gate
				_, _, err := h.Summarize(t.Context(), []byte("x1"), nil)
				conflicts <- err
			}()
		}
		close(gate)
		for range 2 {
			if err := <-conflicts; err != nil {
				require.ErrorIs(t, err, errConflict)
				met = true
			}
		}
		if met {
			break
		}
		gate = make(chan struct{})
	}
	assert.True(t, met, "of two transactions at the same time one is a conflict")

	in := inputs(fromFile(t, ofCoherence))
	in.Namespace = "flavour"
	p, _ = ready(t, target, in)
	profiletest.Work(t, p)
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State, "%+v", p.Verify(t.Context()))
	assert.Len(t, p.Facts(nil).(*Facts).Maps, 3)
}
