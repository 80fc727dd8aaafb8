package request_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestListAndLoad(t *testing.T) {
	fsys := fstest.MapFS{
		"small.yaml": {Data: []byte("# A few\n#   seconds.\n\n# not this\nthreads: 2\n")},
		"big.yaml":   {Data: []byte("threads: 64\n")},
		"note.txt":   {Data: []byte("no preset")},
	}
	all, err := request.Presets(fsys)
	require.NoError(t, err)
	require.Len(t, all, 2)
	assert.Equal(t, "big", all[0].Name)
	assert.Empty(t, all[0].Description)
	assert.Equal(t, "A few seconds.", all[1].Description)

	vs, err := request.LoadPreset(fsys, "small")
	require.NoError(t, err)
	assert.Equal(t, []workload.Value{{Name: "threads", Text: "2", Origin: workload.OriginPreset, Where: "small", Order: 1}}, vs)
	_, err = request.LoadPreset(fsys, "smal")
	require.ErrorContains(t, err, `unknown preset "smal"`)
	assert.Equal(t, "did you mean small? perfbench list presets shows all", fault.HintOf(err))
	all, err = request.Presets(nil)
	require.NoError(t, err)
	assert.Empty(t, all)
}
