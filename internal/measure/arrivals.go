package measure

import "time"

// Arrivals say how the iterations of a track came in one segment of an open loop, by their
// numbers in short spans of time.
type Arrivals struct {
	Track string
	// Span is the length of a span, and Spans how many there were. Mean is how many iterations
	// fell due in one.
	Span  time.Duration
	Spans int64
	Mean  float64
	// Asked is the variance of those numbers over their mean (the index of dispersion), of the
	// due times; Begun is that of the moments at which the iterations began. It is 1 if they
	// come independently, nearly 0 if evenly, and larger if in bursts.
	Asked, Begun float64
	// Moved is the share of iterations that would have to be in another span for as many to
	// begin in each as fell due; Late is the same if a worker had always been free: what
	// perfbench itself has moved.
	Moved, Late float64
}

const (
	// leastSpan is the shortest span: what happens within it hardly any store can tell.
	leastSpan = 10 * time.Millisecond
	// scales are how many lengths of spans there are, each twice as long as the one before.
	scales = 12
	// openSpans is for how many of the shortest spans counts are kept apart, as calls are
	// recorded when they have ended: what took longer is left out.
	openSpans = 1024
	// fewSpans is how many spans it takes to tell, and spanned how many iterations one must
	// have on average.
	fewSpans, spanned = 200, 5
)

// spanCounts are how many iterations fell due in a span, how many would have begun in it if a
// worker had always been free, and how many did.
type spanCounts struct{ due, sent, begun int64 }

// spans gathers the counts of spans of one length.
type spans struct {
	n, due        int64
	sqDue         float64
	begun         int64
	sqBegun       float64
	moved, movedL int64      // differences from what fell due, each iteration twice
	half          spanCounts // of the first half of a span of twice the length
}

func (d *spans) add(c spanCounts) {
	d.n++
	d.due, d.sqDue = d.due+c.due, d.sqDue+float64(c.due)*float64(c.due)
	d.begun, d.sqBegun = d.begun+c.begun, d.sqBegun+float64(c.begun)*float64(c.begun)
	d.moved, d.movedL = d.moved+distance(c.begun, c.due), d.movedL+distance(c.sent, c.due)
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// index returns the index of dispersion of n counts.
func index(n, sum int64, sq float64) float64 {
	mean := float64(sum) / float64(n)
	if mean <= 0 {
		return 0
	}
	return max((sq-float64(n)*mean*mean)/float64(n-1)/mean, 0)
}

// arrivals returns them in terms of spans of that length.
func (d *spans) arrivals(span time.Duration) Arrivals {
	twice := 2 * float64(d.due)
	return Arrivals{
		Span: span, Spans: d.n, Mean: float64(d.due) / float64(d.n),
		Asked: index(d.n, d.due, d.sqDue), Begun: index(d.n, d.begun, d.sqBegun),
		Moved: float64(d.moved) / twice, Late: float64(d.movedL) / twice,
	}
}

// arrivals watches how the iterations of a track come, segment by segment. They belong to the
// collector's goroutine. The zero value is ready.
type arrivals struct {
	segment uint16
	open    *[openSpans]spanCounts // a ring; nil: nothing came yet
	newest  int64                  // number of the newest span
	oldest  int64                  // of the oldest that is open
	sizes   [scales]spans
	past    []segmentArrivals
	first   int64 // number of the first whole span of the segment
	// news are the counts since the last part, in a process that is one of several; those of
	// segments that are over are in told.
	news *[openSpans]spanCounts
	told []IncrementArrivals
}

type segmentArrivals struct {
	segment uint16
	Arrivals
}

// add takes a call that began an iteration.
func (a *arrivals) add(s *Call) {
	if a.open == nil || s.Segment > a.segment {
		a.next(s)
	}
	first, sent, begun := spanOf(s.Due), spanOf(s.Due+s.Late), spanOf(s.Start)
	if s.Segment != a.segment || first < a.oldest {
		return // begun before the segment, or too long ago
	}
	for ; begun >= a.oldest+openSpans; a.oldest++ {
		a.close(a.oldest, &a.sizes)
	}
	a.newest = max(a.newest, begun)
	if first < a.oldest {
		return
	}
	one(a.open, first, sent, begun)
	if a.news != nil {
		one(a.news, first, sent, begun)
	}
}

// one counts an iteration in the spans of a ring.
func one(ring *[openSpans]spanCounts, due, sent, begun int64) {
	ring[due%openSpans].due++
	ring[sent%openSpans].sent++
	ring[begun%openSpans].begun++
}

func spanOf(at int64) int64 { return max(at, 0) / int64(leastSpan) }

// next begins a segment with a call of it.
func (a *arrivals) next(s *Call) {
	if a.open == nil {
		a.open = new([openSpans]spanCounts)
	} else if now, ok := a.summary(); ok {
		a.past = append(a.past, segmentArrivals{a.segment, now})
	}
	a.tell()
	a.begin(s.Segment, spanOf(s.Due)+1) // the first span is not a whole one
}

// begin begins a segment with a span.
func (a *arrivals) begin(segment uint16, first int64) {
	clear(a.open[:])
	a.segment, a.sizes = segment, [scales]spans{}
	a.first, a.oldest, a.newest = first, first, first
}

// close adds a span to those of each length, and makes room for another in its place.
func (a *arrivals) close(number int64, to *[scales]spans) {
	spread(a.open[number%openSpans], to)
	a.open[number%openSpans] = spanCounts{}
	if a.news != nil {
		a.news[number%openSpans] = spanCounts{} // a part that comes ten seconds late is without it
	}
}

// spread adds the counts of a shortest span to the spans of each length.
func spread(c spanCounts, to *[scales]spans) {
	for i := range to {
		d := &to[i]
		d.add(c)
		if d.n%2 == 1 {
			d.half = c
			return
		}
		c = spanCounts{c.due + d.half.due, c.sent + d.half.sent, c.begun + d.half.begun}
	}
}

// summary tells of the segment so far, by the shortest spans that have enough iterations; false
// if there are too few.
func (a *arrivals) summary() (Arrivals, bool) {
	sizes := a.sizes
	for n := a.oldest; n < a.newest; n++ { // the newest is not over
		spread(a.open[n%openSpans], &sizes)
	}
	for i := range sizes {
		d := &sizes[i]
		if d.n < fewSpans {
			break
		}
		if d.due >= spanned*d.n {
			return d.arrivals(leastSpan << i), true
		}
	}
	return Arrivals{}, false
}

// in returns how they came in a segment.
func (a *arrivals) in(segment int) (Arrivals, bool) {
	if a.open != nil && int(a.segment) == segment {
		return a.summary()
	}
	for _, p := range a.past {
		if int(p.segment) == segment {
			return p.Arrivals, true
		}
	}
	return Arrivals{}, false
}
