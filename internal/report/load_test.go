package report

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/sweep"
)

// A sweep over rates on two stores, of which one keeps up to 2,000/s and the other to 4,000/s.
func TestASweepOverRatesDrawsLatencyOverLoad(t *testing.T) {
	r := &sweep.Result{
		Profile: "ingestion", Unit: "entries", Rounds: 2, Open: true,
		Axes: []sweep.Axis{{Name: "rate", Values: []string{"1k", "2k", "4k", "8k"}}, {Name: "target", Values: []string{"redis://a", "redis://b"}}},
	}
	for round := range r.Rounds {
		for i, rate := range []float64{1000, 2000, 4000, 8000} {
			for at, most := range []float64{2000, 4000} {
				done, p99 := min(rate, most), int64(1e6*(1+i))
				if rate > most {
					p99 = 1e9
				}
				r.Runs = append(r.Runs, sweep.Run{Round: round, Point: 2*i + at, ID: "run-" + strconv.Itoa(len(r.Runs)), Done: &done, P50: p99 / 2, P99: p99, Verdict: "VALID"})
			}
		}
	}
	require.NoError(t, r.Settle())
	c := LoadCurve(r)
	assert.Equal(t, []float64{1000, 2000, 4000, 8000}, c.At)
	require.Len(t, c.Lines, 4)
	assert.Equal(t, "p99 b", c.Lines[2].Name)
	assert.Equal(t, []float64{1e6, 2e6, 3e6, 1e9}, c.Lines[2].Values)
	require.Len(t, c.Marks, 2)
	assert.InDelta(t, 2000, c.Marks[0].At, 0)
	assert.InDelta(t, 4000, c.Marks[1].At, 0)
	text := SweepText(r)
	assert.Contains(t, text, "knee (a): 2k entries/s · 4k was the first not met")
	assert.Contains(t, text, "● p99 a  ○ p50 a  ■ p99 b  □ p50 b  ┊ knee at 2k a  ┊ knee at 4k b\n", "two sides in one picture")
	assert.Regexp(t, `(?m)^ +50 % +100 % .* 400 % +a$`, text)
	assert.Regexp(t, `(?m)^ +25 % +50 % .* 200 % +b$`, text)
	assert.Regexp(t, `8k +a .* 400 %\n`, text)
	assert.Regexp(t, `8k +b .* 200 %\n`, text)
	assert.Contains(t, text, "here a is redis://a, and b is redis://b\n")
	files, err := Sweep(r)
	require.NoError(t, err)
	assert.Contains(t, string(files[3].Data), "response time over rate, entries per second")
	assert.Contains(t, string(files[4].Data), "<title>response time over rate, entries per second</title>", "sweep.svg")
	assert.Contains(t, string(files[0].Data), `"redis://a"`)

	r.Axes = r.Axes[:1]
	r.Runs = []sweep.Run{{Point: 0, Done: new(1000.0), P50: 1, P99: 3, Verdict: "VALID"}, {Round: 1, Point: 0, Done: new(1000.0), P50: 1, P99: 5, Verdict: "VALID"}}
	require.NoError(t, r.Settle())
	c = LoadCurve(r)
	require.Len(t, c.Lines, 2)
	assert.InDelta(t, 3, c.Lines[0].Low[0], 0)
	assert.InDelta(t, 5, c.Lines[0].High[0], 0)
	assert.InDelta(t, 1, c.Lines[1].High[0], 0)
	assert.InDelta(t, 0, c.Axes[0].Line, 0)
}

// Each side has its bands, and an axis in per cent of its own knee.
func TestEachSideHasItsBandsAndItsAxis(t *testing.T) {
	r := &sweep.Result{
		Profile: "ingestion", Unit: "entries", Rounds: 3, Open: true,
		Axes: []sweep.Axis{{Name: "rate", Values: []string{"1k", "2k", "3k", "4k"}}, {Name: "target", Values: []string{"redis://a", "redis://b"}}},
	}
	for round := range r.Rounds {
		for i, rate := range []float64{1000, 2000, 3000, 4000} {
			for at, most := range []float64{2000, 4000} {
				p99 := int64(1e6 * (1 + i + round))
				if round == 2 && i == 3 {
					p99 = measure.Hidden
				}
				r.Runs = append(r.Runs, sweep.Run{Round: round, Point: 2*i + at, ID: "run-" + strconv.Itoa(len(r.Runs)), Done: new(min(rate, most)), P50: 1e6, P99: p99, Verdict: "VALID"})
			}
		}
	}
	require.NoError(t, r.Settle())
	c := LoadCurve(r)
	require.Len(t, c.Lines, 4)
	for _, i := range []int{0, 2} {
		assert.Equal(t, []float64{1e6, 2e6, 3e6, 4e6}, c.Lines[i].Low)
		assert.Equal(t, []float64{3e6, 4e6, 5e6, 5e6}, c.Lines[i].High, "a percentile with too few calls is no edge")
	}
	require.Len(t, c.Axes, 2)
	assert.Equal(t, plot.Axis{Name: "a", At: []float64{1200, 1600, 2000, 2400, 2800, 3200, 3600, 4000}, Labels: []string{"60 %", "80 %", "100 %", "120 %", "140 %", "160 %", "180 %", "200 %"}}, c.Axes[0])
	assert.Equal(t, 2, c.Axes[1].Line)
	assert.Equal(t, []string{"30 %", "40 %", "50 %", "60 %", "70 %", "80 %", "90 %", "100 %"}, c.Axes[1].Labels)
	page := c.Page()
	assert.Equal(t, 2, strings.Count(page, `class="band `))
	assert.Contains(t, page, "from the lowest to the highest of the runs</span>")
	assert.Contains(t, SweepText(r), "░ from the lowest to the highest of the runs  ┊ knee at 2k a\n┊ knee at 4k b\n")
}
