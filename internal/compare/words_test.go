package compare

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFindingsInWords(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		f             Finding
		a, change, by string
	}{
		{Finding{Figure: Throughput, A: Range{Value: 32100, Lo: 31800, Hi: 32300}, Change: 0.378, Lo: 0.2, Hi: 0.5, Verdict: Better}, "32.1k ± 300", "+37.8 %", "+20.0 … +50.0 %"},
		{Finding{Figure: P99, A: Range{Value: 2e6, Lo: -inf, Hi: inf}, Change: -0.5, Lo: -inf, Hi: inf, Verdict: Unsure}, "2 ms", "−50.0 %", ""},
		{Finding{Figure: P99, A: Range{Value: 2e6, Vague: true}, Change: 0.5, Lo: -inf, Hi: inf, Verdict: Unsure}, "–", "", ""},
		{Finding{Figure: P50, A: Range{Value: 1e3, Lo: 990, Hi: 1010}, Change: 19, Lo: 9, Hi: 29, Verdict: Worse}, "1 µs ± 10 ns", "×20", "×10 … ×30"},
		{Finding{Figure: P50, A: Range{Value: 1e3, Lo: 1, Hi: 9e9}, Change: 0.5, Lo: -0.99, Hi: 7, Verdict: Unsure}, "1 µs (uncertain)", "+50.0 %", "?"},
		{Finding{Figure: Throughput, A: Range{Value: 44100, Lo: 19e3, Hi: 102e3}, Change: 1.5, Lo: 0.2, Hi: 4.2, Verdict: Better}, "44.1k (19k to 102k)", "×2.5", "×1.2 … ×5.2"},
		{Finding{Figure: P50, A: Range{Value: 4e6, Lo: 2e6, Hi: 8e6}, Change: -0.6, Lo: -0.9, Hi: 3, Verdict: Unsure}, "4 ms (2 to 8 ms)", "−60.0 %", "−90.0 … +300.0 %"},
		{Finding{Figure: Errors, A: Range{Value: 0.5, Lo: 0, Hi: 1}, Change: -0.1, Lo: -1, Hi: 0.5, Verdict: Unsure}, "50 % (uncertain)", "−10 points", "−100 … +50 points"},
		{Finding{Figure: Errors, A: Range{Value: 0.01, Lo: 0, Hi: 0.03}, Change: 0.01, Lo: 0, Hi: 0.02, Verdict: Unsure}, "1 % (0 to 3 %)", "+1 points", "0 … +2 points"},
		{Finding{Figure: Errors, A: Range{}, Change: 0.002, Lo: 0.001, Hi: 0.003, Verdict: Worse}, "0 %", "+0.2 points", "+0.1 … +0.3 points"},
		{Finding{Figure: Errors, Verdict: Same}, "0 %", "=", ""},
		{Finding{Figure: Max, A: Range{Value: 5e6, Lo: -inf, Hi: inf}, Change: math.NaN(), Lo: -inf, Hi: inf}, "5 ms", "", ""},
	} {
		assert.Equal(t, c.a, c.f.Text(c.f.A, false))
		assert.Equal(t, c.change, c.f.ChangeText())
		assert.Equal(t, c.by, c.f.RangeText())
	}
	f := Finding{Figure: P99, A: Range{Value: 2e6}, B: Range{Value: 3e6}, Change: 0.5, Verdict: Worse}
	assert.Equal(t, "p99: worse, +50.0 %, from 2 ms to 3 ms", f.Sentence("entries"))
	assert.Equal(t, "entries/s: not compared", Finding{Figure: Throughput, Change: math.NaN()}.Sentence("entries"))
}
