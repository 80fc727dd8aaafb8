package run

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
)

// Whatever is done to a value shows, and so does the value of another key or field.
func TestAValueShowsWhatWasDoneToIt(t *testing.T) {
	o := owner([]byte("user1"), 0)
	for _, c := range []content{{}, {zeros: 0.5}} {
		for _, n := range []int{16, 17, 23, 24, 100, 1024, 70_000} {
			v := datagen.VersionOf(77, 12)
			val := c.append(nil, o, v, n)
			require.Len(t, val, n)
			got, has, err := c.check(val, o)
			require.NoError(t, err)
			if has {
				assert.Equal(t, v, got)
			}
			_, _, err = c.check(val, owner([]byte("user2"), 0))
			require.Error(t, err, "another key, %d bytes", n)
			_, _, err = c.check(val, owner([]byte("user1"), 1))
			require.Error(t, err, "another field, %d bytes", n)
			for _, at := range []int{0, n / 2, n - 1} {
				torn := bytes.Clone(val)
				torn[at] ^= 1
				_, _, err = c.check(torn, o)
				require.Error(t, err, "byte %d of %d", at, n)
			}
			other := c.append(nil, o, datagen.VersionOf(77, 13), n)
			if n > 100 {
				_, _, err = c.check(append(bytes.Clone(val[:n/4]), other[n/4:]...), o)
				require.Error(t, err, "half of another version, %d bytes", n)
				_, _, err = c.check(val[:n-1], o)
				require.Error(t, err, "cut, %d bytes", n)
			}
		}
	}
	for n := range 16 {
		val := content{}.append(nil, o, 5, n)
		_, has, err := content{}.check(val, o)
		require.NoError(t, err)
		assert.False(t, has, "too short for a version")
	}
	_, _, err := content{}.check([]byte(`{"name": "of others entirely"}`), o)
	require.ErrorContains(t, err, "is no value of ours")
}

// What a read may find follows from which writes were acknowledged before it, and which
// overlap.
func TestWhatAReadMayFind(t *testing.T) {
	s := make(slots, 1)
	assert.Zero(t, s.floor(0), "nothing was written")
	first := s.begin(0)
	assert.Equal(t, uint32(1), first)
	assert.Zero(t, s.floor(0), "it is under way")
	s.end(0, true)
	assert.Equal(t, uint32(1), s.floor(0))
	a, b := s.begin(0), s.begin(0)
	assert.Equal(t, []uint32{2, 3}, []uint32{a, b})
	s.end(0, true)
	assert.Equal(t, uint32(2), s.floor(0), "either of the two may be what is stored")
	s.end(0, true)
	assert.Equal(t, uint32(2), s.floor(0), "they overlapped, so either may have won")
	s.begin(0)
	s.end(0, true)
	assert.Equal(t, uint32(4), s.floor(0))
	s.begin(0)
	s.end(0, false)
	assert.Zero(t, s.floor(0), "nobody knows when the one that failed takes effect")
	s.begin(0)
	s.end(0, true)
	assert.Zero(t, s.floor(0), "not even after another")
	assert.Zero(t, s.begin(-1), "it is not followed")
	assert.Zero(t, s.floor(-1))
}

func TestMoreWritesThanCanBeCounted(t *testing.T) {
	s := make(slots, 1)
	s[0].Store(slotBegun - 1)
	assert.Equal(t, uint32(slotBegun), s.begin(0))
	s.end(0, true)
	assert.Zero(t, s.begin(0))
	assert.Zero(t, s.floor(0))
}

func TestMarksGrow(t *testing.T) {
	var m marks
	for _, n := range []int64{0, 63, 64, chunkBits, 3*chunkBits + 5} {
		assert.False(t, m.has(n))
		m.set(n)
		assert.True(t, m.has(n))
		assert.False(t, m.has(n+1))
	}
	m.set(1 << 50)
	assert.False(t, m.has(1<<50), "left out")
}
