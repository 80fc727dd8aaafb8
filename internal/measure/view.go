package measure

import (
	"slices"
	"time"
)

// recentSeconds is how many finished seconds a snapshot shows individually.
const recentSeconds = 120

// view is what is drawn of a run while it goes: by operation, and last of all calls that count as
// one, its last seconds, and its timeline. Published slices stay as they are.
type view struct {
	recent [][]Row
	lines  []timeline
}

func newView(ops int) view {
	return view{make([][]Row, ops+1), make([]timeline, ops+1)}
}

// remember adds a second.
func (v *view) remember(op int, r Row, rest bool) {
	rows := v.recent[op]
	if n := len(rows); rest && n > 0 && rows[n-1].T == r.T-1 {
		v.recent[op] = slices.Clone(rows)
		v.recent[op][n-1].addRest(r)
		v.lines[op].addRest(r.point(time.Duration(r.T) * time.Second))
		return
	}
	if len(rows) >= recentSeconds {
		rows = rows[len(rows)-recentSeconds+1:]
	}
	v.recent[op] = append(slices.Clip(rows), r) // published slices stay as they are
	v.lines[op].add(r.point(time.Duration(r.T) * time.Second))
}

// moveOn shifts everything by whole seconds.
func (v *view) moveOn(by time.Duration) {
	for op := range v.recent {
		v.recent[op] = slices.Clone(v.recent[op])
		for i := range v.recent[op] {
			v.recent[op][i].T += int(by / time.Second)
		}
		l := &v.lines[op]
		l.points = movedOn(l.points, by, max(l.width, time.Second))
	}
}

// movedOn returns the points shifted by by, in buckets of the given width.
func movedOn(points []Point, by, width time.Duration) []Point {
	points = slices.Clone(points)
	for i, p := range points {
		points[i].At = floorTo(p.At+by, width)
	}
	return points
}

// maxPoints is how many buckets a timeline may have before they double.
const maxPoints = 480

// timeline is the whole run of one operation in at most maxPoints buckets. When
// they run out, neighbours are joined; until then, past buckets do not change.
type timeline struct {
	points []Point
	width  time.Duration
}

// point returns the row as a bucket of a timeline that begins at at.
func (r Row) point(at time.Duration) Point {
	return Point{
		At: at, Count: r.Count, Errors: r.Errors, Seconds: r.Seconds, ResponseP50: r.ResponseP50, ResponseP99: r.ResponseP99,
		ResponseMax: r.ResponseMax, ServiceP99: r.ServiceP99, Backlog: r.Backlog, Oldest: r.Oldest, Segment: r.Segment, Warmup: at < 0,
	}
}

func (l *timeline) add(p Point) {
	if l.width == 0 {
		l.width = time.Second
	}
	l.points = l.join(slices.Clip(l.points), p)
	for len(l.points) > maxPoints {
		l.width *= 2
		var wide []Point
		for _, p := range l.points {
			wide = l.join(wide, p)
		}
		l.points = wide
	}
}

// addRest adds the rest of a run, which is after its warm-up, to the last bucket as Row.addRest does.
func (l *timeline) addRest(p Point) {
	n := len(l.points)
	if n == 0 || l.points[n-1].Warmup {
		l.points = append(slices.Clip(l.points), p)
		return
	}
	l.points = slices.Clone(l.points)
	last := &l.points[n-1]
	last.Count, last.Errors, last.Seconds = last.Count+p.Count, last.Errors+p.Errors, last.Seconds+p.Seconds
	if last.ResponseMax == 0 {
		last.ResponseP50, last.ResponseP99, last.ServiceP99 = p.ResponseP50, p.ResponseP99, p.ServiceP99
	}
	last.ResponseMax, last.Oldest = max(last.ResponseMax, p.ResponseMax), max(last.Oldest, p.Oldest)
}

// join appends p, or merges it into the last point if both lie in one bucket. It
// does not modify points that have been published.
func (l *timeline) join(points []Point, p Point) []Point {
	p.At = floorTo(p.At, l.width)
	n := len(points)
	if n == 0 || points[n-1].At != p.At || points[n-1].Warmup != p.Warmup {
		return append(points, p)
	}
	last := points[n-1]
	last.Count += p.Count
	last.Errors += p.Errors
	last.Seconds += p.Seconds
	last.ResponseP50 = max(last.ResponseP50, p.ResponseP50)
	last.ResponseP99 = max(last.ResponseP99, p.ResponseP99)
	last.ResponseMax = max(last.ResponseMax, p.ResponseMax)
	last.ServiceP99 = max(last.ServiceP99, p.ServiceP99)
	last.Backlog = max(last.Backlog, p.Backlog)
	last.Oldest = max(last.Oldest, p.Oldest)
	last.Segment = p.Segment
	return append(slices.Clone(points[:n-1]), last)
}

func floorTo[T ~int | ~int64](t, width T) T {
	m := t % width
	if m < 0 {
		m += width
	}
	return t - m
}

// timelines returns all timelines, in buckets of one common width.
func (v *view) timelines() (time.Duration, [][]Point) {
	width := time.Second
	for _, l := range v.lines {
		width = max(width, l.width)
	}
	out := make([][]Point, len(v.lines))
	for op, l := range v.lines {
		if l.width == width || l.width == 0 {
			out[op] = l.points
			continue
		}
		wide := timeline{width: width}
		for _, p := range l.points {
			wide.points = wide.join(wide.points, p)
		}
		out[op] = wide.points
	}
	return width, out
}
