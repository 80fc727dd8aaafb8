package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// elsewhere is one process that does the work, as the engine that has it done sees it.
type elsewhere struct {
	mu    sync.Mutex
	told  int
	ended time.Duration
	words []workload.Word
	over  chan struct{}
}

func newElsewhere() *elsewhere { return &elsewhere{told: math.MinInt, over: make(chan struct{})} }

func (e *elsewhere) Over(int) <-chan struct{} { return e.over }

func (e *elsewhere) Complete(second int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told >= second
}

func (e *elsewhere) Seen(int) measure.Seen {
	e.mu.Lock()
	defer e.mu.Unlock()
	return measure.Seen{Ended: e.ended}
}

func (e *elsewhere) Unstarted(int, int) int64 { return 0 }

func (e *elsewhere) Control(w workload.Word) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.words = append(e.words, w)
}

// take hands a part to a run that has it done here.
func (e *elsewhere) take(t *testing.T, r *Run, p measure.Increment) {
	require.NoError(t, r.Merge(p))
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = p.T
	if len(p.Gauges) > 0 && !p.Gauges[0].Running && len(p.Spans) > 0 && e.ended == 0 {
		e.ended = time.Duration(p.Spans[0].To)
	}
}

// An engine that goes on in the place of one that died comes to what that would have come
// to: the same seconds under the same settings, the same segments, the same end.
func TestAnEngineGoesOnInThePlaceOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := func() *workload.Plan {
			return onePhase(9*time.Second, pool("p", workload.Settings{Threads: 2, Rate: 100}, takes(time.Millisecond)))
		}
		timetable := []At{{After: 2300 * time.Millisecond, Track: workload.AllTracks, Knob: knobs[1], Value: 200}, {After: 6500 * time.Millisecond, Track: workload.AllTracks, Knob: knobs[0], Value: 3}}
		var mu sync.Mutex
		var kept []measure.Increment
		var follow func(measure.Increment) // whoever listens now
		worker := start(t, plan(), func(o *Options) {
			o.Part = func(p *measure.Increment) {
				mu.Lock()
				defer mu.Unlock()
				kept = append(kept, *p)
				follow(*p)
			}
		})
		var notes []Note
		rows := [2][]measure.Row{}
		sink := func(of int) func(*measure.Second) error {
			return func(s *measure.Second) error {
				rows[of] = append(rows[of], s.Rows...)
				return nil
			}
		}
		first := newElsewhere()
		one := start(t, plan(), func(o *Options) {
			o.Remote, o.Sink, o.Timetable = first, sink(0), timetable
			o.Note = func(n Note) { notes = append(notes, n) }
		})
		began := time.Now()
		mu.Lock()
		follow = func(p measure.Increment) { first.take(t, one, p) }
		mu.Unlock()
		one.Mark("hello")
		time.Sleep(2300 * time.Millisecond)
		synctest.Wait()
		worker.ApplyIn(1, []workload.Settings{one.Settings(0)})
		time.Sleep(2200 * time.Millisecond)
		synctest.Wait()
		require.Len(t, notes, 3)

		second, read, upto := newElsewhere(), make(chan struct{}), int64(0)
		var at sync.Mutex
		two := start(t, plan(), func(o *Options) {
			o.Remote, o.Sink, o.Timetable = second, sink(1), timetable
			o.Past = &Restored{Began: began, Notes: notes, Reread: read, Upto: func() int64 {
				at.Lock()
				defer at.Unlock()
				return upto
			}}
		})
		assert.EqualValues(t, 200, two.Settings(0).Rate)
		mu.Lock()
		list := kept
		follow = func(p measure.Increment) {
			first.take(t, one, p)
			second.take(t, two, p)
		}
		mu.Unlock()
		for _, p := range list {
			at.Lock()
			upto = int64(p.T+1) * int64(time.Second)
			at.Unlock()
			second.take(t, two, p)
		}
		at.Lock()
		upto = math.MaxInt64
		at.Unlock()
		close(read)
		time.Sleep(2100 * time.Millisecond)
		synctest.Wait()
		worker.ApplyIn(2, []workload.Settings{two.Settings(0)})
		_ = result(t, worker) // it has told everything
		close(first.over)
		close(second.over)
		want, got := result(t, one), result(t, two)
		require.Len(t, got.Segments, 3)
		assert.Equal(t, want.Ops, got.Ops)
		assert.Equal(t, want.Marks, got.Marks)
		for i := range want.Segments {
			assert.Equal(t, want.Segments[i], got.Segments[i], "segment %d", i)
		}
		assert.Equal(t, want.Changes, got.Changes)
		assert.Equal(t, rows[0], rows[1])
		assert.True(t, two.ByDuration())
		assert.Equal(t, 1, second.words[0].Segment, "those who work are told once more what holds")
	})
}

