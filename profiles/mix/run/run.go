// Package run carries out a workload through an adapter: it chooses operations and records,
// makes values, checks what is read as it is read, and compares at the end what is stored
// with what was acknowledged.
package run

import (
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// Spec is what a run is to do.
type Spec struct {
	Work *model.Workload
	Seed int64
	// Load is one of the words below, LoadThreads how many clients load.
	Load        string
	LoadThreads int
	// Stake is this process's part.
	Stake workload.Stake
	// Wrap means that loading begins again after the last record. Payload, unless 0, is how
	// many bytes each value has that is loaded.
	Wrap    bool
	Payload int
	// Count is how many operations there are; 0: as many as time allows.
	Count int64
	// Check is histories.Check or empty.
	Check string
}

// Words of Spec.Load: what is missing is loaded first; nothing is done but that, and it is
// measured; nothing is loaded.
const (
	LoadAuto = "auto"
	LoadOnly = "only"
	LoadSkip = "skip"
)

// Run is a workload at work on one store: what its clients have in common. It is safe for use by several goroutines.
type Run struct {
	*found
	work    *model.Workload
	spec    *Spec
	layer   *model.Adapter
	conn    store.Conn
	seed    uint64
	origin  uint32
	forgets bool
	sets    []*set
	// tickets are those of each step whose keys are in sequence.
	tickets []tickets
	tallies tallies
	stake   workload.Stake
	loader  *loader
	there   there
	// payloads are those that somebody has set while the run went on. payloadChanged is called in a
	// goroutine of its own after one of them came to be.
	payloads       datagen.Sizes
	payloadChanged func()
	others         *workload.Each[progressDelta]
	// histories are those of hot records; nil: none are kept.
	histories *hotHistory
}

// New returns a run of a workload on the store of conn.
func New(s *Spec, l *model.Adapter, conn store.Conn, runID string) *Run {
	r := &Run{work: s.Work, spec: s, layer: l, conn: conn, seed: mix(uint64(s.Seed)), stake: s.Stake, forgets: store.Forgets(conn), found: &found{}}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, runID, s.Stake.Process, s.Stake.Again) // never fails
	r.origin = uint32(mix(h.Sum64()))&datagen.MostOrdinal | 1
	for i := range s.Work.Data {
		d := &s.Work.Data[i]
		r.sets = append(r.sets, &set{Data: d, at: i, columns: d.Columns(), content: content{d.Compressible}, seed: seedOf(s.Seed, d.Name), base: d.Records, absent: s.Work.Expires(d)})
	}
	steps := 0
	for i := range s.Work.Operations {
		steps += len(s.Work.Operations[i].Steps)
	}
	r.tickets = make([]tickets, steps)
	r.loader = newLoader(r)
	n := len(r.sets)
	r.there.Loaded, r.there.Base, r.there.Sums, r.there.Open = make([]int64, n), make([]int64, n), make([]int64, n), make([]bool, n)
	r.there.resizes = make([]bool, n)
	for i, s := range r.sets {
		r.there.Base[i] = s.Records
		s.absent = s.absent || r.stake.Of > 1 && r.uses(s, model.Delete)
	}
	r.others = workload.EachOf(r.progress, r.sound)
	return r
}

// seedOf returns the seed of all choices among the records of a data set.
func seedOf(seed int64, name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return int64(mix(uint64(seed) ^ h.Sum64()))
}

// begin makes room for what is followed, once it is known how many records there are.
func (r *Run) begin() {
	for _, s := range r.sets {
		written := slices.ContainsFunc(r.work.Operations, func(o model.Operation) bool {
			return slices.ContainsFunc(o.Steps, func(st model.Step) bool { return st.Data == s.Name && (st.Do.Writes() || st.Fill) })
		})
		s.track(written && !r.forgets)
	}
	if r.spec.Check == histories.Check && !r.forgets {
		r.follow()
	}
}

// before reports whether a version is older than one of this process that was acknowledged
// before it was read.
func (r *Run) before(v datagen.Version, floor uint32) bool {
	switch {
	case v.Origin() == r.origin:
		return v.Ordinal() < floor
	case v == 0:
		return true // it was loaded before
	}
	return r.stake.Of <= 1 && r.stake.Again == 0 // of an earlier run; otherwise another process may have written it later
}

