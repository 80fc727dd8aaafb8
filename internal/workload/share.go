package workload

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Divide leaves in a track the threads that process i of n has, of all of them, each of
// which has a share of the work: those that follow the threads of the processes before it.
// It returns which shares these are, the last one excluded. what names the track's work in
// an error, least is the --threads that would do.
func Divide(t *Track, what string, all, i, n, least int) (from, to int, err error) {
	if all < n {
		return 0, 0, fault.Hint(fmt.Errorf("%s has %s and there are %d workers: each needs one at least", what, units.Plural(all, "thread"), n), fmt.Sprintf("use --threads %d or more, or fewer workers", least))
	}
	from, to = Stretch(all, n, i)
	t.First, t.Start.Threads = from, to-from
	t.Start.Rate *= float64(to-from) / float64(all)
	return from, to, nil
}

// Own gives p phases and tracks of its own, which it does not share with a copy of it.
func Own(p *Plan) {
	p.Phases = slices.Clone(p.Phases)
	for i := range p.Phases {
		p.Phases[i].Tracks = slices.Clone(p.Phases[i].Tracks)
	}
}

// Stretch is which of all shares process i of n has, the last one excluded.
func Stretch(all, n, i int) (from, to int) {
	for before := range i {
		from += Split(all, n, before)
	}
	return from, from + Split(all, n, i)
}

// Stake is which of the workers of a track process Process of Of has: those from From on,
// before To, of All that there are at the start.
type Stake struct{ Process, Of, From, To, All int }

// Number is what a worker of the track, as NewTask has it, is called among those of all
// processes, so that no two have one number: those that are added later have numbers by
// turns. The zero Stake is that of one process, whose workers are called as they are.
func (s *Stake) Number(worker int) int {
	if s.Of == 0 || worker < s.To {
		return worker
	}
	return s.All + (worker-s.To)*s.Of + s.Process
}

// Ledger writes what a process tells of its part of a run, plain data, for ReadLedger.
func Ledger(told any) []byte {
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(told); err != nil {
		panic(err) // plain data, into memory
	}
	return out.Bytes()
}

// ErrAnotherRun says of what Ledger wrote that it does not fit the plan that is to take it in.
var ErrAnotherRun = errors.New("it is the record of another run")

// ReadLedger reads what Ledger wrote into told, a pointer.
func ReadLedger(ledger []byte, told any) error {
	if err := gob.NewDecoder(bytes.NewReader(ledger)).Decode(told); err != nil {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	return nil
}
