package values

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestFilesOfOursNameWhatAProfileHas(t *testing.T) {
	params := []workload.Param{{Name: "users"}}
	vs, err := OwnYAML(workload.File{Path: "a.yaml", Data: []byte("users: 7\nrate: 5\nload-0.rate: 9\ncleanup: on\n"), Run: []string{"cleanup"}}, params, "rate")
	require.NoError(t, err)
	assert.Len(t, vs, 4)
	for name, near := range map[string]string{"usres": "users", "load-0.users": "", "load-0.rat": "", "cleanpu": "cleanup"} {
		_, err := OwnYAML(workload.File{Path: "a.yaml", Data: []byte("# ours\n" + name + ": 7\n"), Run: []string{"cleanup"}}, params, "rate")
		require.ErrorContains(t, err, `a.yaml:2:1: there is no knob or parameter "`+name+`"`)
		assert.Contains(t, fault.HintOf(err), near)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}
