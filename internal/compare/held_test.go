package compare

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// A throughput that was asked for says nothing about the store, however sure the change is.
func TestAThroughputThatTheRateDecidesIsNotJudged(t *testing.T) {
	at := func(rate, done float64) *Run {
		r := *read(t, rundirtest.NewFolder(day, "redis", 16, 1))
		r.Conditions.Changes, r.Conditions.Settings = 0, maps.Clone(r.Conditions.Settings)
		r.Conditions.Settings["rate"] = rate
		r.Parts = append([]Measured(nil), r.Parts...)
		r.Parts[0].Figures = maps.Clone(r.Parts[0].Figures)
		r.Parts[0].Figures[Throughput] = Estimate{Value: done, SE: 1e-4, DF: 50}
		return &r
	}
	for _, c := range []struct {
		name string
		a, b *Run
		want string
	}{
		{"both kept up", at(2000, 2000), at(2000, 1965), "rate-limited"},
		{"one fell behind", at(2000, 2000), at(2000, 1900), "worse"},
		{"no limit", at(0, 2000), at(0, 1965), "worse"},
		{"two rates", at(2000, 2000), at(1200, 1200), "rate-limited"},
		{"two rates, of which one was not kept", at(2000, 2000), at(1200, 1100), "worse"},
	} {
		got := Sets(one(c.a), one(c.b), Options{})
		assert.Equal(t, c.want, verdicts(got.Parts[0])[Throughput], c.name)
		notes, two := strings.Join(got.Notes, " "), c.name == "two rates"
		assert.Equal(t, c.want == "rate-limited" && !two, strings.Contains(notes, "held at 2k entries/s and kept up"), c.name)
		assert.Equal(t, two, strings.Contains(notes, "A was asked for 2k entries/s and B for 1.2k entries/s, and both kept up"), c.name)
		assert.Equal(t, two, strings.Contains(got.Parts[0].Answer("entries"), "A was asked for 2k entries/s and B for 1.2k"), c.name)
		if c.want == "rate-limited" {
			assert.NotContains(t, got.Parts[0].Answer("entries"), "entries/s -", c.name)
		}
		assert.NotEqual(t, "rate-limited", verdicts(got.Parts[0])[P99], c.name)
	}
}
