package preset

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

func TestOverlayShowsBothAndTheBuiltInFirst(t *testing.T) {
	builtIn := fstest.MapFS{"small.yaml": {Data: []byte("# Built in.\nthreads: 1\n")}}
	own := fstest.MapFS{"small.yaml": {Data: []byte("# Mine.\nthreads: 9\n")}, "mine.yaml": {Data: []byte("# Mine too.\nthreads: 7\n")}}
	list, err := List(Overlay(builtIn, own))
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []string{"mine", "Mine too.", "small", "Built in."}, []string{list[0].Name, list[0].Description, list[1].Name, list[1].Description})
	vs, err := Load(Overlay(builtIn, own), "mine")
	require.NoError(t, err)
	assert.Equal(t, "7", vs[0].Text)
	_, err = Load(Overlay(nil, nil), "mine")
	assert.Error(t, err)
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	values := []workload.Value{{Name: "threads", Text: "16"}, {Name: "profile.testCase", Text: "put"}, {Name: "prefix", Text: "a: #b"}, {Name: "empty", Text: ""}}
	got, err := Read("x", Write("Two\nlines.", values))
	require.NoError(t, err)
	require.Len(t, got, len(values))
	for i, v := range values {
		assert.Equal(t, v.Name, got[i].Name)
		assert.Equal(t, v.Text, got[i].Text)
	}
}
