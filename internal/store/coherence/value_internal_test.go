package coherence

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValuesAreReadAsTheClientWouldReadThem(t *testing.T) {
	for _, want := range []Value{{}, {0}, {255, 255, 255}, []byte("some text")} {
		text, err := json.Marshal(want)
		require.NoError(t, err)
		var got Value
		require.NoError(t, json.Unmarshal(text, &got))
		assert.Equal(t, want, got)
	}
	var got Value
	require.NoError(t, json.Unmarshal([]byte(`"\/\/\/\/"`), &got), "escaped, as others may write it")
	assert.Equal(t, Value{255, 255, 255}, got)
	require.Error(t, json.Unmarshal([]byte(`"?"`), &got))
	require.Error(t, json.Unmarshal([]byte(`{"a":1}`), &got))
}

func TestKeysStayApart(t *testing.T) {
	seen := map[string]string{}
	for _, k := range []string{"", "a", "\x00", "\x00AA==", "\xff", "/w==", "ä"} {
		text := textKey([]byte(k))
		assert.NotContains(t, seen, text, "%q", k)
		seen[text] = k
	}
	assert.NotEqual(t, groupedKey([]byte("a"), []byte("bc")), groupedKey([]byte("ab"), []byte("c")))
}
