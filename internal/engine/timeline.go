package engine

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// Together is the time within which changes share a segment; changes further
// apart have one each, except for the steps of a ramp, which share one.
const Together = 250 * time.Millisecond

// MaxSegments limits the memory of a run whose settings change all the time:
// later changes share the last segment.
const MaxSegments = 4096

// maxMarks limits the memory used by notes on the time line.
const maxMarks = 1000

// timeline owns what happened to a run, and when: changes, the segments between them, and
// marks; guarded by Run.mu. Slices that it hands out stay as they are.
type timeline struct {
	changes  []measure.Change
	marks    []measure.Mark
	segments []segment
	changed  int64        // when the last change was made, or was scheduled by the timetable
	parted   int64        // when the last change was made that does not belong to a ramp's segment
	moved    bool         // there was one
	ramped   map[int]bool // the ramps that have begun
}

// segment is the time between two changes.
type segment struct {
	from     int64
	settings map[string]float64
	end      map[string]float64 // what a ramp has come to; nil: they are as they were
}

func newTimeline(settings map[string]float64) *timeline {
	return &timeline{segments: []segment{{settings: settings}}, ramped: map[int]bool{}}
}

// segment returns the number of the segment in force.
func (l *timeline) segment() uint16 { return uint16(len(l.segments) - 1) }

// begin takes that measurement begins: whatever was changed before is of no interest.
func (l *timeline) begin(settings map[string]float64) {
	l.segments[0].settings = settings
	l.moved = false
}

// change takes that settings came into force now, and logs it. Whether changes share a segment
// depends on the moments they were meant for, and not on how late they are. The steps of a
// ramp between its first and its last belong to the segment in force: the ramp's own, or that
// of a later change. Of those in the warm-up there is no segment yet.
func (l *timeline) change(log []measure.Change, now int64, s step, settings map[string]float64, warm bool) {
	last := &l.segments[len(l.segments)-1]
	switch {
	case warm:
		l.segments[0].settings = settings
	case s.ramp > 0 && l.ramped[s.ramp] && !s.last:
		last.end = settings
	case l.moved && s.moment-l.parted < int64(Together), len(l.segments) >= MaxSegments:
		last.settings, last.end = settings, nil
		l.parted = s.moment
	default:
		l.segments = append(l.segments, segment{from: now, settings: settings})
		l.parted = s.moment
	}
	l.changed, l.moved, l.ramped[s.ramp] = s.moment, true, true
	for i := range log {
		log[i].At, log[i].Segment = time.Duration(now), int(l.segment())
	}
	l.changes = append(l.changes, log...)
}

// reach has there be a segment of that number, which is in force elsewhere since then.
func (l *timeline) reach(number int, from int64, settings map[string]float64) {
	for len(l.segments) <= number {
		l.segments = append(l.segments, segment{from: from, settings: settings})
	}
}

// recall takes changes that another engine has noted.
func (l *timeline) recall(n *Note, measuring bool) {
	l.reach(n.Segment, int64(n.From), nil)
	l.segments[n.Segment] = segment{int64(n.From), n.Settings, n.SettingsEnd}
	l.changes = append(l.changes, n.Changes...)
	for _, c := range n.Changes {
		l.ramped[c.Ramp] = true
	}
	l.changed, l.parted, l.moved = int64(n.At), int64(n.At), measuring && n.At >= 0
}

// mark puts a note on the time line, after those of no later moment; false: there are too many.
func (l *timeline) mark(m measure.Mark) bool {
	if len(l.marks) >= maxMarks {
		return false
	}
	i := len(l.marks)
	for i > 0 && l.marks[i-1].At > m.At {
		i--
	}
	l.marks = slices.Insert(slices.Clip(l.marks), i, m)
	return true
}

// shift moves all of it on, as the run's time was.
func (l *timeline) shift(by int64) {
	l.changed += by
	l.parted += by
	l.changes = slices.Clone(l.changes)
	for i := range l.changes {
		l.changes[i].At += time.Duration(by)
	}
	l.marks = slices.Clone(l.marks)
	for i := range l.marks {
		l.marks[i].At += time.Duration(by)
	}
}

// infos are the segments as the collector has them, up to now; never has the units of each
// track that were due in each and never started.
func (l *timeline) infos(now int64, never [][]int64) (out []measure.SegmentInfo) {
	for i, s := range l.segments {
		info := measure.SegmentInfo{From: time.Duration(s.from), To: time.Duration(max(now, 0)), Settings: s.settings, SettingsEnd: s.end}
		if i+1 < len(l.segments) {
			info.To = time.Duration(l.segments[i+1].from)
		}
		for _, n := range never {
			info.Unstarted = append(info.Unstarted, n[i])
		}
		out = append(out, info)
	}
	return out
}
