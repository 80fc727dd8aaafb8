package ingestion

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// Every case and layout on a real Coherence: what was acknowledged is there, is
// listed as ours, and goes away when asked to.
func TestOnCoherence(t *testing.T) {
	target := labtest.Coherence(t).Patient()
	t.Run("cases", func(t *testing.T) { everyCase(t, target) })
	t.Run("bytes", func(t *testing.T) {
		profiletest.Drive(t, smallCase(target).With("namespace=ingestionbytes", "payloadSize=20000", "batchSize=7"))
	})
	t.Run("flavour", func(t *testing.T) {
		vs, _ := withFile(t, given(), "c.properties", ofCoherence)
		p := bound(t, open(t, target), workload.Inputs{Namespace: "ns-flavour", Driver: "coherence", Values: vs})
		setUp(t, p)
		profiletest.Work(t, p)
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Passed, v.State, "%+v", v)
		maps := p.Facts(nil).(Facts).Maps
		require.Len(t, maps, 3)
		assert.Equal(t, []any{"summary", int64(120)}, []any{maps[2].Map, maps[2].Acknowledged})
	})
}

// A server that comes back empty in mid-run is found out.
func TestCoherenceKilled(t *testing.T) {
	tier.Full(t, "TestOnCoherence, and lost data on other stores")
	srv := labtest.ToKill(t, "coherence")
	c := open(t, srv.Patient())
	p := bound(t, c, workload.Inputs{Namespace: "killed", Driver: "coherence", Values: given([2]string{"totalEntryCount", "100"}, [2]string{"threadCount", "2"})})
	setUp(t, p)
	profiletest.Work(t, p)
	srv.Kill()
	srv.Restart()
	require.Eventually(t, func() bool { return p.Verify(t.Context()).State == workload.Failed }, 5*time.Minute, 100*time.Millisecond, "it keeps nothing on disk")
}
