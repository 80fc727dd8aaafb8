package tui

import (
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/chart"
)

// distribution is a histogram in ten buckets a decade, whose upper edges are round
// numbers; coarser ones are sums of these. It is never written to once made.
type distribution struct {
	// counts[i] is how many calls took at most edge(first+i) and more than the edge
	// before.
	first  int
	counts []int64
	total  int64
}

// renard are the edges within a decade: the preferred numbers R10.
var renard = [10]float64{1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8}

// coarser lists which edges of a decade are used, from fine to coarse: all, every
// second, 1-2-5, whole decades.
var coarser = [][10]bool{
	{true, true, true, true, true, true, true, true, true, true},
	{true, false, true, false, true, false, true, false, true, false},
	{0: true, 3: true, 7: true},
	{0: true},
}

// edge is the upper end of a bucket in nanoseconds.
func edge(i int) float64 {
	return renard[i%10] * math.Pow(10, float64(i/10))
}

// bucketOf returns the bucket of a value in nanoseconds.
func bucketOf(ns int64) int {
	v := float64(max(ns, 1))
	i := 10 * int(math.Floor(math.Log10(v)*(1+1e-12)))
	for edge(i) < v {
		i++
	}
	return i
}

// distributionOf digests histograms of the same kind; nil ones are left out.
func distributionOf(hs ...*hdrhistogram.Histogram) distribution {
	sums := map[int]int64{}
	var d distribution
	last := math.MinInt
	d.first = math.MaxInt
	for _, h := range hs {
		if h == nil {
			continue
		}
		for _, b := range h.Distribution() {
			if b.Count == 0 {
				continue
			}
			i := bucketOf(b.From + (b.To-b.From)/2)
			sums[i] += b.Count
			d.total += b.Count
			d.first, last = min(d.first, i), max(last, i)
		}
	}
	if d.total == 0 {
		return distribution{}
	}
	d.counts = make([]int64, last-d.first+1)
	for i, n := range sums {
		d.counts[i-d.first] = n
	}
	return d
}

// distBar is one bar of a distribution: the share of calls at most upper nanoseconds
// long and longer than the bar before, and of all calls up to there.
type distBar struct {
	upper       float64
	count       int64
	share, upTo float64
}

// bars cuts distributions into at most rows common buckets, as fine as fits; each
// distribution gets the same edges.
func bars(rows int, ds ...distribution) [][]distBar {
	lo, hi := math.MaxInt, math.MinInt
	for _, d := range ds {
		if d.total > 0 {
			lo, hi = min(lo, d.first), max(hi, d.first+len(d.counts)-1)
		}
	}
	if lo > hi {
		return make([][]distBar, len(ds))
	}
	var edges []int
	for _, used := range coarser {
		edges = edges[:0]
		for i := lo; ; i++ {
			if used[i%10] {
				edges = append(edges, i)
				if i >= hi {
					break
				}
			}
		}
		if len(edges) <= rows {
			break
		}
	}
	out := make([][]distBar, len(ds))
	for k, d := range ds {
		upTo, next := int64(0), 0
		for _, e := range edges {
			b := distBar{upper: edge(e)}
			for ; next < len(d.counts) && d.first+next <= e; next++ {
				b.count += d.counts[next]
			}
			upTo += b.count
			if d.total > 0 {
				b.share, b.upTo = float64(b.count)/float64(d.total), float64(upTo)/float64(d.total)
			}
			out[k] = append(out[k], b)
		}
	}
	return out
}

// marksOf names the percentiles that lie in each bar.
func marksOf(list []distBar) []string {
	out := make([]string, len(list))
	total := int64(0)
	for _, b := range list {
		total += b.count
	}
	before := 0.0
	for i, b := range list {
		for _, q := range []struct {
			at   float64
			name string
		}{{0.5, "p50"}, {0.9, "p90"}, {0.99, "p99"}, {0.999, "p99.9"}} {
			if measure.Enough(100*q.at, total) && before < q.at && b.upTo >= q.at {
				if out[i] != "" {
					out[i] += " "
				}
				out[i] += q.name
			}
		}
		before = b.upTo
	}
	return out
}

// edgeText writes the upper end of a bar.
func edgeText(ns float64) string { return units.Duration(time.Duration(ns)) }

// shareText writes a share; small ones are not rounded to nothing.
func shareText(v float64) string {
	switch {
	case v <= 0:
		return ""
	case v < 0.0001:
		return "<0.01 %"
	case v < 0.1:
		return fmt.Sprintf("%.2f %%", v*100)
	}
	return fmt.Sprintf("%.1f %%", v*100)
}

// draw draws a distribution in w cells and at most h lines.
func (d distribution) draw(s *styles, k ink, w, h int) []string {
	if d.total == 0 {
		return []string{s.muted.on("No call was timed.")}
	}
	list := bars(h-1, d)[0]
	marks := marksOf(list)
	top := 0.0
	for _, b := range list {
		top = max(top, b.share)
	}
	const label, share, upTo, mark = 10, 9, 9, 14
	room := max(w-label-share-upTo-mark-4, 8)
	if w < 70 {
		room = max(w-label-share-mark-3, 8)
	}
	head := fitRight("up to", label) + "  " + fit("calls", room) + fitRight("share", share)
	if w >= 70 {
		head += fitRight("in all", upTo)
	}
	out := []string{s.muted.on(head)}
	for i, b := range list {
		line := s.muted.on(fitRight(edgeText(b.upper), label)) + "  " + k.on(chart.Bar(b.share, top, room)) + fitRight(shareText(b.share), share)
		if w >= 70 {
			line += s.muted.on(fitRight(fmt.Sprintf("%.2f %%", b.upTo*100), upTo))
		}
		out = append(out, line+"  "+s.bold.on(fit(marks[i], mark-2)))
	}
	return out
}

// merged adds distributions up.
func merged(ds []distribution) distribution {
	out := distribution{first: math.MaxInt}
	last := math.MinInt
	for _, d := range ds {
		if d.total > 0 {
			out.first, last = min(out.first, d.first), max(last, d.first+len(d.counts)-1)
		}
	}
	if last < out.first {
		return distribution{}
	}
	out.counts = make([]int64, last-out.first+1)
	for _, d := range ds {
		out.total += d.total
		for i, n := range d.counts {
			out.counts[d.first+i-out.first] += n
		}
	}
	return out
}
