package report

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// sides compares three made-up runs a side, of so many threads.
func sides(t *testing.T, a, b int) *compare.Comparison {
	t.Helper()
	set := func(name string, threads int, seed int64) compare.Set {
		s := compare.Set{Name: name}
		for i := range int64(3) {
			f := rundirtest.NewFolder(time.Date(2026, 5, 3, 12, int(seed+i), 0, 0, time.UTC), "redis", threads, seed+i)
			r, err := compare.Of(f)
			require.NoError(t, err)
			s.Runs = append(s.Runs, r)
		}
		return s
	}
	return compare.Sets(set("before-*", a, 1), set("after-*", b, 11), compare.Options{})
}

func TestComparisonDocuments(t *testing.T) {
	c := sides(t, 16, 24)
	for _, id := range ComparisonFormats() {
		t.Run(id, func(t *testing.T) {
			f, err := Comparison(c, id)
			require.NoError(t, err)
			expect(t, f.Name, string(f.Data))
		})
	}
	_, err := Comparison(c, "markdwn")
	require.ErrorContains(t, err, `unknown format "markdwn" of a comparison`)
	assert.Contains(t, fault.HintOf(err), "markdown")
}

func TestThroughputIsInTheUnitOfTheOperation(t *testing.T) {
	f := rundirtest.NewFolder(time.Date(2026, 5, 3, 12, 0, 0, 0, time.UTC), "redis", 16, 1)
	last := f.Run.Operations[len(f.Run.Operations)-1]
	f.Run.Units = map[string]string{last.Track + "." + last.Op: "checks"}
	r, err := compare.Of(f)
	require.NoError(t, err)
	kept, err := compare.Baseline([]*compare.Run{r})
	require.NoError(t, err)
	again, err := compare.ReadBaseline(kept)
	require.NoError(t, err)
	for _, a := range []*compare.Run{r, again[0]} {
		text, err := Comparison(compare.Sets(compare.Set{Runs: []*compare.Run{a}}, compare.Set{Runs: []*compare.Run{r}}, compare.Options{}), "text")
		require.NoError(t, err)
		assert.Regexp(t, `(?s)All calls.*entries/s.*`+last.Track+" "+last.Op+`.*checks/s`, string(text.Data))
		assert.Equal(t, 1, strings.Count(string(text.Data), "checks/s"))
	}
}

func TestOutcome(t *testing.T) {
	assert.Regexp(t, `^B is worse in p50 \(\+.*; better in entries/s \(\+.*; `, Outcome(sides(t, 16, 24)))
	assert.Regexp(t, `^B is the same in entries/s; unsure about p50, `, Outcome(sides(t, 16, 16)))
}

func TestAFigureThatIsWorseFailsItsCase(t *testing.T) {
	f, err := Comparison(sides(t, 24, 16), "junit")
	require.NoError(t, err)
	var got testSuites
	require.NoError(t, xml.Unmarshal(f.Data, &got))
	failed := map[string]bool{}
	for _, c := range got.Suites[0].Cases {
		failed[c.Name] = c.Failure != nil
	}
	assert.True(t, failed["throughput"])
	assert.False(t, failed["p50"])
	assert.Equal(t, 1, got.Failures)
}
