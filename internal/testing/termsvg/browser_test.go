package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/browsertest"
)

// In every screen that the README shows, every character stands at its column, in a real
// browser. One drawn with spaces that the browser makes one of does not.
func TestThePicturesInARealBrowser(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	pictures := regexp.MustCompile(`\]\((docs/screens/\S+\.svg)\)`).FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, pictures)
	c := browsertest.Start(t)
	for _, p := range pictures {
		path, err := filepath.Abs(filepath.Join("../../..", p[1]))
		require.NoError(t, err)
		assert.Empty(t, misplaced(t, c, path), p[1])
	}
	inherited := filepath.Join(t.TempDir(), "inherited.svg")
	require.NoError(t, os.WriteFile(inherited, []byte(`<svg xmlns="http://www.w3.org/2000/svg"><g font-family="monospace" xml:space="preserve">
<text x="12" y="25" textLength="75.6">one   two</text></g></svg>`), 0o600))
	assert.NotEmpty(t, misplaced(t, c, inherited))
}

// misplaced lists the pieces of text of a picture of which a character is more than a tenth
// of a cell from its column, and by how many cells.
func misplaced(t *testing.T, c *browsertest.Browser, path string) (wrong []string) {
	t.Helper()
	c.Open(path)
	texts := browsertest.Eval[[]struct {
		Text   string
		X      float64
		Starts []float64 // of the characters that are drawn
	}](c, `[...document.querySelectorAll("text")].map(t => ({text: t.textContent, x: t.x.baseVal[0].value,
		starts: Array.from({length: t.getNumberOfChars()}, (_, i) => t.getStartPositionOfChar(i).x)}))`)
	require.NotEmpty(t, texts)
	for _, e := range texts {
		column, off := math.Round((e.X-margin)/cellWidth), 0.0
		for i, r := range []rune(e.Text) {
			if i == len(e.Starts) {
				off = math.Inf(1)
				break
			}
			off = max(off, math.Abs((e.Starts[i]-margin)/cellWidth-column))
			column += float64(ansi.StringWidth(string(r)))
		}
		if off > 0.1 {
			wrong = append(wrong, fmt.Sprintf("%q, by %.2f", e.Text, off))
		}
	}
	return wrong
}
