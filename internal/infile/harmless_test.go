package infile

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a folder of somebody else says cannot control what shows it, however it is
// written; and what is harmless stays as it is.
func TestTextsOfAFolderAreHarmless(t *testing.T) {
	for text, want := range map[string]string{
		`"a\u001b[31mb\u0007c"`:      "a [31mb c",
		"\"a\u009bb\u202ec\x7fd\"":   "a b c d",
		`"\\u001b \"\u00e9\u0041\""`: `\u001b "éA"`,
		`"line\nand\ttab\r"`:         "line\nand\ttab ",
		`"\u009b\u2066"`:             "  ",
		`"back\b\b\fspace\\b"`:       "back   space\\b",
	} {
		var got string
		require.NoError(t, json.Unmarshal(Harmless([]byte(text)), &got), text)
		assert.Equal(t, want, got, text)
	}
	for _, broken := range []string{`"\`, `"\u`, `"\u00`, `"\uzzzz"`} {
		assert.Equal(t, broken, string(Harmless([]byte(broken))))
	}
}
