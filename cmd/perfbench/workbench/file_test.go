package workbench

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/request"
)

// The workbench opens the profile that a file is for.
func TestAFileOpensItsProfile(t *testing.T) {
	captured := filepath.Join(t.TempDir(), "x.capture")
	w, err := capture.Create(captured, capture.Header{Store: "redis", Source: "redis://shop", How: "MONITOR", Started: time.Unix(1_700_000_000, 0), Timing: capture.Exact}, 0)
	require.NoError(t, err)
	require.NoError(t, w.Add(&capture.Call{At: time.Millisecond, Conn: 1, Args: []capture.Arg{capture.TextArg("GET"), capture.TextArg("k")}, Keys: []int{1}}))
	require.NoError(t, w.Close("the time was up"))
	assert.Equal(t, "mix", profileFor(request.Request{Files: []string{captured}}))
	assert.Equal(t, "tx", profileFor(request.Request{Profile: "tx", Files: []string{captured}}), "what was named stays")
	assert.Empty(t, profileFor(request.Request{}))
}
