package datagen_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/datagen"
)

func source() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func TestTheFirstComesAsOftenAsItsWeightSays(t *testing.T) {
	for _, s := range []float64{0, 0.5, 0.99, 1, 1.4} {
		z := datagen.New(source(), s, 100)
		count := make([]int, 100)
		for range 200000 {
			count[z.Next()]++
		}
		if s == 0 {
			assert.InDelta(t, 2000, count[0], 300)
			continue
		}
		// The first is drawn 10^s times as often as the tenth.
		assert.InEpsilon(t, math.Pow(10, s), float64(count[0])/float64(count[9]), 0.1, "s=%g", s)
	}
}

// Runs of the same seed draw the same, also after the next release.
func TestTheSequenceStays(t *testing.T) {
	for s, want := range map[float64][]int64{
		0:    {769, 616, 784, 796, 234, 41, 499, 449},
		0.99: {6, 33, 23, 42, 2, 57, 1, 83},
		1:    {5, 30, 21, 39, 2, 53, 1, 78},
	} {
		z, got := datagen.New(source(), s, 1000), []int64(nil)
		for range 8 {
			got = append(got, z.Next())
		}
		assert.Equal(t, want, got, "s=%g", s)
	}
}

// A table of these numbers would fill the memory of any machine.
func TestThereIsNoTable(t *testing.T) {
	const n = 1 << 50
	rnd := source()
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { datagen.New(rnd, 0.99, n) }), 1.0)
	z := datagen.New(rnd, 0.99, n)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		if k := z.Next(); k < 0 || k >= n {
			t.Errorf("%d is not below %d", k, int64(n))
		}
	}))
}

func TestOneNumberIsAlwaysTheSame(t *testing.T) {
	for _, s := range []float64{0, 0.99, 5} {
		z := datagen.New(source(), s, 1)
		for range 100 {
			assert.Zero(t, z.Next())
		}
	}
}
