package measure

import (
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The layout of NewHistogram's buckets.
const (
	subBits    = 11
	half       = 1 << (subBits - 1)
	countsLen  = 33 * half
	subMask    = 1<<subBits - 1
	noIndexLow = countsLen
)

// hist counts values in HdrHistogram's buckets. It exists beside the library's
// type because merging two of those takes a millisecond, which a collector that
// does it for every operation each second cannot afford; here it is one pass
// over the range in use. Its owner is one goroutine.
type hist struct {
	counts []int64
	total  int64
	beyond int64
	lo, hi int // the range of indexes in use; lo > hi when empty
}

func newHist() *hist { return &hist{counts: make([]int64, countsLen), lo: noIndexLow, hi: -1} }

func indexOf(v int64) int {
	bucket := 64 - subBits - bits.LeadingZeros64(uint64(v)|subMask)
	return bucket*half + int(v>>bucket)
}

// lowestAt and sizeAt give the smallest value of a bucket and how many it holds.
func lowestAt(i int) int64 {
	bucket, sub := i/half-1, i%half+half
	if bucket < 0 {
		return int64(sub - half)
	}
	return int64(sub) << bucket
}

func sizeAt(i int) int64 { return 1 << max(i/half-1, 0) }

// record adds n values v; negative ones count as 0, those over an hour as an hour
// and as beyond.
func (h *hist) record(v, n int64) {
	if v < 0 {
		v = 0
	}
	if v > Highest {
		v = Highest
		h.beyond += n
	}
	i := indexOf(v)
	h.counts[i] += n
	h.total += n
	h.lo, h.hi = min(h.lo, i), max(h.hi, i)
}

func (h *hist) merge(from *hist) {
	if from == nil || from.total == 0 {
		return
	}
	for i := from.lo; i <= from.hi; i++ {
		h.counts[i] += from.counts[i]
	}
	h.total += from.total
	h.beyond += from.beyond
	h.lo, h.hi = min(h.lo, from.lo), max(h.hi, from.hi)
}

func (h *hist) reset() {
	if h.lo <= h.hi {
		clear(h.counts[h.lo : h.hi+1])
	}
	h.total, h.beyond, h.lo, h.hi = 0, 0, noIndexLow, -1
}

// export copies the counts into the library's type, for its log format.
func (h *hist) export() *hdrhistogram.Histogram {
	return hdrhistogram.Import(&hdrhistogram.Snapshot{LowestTrackableValue: 1, HighestTrackableValue: Highest, SignificantFigures: 3, Counts: h.counts})
}

func rank(percentile float64, total int64) int64 {
	r := percentile/100*float64(total) + 0.5
	if r < 1 {
		return 1
	}
	return min(int64(r), total)
}

// at returns the value at a percentile, as the library does.
func (h *hist) at(percentile float64) int64 {
	if h.total == 0 {
		return 0
	}
	want, seen := rank(percentile, h.total), int64(0)
	for i := h.lo; i <= h.hi; i++ {
		if seen += h.counts[i]; seen >= want {
			return lowestAt(i) + sizeAt(i) - 1
		}
	}
	return 0
}

// summary digests h: the same numbers as Summarize.
func (h *hist) summary() Summary {
	s := Summary{Count: h.total}
	if h.total == 0 {
		return s
	}
	at := make([]int64, len(percentiles))
	next, seen, total := 0, int64(0), float64(h.total)
	for i := h.lo; i <= h.hi; i++ {
		n := h.counts[i]
		if n == 0 {
			continue
		}
		low, size := lowestAt(i), sizeAt(i)
		s.Mean += float64(n) * float64(low+size>>1) / total
		for seen += n; next < len(percentiles) && seen >= rank(percentiles[next], h.total); next++ {
			at[next] = low + size - 1
		}
	}
	s.Min = lowestAt(h.firstUsed())
	s.Max = lowestAt(h.hi) + sizeAt(h.hi) - 1
	s.P50, s.P90, s.P95, s.P99, s.P999, s.P9999 = at[0], at[1], at[2], at[3], at[4], at[5]
	return s
}

func (h *hist) firstUsed() int {
	for i := h.lo; i <= h.hi; i++ {
		if h.counts[i] != 0 {
			return i
		}
	}
	return 0
}

// pack lists the buckets in use, for keeping a histogram that has stopped growing.
func (h *hist) pack() packed {
	p := packed{beyond: h.beyond}
	for i := h.lo; i <= h.hi; i++ {
		if n := h.counts[i]; n != 0 {
			p.index = append(p.index, uint16(i))
			p.count = append(p.count, n)
		}
	}
	return p
}

// packed is a histogram at rest.
type packed struct {
	index  []uint16
	count  []int64
	beyond int64
}

func (p packed) into(h *hist) {
	for k, i := range p.index {
		h.counts[i] += p.count[k]
		h.total += p.count[k]
		h.lo, h.hi = min(h.lo, int(i)), max(h.hi, int(i))
	}
	h.beyond += p.beyond
}

// trio is the three histograms of one operation. In closed loop response and
// service time are one and wait is 0, so such samples are kept once, in closed.
type trio struct {
	closed         *hist
	response       *hist
	service        *hist
	wait           *hist
	hasOpen        bool
	count, errors  int64
	resp, srv, wtg *hist // scratch of views
}

func grow(h **hist) *hist {
	if *h == nil {
		*h = newHist()
	}
	return *h
}

func (t *trio) record(due, start, end int64) {
	if due >= start {
		grow(&t.closed).record(end-start, 1)
		return
	}
	t.hasOpen = true
	grow(&t.response).record(end-due, 1)
	grow(&t.service).record(end-start, 1)
	grow(&t.wait).record(start-due, 1)
}

func (t *trio) merge(from *trio) {
	t.count += from.count
	t.errors += from.errors
	if from.closed != nil {
		grow(&t.closed).merge(from.closed)
	}
	if from.hasOpen {
		t.hasOpen = true
		grow(&t.response).merge(from.response)
		grow(&t.service).merge(from.service)
		grow(&t.wait).merge(from.wait)
	}
}

func (t *trio) reset() {
	for _, h := range []*hist{t.closed, t.response, t.service, t.wait} {
		if h != nil {
			h.reset()
		}
	}
	t.hasOpen, t.count, t.errors = false, 0, 0
}

// calls is the number of values in each histogram.
func (t *trio) calls() int64 {
	n := int64(0)
	if t.closed != nil {
		n += t.closed.total
	}
	if t.hasOpen {
		n += t.response.total
	}
	return n
}

// views returns response, service and wait as whole histograms, valid until the
// trio changes. None of them is nil.
func (t *trio) views() (response, service, wait *hist) {
	closed := grow(&t.closed)
	w := grow(&t.wtg)
	w.reset()
	if closed.total > 0 {
		w.record(0, closed.total)
	}
	if !t.hasOpen {
		return closed, closed, w
	}
	r, s := grow(&t.resp), grow(&t.srv)
	r.reset()
	s.reset()
	r.merge(closed)
	r.merge(t.response)
	s.merge(closed)
	s.merge(t.service)
	w.merge(t.wait)
	return r, s, w
}

// totals digests the trio.
func (t *trio) totals(op Operation) Totals {
	out := Totals{Operation: op, Count: t.count, Calls: t.calls(), Errors: t.errors}
	if out.Calls == 0 {
		return out
	}
	r, s, w := t.views()
	out.Response, out.Wait = r.summary(), w.summary()
	out.Service = out.Response
	if s != r {
		out.Service = s.summary()
	}
	out.Beyond = r.beyond
	return out
}

// packedTrio is a trio at rest.
type packedTrio struct {
	closed, response, service, wait packed
	hasOpen                         bool
	count, errors                   int64
}

func (t *trio) pack() packedTrio {
	p := packedTrio{hasOpen: t.hasOpen, count: t.count, errors: t.errors}
	if t.closed != nil {
		p.closed = t.closed.pack()
	}
	if t.hasOpen {
		p.response, p.service, p.wait = t.response.pack(), t.service.pack(), t.wait.pack()
	}
	return p
}

func (p packedTrio) into(t *trio) {
	t.count += p.count
	t.errors += p.errors
	p.closed.into(grow(&t.closed))
	if p.hasOpen {
		t.hasOpen = true
		p.response.into(grow(&t.response))
		p.service.into(grow(&t.service))
		p.wait.into(grow(&t.wait))
	}
}

// maxIndex guards pack's 16-bit indexes.
var _ = [1]struct{}{}[countsLen/(math.MaxUint16+1)]
