package measure

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestThinnedHalves(t *testing.T) {
	t.Parallel()
	type sample struct{ at, sum int64 }
	s := Downsampled[sample]{
		Most: 4, At: func(x sample) int64 { return x.at * 1e9 },
		Join: func(a, b sample) sample { return sample{b.at, a.sum + b.sum} },
	}
	for i := range int64(3) {
		s.Add(sample{i + 1, 1})
	}
	assert.Equal(t, []sample{{1, 1}, {2, 1}, {3, 1}}, s.Samples())
	assert.Equal(t, time.Second, s.Every(time.Second))
	s.Add(sample{4, 1})
	assert.Equal(t, []sample{{2, 2}, {4, 2}}, s.Samples())
	s.Add(sample{5, 1})
	s.Add(sample{6, 1})
	assert.Equal(t, []sample{{4, 4}, {6, 2}}, s.Samples(), "however often")
	assert.Equal(t, 4*time.Second, s.Every(time.Second))
}

func TestThinnedLeavesOutWhatComesTooSoon(t *testing.T) {
	t.Parallel()
	s := Downsampled[int64]{Most: 10, At: func(ns int64) int64 { return ns }}
	for _, ns := range []int64{1e9, 1.1e9, 1.199e9, 1.2e9} {
		s.Add(ns)
	}
	assert.Equal(t, []int64{1e9, 1.2e9}, s.Samples())
}
