package measure

import (
	"math"
	"math/bits"
	"time"

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

// hist counts values in HdrHistogram's buckets. The library's own type is not
// used because merging two of those takes a millisecond, too much for a collector
// that does it for every operation each second; here it is one pass over the
// range in use. A hist is used by one goroutine.
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

// lowestAt and sizeAt return the smallest value of a bucket and how many values
// it covers.
func lowestAt(i int) int64 {
	bucket, sub := i/half-1, i%half+half
	if bucket < 0 {
		return int64(sub - half)
	}
	return int64(sub) << bucket
}

func sizeAt(i int) int64 { return 1 << max(i/half-1, 0) }

// record adds the value v n times. Negative values count as 0; values over an
// hour count as an hour, and as beyond.
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

// at returns the value at a percentile, computed as the library does.
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

// summary summarizes h, with the same numbers as Summarize.
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
	s.Max = h.top()
	s.P50, s.P90, s.P95, s.P99, s.P999, s.P9999 = at[0], at[1], at[2], at[3], at[4], at[5]
	return s
}

// top returns the highest value of a hist that is not empty.
func (h *hist) top() int64 { return lowestAt(h.hi) + sizeAt(h.hi) - 1 }

func (h *hist) firstUsed() int {
	for i := h.lo; i <= h.hi; i++ {
		if h.counts[i] != 0 {
			return i
		}
	}
	return 0
}

// pack lists the buckets in use, to store a histogram that has stopped growing.
func (h *hist) pack() packed {
	p := packed{Beyond: h.beyond}
	for i := h.lo; i <= h.hi; i++ {
		if n := h.counts[i]; n != 0 {
			p.Index = append(p.Index, uint16(i))
			p.Count = append(p.Count, n)
		}
	}
	return p
}

// packed is a histogram at rest: the buckets in use and how many values each has.
// Its fields are exported for encoding/gob only.
type packed struct {
	Index  []uint16
	Count  []int64
	Beyond int64
}

// total is how many values it has, those beyond included.
func (p packed) total() (n int64) {
	for _, c := range p.Count {
		n += c
	}
	return n
}

// sound reports whether p can be the encoding of a histogram: buckets in order, each once,
// with counts that do not overflow.
func (p packed) sound() bool {
	if len(p.Index) != len(p.Count) || p.Beyond < 0 {
		return false
	}
	total := p.Beyond
	for k, i := range p.Index {
		if i >= countsLen || k > 0 && i <= p.Index[k-1] || p.Count[k] < 0 || p.Count[k] > math.MaxInt64/4-total {
			return false
		}
		total += p.Count[k]
	}
	return true
}

// brief reports whether p, which is sound, can be what one process has measured in a
// second.
func (p packed) brief() bool { return within(mostCount, p.Beyond+p.total()) }

func (p packed) into(h *hist) {
	for k, i := range p.Index {
		h.counts[i] += p.Count[k]
		h.total += p.Count[k]
		h.lo, h.hi = min(h.lo, int(i)), max(h.hi, int(i))
	}
	h.beyond += p.Beyond
}

// under returns how many values are surely below v: those of whole buckets.
func (h *hist) under(v int64) (n int64) {
	for i := h.lo; i <= h.hi && lowestAt(i)+sizeAt(i) <= v; i++ {
		n += h.counts[i]
	}
	return n
}

// inTime returns how many calls were answered before a deadline had passed since they were due.
func (t *times) inTime(deadline time.Duration) (n int64) {
	for _, h := range []*hist{t.closed, t.open.response} {
		if h != nil {
			n += h.under(int64(deadline))
		}
	}
	return n
}

// times holds the four histograms of one operation. In a closed loop, response
// and service time are the same and there is no wait, so such samples are kept
// only once, in closed.
type times struct {
	closed        *hist
	open          views // members are nil until there are open-loop samples
	hasOpen       bool
	count, errors int64
	again         int64 // calls that failed and were tried again
	scratch       views
}

// views holds the histograms of the four times of an operation, in the order in
// which they are documented.
type views struct{ response, service, wait, lateness *hist }

func (v *views) each() [4]**hist {
	return [4]**hist{&v.response, &v.service, &v.wait, &v.lateness}
}

func (v *views) merge(from *views) {
	theirs := from.each()
	for i, h := range v.each() {
		grow(h).merge(*theirs[i])
	}
}

