package units

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"512": 512, "1KiB": 1024, "10KB": 10000, "1.5 MiB": 1572864, "2k": 2048, "0": 0, "64 b": 64, "1_000": 1000, "1e3": 1000,
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

func TestParseNumber(t *testing.T) {
	for in, want := range map[string]float64{
		"0": 0, "-1": -1, "10k": 10_000, "10 K": 10_000, "1.5M": 1_500_000, "1e6": 1_000_000, "1_000": 1000, "0.25": 0.25, ".5": 0.5, "2e-3": 0.002,
		"2 472 000": 2_472_000, "2\u2009472\u2009000": 2_472_000, "10\u202f000.5": 10_000.5, "1\u00a0000": 1000,
	} {
		got, err := ParseNumber(in)
		assert.NoError(t, err, in)
		assert.InDelta(t, want, got, 0, in)
	}
	for _, in := range []string{"", "k", "x", "1__0", "_1", "1_", "0x10", "NaN", "Inf", "1e999", "10kk", "10 m", "1,000", "1 00", "1 0000", "1000 000", "1  000"} {
		_, err := ParseNumber(in)
		assert.Error(t, err, in)
	}
}

func TestParseRate(t *testing.T) {
	for in, want := range map[string]float64{"2k": 2000, "2k/s": 2000, " 2 000 /s": 2000} {
		got, err := ParseRate(in)
		assert.NoError(t, err, in)
		assert.InDelta(t, want, got, 0, in)
	}
	for _, in := range []string{"/s", "2k/min", "2k/s/s"} {
		_, err := ParseRate(in)
		assert.Error(t, err, in)
	}
}

func TestParseWhole(t *testing.T) {
	for in, want := range map[string]int64{
		"10k": 10_000, "1e6": 1_000_000, "1_000": 1000, "1.5k": 1500, "08": 8, "9 223 372 036 854 775 807": math.MaxInt64, "9223372036854775807": math.MaxInt64, "-3": -3,
	} {
		got, err := ParseWhole(in)
		assert.NoError(t, err, in)
		assert.Equal(t, want, got, in)
	}
	for _, in := range []string{"1.5", "1.0001k", "9007199254740993.0", "99999999999999999999", "1e18", ""} {
		_, err := ParseWhole(in)
		assert.Error(t, err, in)
	}
}

// What Duration writes and what people write is read.
func TestLackingAUnit(t *testing.T) {
	assert.Equal(t, "60s", Lacking(" 60", "s"))
	assert.Equal(t, "0.5ms", Lacking("0.5", "ms"))
	for _, text := range []string{"", "0", "-1", "inf", "NaN", "5ms", "five"} {
		assert.Empty(t, Lacking(text, "ms"), text)
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"5ms": 5 * time.Millisecond, "5 ms": 5 * time.Millisecond, " 1m30s ": 90 * time.Second, "1min30sec": 90 * time.Second,
		"1min": time.Minute, "0.5 h": 30 * time.Minute, "2hours": 2 * time.Hour, "850 µs": 850 * time.Microsecond, "0": 0,
		Duration(1234 * time.Microsecond): 1230 * time.Microsecond,
		Length(104 * time.Second):         104 * time.Second,
		Length(3723 * time.Second):        62 * time.Minute,
	} {
		d, err := ParseDuration(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, d, text)
	}
	for _, text := range []string{"", "5", "5 m s", "ms", "five ms", "1 day", "5  ms"} {
		_, err := ParseDuration(text)
		assert.Error(t, err, text)
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

func TestLengths(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                                       {"0 s", "0s"},
		850 * time.Millisecond:                  {"850 ms", "850ms"},
		4050 * time.Millisecond:                 {"4.05 s", "4.05s"},
		94 * time.Second:                        {"94 s", "1m34s"},
		99960 * time.Millisecond:                {"1m 40s", "1m39.96s"},
		104 * time.Second:                       {"1m 44s", "1m44s"},
		5 * time.Minute:                         {"5m", "5m"},
		time.Hour:                               {"1h", "1h"},
		time.Hour + 2*time.Minute:               {"1h 2m", "1h2m"},
		26*time.Hour + 3*time.Second:            {"26h", "26h0m3s"},
		-104 * time.Second:                      {"-1m 44s", "-1m44s"},
		59*time.Minute + 59600*time.Millisecond: {"1h", "59m59.6s"},
	} {
		assert.Equal(t, want, [2]string{Length(d), Typed(d)}, d)
	}
}

func TestPlurals(t *testing.T) {
	for thing, want := range map[string][3]string{
		"thread": {"0 threads", "1 thread", "2 threads"}, "entry": {"0 entries", "1 entry", "2 entries"}, "branch": {"0 branches", "1 branch", "2 branches"},
	} {
		for n := range want {
			assert.Equal(t, want[n], Plural(n, thing))
		}
	}
	assert.Equal(t, "is", Choose(1, "is", "are"))
	assert.Equal(t, "are", Choose(0.5, "is", "are"))
}

func FuzzParseSize(f *testing.F) {
	f.Add("4KiB")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseSize(s); err == nil {
			assert.GreaterOrEqual(t, n, int64(0), s)
		}
	})
}

func TestThingsAreNamedByNumber(t *testing.T) {
	for want, numbers := range map[string][]int{
		"worker 3": {3}, "workers 1 and 3": {1, 3}, "workers 1 and 2": {1, 2}, "workers 1 to 4": {1, 2, 3, 4}, "workers 1, 3 to 5 and 9": {1, 3, 4, 5, 9},
	} {
		assert.Equal(t, want, Numbered("worker", numbers))
	}
}

func TestAPartIsAllOnlyIfItIs(t *testing.T) {
	assert.Equal(t, "100 %", PartOf(3, 3))
	assert.Equal(t, "99.99 %", PartOf(999_999, 1_000_000))
	assert.Equal(t, "33.33 %", PartOf(1, 3))
	assert.Equal(t, "0 %", PartOf(0, 3))
}

func TestCountsInFull(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1030: "1\u2009030", 2_472_000: "2\u2009472\u2009000", -1000: "-1\u2009000"} {
		assert.Equal(t, want, Whole(n))
	}
	assert.Equal(t, "1 call", Many(1, "call"))
	assert.Equal(t, "85\u2009811 calls", Many(85_811, "call"))
	assert.Equal(t, []string{"and", "1\u2009030", "calls", "failed"}, Words(" and 1\u2009030 calls\nfailed"))
}

func TestDigitsHaveNoExponent(t *testing.T) {
	for v, want := range map[float64]string{123: "120", 99.6: "100", 0.0000312: "0.000031", -4.25: "-4.2", 0: "0"} {
		assert.Equal(t, want, Digits(v, 2))
	}
}

func TestCapital(t *testing.T) {
	for text, want := range map[string]string{"": "", "calls": "Calls", "µs": "Μs", "p99": "P99", "A": "A"} {
		assert.Equal(t, want, Capital(text))
	}
}
