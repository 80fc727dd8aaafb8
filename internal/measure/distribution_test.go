package measure

import (
	"bytes"
	"encoding/gob"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// What others have counted comes over as it is, and adds up, awake or at rest.
func TestDistributionOfOthersAddsUp(t *testing.T) {
	t.Parallel()
	all, sum := newHist(), &Distribution{}
	for k, rest := range []bool{true, false, true} {
		var here, there Distribution
		for v := range int64(1000) {
			here.Record(v << (k * 5))
			all.record(v<<(k*5), 1)
		}
		if rest {
			here.Rest()
		}
		data, err := here.GobEncode()
		require.NoError(t, err)
		require.NoError(t, there.GobDecode(data))
		assert.Equal(t, here.Summary(), there.Summary())
		if k == 1 {
			there.Record(0)
			all.record(0, 1)
		}
		sum.Merge(&there)
	}
	assert.Equal(t, all.summary(), sum.Summary())
	var bad bytes.Buffer
	require.NoError(t, gob.NewEncoder(&bad).Encode(packed{Index: []uint16{countsLen}, Count: []int64{1}}))
	assert.ErrorContains(t, sum.GobDecode(bad.Bytes()), "not a histogram")
}
