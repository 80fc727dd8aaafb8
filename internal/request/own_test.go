package request

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOverlayShowsBothAndTheBuiltInFirst(t *testing.T) {
	builtIn := fstest.MapFS{"small.yaml": {Data: []byte("# Built in.\nthreads: 1\n")}}
	own := fstest.MapFS{"small.yaml": {Data: []byte("# Mine.\nthreads: 9\n")}, "mine.yaml": {Data: []byte("# Mine too.\nthreads: 7\n")}}
	list, err := Presets(Overlay(builtIn, own))
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []string{"mine", "Mine too.", "small", "Built in."}, []string{list[0].Name, list[0].Description, list[1].Name, list[1].Description})
	vs, err := LoadPreset(Overlay(builtIn, own), "mine")
	require.NoError(t, err)
	assert.Equal(t, "7", vs[0].Text)
	_, err = LoadPreset(Overlay(nil, nil), "mine")
	assert.Error(t, err)
}
