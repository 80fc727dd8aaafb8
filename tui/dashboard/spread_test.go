package dashboard

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// The tuning panel draws how calls are spread over records, and follows the knob that it depends on.
func TestTheSpreadOfCallsIsDrawn(t *testing.T) {
	a, d, run := live(t, time.Second, 120, 40)
	run.Designed.Knobs = append(run.Designed.Knobs, workload.Knob{
		Name: "zipf", Help: "exponent", Min: 0.01, Max: 10, Step: 0.05,
		Get: func(s workload.Settings) float64 { return s.Extra[0] },
		Set: func(s workload.Settings, v float64) workload.Settings { s.Extra[0] = v; return s },
	})
	run.Designed.KeySpreads = []workload.KeySpread{{Name: "product", Of: func(s workload.Settings, n int) (string, []float64) {
		shares := make([]float64, n)
		shares[0] = 1
		if s.Extra[0] > 0.5 {
			shares[n-1] = 1
		}
		return "zipf", shares
	}}}
	d.tuner.list = run.Designed.Live()
	a.Send(t, "t")
	assert.Regexp(t, `product zipf +█[ ▁]+│`, a.Picture(t))
	a.Send(t, "down", "down", "down", "down", "down", "0", ".", "8", "enter")
	assert.InDelta(t, 0.8, run.Settings(screen.All).Extra[0], 1e-9, "it need not be whole")
	assert.Regexp(t, `product zipf +█[ ▁]+█`, a.Picture(t))
}
