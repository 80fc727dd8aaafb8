package rundir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The p99 of a search is that of the try that stands for the level that it found.
func TestASearchHasTheP99OfWhatItFound(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, FoundFile), []byte(`{"found": 40, "too_much": 44, "done_per_s": 39.5, "steps": [
		{"level": 20, "done_per_s": 20, "held": true, "stands": true, "response_ns": {"p99": 1}},
		{"level": 40, "done_per_s": 39, "held": true, "response_ns": {"p99": 2}},
		{"level": 40, "done_per_s": 39.5, "held": true, "stands": true, "response_ns": {"p99": 3}},
		{"level": 44, "done_per_s": 44, "stands": true, "response_ns": {"p99": 4}}]}`), 0o644))
	s, err := ReadSought(dir)
	require.NoError(t, err)
	assert.Equal(t, &Sought{Found: 40, TooMuch: 44, Done: 39.5, P99: 3}, s)
}
