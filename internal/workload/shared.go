package workload

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
)

// Shared is what the processes that carry out a plan together share of its state. A Connector
// registers what there is, in the same order in each of them, and the platform does the rest:
//
//	Share          what becomes of the work goes from those that do it to the one that has the whole
//	Pass           what a lost process has left goes to another
//	Found, Keep    what the one that prepared the run knows goes to the workers, and to whoever takes its place
//
// All of it is sent as gob, and what another process told is read within bounds; see bounded.
type Shared struct {
	state []merging
	works []work
	// found and kept are variables.
	found, kept []guarded
	losers      []func(Process)
	lost        atomic.Bool
	again       []int // how often each part was handed over, by its number
}

// Process is one of those that share a run.
type Process struct {
	// Number is its own among all that there have been. Part is its part of the work, of Of: whoever
	// finishes that of a lost one has the same. Again is how many had that part before.
	Number, Part, Of, Again int
}

// Mergeable is state that is told of and merged: Bits, Counters, a profile's record of its work.
type Mergeable[T any] interface {
	// Delta returns what is new since the last call, or how it stands. One goroutine at a time calls it.
	Delta() T
	// Merge takes in what a process told; false: no process of this run can have done so. T has tags
	// for what may be told; see bounded.
	Merge(from Process, news T) bool
}

// Work is what another process can finish when that which had it is lost.
type Work[R any] interface {
	// Left tells what is left of the part of a lost process, which is not credited with anything from then
	// on. It is called where the whole is. did is what figures contain of that part, of each operation
	// that it was registered with: whatever they do not contain is done again, or as much of it.
	Left(of Process, did []Did) R
	// Inherit takes over the rest of a part, in a plan that was divided for the same part, before it
	// begins. again is how many had it before. false: it is of another run.
	Inherit(rest R, again int) bool
}

// Did is what became of the calls of an operation: the units that succeeded, the calls that were
// timed, and those that failed.
type Did struct{ Units, Timed, Failed int64 }

// merging is a Mergeable whose type is known to what is in it.
type merging struct {
	write func(*gob.Encoder) error
	read  func(*gob.Decoder) (take func(Process) bool, err error)
}

// work is a Work likewise, of operations of a track.
type work struct {
	track   int
	ops     []int
	left    func(*gob.Encoder, Process, []Did) error
	inherit func(d *gob.Decoder, again int) (bool, error)
}

// guarded are pointers to variables, which guard guards; nil: nothing does.
type guarded struct {
	guard sync.Locker
	vars  []any
}

// Share registers state.
func Share[T any](s *Shared, m Mergeable[T]) {
	one := merging{
		write: func(e *gob.Encoder) error { return e.Encode(m.Delta()) },
		read: func(d *gob.Decoder) (func(Process) bool, error) {
			var news T
			if err := d.Decode(&news); err != nil {
				return nil, unreadable(err)
			}
			return func(from Process) bool { return m.Merge(from, news) }, bounded(reflect.ValueOf(&news).Elem(), "it", "")
		},
	}
	s.state = append(s.state, one)
}

// WhenLost registers what is to be done when a process has gone before it told everything: any of
// its part may have been attempted.
func (s *Shared) WhenLost(lose func(of Process)) { s.losers = append(s.losers, lose) }

// Pass registers work of a track whose figures are those of these operations of it.
func Pass[R any](s *Shared, track int, w Work[R], ops ...int) {
	s.works = append(s.works, work{
		track: track, ops: ops,
		left: func(e *gob.Encoder, of Process, did []Did) error { return e.Encode(w.Left(of, did)) },
		inherit: func(d *gob.Decoder, again int) (bool, error) {
			var rest R
			if err := d.Decode(&rest); err != nil {
				return false, unreadable(err)
			}
			return w.Inherit(rest, again), nil
		},
	})
}

// Found registers variables, by pointers to them, that Admit and Setup fill in and the work
// depends on. Each process that carries out a part has them before it is a Joiner's turn, and so has one
// that takes the place of the one that prepared the run. guard, unless nil, guards them.
func (s *Shared) Found(guard sync.Locker, vars ...any) {
	s.found = append(s.found, guarded{guard, vars})
}

// Keep registers variables like Found that only the end of the run depends on: those that
// carry out parts do not have them.
func (s *Shared) Keep(guard sync.Locker, vars ...any) {
	s.kept = append(s.kept, guarded{guard, vars})
}

