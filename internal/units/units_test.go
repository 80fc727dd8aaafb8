package units

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"512": 512, "1KiB": 1024, "10KB": 10000, "1.5 MiB": 1572864, "2k": 2048, "0": 0, "64 b": 64,
	} {
		got, err := ParseSize(in)
		assert.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "x", "-1", "1.5", "1e99", "NaN", "1KiBB", "4 cats"} {
		_, err := ParseSize(in)
		assert.Error(t, err, in)
	}
}

func TestFormats(t *testing.T) {
	assert.Equal(t, "1 KiB", Size(1024))
	assert.Equal(t, "1 MiB", Size(1<<20-1))
	assert.Equal(t, "41.2k", Number(41234))
	assert.Equal(t, "1M", Number(999_600))
	assert.Equal(t, "–", Number(math.NaN()))
	assert.Equal(t, "1.2 ms", Duration(1200*time.Microsecond))
	assert.Equal(t, "1 s", Duration(999_600*time.Microsecond))
	assert.Equal(t, "850 ns", Duration(850))
}

func FuzzParseSize(f *testing.F) {
	f.Add("4KiB")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseSize(s); err == nil {
			assert.GreaterOrEqual(t, n, int64(0), s)
		}
	})
}
