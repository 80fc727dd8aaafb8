package workbench

import (
	"context"
	"errors"
	"sync"

	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// searches are those made on a run.
type searches struct {
	run *benchRun

	mu   sync.Mutex
	last *screen.Search
	// end ends the one under way, over is closed when it has; nil before the first.
	end  context.CancelFunc
	over chan struct{}
}

func (s *searches) show(now screen.Search) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = &now
}

// wait waits until no search is under way, and returns what the last one found; nil
// without one.
func (s *searches) wait() *find.Result {
	s.mu.Lock()
	over := s.over
	s.mu.Unlock()
	if over == nil {
		return nil
	}
	<-over
	s.mu.Lock()
	defer s.mu.Unlock()
	return &s.last.Result
}

// CanFind says why a search on a run that has not started is not possible.
func (s starter) CanFind(ctx context.Context, r request.Request, a find.Asked) error {
	p, err := s.requests.prepare(ctx, s.requests.endless(r))
	if err != nil {
		return err
	}
	_, err = experiment.PrepareSearch(a, p, 0)
	return err
}

func (s *searches) CanSearch(a find.Asked) error {
	_, err := experiment.PrepareSearch(a, s.run.p, 0)
	return err
}

func (s *searches) Search(a find.Asked) error {
	r := s.run
	l := r.running()
	if l == nil {
		return fault.Input(errors.New("the run has not begun"), "wait for its first second")
	}
	o, err := experiment.PrepareSearch(a, r.p, l.Elapsed())
	if err != nil {
		return err
	}
	if now := s.Found(); now != nil && now.Going {
		return fault.Input(errors.New("a search is already running"), "end it first")
	}
	before := make([]workload.Settings, len(r.p.Plan.Tracks()))
	for i := range before {
		before[i] = l.Settings(i)
	}
	ctx, end := context.WithCancel(r.hard)
	over := make(chan struct{})
	now := screen.Search{Going: true, Result: find.Result{Over: o.Over.Name, Unit: r.info.Unit, Under: a.Under}}
	s.show(now)
	s.mu.Lock()
	s.end, s.over = end, over
	s.mu.Unlock()
	fault.Go(func() { // ends with the run, at the latest
		defer close(over)
		defer end()
		defer func() {
			if v := recover(); v != nil {
				s.show(screen.Search{Result: find.Result{Over: now.Over, Unit: now.Unit, Under: now.Under, Steps: now.Steps, Why: r.from.bug(v).Error()}})
			}
		}()
		o.Trying = func(t find.Trying) {
			now.Trying = &t
			s.show(now)
		}
		result := experiment.Search(ctx, l, o, func(step find.Step, _ string) {
			now.Steps = append(now.Steps, step)
			s.show(now)
		})
		if ctx.Err() == nil {
			l.Stop(session.Reached("search"))
		} else {
			for i, was := range before {
				l.Change(measure.BySearch, i, func(is workload.Settings) workload.Settings {
					is.Threads, is.Rate = was.Threads, was.Rate
					return is
				})
			}
		}
		s.show(screen.Search{Result: *result})
	})
	return nil
}

func (s *searches) EndSearch() {
	s.mu.Lock()
	end := s.end
	s.mu.Unlock()
	if end != nil {
		end()
	}
}

func (s *searches) Found() *screen.Search {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
