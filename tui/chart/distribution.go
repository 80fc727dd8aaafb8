package chart

import (
	"fmt"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/charmbracelet/x/ansi"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/tui/widget"
)

// Distribution is a histogram with ten buckets per decade, whose upper edges are round
// numbers; coarser ones are sums of these. It is never modified once made.
type Distribution struct {
	// counts[i] is how many calls took at most edge(first+i) and more than the edge
	// before.
	first  int
	counts []int64
	Total  int64
}

// renard are the edges within a decade: the preferred numbers R10.
var renard = [10]float64{1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8}

// coarser lists which edges of a decade are used, from fine to coarse: all, every
// second, 1-2-5, halves of decades, whole ones.
var coarser = [][10]bool{
	{true, true, true, true, true, true, true, true, true, true},
	{true, false, true, false, true, false, true, false, true, false},
	{0: true, 3: true, 7: true},
	{0: true, 5: true},
	{0: true},
}

// edge returns the upper end of a bucket in nanoseconds.
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

// NewDistribution combines histograms of the same kind; nil ones are ignored.
func NewDistribution(hs ...*hdrhistogram.Histogram) Distribution {
	sums := map[int]int64{}
	var d Distribution
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
			d.Total += b.Count
			d.first, last = min(d.first, i), max(last, i)
		}
	}
	if d.Total == 0 {
		return Distribution{}
	}
	d.counts = make([]int64, last-d.first+1)
	for i, n := range sums {
		d.counts[i-d.first] = n
	}
	return d
}

// DistBar is one bar of a distribution: the share of calls at most upper nanoseconds
// long and longer than the bar before, and of all calls up to there.
type DistBar struct {
	Upper       float64
	count       int64
	Share, upTo float64
}

// Bars divides distributions into at most rows common buckets, as fine as possible;
// each distribution gets the same edges.
func Bars(rows int, ds ...Distribution) [][]DistBar {
	lo, hi := math.MaxInt, math.MinInt
	for _, d := range ds {
		if d.Total > 0 {
			lo, hi = min(lo, d.first), max(hi, d.first+len(d.counts)-1)
		}
	}
	if lo > hi {
		return make([][]DistBar, len(ds))
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
	out := make([][]DistBar, len(ds))
	for k, d := range ds {
		upTo, next := int64(0), 0
		for _, e := range edges {
			b := DistBar{Upper: edge(e)}
			for ; next < len(d.counts) && d.first+next <= e; next++ {
				b.count += d.counts[next]
			}
			upTo += b.count
			if d.Total > 0 {
				b.Share, b.upTo = float64(b.count)/float64(d.Total), float64(upTo)/float64(d.Total)
			}
			out[k] = append(out[k], b)
		}
	}
	return out
}

// marksOf names the percentiles that lie in each bar.
func marksOf(list []DistBar) []string {
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

// EdgeText formats the upper end of a bar.
func EdgeText(ns float64) string { return units.Duration(time.Duration(ns)) }

// ShareText formats a share; small ones are not rounded to zero.
func ShareText(v float64) string {
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

// Draw draws a distribution in w cells and at most h lines.
func (d Distribution) Draw(s *widget.Styles, k widget.Ink, w, h int) []string {
	if d.Total == 0 {
		return []string{s.Muted.On("No call was timed.")}
	}
	list := Bars(h-1, d)[0]
	marks := marksOf(list)
	top := 0.0
	for _, b := range list {
		top = max(top, b.Share)
	}
	if s.Spoken {
		var out []string
		for i, b := range list {
			if b.count > 0 {
				out = append(out, fmt.Sprintf("up to %s: %s, %.2f %% in all  %s", EdgeText(b.Upper), ShareText(b.Share), b.upTo*100, marks[i]))
			}
		}
		return out
	}
	const label, share, upTo = 10, 9, 9
	mark := 14
	for _, m := range marks {
		mark = max(mark, ansi.StringWidth(m)+2)
	}
	room := max(w-label-share-upTo-mark-4, 8)
	if w < 70 {
		room = max(w-label-share-mark-3, 8)
	}
	head := widget.FitRight("up to", label) + "  " + widget.Fit("calls", room) + widget.FitRight("share", share)
	if w >= 70 {
		head += widget.FitRight("in all", upTo)
	}
	out := []string{s.Muted.On(head)}
	for i, b := range list {
		line := s.Muted.On(widget.FitRight(EdgeText(b.Upper), label)) + "  " + k.On(Bar(b.Share, top, room)) + widget.FitRight(ShareText(b.Share), share)
		if w >= 70 {
			line += s.Muted.On(widget.FitRight(fmt.Sprintf("%.2f %%", b.upTo*100), upTo))
		}
		out = append(out, line+"  "+s.Bold.On(widget.Fit(marks[i], mark-2)))
	}
	return out
}

// Merged returns the sum of distributions.
func Merged(ds []Distribution) Distribution {
	out := Distribution{first: math.MaxInt}
	last := math.MinInt
	for _, d := range ds {
		if d.Total > 0 {
			out.first, last = min(out.first, d.first), max(last, d.first+len(d.counts)-1)
		}
	}
	if last < out.first {
		return Distribution{}
	}
	out.counts = make([]int64, last-out.first+1)
	for _, d := range ds {
		out.Total += d.Total
		for i, n := range d.counts {
			out.counts[d.first+i-out.first] += n
		}
	}
	return out
}
