package pbm

import (
	"time"

	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/measure"
)

// Facts is the record of mode=pbm in run.json. See docs/tx-pbm.md.
type Facts struct {
	Schema int    `json:"schema"`
	Mode   string `json:"mode"`
	// Zone is the abbreviation of the local time zone in which the document writes
	// its times.
	Zone          string     `json:"zone"`
	Prefix        string     `json:"prefix"`
	MemberSetSize int64      `json:"member_set_size"`
	Layout        string     `json:"layout"`
	Atomic        string     `json:"atomic"`
	TestCount     int64      `json:"test_count"`
	IntervalMS    int64      `json:"test_interval_ms"`
	Loaded        loadFacts  `json:"loaded"`
	Maps          []MapFacts `json:"maps"`
	// Linearizable is what became of --check linearizable; absent without, and until the end.
	Linearizable *histories.Outcome `json:"linearizable,omitempty"`
}

// MapFacts is the outcome for one map. Counts and times are of the measured part.
type MapFacts struct {
	Map string `json:"map"`
	// TestCase is the word printed in the document, Op what was actually done.
	TestCase        string `json:"test_case"`
	Op              string `json:"op"`
	TotalEntryCount int64  `json:"total_entry_count"`
	PerThread       int64  `json:"entries_per_thread"`
	ThreadCount     int    `json:"thread_count"`
	BatchSize       int    `json:"batch_size"`
	// Started and Stopped are the start of the first operation, and the end of the last
	// one or of the pause after it; absent before there were any.
	Started *time.Time `json:"started,omitempty"`
	Stopped *time.Time `json:"stopped,omitempty"`
	// Done counts acknowledged operations, Missing those of them that found nothing,
	// and Failed those that failed.
	Done    int64 `json:"done"`
	Missing int64 `json:"missing"`
	Failed  int64 `json:"failed"`
	// Conflicts counts attempts that conflicted with another transaction and were
	// repeated; GaveUp counts transactions that conflicted at every attempt.
	Conflicts int64 `json:"conflicts"`
	GaveUp    int64 `json:"gave_up"`
	// ThreadMS is the time of each thread's loops over all runs, in milliseconds,
	// thread 1 first.
	ThreadMS       []int64 `json:"thread_ms"`
	ThreadsChanged bool    `json:"threads_changed,omitempty"`
}

// Facts returns the record of what has been done so far.
func (b *run) Facts(*measure.Result) any {
	b.mu.Lock()
	loaded := b.loaded
	b.mu.Unlock()
	f := &Facts{
		Schema: 1, Mode: Mode, Prefix: b.s.prefix, MemberSetSize: b.s.members, Layout: b.s.layout, Atomic: b.s.atomic,
		TestCount: b.s.testCount, IntervalMS: b.s.interval.Milliseconds(), Loaded: loaded, Maps: []MapFacts{},
	}
	f.Zone, _ = time.Now().Zone()
	for _, w := range b.works {
		f.Maps = append(f.Maps, w.facts())
		if w.hot != nil {
			f.Linearizable = w.hot.Found()
		}
	}
	return f
}

func (w *work) facts() MapFacts {
	m := w.m
	f := MapFacts{Map: m.name, TestCase: m.word, Op: m.op, TotalEntryCount: m.total, PerThread: m.per, ThreadCount: m.start.Threads, BatchSize: m.batch}
	r := w.Record(func(c *counts) {
		f.Missing += c.missing.Load()
		f.Conflicts += c.conflicts.Load()
		f.GaveUp += c.gaveUp.Load()
	})
	f.Done, f.Failed, f.Started, f.Stopped = r.Done, r.Failed, r.Started, r.Stopped
	f.ThreadMS, f.ThreadsChanged = r.ThreadMS, r.ThreadsChanged
	return f
}