// One that comes when all is over ends at once, with all that was measured, and knows why.
func TestAnEngineComesWhenAllIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := func(d time.Duration) *workload.Plan {
			return onePhase(d, pool("p", workload.Settings{Threads: 2}, takes(time.Millisecond)))
		}
		began := time.Now()
		var kept []measure.Increment
		want := result(t, start(t, plan(40*time.Second), func(o *Options) { o.Part = func(p *measure.Increment) { kept = append(kept, *p) } }))
		time.Sleep(time.Hour)
		away, read := newElsewhere(), make(chan struct{})
		var told atomic.Int64
		seconds := map[int]int64{}
		r := start(t, plan(40*time.Second), func(o *Options) {
			o.Remote = away
			o.Past = &Restored{Began: began, Notes: []Note{{Phase: "main"}}, Reread: read, Upto: told.Load}
			o.Sink = func(s *measure.Second) error {
				for _, row := range s.Rows {
					seconds[s.T] += row.Count
				}
				return nil
			}
		})
		for _, p := range kept {
			told.Store(int64(p.T+1) * int64(time.Second))
			away.take(t, r, p)
		}
		told.Store(math.MaxInt64)
		close(read)
		close(away.over)
		got := result(t, r)
		assert.Equal(t, want.Ops, got.Ops)
		assert.Equal(t, want.Measured, got.Measured)
		assert.True(t, r.ByDuration())
		assert.Len(t, seconds, 41)
		assert.InDelta(t, 2000, seconds[3], 10, "each second has its own")
	})
}

// byTrack is elsewhere that ends each track by itself.
type byTrack struct {
	*elsewhere
	overs []chan struct{}
}

func (b *byTrack) Over(track int) <-chan struct{} {
	if track == workload.AllTracks {
		return b.over
	}
	return b.overs[track]
}

// A phase that was over elsewhere in less time than the clock there is behind has been there all the same.
func TestAShortPhaseElsewhereIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := &byTrack{newElsewhere(), []chan struct{}{make(chan struct{}), make(chan struct{}), make(chan struct{})}}
		phase := func(name string, after ...string) workload.Phase {
			return workload.Phase{Name: name, After: after, Tracks: []workload.Track{pool(name, workload.Settings{Threads: 1}, takes(time.Millisecond))}}
		}
		plan := &workload.Plan{Unit: "calls", Knobs: knobs, Phases: []workload.Phase{phase("open"), phase("load", "open"), phase("drain", "load")}}
		r := start(t, plan, func(o *Options) { o.Remote = away })
		time.Sleep(time.Second)
		close(away.overs[0])
		synctest.Wait()
		away.mu.Lock()
		away.ended = 990 * time.Millisecond
		away.mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		close(away.overs[1])
		synctest.Wait()
		time.Sleep(time.Second)
		away.mu.Lock()
		away.ended, away.told = 1990*time.Millisecond, math.MaxInt
		away.mu.Unlock()
		close(away.over)
		got := result(t, r)
		require.Len(t, got.Phases, 3)
		assert.Equal(t, measure.Phase{Name: "load", Tracks: []string{"load"}, From: time.Second, To: 1005 * time.Millisecond}, got.Phases[1])
		assert.Equal(t, 1990*time.Millisecond, got.Phases[2].To, "it says when it ended")
	})
}

// Where another process does the work, its clock says whether that lasted as long as it was
// to, although ours has not come to that yet.
func TestWorkElsewhereThatLastedItsTimeEndedByThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for ended, want := range map[time.Duration]bool{3 * time.Second: true, 2800 * time.Millisecond: false} {
			away := newElsewhere()
			r := start(t, onePhase(3*time.Second, pool("p", workload.Settings{Threads: 1}, takes(time.Millisecond))), func(o *Options) { o.Remote = away })
			time.Sleep(2930 * time.Millisecond)
			away.mu.Lock()
			away.ended = ended
			away.mu.Unlock()
			close(away.over)
			_ = result(t, r)
			assert.Equal(t, want, r.ByDuration(), ended)
		}
	})
}

// An interrupt while figures are merged again ends the run.
func TestAnEngineThatCatchesUpCanBeInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := Start(ctx, Options{
			Plan: onePhase(time.Hour, pool("p", workload.Settings{Threads: 2}, takes(time.Millisecond))), Classify: classify, Classes: classes,
			Remote: newElsewhere(), Past: &Restored{Began: time.Now(), Notes: []Note{{Phase: "main"}}, Reread: make(chan struct{}), Upto: func() int64 { return 0 }},
		})
		require.NoError(t, err)
		cancel()
		_, err = r.Wait()
		assert.ErrorIs(t, err, context.Canceled)
	})
}
