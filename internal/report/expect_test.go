package report

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// clothes are what every page in HTML wears: its style, its script, and the sums of both.
var clothes = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>|<meta http-equiv[^>]*>`)

// expect compares a document with what is expected of it; of a page in HTML without what
// all of them share.
func expect(t *testing.T, name, got string) {
	t.Helper()
	got = clothes.ReplaceAllString(got, "<!-- as in all pages -->")
	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}
