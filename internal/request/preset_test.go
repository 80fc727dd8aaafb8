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

// A family of presets has a folder, and may say of some that they are not there, and why.
func TestFamiliesOfPresets(t *testing.T) {
	builtIn := fstest.MapFS{
		"small.yaml":    {Data: []byte("threads: 1\n")},
		"site/2.yaml":   {Data: []byte("threads: 2\n")},
		"site/10.yaml":  {Data: []byte("threads: 10\n")},
		"site/9.absent": {Data: []byte("# Nobody has measured it.\n")},
		"a/b/c.yaml":    {Data: []byte("threads: 3\n")},
	}
	fsys := request.Overlay(builtIn, fstest.MapFS{"10.yaml": {Data: []byte("threads: 11\n")}, "site/2.yaml": {Data: []byte("threads: 22\n")}})
	all, err := request.Presets(fsys)
	require.NoError(t, err)
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	assert.Equal(t, []string{"10", "site/2", "site/10", "small"}, names)
	vs, err := request.LoadPreset(fsys, "site/2")
	require.NoError(t, err)
	assert.Equal(t, "2", vs[0].Text, "the one that is built in")

	absent, err := request.Absent(fsys)
	require.NoError(t, err)
	require.Len(t, absent, 1)
	assert.Equal(t, "site/9", absent[0].Name)
	_, err = request.LoadPreset(fsys, "site/9")
	assert.EqualError(t, err, `there is no preset "site/9": Nobody has measured it.`)
}