// tally is what one client has found. Only the client writes it; anybody may read it.
type tally struct {
	hits, misses, early atomic.Int64
	// again counts the transactions that were tried again.
	again atomic.Int64
	// bytesRead are those of the values of records that were found, and bytesWritten those of the
	// values in writes that were acknowledged.
	bytesRead, bytesWritten atomic.Int64
	_                       [16]byte
}

// tallies are those of all clients.
type tallies struct {
	mu  sync.Mutex
	all []*tally
	// others is what other processes told, and what gather has moved here.
	others tally
}

// of returns the tally of one more client.
func (t *tallies) of() *tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := &tally{}
	t.all = append(t.all, one)
	return one
}

// sums returns what all clients have found.
func (t *tallies) sums() (sum sums) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sum.add(&t.others)
	for _, one := range t.all {
		sum.add(one)
	}
	return sum
}

// sums are what tallies come to.
type sums struct{ hits, misses, early, again, bytesRead, bytesWritten int64 }

func (s *sums) add(t *tally) {
	s.hits, s.misses, s.early, s.again = s.hits+t.hits.Load(), s.misses+t.misses.Load(), s.early+t.early.Load(), s.again+t.again.Load()
	s.bytesRead, s.bytesWritten = s.bytesRead+t.bytesRead.Load(), s.bytesWritten+t.bytesWritten.Load()
}

// numbers are the counters of a tally.
func (t *tally) numbers() []*atomic.Int64 {
	return []*atomic.Int64{&t.hits, &t.misses, &t.early, &t.again, &t.bytesRead, &t.bytesWritten}
}

// notePayload notes the payload that is in force, if somebody has changed it.
func (r *Run) notePayload(n int) {
	if n == r.spec.Payload || slices.Contains(r.payloads.All(), n) {
		return
	}
	r.payloads.Note(n)
	if r.payloadChanged != nil {
		fault.Go(r.payloadChanged) // one call of the store, and no more than there are payloads
	}
}

// found is what was found wrong in what was read.
type found struct {
	wrongs, losts, stales atomic.Int64
	// allowed are further such reads, which the store may answer so.
	allowed atomic.Int64
	// ones are the records of which something acknowledged was lost, each counted once: not there
	// when somebody read them, or with an older value when they were read back at the end.
	ones atomic.Int64
	// read counts the records that were read back at the end, unread those that were not although
	// they must be there.
	read, unread atomic.Int64
	// readFound counts those of read that were there.
	readFound atomic.Int64
	// stored and absent count the inserts without an answer whose records are there, and are not.
	stored, absent atomic.Int64
	// settled means that they were.
	settled atomic.Bool

	mu       sync.Mutex
	examples []string
	// broken says why not all could be read back.
	broken string
}

const maxExamples = 10

// badData is the error of a read whose answer is not what was written. Its text is short,
// so that there are few different ones: what was wrong is among the examples.
type badData string

// Error says what is wrong.
func (b badData) Error() string { return string(b) }

const (
	errWrong      = badData("what was read is not what was written")
	errUnexpected = badData("a statement was not answered as expected")
	errStale      = badData("what was read is older than what was acknowledged before")
)

func (f *found) example(s *set, key []byte, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.examples) < maxExamples {
		f.examples = append(f.examples, fmt.Sprintf("%s %s: %s", s.Name, key, why))
	}
}

// wrong notes a value that is not what was written.
func (f *found) wrong(s *set, key []byte, why error) error {
	f.wrongs.Add(1)
	f.example(s, key, why.Error())
	return errWrong
}

// unexpected notes an answer to a statement that is not the one that it must have.
func (f *found) unexpected(text, want, got string) error {
	f.wrongs.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.examples) < maxExamples {
		f.examples = append(f.examples, fmt.Sprintf("%s: expected %s, found %s", text, want, got))
	}
	return errUnexpected
}

// lost notes a record that should be there, and returns store.ErrLost.
func (f *found) lost(s *set, key []byte) error {
	f.losts.Add(1)
	f.example(s, key, "acknowledged but missing")
	return store.ErrLost
}
