package padogrid_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/padogrid"
)

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v           float64
		three, four string
	}{
		{39.0625, "39.063", "39.0625"},
		{0.0625, "0.063", "0.0625"},
		{97.65625, "97.656", "97.6563"},
		{1.0005, "1", "1.0005"},
		{2.0015, "2.002", "2.0015"},
		{0.1235, "0.123", "0.1235"},
		{0.0005, "0.001", "0.0005"},
		{0.00049, "0", "0.0005"},
		{0.04225, "0.042", "0.0423"},
		{13192.612, "13192.612", "13192.612"},
		{100000, "100000", "100000"},
		{123456789.98765, "123456789.988", "123456789.9877"},
		{0, "0", "0"},
		{-0.00001, "0", "0"},
		{-1.5, "-1.5", "-1.5"},
		{math.Inf(1), "∞", "∞"},
		{math.Inf(-1), "-∞", "-∞"},
		{math.NaN(), "NaN", "NaN"},
	} {
		assert.Equal(t, c.three, padogrid.Number(c.v, 3))
		assert.Equal(t, c.four, padogrid.Number(c.v, 4))
	}
}

func TestPerSecond(t *testing.T) {
	assert.Equal(t, "13192.612", padogrid.Number(padogrid.PerSecond(10000, 758), 3))
	assert.Equal(t, "∞", padogrid.Number(padogrid.PerSecond(1, 0), 3))
	assert.Equal(t, "NaN", padogrid.Number(padogrid.PerSecond(0, 0), 3))
	assert.Equal(t, int64(9), padogrid.Max([]int64{3, 9, 1}))
	assert.Zero(t, padogrid.Max(nil))
}

func TestTimeAndFileName(t *testing.T) {
	at := time.Date(2025, 3, 3, 9, 5, 7, 0, time.UTC)
	assert.Equal(t, "Mon Mar 03 09:05:07 UTC 2025", padogrid.Time(at))
	assert.Equal(t, "ingestion-profile-redis-250303-090507_x.txt", padogrid.FileName("ingestion", "profile", "redis", at, "x"))
	assert.Equal(t, "group-g1-redis-250303-090507.txt", padogrid.FileName("group", "g1", "redis", at, ""))
	assert.Equal(t, "tx-profile-redis-250303-090507_.._x.txt", padogrid.FileName("tx", "profile", "redis", at, "../x"))
	assert.Equal(t, "tx-profile-redis-250303-090507__[31m_é.txt", padogrid.FileName("tx", "profile", "redis", at, "\x1b[31m\té"))
}

func TestWriter(t *testing.T) {
	var w padogrid.Writer
	w.Banner("Group Test")
	w.Field(10, "Product", "redis")
	w.Int(10, "Count", 3)
	w.Number(10, "Rate", 39.0625, 3)
	w.Threads([]int64{5, 6})
	stars := "******************************************"
	assert.Equal(t, stars+"\nGroup Test\n"+stars+"\n\n   Product: redis\n     Count: 3\n      Rate: 39.063\n"+
		"Time unit: msec\n   Thread 1: 5\n   Thread 2: 6\n\n", string(w.Bytes()))
}

// The shipped values: 10000 entries, 16 threads, 5 members, prefix x, UTC.
func TestEligibilityKeys(t *testing.T) {
	base := padogrid.Base(time.UTC).UnixMilli()
	require.Equal(t, int64(1560384000000), base)
	share := func(thread int) padogrid.Share { return padogrid.EligibilityShare(thread-1, 625, 5, 1000, base) }
	for _, c := range []struct {
		name   string
		thread int
		entry  int64
		want   string
	}{
		{"the first of thread 1", 1, 0, "x1:1:1560384000000:1560384000000"},
		{"the fifth is of the same group", 1, 4, "x1:5:1560384000004:1560384000004"},
		{"the sixth begins a group", 1, 5, "x2:6:1560384001000:1560384001000"},
		{"the first of thread 2", 2, 0, "x126:626:1560384625000:1560384625000"},
		{"the last of thread 16", 16, 624, "x2000:10000:1560393499004:1560393499004"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := share(c.thread)
			assert.Equal(t, int64(625), s.Entries)
			text := s.EligibilityKey(c.entry).AppendText(nil, "x")
			assert.Equal(t, c.want, string(text))
		})
	}
	assert.Equal(t, int16(-25536), padogrid.EligibilityKey{Entry: 40000}.Person())
	p := padogrid.ProfileShare(1, 625)
	assert.Equal(t, "x626", string(padogrid.AppendGroup(nil, "x", p.Profile(0))))
}

func TestWholeGroupsAreWritten(t *testing.T) {
	for _, c := range []struct {
		name                      string
		count, size, batch, wants int64
	}{
		{"a count that is a multiple", 625, 5, 1000, 625},
		{"single puts round up once", 625, 10, 0, 630},
		{"batches of whole groups round up at the end", 625, 10, 100, 630},
		{"each batch rounds up", 70, 5, 7, 100},
		{"a batch smaller than a group", 3, 10, 1, 30},
		{"the last batch rounds up too", 10, 4, 8, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.wants, padogrid.EligibilityShare(0, c.count, c.size, c.batch, 0).Entries)
		})
	}
}

// Keys of different threads never meet, also where group numbers overlap.
func TestEligibilityKeysAreDistinct(t *testing.T) {
	for _, c := range [][3]int64{{625, 10, 0}, {9, 10, 1}, {7, 5, 3}, {3, 10, 2}, {40, 3, 7}} {
		seen := map[string]bool{}
		for thread := range 5 {
			s := padogrid.EligibilityShare(thread, c[0], c[1], c[2], 0)
			for i := range s.Entries {
				key := string(s.EligibilityKey(i).AppendText(nil, "x"))
				require.False(t, seen[key], "%s twice with %v", key, c)
				seen[key] = true
			}
		}
	}
}
