package workload_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// echo is state that tells of one value, and takes in another.
type echo[T any] struct {
	tells T
	took  *T
}

func (e echo[T]) Delta() T { return e.tells }

func (e echo[T]) Merge(_ workload.Process, news T) bool {
	*e.took = news
	return true
}

// What a process tells is bounded in every field, however deep, and its texts cannot steer
// a terminal.
func TestWhatIsToldIsBounded(t *testing.T) {
	type inner struct {
		N    int
		Busy int64 `told:"signed"`
		At   int64 `told:"time"`
	}
	type all struct {
		List  []inner
		Named map[string]*inner
		Sizes []int             `told:"payload"`
		Keys  map[string]string `told:"key"`
		Words []string
		Part  float64
		Bits  []uint64
	}
	fine := all{
		List: []inner{{N: 1 << 50, Busy: -5, At: 1 << 61}}, Sizes: []int{workload.MaxPayload}, Keys: map[string]string{"a\x00b": "c"},
		Words: []string{"one\x1b[31m\ntwo"}, Part: 0.5, Bits: []uint64{1 << 63},
	}
	read := func(a all) (got all, err error) {
		s := &workload.Shared{}
		workload.Share(s, echo[all]{a, &got})
		err = s.Merge(workload.Process{}, s.Delta())
		return got, err
	}
	got, err := read(fine)
	require.NoError(t, err)
	assert.Equal(t, []string{"one[31m two"}, got.Words)
	assert.Equal(t, "c", got.Keys["a\x00b"])
	assert.Equal(t, fine.List, got.List)
	for name, wrong := range map[string]all{
		"N is -1":                 {List: []inner{{N: -1}}},
		"N is 288230376151711744": {Named: map[string]*inner{"a": {N: 1 << 58}}},
		"Busy is -":               {List: []inner{{Busy: -1 << 60}}},
		"At is -":                 {List: []inner{{At: -1}}},
		"Sizes is ":               {Sizes: []int{workload.MaxPayload + 1}},
		"Keys is a text of":       {Keys: map[string]string{"k": string(make([]byte, 1<<20))}},
		"Part is -1":              {Part: -1},
	} {
		_, err := read(wrong)
		assert.ErrorContains(t, err, name)
	}
}
