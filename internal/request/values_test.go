package request

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestFilesMaySetWhatEveryRunHas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	require.NoError(t, os.WriteFile(path, []byte("cleanup: on\n"), 0o600))
	var got []workload.File
	p := &workload.Profile{Read: func(files []workload.File) (workload.Values, workload.Found, error) {
		got = files
		return nil, workload.Found{}, nil
	}}
	_, _, err := ReadFiles(p, []string{path, filepath.Dir(path)}, nil)
	require.NoError(t, err)
	require.Len(t, got, 2)
	for _, f := range got {
		assert.Subset(t, f.Run, []string{"cleanup", "duration", "at"})
		assert.NotContains(t, f.Run, "threads", "a profile names its knobs")
	}
}
