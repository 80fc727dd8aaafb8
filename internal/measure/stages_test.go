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

// One that rests between values, as that of a segment to which late ones still come, tells the
// same as a histogram.
func TestDistributionForgetsNothingAtRest(t *testing.T) {
	t.Parallel()
	r, h, d := rand.New(rand.NewPCG(5, 6)), newHist(), &distribution{}
	assert.Zero(t, d.summary())
	for i := range 3000 {
		v := r.Int64N(1 << 34)
		h.record(v, 1)
		d.record(v)
		if i%1000 == 999 {
			assert.Equal(t, h.summary(), d.summary(), "after %d values, awake", i+1)
			d.pack()
			assert.Equal(t, h.summary(), d.summary(), "after %d values, at rest", i+1)
		}
	}
	bytes := len(d.rest.Index)*int(unsafe.Sizeof(d.rest.Index[0])) + len(d.rest.Count)*int(unsafe.Sizeof(d.rest.Count[0]))
	assert.Less(t, bytes, 3000*10+1, "ten bytes a bucket")
	assert.Nil(t, d.live)
}

// What two processes have told of their stages, part by part, is as if one had measured it; and of
// many segments, the last has all that came later.
func TestStagesOfProcessesAddUp(t *testing.T) {
	t.Parallel()
	whole, one := newStages(&Config{Stages: 2}), newStages(&Config{Stages: 2})
	r := rand.New(rand.NewPCG(7, 8))
	var processes [2]stages
	for i := range processes {
		processes[i] = newStages(&Config{Stages: 2, Increment: func(*Increment) {}})
	}
	for second := range 5 {
		for i := range processes {
			for range 100 {
				stage, segment, v := uint16(r.IntN(2)), uint16(r.IntN(second+1)*60), r.Int64N(1<<34)
				processes[i].add(stage, segment, v)
				one.add(stage, segment, v)
			}
			var sent bytes.Buffer
			var got Increment
			require.NoError(t, gob.NewEncoder(&sent).Encode(&Increment{T: second, Stages: processes[i].part()}))
			require.NoError(t, gob.NewDecoder(&sent).Decode(&got))
			require.NoError(t, got.check(0, 0, 2))
			require.Error(t, got.check(0, 0, 1))
			whole.merge(got.Stages)
		}
		assert.Equal(t, one.summaries(), whole.summaries())
	}
	assert.Len(t, whole.segs, MostStaged)
	assert.Empty(t, processes[0].part(), "it was told")
	bad := Increment{Stages: []IncrementStage{{Times: packed{Index: []uint16{countsLen}, Count: []int64{1}}}}}
	assert.ErrorContains(t, bad.check(0, 0, 1), "a stage that this run does not have")
}
