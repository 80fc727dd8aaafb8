package ingestion

import (
	"time"

	"github.com/perfbench/perfbench/internal/measure"
)

// Facts is the profile's record in run.json: what the document needs beyond what every
// run has. See docs/ingestion.md.
type Facts struct {
	Schema int `json:"schema"`
	// Zone is the abbreviation of the local time zone in which the document writes
	// its times.
	Zone          string `json:"zone"`
	Prefix        string `json:"prefix"`
	MemberSetSize int64  `json:"member_set_size"`
	Layout        string `json:"layout"`
	TestCount     int64  `json:"test_count"`
	IntervalMS    int64  `json:"test_interval_ms"`
	// BaseMS is the date from which eligibility keys count, in Unix milliseconds.
	BaseMS int64      `json:"base_date_ms"`
	Maps   []MapFacts `json:"maps"`
}

// MapFacts is the outcome for one map. Counts and times are of the measured part.
type MapFacts struct {
	Map string `json:"map"`
	// TestCase is the word printed in the document; Batched is what was actually done.
	TestCase string `json:"test_case"`
	Batched  bool   `json:"batched"`
	// TotalEntryCount to PayloadBytes are as configured.
	TotalEntryCount int64 `json:"total_entry_count"`
	PerThread       int64 `json:"entries_per_thread"`
	ThreadCount     int   `json:"thread_count"`
	BatchSize       int   `json:"batch_size"`
	PayloadBytes    int   `json:"payload_bytes"`
	// Started and Stopped are the start of the first operation, and the end of the last
	// one or of the pause after it; absent before there were any.
	Started *time.Time `json:"started,omitempty"`
	Stopped *time.Time `json:"stopped,omitempty"`
	// Acknowledged and Failed count entries; Attempted is both, plus those whose fate
	// is unknown.
	Attempted    int64 `json:"entries_attempted"`
	Acknowledged int64 `json:"entries_acknowledged"`
	Failed       int64 `json:"entries_failed"`
	// ThreadMS is the time of each thread's loops over all runs, in milliseconds,
	// thread 1 first.
	ThreadMS []int64 `json:"thread_ms"`
	// ThreadsChanged means that the number of threads was changed during the run, so a
	// thread may have written parts of other threads' shares.
	ThreadsChanged bool `json:"threads_changed,omitempty"`
	// Existed means that an earlier run made the map, so --cleanup leaves it.
	Existed bool `json:"existed,omitempty"`
}

// Facts returns the record of what has been done so far.
func (b *binding) Facts(*measure.Result) any {
	s := b.s
	f := Facts{
		Schema: 1, Prefix: s.prefix, MemberSetSize: s.members, Layout: s.layout(),
		TestCount: s.testCount, IntervalMS: s.interval.Milliseconds(), BaseMS: s.base, Maps: []MapFacts{},
	}
	f.Zone, _ = time.Now().Zone()
	for _, l := range b.loads {
		f.Maps = append(f.Maps, l.facts())
	}
	return f
}

func (l *load) facts() MapFacts {
	m := l.m
	f := MapFacts{
		Map: m.name, TestCase: m.word, Batched: m.putAll, TotalEntryCount: m.total, PerThread: m.per,
		ThreadCount: m.start.Threads, BatchSize: m.batch, PayloadBytes: m.start.Payload,
	}
	r := l.work.Record(func(c *counts) { f.Attempted += c.attempted.Load() })
	f.Acknowledged, f.Failed, f.Started, f.Stopped = r.Done, r.Failed, r.Started, r.Stopped
	f.ThreadMS, f.ThreadsChanged = r.ThreadMS, r.ThreadsChanged
	l.mu.Lock()
	defer l.mu.Unlock()
	f.Existed = l.existed
	return f
}
