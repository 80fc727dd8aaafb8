package measure

import (
	"math"
	"slices"
	"time"
)

// IncrementArrivals say how iterations of one track came in one process, since its last part.
type IncrementArrivals struct {
	Track, Segment uint16
	// First is the number of the first whole span of the segment, and From that of the first
	// span in Counts, which has three numbers for each: how many iterations fell due in it, how
	// many would have begun in it if a worker had always been free, and how many did.
	First, From int64
	Counts      []int64
}

const (
	// perSpan is how many numbers a span has in IncrementArrivals, and perSecond how many of the
	// shortest spans a second has.
	perSpan, perSecond = 3, int64(time.Second / leastSpan)
)

// sound reports whether a process can have said it in a second of a run with that many tracks.
func (p *IncrementArrivals) sound(second, tracks int) bool {
	return int(p.Track) < tracks && p.First >= 0 && p.From >= p.First && p.From <= int64(second+1+mostAhead)*perSecond &&
		len(p.Counts)%perSpan == 0 && len(p.Counts) <= perSpan*openSpans && within(math.MaxInt32, p.Counts...)
}

// tell has what is new stand in told.
func (a *arrivals) tell() {
	if a.news == nil {
		return
	}
	p := IncrementArrivals{Segment: a.segment, First: a.first, From: a.oldest}
	for n := a.oldest; n <= a.newest; n++ {
		c := &a.news[n%openSpans]
		if *c == (spanCounts{}) && len(p.Counts) == 0 {
			p.From = n + 1
			continue
		}
		p.Counts = append(p.Counts, c.due, c.sent, c.begun)
		*c = spanCounts{}
	}
	if len(p.Counts) > 0 {
		a.told = append(a.told, p)
	}
}

// part returns what came since the last part of a track.
func (a *arrivals) part(track int) []IncrementArrivals {
	a.tell()
	out := a.told
	a.told = nil
	for i := range out {
		out[i].Track = uint16(track)
	}
	return out
}

// Joined tells how iterations came, from the parts of one process or of several together. They
// need not come in order, but for some seconds. Nothing in it is locked. The zero value is
// ready.
type Joined struct{ tracks []joined }

// joined is Joined of a track. Processes do not begin a segment at one time: while some are in
// one, others are in the one before.
type joined struct{ before, now arrivals }

// Add adds parts that Collector.Merge has taken, and only reads them.
func (j *Joined) Add(list []IncrementArrivals) {
	for i := range list {
		p := &list[i]
		for len(j.tracks) <= int(p.Track) {
			j.tracks = append(j.tracks, joined{})
		}
		j.tracks[p.Track].add(p)
	}
}

func (t *joined) add(p *IncrementArrivals) {
	switch {
	case t.now.open == nil:
		t.now.open = new([openSpans]spanCounts)
		t.now.begin(p.Segment, p.First)
	case p.Segment > t.now.segment:
		ring := t.before.open
		if ring == nil {
			ring = new([openSpans]spanCounts)
		} else if how, ok := t.before.summary(); ok {
			t.before.past = append(t.before.past, segmentArrivals{t.before.segment, how})
		}
		past := t.before.past
		t.before, t.now = t.now, arrivals{open: ring}
		t.before.past = past
		t.now.begin(p.Segment, p.First)
	}
	switch p.Segment {
	case t.now.segment:
		t.now.join(p)
	case t.before.segment:
		if t.before.open != nil {
			t.before.join(p)
		}
	}
}

// startsApart is by how many spans processes may begin a segment one after the other: what came
// before all were in it is left out.
const startsApart = perSecond

// join adds what a process tells of the segment.
func (a *arrivals) join(p *IncrementArrivals) {
	if a.sizes[0].n == 0 && p.First > a.first && p.First <= a.first+startsApart {
		for ; a.oldest < p.First; a.oldest++ {
			a.open[a.oldest%openSpans] = spanCounts{}
		}
		a.first, a.newest = p.First, max(a.newest, p.First)
	}
	n := p.From - 1
	for at := range slices.Chunk(p.Counts, perSpan) {
		n++
		if at[0] == 0 && at[1] == 0 && at[2] == 0 {
			continue
		}
		for ; n >= a.oldest+openSpans; a.oldest++ {
			a.close(a.oldest, &a.sizes)
		}
		if n < a.oldest {
			continue
		}
		a.newest = max(a.newest, n)
		c := &a.open[n%openSpans]
		c.due, c.sent, c.begun = c.due+at[0], c.sent+at[1], c.begun+at[2]
	}
}

// In returns how the iterations of a track came in a segment; false if too few came to tell.
func (j *Joined) In(track, segment int) (Arrivals, bool) {
	if track >= len(j.tracks) {
		return Arrivals{}, false
	}
	t := &j.tracks[track]
	if how, ok := t.now.in(segment); ok {
		return how, true
	}
	return t.before.in(segment)
}

// SegmentArrivals are Arrivals in a segment, by its number.
type SegmentArrivals struct {
	Segment int
	Arrivals
}

// All returns how iterations came in all segments in which enough came to tell, in order. names
// are those of the tracks.
func (j *Joined) All(names []string) (out []SegmentArrivals) {
	for track := range min(len(j.tracks), len(names)) {
		t := &j.tracks[track]
		for segment := range int(t.now.segment) + 1 {
			if how, ok := j.In(track, segment); ok {
				how.Track = names[track]
				out = append(out, SegmentArrivals{segment, how})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b SegmentArrivals) int { return a.Segment - b.Segment })
	return out
}
