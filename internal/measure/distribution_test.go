package measure

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// One that rests between values, as a step that late ones still come to, tells the same
// as a histogram.
func TestDistributionForgetsNothingAtRest(t *testing.T) {
	t.Parallel()
	r, h, d := rand.New(rand.NewPCG(5, 6)), newHist(), &Distribution{}
	assert.Zero(t, d.Summary())
	for i := range 3000 {
		v := r.Int64N(1 << 34)
		h.record(v, 1)
		d.Record(v)
		if i%1000 == 999 {
			assert.Equal(t, h.summary(), d.Summary(), "after %d values, awake", i+1)
			d.Rest()
			assert.Equal(t, h.summary(), d.Summary(), "after %d values, at rest", i+1)
		}
	}
	bytes := len(d.rest.Index)*int(unsafe.Sizeof(d.rest.Index[0])) + len(d.rest.Count)*int(unsafe.Sizeof(d.rest.Count[0]))
	assert.Less(t, bytes, 3000*10+1, "ten bytes a bucket")
	assert.Nil(t, d.live)
}
