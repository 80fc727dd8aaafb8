package ingestion

import (
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// load is the work on one map and its record. Tasks share it; all of it is safe for use
// by several goroutines.
type load struct {
	s     *spec
	m     *mapSpec
	space store.Space
	work  *padogrid.Work[counts]
	acked *marks
	sizes datagen.Sizes // of values written

	mu      sync.Mutex
	existed bool  // the space was there before this run
	before  int64 // upper bound of the number of entries that were there
}

// counts is what a loader counts in addition to acknowledged and failed entries: all
// attempted ones, including those in progress, and those that had no answer, of the warm-up, too.
type counts struct{ attempted, unanswered atomic.Int64 }

func (c *counts) list() []*atomic.Int64 { return []*atomic.Int64{&c.attempted, &c.unanswered} }

func newLoad(s *spec, m *mapSpec) *load {
	job := padogrid.Job{Runs: s.runs(), Interval: s.interval, From: m.from, To: m.to}
	for _, sh := range m.shares {
		job.Shares = append(job.Shares, sh.Entries)
	}
	return &load{s: s, m: m, space: m.space(s), acked: newMarks(m), work: padogrid.NewWork[counts](job, nil, (*counts).list)}
}
