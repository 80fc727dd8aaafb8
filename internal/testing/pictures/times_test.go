package pictures

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

const ms = time.Millisecond

// The second call of one worker at a rate, which waits for the first; and one without a rate.
func TestTimes(t *testing.T) {
	open := calls(t, workload.Settings{Threads: 1, Rate: 2.5}, workload.Arrivals{}, 1, 900*ms, func(n int64, _ time.Duration) time.Duration {
		return []time.Duration{580 * ms, 320 * ms, 0}[n]
	})[1]
	closed := calls(t, workload.Settings{Threads: 1}, workload.Arrivals{}, 1, 900*ms, func(int64, time.Duration) time.Duration { return 500 * ms })[1]
	require.Greater(t, open.start, open.due)
	require.Equal(t, closed.start, closed.due)
	const left, right = 110.0, 610.0
	x := func(at time.Duration) float64 {
		return left + float64(at-open.due)/float64(open.response())*(right-left)
	}
	p := picture{title: "Due, start and end of a call, and the times between them", height: 278}
	p.text(edge, 30, "b", "One call at a rate")
	for _, at := range []struct {
		name string
		at   time.Duration
		foot float64
	}{{"due", open.due, 160}, {"start", open.start, 122}, {"end", open.end, 160}} {
		p.path("dash", "M%.5g 66V%g", x(at.at), at.foot)
		p.text(x(at.at), 60, "m", "%s", at.name)
	}
	p.bar(x(open.due), x(open.start), 76, 30, "wait")
	p.bar(x(open.start), x(open.end), 76, 30, "store")
	p.text((x(open.due)+x(open.start))/2, 96, "m", "wait: %s", units.Duration(open.start-open.due))
	p.text((x(open.start)+x(open.end))/2, 96, "m", "service: the store at work for %s", units.Duration(open.end-open.start))
	p.path("line", "M%.5g 128H%.5gM%.5g 122v12M%.5g 122v12", x(open.due), x(open.end), x(open.due), x(open.end))
	p.text((x(open.due)+x(open.end))/2, 150, "m", "response: a caller would have waited for %s", units.Duration(open.response()))
	p.text(edge, 200, "b", "One call in closed loop: it is due when the last one has ended")
	p.bar(left, right, 214, 30, "store")
	p.text((left+right)/2, 234, "m", "service and response are the same: %s", units.Duration(closed.response()))
	p.text(left, 262, "m dim", "due = start")
	p.text(right, 262, "m dim", "end")
	p.drawn(t, "times.svg")
}

// A store that stands still for a while, as one caller in closed loop and as calls at a rate see it.
func TestOmission(t *testing.T) {
	const lasts, from, to, service = 540 * ms, 240 * ms, 350 * ms, 9 * ms
	takes := func(_ int64, at time.Duration) time.Duration {
		if at+service > from && at < to { // it goes on after the stall
			return to - at + service - max(from-at, 0)
		}
		return service
	}
	closed := calls(t, workload.Settings{Threads: 1}, workload.Arrivals{}, 1, lasts, takes)
	open := calls(t, workload.Settings{Threads: 16, Rate: 1000. / 24}, workload.Arrivals{}, 1, lasts, takes)
	slow := func(all []call) (n int) {
		for _, c := range all {
			if c.response() > service {
				n++
			}
		}
		return n
	}
	require.Equal(t, 1, slow(closed))
	require.Greater(t, slow(open), 3)
	const left = 150.0
	x := func(at time.Duration) float64 { return left + float64(at)/float64(ms) }
	p := picture{title: "What coordinated omission hides: a stall seen by one caller in closed loop, and by calls that fall due at a rate", height: 296}
	p.bar(x(from), x(to), 30, 222, "stall")
	p.text((x(from)+x(to))/2, 22, "m dim", "the store stands still")
	p.text(16, 84, "b", "closed loop")
	p.text(16, 102, "dim", "one caller")
	for _, c := range closed {
		p.bar(x(c.start), x(c.end)-1, 70, 24, "store")
	}
	p.text(left, 118, "dim", "%d of %d calls is slow, however long the store stands still.", slow(closed), len(closed))
	p.text(16, 164, "b", "at a rate")
	p.text(16, 182, "dim", "calls keep")
	p.text(16, 200, "dim", "falling due")
	row, until := 0.0, time.Duration(0)
	for _, c := range open {
		if c.due >= until {
			row = 0
		}
		until = max(until, c.end)
		waits := c.response() - service
		p.bar(x(c.due), x(c.due+waits), 146+16*row, 12, "wait")
		p.bar(x(c.due+waits), x(c.end)-1, 146+16*row, 12, "store")
		row++
	}
	p.text(left, 276, "dim", "%d of %d calls are slow: all that were due meanwhile wait, and each wait counts.", slow(open), len(open))
	p.drawn(t, "omission.svg")
}

// recorded is what a worker records of a call that was due, began and ended then; own is how much
// of its wait may be our own doing.
func recorded(due, start, end time.Duration, own int64) measure.Call {
	var it workload.Iteration
	var kept recorder
	now := start
	it.Bind(func() int64 { return int64(now) }, &kept, 0)
	it.ResetLate(int64(due), own)
	m := it.Begin(0)
	now = end
	_ = it.End(m, 1, nil)
	return kept.last
}

// recorder keeps the last call.
type recorder struct{ last measure.Call }

func (r *recorder) Add(c measure.Call)       { r.last = c }
func (*recorder) Started(int64, int64)       {}
func (*recorder) Ended()                     {}
func (*recorder) Again(int64)                {}
func (*recorder) Failed(uint16, error) uint8 { return 1 }

// The two causes of a wait, as workers tell them apart.
func TestLateness(t *testing.T) {
	p := picture{title: "The two causes of a wait: backlog and lateness", height: 282}
	x := func(ns int64) float64 { return 220 + float64(ns)/float64(ms) }
	for i, c := range []struct {
		call              measure.Call
		title, says, word string
	}{
		{recorded(0, 120*ms, 320*ms, 0), "Backlog: all workers were busy when the call fell due", "the store’s doing, or too few threads", "another call"},
		{recorded(0, 120*ms, 320*ms, math.MaxInt64), "Lateness: a worker was free, and woke late", "the machine’s doing or ours", "free"},
	} {
		top := 138 * float64(i)
		backlog := c.call.Start - c.call.Due - c.call.Late
		p.text(edge, top+30, "b", "%s", c.title)
		p.text(edge, top+66, "dim", "worker")
		if backlog > 0 {
			p.bar(110, x(c.call.Start), top+50, 22, "calm")
		}
		p.text((110+x(c.call.Due))/2, top+66, "m", "%s", c.word)
		p.bar(x(c.call.Start), x(c.call.End), top+50, 22, "store")
		p.text((x(c.call.Start)+x(c.call.End))/2, top+66, "m", "the call")
		p.path("dash", "M%.5g %.5gv68", x(c.call.Due), top+44)
		p.text(x(c.call.Due), top+128, "m", "due")
		p.bar(x(c.call.Due), x(c.call.Due+backlog), top+84, 14, "wait")
		p.bar(x(c.call.Start-c.call.Late), x(c.call.Start), top+84, 14, "ours")
		p.text(x(c.call.Start)+10, top+96, "", "%s", c.says)
		assert.Equal(t, i == 0, c.call.Late == 0)
	}
	p.drawn(t, "lateness.svg")
}
