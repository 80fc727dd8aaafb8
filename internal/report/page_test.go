package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// luminance is that of a colour #rrggbb by the Web Content Accessibility Guidelines.
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	require.Len(t, colour, 7, colour)
	sum := 0.0
	for i, part := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += part * v
	}
	return sum
}

func contrast(t *testing.T, a, b string) float64 {
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// palettes are the colours of the style sheet by name, light ones and dark ones.
func palettes(t *testing.T) map[string]map[string]string {
	t.Helper()
	roots := regexp.MustCompile(`(?s):root \{(.*?)\}`).FindAllStringSubmatch(style, -1)
	require.Len(t, roots, 2)
	out := map[string]map[string]string{}
	for i, name := range []string{"light", "dark"} {
		out[name] = map[string]string{}
		for _, m := range regexp.MustCompile(`--(\w+): (#[0-9a-f]{6})[;0-9a-f]`).FindAllStringSubmatch(roots[i][1], -1) {
			out[name][m[1]] = m[2]
		}
	}
	return out
}

// Letters have a contrast of 4.5 to what they stand on, and what is drawn one of 3, in both
// lights (WCAG 2.2, AA).
func TestColoursCanBeTold(t *testing.T) {
	for light, colours := range palettes(t) {
		for _, ink := range []string{"ink", "faint", "link", "good", "doubtful", "bad"} {
			for _, ground := range []string{"paper", "raised"} {
				assert.GreaterOrEqual(t, contrast(t, colours[ink], colours[ground]), 4.5, "%s: %s on %s", light, ink, ground)
			}
		}
		for i := range 8 {
			line := "l" + strconv.Itoa(i)
			assert.GreaterOrEqual(t, contrast(t, colours[line], colours["paper"]), 3.0, "%s: %s", light, line)
		}
		for i := range 3 { // each band to the next, by its edge or by itself
			a, b := colours["b"+strconv.Itoa(i)], colours["b"+strconv.Itoa(i+1)]
			assert.GreaterOrEqual(t, contrast(t, a, b), 1.25, "%s: bands %d and %d", light, i, i+1)
			assert.GreaterOrEqual(t, contrast(t, colours["l0"], a), 1.4, "%s: the edge of band %d", light, i)
		}
		assert.GreaterOrEqual(t, contrast(t, colours["heat"], colours["paper"]), 4.5, light)
	}
}

// A rule that uses a colour that no palette has would show nothing.
func TestEveryColourIsInBothPalettes(t *testing.T) {
	for light := range palettes(t) {
		root := strings.Split(style, ":root {")[map[string]int{"light": 1, "dark": 2}[light]]
		root, _, _ = strings.Cut(root, "}")
		for _, m := range regexp.MustCompile(`var\(--(\w+)\)`).FindAllStringSubmatch(style, -1) {
			assert.Contains(t, root, "--"+m[1]+":", light)
		}
	}
}

func TestMarkdownHasTheAnswerFirst(t *testing.T) {
	p := Page{Title: "a run", Figures: []Figure{{Name: "p99", Value: "1 ms"}}}
	p.Add(
		Section{Heading: "Empty"},
		Section{Heading: "Course", Text: []string{"it ran"}, Parts: []Section{{Heading: "Part", Text: []string{"more"}}}},
		Section{Heading: "Operations", Weight: Answer, Text: []string{"one"}, Code: "run --again"},
	)
	assert.Equal(t, "# a run\n\n|  |  |\n| --- | ---: |\n| p99 | 1 ms |\n\n## Operations\n\none\n\n```sh\nrun --again\n```\n\n<details>\n<summary>Course</summary>\n\nit ran\n\n### Part\n\nmore\n\n</details>\n", p.Markdown())
}

func TestOnlyOurOwnScriptMayRun(t *testing.T) {
	page := Page{Title: "</script><script>alert(1)</script>"}.HTML()
	assert.Equal(t, 1, strings.Count(page, "<script"))
	assert.Contains(t, page, "script-src "+hashed(script))
	assert.Contains(t, page, "<script>"+script+"</script>")
	assert.Contains(t, page, "default-src 'none'")
}
