package ingestion

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"slices"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Share gives process i of n its loaders: those that follow the loaders of the processes
// before it, with the shares of keys that they would have in one process.
func (s *spec) Share(p *workload.Plan, i, n int) error {
	q := *s
	q.maps = slices.Clone(s.maps)
	p.Phases = slices.Clone(p.Phases)
	p.Phases[0].Tracks = slices.Clone(p.Phases[0].Tracks)
	for k := range q.maps {
		m, t := &q.maps[k], &p.Phases[0].Tracks[k]
		all := len(m.shares)
		if all < n {
			return fault.Hint(fmt.Errorf("map %s has %s and there are %d workers: each needs one at least", m.name, threads(all), n), fmt.Sprintf("use --threads %d or more, or fewer workers", n*len(q.maps)))
		}
		m.from, m.to = stretch(all, n, i)
		t.First, t.Start.Threads = m.from, m.to-m.from
		t.Start.Rate *= float64(m.to-m.from) / float64(all)
	}
	p.Binder = &q
	return nil
}

// stretch is which of all shares process i of n has, the last one excluded.
func stretch(all, n, i int) (from, to int) {
	for before := range i {
		from += workload.Split(all, n, before)
	}
	return from, from + workload.Split(all, n, i)
}

// lost takes all that process i of n was to write for attempted.
func (b *binding) lost(i, n int) {
	for _, l := range b.loads {
		from, to := stretch(len(l.m.shares), n, i)
		l.work.Lost(from, to)
	}
}

func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}

// told is what a process tells of its part of one map.
type told struct {
	Work  padogrid.Told
	Sizes []int
	Marks []words
}

// ledger tells what became of the part since the last call.
func (b *binding) ledger() []byte {
	var all []told
	for _, l := range b.loads {
		all = append(all, told{
			l.work.Tell(func(c *counts) int64 { return c.attempted.Load() }), l.sizesUsed(), l.acked.tell(),
		})
	}
	var out bytes.Buffer
	if err := gob.NewEncoder(&out).Encode(all); err != nil {
		panic(err) // plain data, into memory
	}
	return out.Bytes()
}

var errNotOurs = errors.New("ingestion: the record of another run")

// credit takes in what another process has told.
func (b *binding) credit(ledger []byte) error {
	var all []told
	if err := gob.NewDecoder(bytes.NewReader(ledger)).Decode(&all); err != nil {
		return fmt.Errorf("ingestion: read the record of a worker: %w", err)
	}
	if len(all) != len(b.loads) {
		return errNotOurs
	}
	for i, l := range b.loads {
		ok := l.work.Credit(all[i].Work, func(c *counts, more int64) { c.attempted.Add(more) }) && l.acked.credit(all[i].Marks)
		if !ok {
			return errNotOurs
		}
		for _, size := range all[i].Sizes {
			l.noteSize(size)
		}
	}
	return nil
}
