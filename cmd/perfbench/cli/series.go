package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/session"
)

// Series is runs that follow each other with the same workers, where there are to be any.
type Series struct {
	*Workers
	line *crew.Relay

	mu    sync.Mutex
	first *session.Prepared
}

// Series returns one that has no runs yet. The flags may be read later.
func (w *Workers) Series() *Series { return &Series{Workers: w, line: crew.NewLine()} }

// Of returns p, one of the runs, with workers where there are to be any. Errors are of input.
func (s *Series) Of(p *session.Prepared) (*session.Prepared, error) {
	if !s.Asked() || p == nil {
		return p, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first == nil {
		s.first = p
	}
	if a, b := s.first.Target, p.Target; a.Password != b.Password {
		err := fmt.Errorf("workers: %s and %s have different passwords, and a worker has one for all targets", a.Redacted(), b.Redacted())
		if a.Password == "" || b.Password == "" {
			err = errors.New("workers: some targets have a password and others none, and a worker has one for all")
		}
		return nil, fault.Field("workers", fault.Input(err, "give all targets the same password, or leave --workers out"))
	}
	return s.in(s.line, p)
}

// Follows says, before a run begins, whether workers are to wait for another after it.
func (s *Series) Follows(another bool) { s.line.Follows(another) }

// Close ends the series. Workers that wait for a run that does not come after all are told,
// unless ctx ends first.
func (s *Series) Close(ctx context.Context) { s.line.Close(ctx) }
