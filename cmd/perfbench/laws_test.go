package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// On a real Redis, both laws hold in each segment that is long enough to tell: workers' time is
// that of the figures, and no call is counted that the server has not.
func TestTheLawsHoldInEachSegment(t *testing.T) {
	tier.Full(t, "internal/session has the ledger of made-up seconds, and internal/engine the accounts")
	t.Parallel()
	var q *rundir.Requests
	for try := 0; try < 3 && q == nil; try++ { // on a busy machine a second may not be sampled
		q = segmentOfLaws(t)
	}
	require.NotNil(t, q)
	assert.GreaterOrEqual(t, q.Seconds, 5.0)
	assert.Positive(t, q.Made)
	assert.Less(t, float64(q.Made), 1500*q.Seconds, "no more than was due")
	assert.Greater(t, float64(q.Asked), 0.9*float64(q.Made))
}

// segmentOfLaws does a run of two segments, of which the second is long enough to tell, and returns the
// requests of that; nil if not each of its seconds was sampled.
func segmentOfLaws(t *testing.T) *rundir.Requests {
	t.Helper()
	dir := t.TempDir()
	p := exec.Command(binary(t), "run", "ingestion", "--set", "testCase=put", "--target", labtest.Redis(t).URL(), "--namespace", "laws",
		"--threads", "2", "--rate", "500", "--duration", "7500ms", "--at", "1s:rate=1000", "--quiet", "--out", dir)
	p.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	said, err := p.CombinedOutput()
	require.NoError(t, err, string(said))
	folder, err := rundir.Find(dir, "latest")
	require.NoError(t, err)
	data, err := os.ReadFile(filepath.Join(folder, "run.json"))
	require.NoError(t, err)
	var r rundir.Run
	require.NoError(t, json.Unmarshal(data, &r))
	require.Len(t, r.Segments, 2)
	assert.Nil(t, r.Segments[0].Requests, "one second is too short")
	for _, s := range r.Segments {
		require.NotEmpty(t, s.Accounts)
		for _, a := range s.Accounts {
			assert.InEpsilon(t, a.Worked, a.Calls+a.Pauses, 0.05, "%+v", a)
		}
	}
	assert.NotContains(t, r.Verdict.Causes, "laws")
	return r.Segments[1].Requests
}
