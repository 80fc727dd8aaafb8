package workbench

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// mostTurns is how many changes may wait to be told; refusedFor is how long the screen says
// why one was not made.
const (
	mostTurns  = 64
	refusedFor = 6 * time.Second
)

// access is what a screen has of the run: its knobs, too, if its folder is on this machine.
func (r *watchedRun) access() screen.Access {
	a := screen.Access{Run: r}
	if _, ok := r.w.(*crew.LocalWatcher); ok {
		a.Control = besideControl{r}
	}
	return a
}

// tell tells the run of a change.
func (r *watchedRun) tell(ctx context.Context, c crew.Change) {
	w, ok := r.w.(*crew.LocalWatcher)
	err := errors.New("only a run whose folder is on this machine is changed from beside")
	if ok {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		err = w.Change(ctx, c)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.untold--
	r.told = time.Now()
	if err != nil {
		r.refused, r.refusedAt, r.told = err.Error(), time.Now(), time.Time{}
	}
}

// besideControl turns the knobs of a run that another process of this machine drives.
type besideControl struct{ r *watchedRun }

// Change has the run told, and shows at once what it asks for.
func (c besideControl) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	r := c.r
	from := r.Settings(track)
	to := f(from)
	if from == to || !c.send(crew.Change{By: by, Track: track, From: from, To: to}) {
		return
	}
	tracks := r.plan.Tracks()
	after := make([]workload.Settings, len(tracks))
	for i := range after {
		after[i] = r.Settings(i)
	}
	for _, k := range r.plan.Knobs {
		if v := k.Get(to); v != k.Get(from) {
			after = workload.Turned(tracks, after, track, k, v)
		}
	}
	for i := range after {
		if track == workload.AllTracks || track == i {
			after[i].Paused, after[i].Coming = to.Paused, to.Coming
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	next := *r.now
	next.Settings = slices.Clone(after)
	r.now = &next
	if track == workload.AllTracks {
		r.totals = &to
	} else {
		r.totals = nil
	}
}

// send puts a change into the queue; false: it is full, and the change is dropped.
func (c besideControl) send(change crew.Change) bool {
	c.r.mu.Lock()
	defer c.r.mu.Unlock()
	select {
	case c.r.turns <- change:
		c.r.untold++
		return true
	default:
		c.r.refused, c.r.refusedAt = "the run does not answer", time.Now()
		return false
	}
}

// Room leaves it to the run, which refuses what there is no room for.
func (besideControl) Room([]workload.Settings) error { return nil }

var errElsewhere = errors.New("faults are begun where the run was, and end with it")

func (besideControl) Faults() (ready, breakable []string, err error) {
	return nil, nil, errElsewhere
}
func (besideControl) CanBreak(string, time.Duration) error      { return errElsewhere }
func (besideControl) Break(string, string, time.Duration) error { return errElsewhere }
func (c besideControl) Mark(at time.Duration, note string) {
	c.send(crew.Change{Track: workload.AllTracks, Mark: note, MarkAt: &at})
}
