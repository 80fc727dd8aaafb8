package hlog

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
)

func randomHistogram(rnd *rand.Rand) *hdrhistogram.Histogram {
	h := measure.NewHistogram()
	for range rnd.IntN(300) {
		_ = h.RecordValues(rnd.Int64N(1<<(1+rnd.IntN(41))), 1+rnd.Int64N(1<<rnd.IntN(40)))
	}
	return h
}

func TestOtherReadersReadWhatWeEncode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	var e Encoder
	for range 200 {
		h := randomHistogram(rnd)
		text, err := e.encode(nil, h)
		require.NoError(t, err)
		got, err := hdrhistogram.Decode(text)
		require.NoError(t, err)
		assert.True(t, h.Equals(got))
	}
}

func TestWeAddUpWhatOthersEncode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	var d decoder
	want, got := measure.NewHistogram(), measure.NewHistogram().Export()
	for range 100 {
		h := randomHistogram(rnd)
		text, err := h.EncodeV2()
		require.NoError(t, err)
		require.NoError(t, d.add(got, text))
		require.Zero(t, want.Merge(h))
	}
	assert.True(t, want.Equals(hdrhistogram.Import(got)))
}

func TestOtherGeometriesAreRefused(t *testing.T) {
	text, err := hdrhistogram.New(1, 1000, 2).EncodeV2()
	require.NoError(t, err)
	var d decoder
	assert.ErrorIs(t, d.add(measure.NewHistogram().Export(), text), ErrCorrupt)
}

func FuzzZigZag(f *testing.F) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, 1 << 55, 1 << 56, -1 << 62, 1<<63 - 1} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v int64) {
		b := appendZigZag(nil, v)
		got, n := zigZag(b)
		assert.Equal(t, v, got)
		assert.Equal(t, len(b), n)
	})
}

func FuzzMergeLog(f *testing.F) {
	var e Encoder
	h := measure.NewHistogram()
	_ = h.RecordValue(12345)
	lines, err := e.Intervals(Header(time.Unix(1, 0)), &measure.Second{
		Length: 1, Intervals: []measure.Interval{{Op: measure.Operation{Track: "a", Op: "b"}, Response: h}},
	})
	require.NoError(f, err)
	f.Add(lines)
	f.Add([]byte("Tag=,,,,\nTag=x,1,1,1,AAAA\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := Merge(bytes.NewReader(data))
		assert.True(t, err != nil || len(got) <= 2*bytes.Count(data, []byte("\n")))
	})
}

func TestLogIsReadByTheUsualTools(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	var e Encoder
	log := Header(time.UnixMilli(1_700_000_000_123))
	want := measure.NewHistogram()
	for s := range 3 {
		h := randomHistogram(rnd)
		_ = h.RecordValue(7)
		want.Merge(h)
		var err error
		log, err = e.Intervals(log, &measure.Second{T: s, Length: 1, Intervals: []measure.Interval{{
			Op: measure.Operation{Track: "profile", Op: "put"}, Service: h,
		}}})
		require.NoError(t, err)
	}
	r := hdrhistogram.NewHistogramLogReader(bytes.NewReader(log))
	got := measure.NewHistogram()
	for s := range 3 {
		h, err := r.NextIntervalHistogram()
		require.NoError(t, err)
		require.NotNil(t, h)
		assert.Equal(t, "profile.put.service", h.Tag())
		assert.EqualValues(t, 1_700_000_000_123+1000*s, h.StartTimeMs())
		assert.EqualValues(t, 1000, h.EndTimeMs()-h.StartTimeMs())
		got.Merge(h)
	}
	assert.True(t, want.Equals(got))
	ours, err := Merge(bytes.NewReader(log))
	require.NoError(t, err)
	assert.True(t, want.Equals(ours["profile.put.service"]))
}

// A run may change between closed and open loop: its percentiles count the calls of both.
func TestLatenessOfCallsThatDidNotWaitIsLeftOutButCounts(t *testing.T) {
	of := func(values ...int64) *hdrhistogram.Histogram {
		h := measure.NewHistogram()
		for _, v := range values {
			require.NoError(t, h.RecordValue(v))
		}
		return h
	}
	op := measure.Operation{Track: "a", Op: "b"}
	response, zeros := of(10, 20, 30), of(0, 0, 0)
	closed := measure.Interval{Op: op, Response: response, Service: response, Wait: zeros, Lateness: zeros}
	punctual := measure.Interval{Op: op, Response: response, Service: response, Wait: of(0, 5, 0), Lateness: zeros}
	var e Encoder
	write := func(list ...measure.Interval) (log []byte) {
		var err error
		for s, iv := range list {
			log, err = e.Intervals(log, &measure.Second{T: s, Length: 1, Intervals: []measure.Interval{iv}})
			require.NoError(t, err)
		}
		return log
	}
	for _, c := range []struct {
		name     string
		log      []byte
		lines    int
		wait     *hdrhistogram.Histogram
		lateness *hdrhistogram.Histogram
	}{
		{"closed", write(closed, closed), 6, of(0, 0, 0, 0, 0, 0), of(0, 0, 0, 0, 0, 0)},
		{"closed, then open", write(closed, punctual), 7, of(0, 0, 0, 0, 5, 0), of(0, 0, 0, 0, 0, 0)},
		{"open, then closed", write(punctual, closed), 7, of(0, 0, 0, 0, 5, 0), of(0, 0, 0, 0, 0, 0)},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.lines, bytes.Count(c.log, []byte("\n")))
			m := NewMerger()
			require.NoError(t, Each(bytes.NewReader(c.log), m.Add))
			for range 2 { // asking does not add
				got := m.Histograms()
				assert.True(t, c.wait.Equals(got["a.b.wait"]))
				assert.True(t, c.lateness.Equals(got["a.b.lateness"]))
			}
		})
	}
	t.Run("a folder of before lateness", func(t *testing.T) {
		var log []byte
		for line := range bytes.Lines(write(punctual)) {
			if !bytes.Contains(line, []byte(".lateness,")) {
				log = append(log, line...)
			}
		}
		got, err := Merge(bytes.NewReader(log))
		require.NoError(t, err)
		assert.Contains(t, got, "a.b.wait")
		assert.NotContains(t, got, "a.b.lateness", "not measured is not 0")
	})
}

func TestTagHoldsNoSeparators(t *testing.T) {
	assert.Equal(t, "a__b.put.wait", Tag("a, b", "put", Wait))
}

func BenchmarkInterval(b *testing.B) {
	rnd := rand.New(rand.NewPCG(1, 2))
	h := measure.NewHistogram()
	for range 50000 {
		_ = h.RecordValue(int64(1e5 + rnd.ExpFloat64()*2e5))
	}
	var e Encoder
	text, err := e.encode(nil, h)
	require.NoError(b, err)
	b.Run("encode", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf, _ = e.encode(buf[:0], h)
		}
	})
	b.Run("merge", func(b *testing.B) {
		sum := measure.NewHistogram().Export()
		var d decoder
		for b.Loop() {
			_ = d.add(sum, text)
		}
	})
}
