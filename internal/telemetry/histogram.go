package telemetry

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/perfbench/perfbench/internal/measure"
)

// schema is the resolution of native histograms: 16 buckets per doubling, 4.4 % wide.
const (
	schema  = 4
	perTwo  = 1 << schema
	lowest  = -479 // the bucket of a nanosecond, with one to spare
	highest = 190  // that of an hour, with one to spare
)

// bounds are the upper bounds of classic histograms, in seconds.
var bounds = []float64{
	10e-6, 25e-6, 50e-6, 100e-6, 250e-6, 500e-6,
	1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1, 2.5, 5, 10, 30, 60,
}

// histogram adds up times in the buckets that are exported. Values are in seconds.
type histogram struct {
	count, zero uint64
	sum         float64
	native      []int64
	classic     []uint64 // by bound, with those above the last bound at the end
}

func newHistogram() *histogram {
	return &histogram{native: make([]int64, highest-lowest+1), classic: make([]uint64, len(bounds)+1)}
}

// add adds the contents of h to each of the histograms. A bucket of h is a thousandth
// wide: all of it is added to the bucket of its upper end.
func add(h *hdrhistogram.Histogram, to ...*histogram) {
	if h == nil || h.TotalCount() == 0 {
		return
	}
	// Buckets come in order, so a new target is searched only when the current one has
	// been passed.
	classic, native, upTo := 0, 0, 0.0
	measure.Buckets(h, func(low, high, n int64) {
		seconds, sum := float64(high)/1e9, float64(n)*float64(low+(high-low+1)/2)/1e9
		for classic < len(bounds) && seconds > bounds[classic] {
			classic++
		}
		if seconds > upTo {
			native = min(max(int(math.Ceil(math.Log2(seconds)*perTwo)), lowest), highest)
			upTo = math.Exp2(float64(native) / perTwo)
		}
		for _, g := range to {
			g.count += uint64(n)
			g.sum += sum
			g.classic[classic] += uint64(n)
			if high == 0 {
				g.zero += uint64(n)
			} else {
				g.native[native-lowest] += n
			}
		}
	})
}

func (g *histogram) clone() *histogram {
	c := *g
	c.native, c.classic = slices.Clone(g.native), slices.Clone(g.classic)
	return &c
}

// metric returns the histogram in exported form, both native and classic.
func (g *histogram) metric(d *prometheus.Desc, since time.Time, labels ...string) prometheus.Metric {
	native := map[int]int64{}
	for i, n := range g.native {
		if n > 0 {
			native[i+lowest] = n
		}
	}
	classic, seen := make(map[float64]uint64, len(bounds)), uint64(0)
	for i, b := range bounds {
		seen += g.classic[i]
		classic[b] = seen
	}
	n, err := prometheus.NewConstNativeHistogram(d, g.count, g.sum, native, nil, g.zero, schema, 0, since, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	c, err := prometheus.NewConstHistogram(d, g.count, g.sum, classic, labels...)
	if err != nil {
		return prometheus.NewInvalidMetric(d, err)
	}
	return both{n, c}
}

// both is a native histogram with the buckets of a classic one.
type both struct {
	prometheus.Metric
	classic prometheus.Metric
}

// Write writes the metric to out.
func (b both) Write(out *dto.Metric) error {
	var classic dto.Metric
	if err := b.classic.Write(&classic); err != nil {
		return err
	}
	if err := b.Metric.Write(out); err != nil {
		return err
	}
	out.Histogram.Bucket = classic.Histogram.Bucket
	return nil
}