// Empty reports whether nothing can be told: the work is that of one process.
func (s *Shared) Empty() bool { return s == nil || len(s.state) == 0 }

// Delta returns what became of the work in this process since the last call.
func (s *Shared) Delta() []byte {
	return encoded(func(e *gob.Encoder) (err error) {
		for _, m := range s.state {
			err = errors.Join(err, m.write(e))
		}
		return err
	})
}

// ErrAnotherRun means that what another process told does not fit the plan that is to take it in.
var ErrAnotherRun = errors.New("it is the record of another run")

// Merge takes in what another process told, which may mean harm. It takes none of it unless all
// can be read and is within bounds.
func (s *Shared) Merge(from Process, told []byte) error {
	in := bytes.NewReader(told)
	d := gob.NewDecoder(in)
	var takes []func(Process) bool
	for _, m := range s.state {
		take, err := m.read(d)
		if err != nil {
			return err
		}
		takes = append(takes, take)
	}
	if in.Len() > 0 {
		return ErrAnotherRun
	}
	for _, take := range takes {
		if !take(from) {
			return ErrAnotherRun
		}
	}
	return nil
}

// Lose says that a process has gone before it told everything.
func (s *Shared) Lose(of Process) {
	s.lost.Store(true)
	for _, lose := range s.losers {
		lose(of)
	}
}

// Lost reports whether a process has gone before it told everything. Any goroutine may call it.
func (s *Shared) Lost() bool { return s != nil && s.lost.Load() }

// left tells what is left of the part of a lost process; did is what the figures contain of an
// operation of a track.
func (s *Shared) left(of Process, did func(track, op int) Did) []byte {
	for len(s.again) <= of.Part {
		s.again = append(s.again, 0)
	}
	s.again[of.Part]++
	return encoded(func(e *gob.Encoder) error {
		err := e.Encode(s.again[of.Part])
		for _, w := range s.works {
			var all []Did
			for _, op := range w.ops {
				all = append(all, did(w.track, op))
			}
			err = errors.Join(err, w.left(e, of, all))
		}
		return err
	})
}

// TakeOver has each Work inherit what Plan.Left told of it.
func (s *Shared) TakeOver(rest []byte) error {
	d, again := gob.NewDecoder(bytes.NewReader(rest)), 0
	if err := d.Decode(&again); err != nil {
		return unreadable(err)
	}
	for _, w := range s.works {
		if ok, err := w.inherit(d, again); err != nil || !ok {
			return errors.Join(err, map[bool]error{true: ErrAnotherRun}[err == nil])
		}
	}
	return nil
}

// Findings are what the variables of Found hold, for Adopt.
func (s *Shared) Findings() []byte { return values(s.found) }

// Adopt fills in what Findings returned in another process.
func (s *Shared) Adopt(findings []byte) error { return restore(s.found, findings) }

// Kept are what the variables of Found and of Keep hold, for Restore.
func (s *Shared) Kept() []byte { return values(append(s.found[:len(s.found):len(s.found)], s.kept...)) }

// Restore fills in what Kept returned in another process.
func (s *Shared) Restore(kept []byte) error {
	return restore(append(s.found[:len(s.found):len(s.found)], s.kept...), kept)
}

// values encodes what variables hold.
func values(all []guarded) []byte {
	return encoded(func(e *gob.Encoder) (err error) {
		for _, g := range all {
			g.do(func(v any) { err = errors.Join(err, e.Encode(v)) })
		}
		return err
	})
}

// restore reads what values encoded. An empty variable that was not empty is so again.
func restore(all []guarded, data []byte) (err error) {
	d := gob.NewDecoder(bytes.NewReader(data))
	for _, g := range all {
		g.do(func(v any) {
			was := reflect.ValueOf(v).Elem()
			now := reflect.New(was.Type())
			if err != nil {
				return
			}
			if err = d.DecodeValue(now); err == nil {
				was.Set(now.Elem())
			}
		})
	}
	if err != nil {
		return unreadable(err)
	}
	return nil
}

// do calls f for each variable, guarded.
func (g *guarded) do(f func(v any)) {
	if g.guard != nil {
		g.guard.Lock()
		defer g.guard.Unlock()
	}
	for _, v := range g.vars {
		f(v)
	}
}

// encoded is what write writes. It is plain data, into memory, which cannot fail.
func encoded(write func(*gob.Encoder) error) []byte {
	var out bytes.Buffer
	if err := write(gob.NewEncoder(&out)); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func unreadable(err error) error { return fmt.Errorf("it cannot be read: %w", err) }
