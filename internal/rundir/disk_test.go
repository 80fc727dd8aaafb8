package rundir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

func TestOutThatCannotBeUsedIsBadInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for name, out := range map[string]string{"a file": file, "below a file": filepath.Join(file, "results")} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			o.Out = out
			_, err := Create(o)
			require.Error(t, err)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.ErrorContains(t, err, "it is a file")
			assert.NotEmpty(t, fault.HintOf(err))
		})
	}
}

func TestOutWithoutPermissionIsBadInput(t *testing.T) {
	o := options(t)
	if os.Geteuid() == 0 {
		// Root may write anywhere, but not here.
		o.Out = "/proc/results"
		if _, err := os.Stat("/proc/self"); err != nil {
			t.Skip("no /proc, and root may write anywhere else")
		}
		_, err := Create(o)
		require.Error(t, err)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		return
	}
	require.NoError(t, os.Mkdir(o.Out, 0o555))
	_, err := Create(o)
	assert.ErrorContains(t, err, "cannot be written to")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
