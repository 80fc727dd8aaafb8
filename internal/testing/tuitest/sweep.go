package tuitest

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/screen"
)

// NewSweep returns a sweep over threads, twice each, of which done runs are finished,
// on a store whose throughput levels off at 16 threads.
func NewSweep(done int, ids ...string) sweep.Result {
	r := sweep.Result{
		Schema: sweep.Schema, Asked: "digest", Profile: "ingestion", Target: "redis://127.0.0.1:6379", Unit: "entries", Rounds: 2, Runs: []sweep.Run{},
		Axes: []sweep.Axis{{Name: "threads", Values: strings.Split("1,2,4,8,16,32,64", ",")}},
	}
	for i := range done {
		point := i * 3 % 7
		n, _ := strconv.ParseFloat(r.Axes[0].Values[point], 64) // it is a number
		x := 1000 * n / (1 + 0.04*(n-1) + 0.0015*n*(n-1)) * (1 + 0.01*float64(i%5-2))
		id := "run-" + strconv.Itoa(i)
		if i < len(ids) {
			id = ids[i]
		}
		r.Runs = append(r.Runs, sweep.Run{Round: i / 7, Point: point, ID: id, Threads: n, Done: &x, P50: int64(1e9 * n / x), P99: int64(4e9 * n / x), Verdict: "VALID"})
	}
	if err := r.Settle(); err != nil {
		panic(err)
	}
	return r
}

// SweepRun is a sweep in progress that advances with Set.
type SweepRun struct {
	mu      sync.Mutex
	now     screen.SweepNow
	Stopped bool
	done    chan struct{}
}

// NewSweepRun returns one in the given state.
func NewSweepRun(now screen.SweepNow) *SweepRun {
	return &SweepRun{now: now, done: make(chan struct{})}
}

// Set sets its state.
func (s *SweepRun) Set(now screen.SweepNow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = now
}

// Now returns its state.
func (s *SweepRun) Now() screen.SweepNow {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Stop ends it at once.
func (s *SweepRun) Stop() {
	if !s.Stopped {
		s.Stopped = true
		close(s.done)
	}
}

// Kill ends it too.
func (s *SweepRun) Kill() { s.Stop() }

// Done is closed by Stop.
func (s *SweepRun) Done() <-chan struct{} { return s.done }

// Outcome returns an outcome with a summary.
func (s *SweepRun) Outcome() screen.Outcome { return screen.Outcome{Summary: "the sweep\n"} }

// CheckSweep asks Unswept, if there is one, and returns Foreseen.
func (b *Bench) CheckSweep(_ request.Request, asked sweep.Asked) (*sweep.Result, error) {
	if b.Unswept == nil {
		return b.Foreseen, nil
	}
	return b.Foreseen, b.Unswept(asked)
}

// CanSweep returns SweepErr.
func (b *Bench) CanSweep(request.Request, sweep.Asked) error { return b.SweepErr }

// Sweep returns the next sweep.
func (b *Bench) Sweep(r request.Request, asked sweep.Asked) (screen.SweepRun, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Started, b.Swept = append(b.Started, r), append(b.Swept, asked)
	return b.NextSweep, nil
}

// Sweeps returns the earlier ones.
func (b *Bench) Sweeps() []sweep.Kept { return b.PastSweeps }

// Groups returns what earlier runs came to that were repeated or compared.
func (b *Bench) Groups() []kept.Group { return b.PastGroups }

// LoadSweep reads one of them.
func (b *Bench) LoadSweep(id string) (*sweep.Kept, error) {
	for i := range b.PastSweeps {
		if b.PastSweeps[i].ID == id {
			return &b.PastSweeps[i], nil
		}
	}
	return nil, fmt.Errorf("sweep %s: not found", id)
}

// SweepPlan returns what asks for one of them again, which is Again.
func (b *Bench) SweepPlan(id string) (string, *request.Run, error) {
	return "results/" + id + "/" + sweep.PlanFile, b.Again, nil
}
