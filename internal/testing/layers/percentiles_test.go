package layers

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ranked asks a histogram of the library for the value at a rank.
var ranked = regexp.MustCompile(`\.ValueAt(Percentile|Quantile|Percentiles|PercentilesSlice)\(`)

// Percentiles are computed in one package, so that all documents and screens agree.
func TestOnlyMeasureComputesPercentiles(t *testing.T) {
	inside := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		at := filepath.ToSlash(path)
		switch found := ranked.Match(text); {
		case strings.Contains(at, "/internal/testing/"):
		case strings.Contains(at, "/internal/measure/"):
			inside += len(ranked.FindAll(text, -1))
		default:
			assert.False(t, found, "%s: ask measure.Percentile, At or Summarize", at)
		}
		return nil
	}))
	assert.Positive(t, inside, "the pattern matches")
}
