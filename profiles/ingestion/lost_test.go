package ingestion

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// A store that loses everything mid-run takes our record with it: the run
// fails its verification, and what was written since must still be known as ours.
func TestALostStoreIsRecordedAgain(t *testing.T) {
	c := open(t, "memory:")
	keep, err := store.As[store.Keeper](c)
	require.NoError(t, err)
	p := bound(t, c, workload.Inputs{Namespace: "ns", Values: given([2]string{"totalEntryCount", "100"}, [2]string{"threadCount", "2"}, [2]string{"batchSize", "10"})})
	setUp(t, p)
	profiletest.Work(t, p)
	for _, s := range p.Spaces {
		_, err := keep.Drop(t.Context(), s, nil)
		require.NoError(t, err)
	}
	assert.Equal(t, workload.Failed, p.Verify(t.Context()).State)
	made, err := keep.Made(t.Context(), "ns")
	require.NoError(t, err)
	assert.Len(t, made, len(p.Spaces))
}

// A store that is killed ends a run, however much there is left to do.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	smallCase("").With("batchSize=1").Gone(t, "totalEntryCount=20000000")
}