func (v *views) reset() {
	for _, h := range v.each() {
		if *h != nil {
			(*h).reset()
		}
	}
}

func grow(h **hist) *hist {
	if *h == nil {
		*h = newHist()
	}
	return *h
}

func (t *times) record(s *Call) {
	if s.Due >= s.Start {
		grow(&t.closed).record(s.End-s.Start, 1)
		return
	}
	t.hasOpen = true
	grow(&t.open.response).record(s.End-s.Due, 1)
	grow(&t.open.service).record(s.End-s.Start, 1)
	grow(&t.open.wait).record(s.Start-s.Due, 1)
	grow(&t.open.lateness).record(s.Late, 1)
}

func (t *times) merge(from *times) {
	t.count += from.count
	t.errors += from.errors
	t.again += from.again
	if from.closed != nil {
		grow(&t.closed).merge(from.closed)
	}
	if from.hasOpen {
		t.hasOpen = true
		t.open.merge(&from.open)
	}
}

func (t *times) reset() {
	if t.closed != nil {
		t.closed.reset()
	}
	t.open.reset()
	t.hasOpen, t.count, t.errors, t.again = false, 0, 0, 0
}

// calls returns the number of values in each histogram.
func (t *times) calls() int64 {
	n := int64(0)
	if t.closed != nil {
		n += t.closed.total
	}
	if t.hasOpen {
		n += t.open.response.total
	}
	return n
}

// views returns the four times as complete histograms, valid until t changes.
// None is nil; some may be the same: in a closed loop response and service, and
// wait and lateness.
func (t *times) views() views {
	closed, out := grow(&t.closed), &t.scratch
	if !t.hasOpen {
		none := grow(&out.wait)
		none.reset()
		if closed.total > 0 {
			none.record(0, closed.total)
		}
		return views{closed, closed, none, none}
	}
	out.reset()
	out.merge(&views{closed, closed, nil, nil})
	if closed.total > 0 {
		out.wait.record(0, closed.total)
		out.lateness.record(0, closed.total)
	}
	out.merge(&t.open)
	return *out
}

// totals summarizes t.
func (t *times) totals(op Operation) Totals {
	out := Totals{Operation: op, Count: t.count, Calls: t.calls(), Errors: t.errors, Retries: t.again}
	if out.Calls == 0 {
		return out
	}
	v := t.views()
	out.Response, out.Wait = v.response.summary(), v.wait.summary()
	out.Service, out.Lateness = out.Response, out.Wait
	if t.hasOpen {
		out.Service, out.Lateness = v.service.summary(), v.lateness.summary()
	}
	out.Beyond = v.response.beyond
	out.Slowest = slowest(out.Calls, v.response.at)
	return out
}

// packedTimes is times at rest. Its fields are exported for the same reason as
// those of packed.
type packedTimes struct {
	Closed        packed
	Open          [4]packed
	HasOpen       bool
	Count, Errors int64
	Again         int64
}

func (t *times) pack() packedTimes {
	p := packedTimes{HasOpen: t.hasOpen, Count: t.count, Errors: t.errors, Again: t.again}
	if t.closed != nil {
		p.Closed = t.closed.pack()
	}
	if t.hasOpen {
		for i, h := range t.open.each() {
			p.Open[i] = (*h).pack()
		}
	}
	return p
}

func (p packedTimes) into(t *times) {
	t.count += p.Count
	t.errors += p.Errors
	t.again += p.Again
	p.Closed.into(grow(&t.closed))
	if p.HasOpen {
		t.hasOpen = true
		for i, h := range t.open.each() {
			p.Open[i].into(grow(h))
		}
	}
}

// This declaration guards pack's 16-bit indexes.
var _ = [1]struct{}{}[countsLen/(math.MaxUint16+1)]

// Buckets calls each for every bucket in use of a histogram made by NewHistogram,
// with the smallest and largest value of the bucket in nanoseconds, and the
// number of values in it. It only reads h, and takes a tenth of a millisecond.
func Buckets(h *hdrhistogram.Histogram, each func(low, high, n int64)) {
	for i, n := range h.Export().Counts {
		if n != 0 {
			low := lowestAt(i)
			each(low, low+sizeAt(i)-1, n)
		}
	}
}
