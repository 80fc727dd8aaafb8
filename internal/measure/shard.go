package measure

import (
	"math"
	"sync"
	"sync/atomic"
)

// Call is one finished operation. Times are nanoseconds since measurement
// began, negative during warm-up.
type Call struct {
	// Due is when it should have begun; equal to Start in a closed loop.
	Due, Start, End int64
	// Late is how much of the wait, Start − Due, is our own lateness: a worker was
	// free when the operation fell due but woke late, or it was still behind
	// because it had woken late before. The rest of the wait is backlog: all
	// workers were busy.
	Late int64
	// Spent is how much of its worker's time ended with the call: since the end of the last,
	// pause included. Those of a worker add up to the time up to its last call.
	Spent int64
	// Units is how many of the profile's units the operation covered.
	Units int32
	// Op is the index of the operation in the run's list.
	Op uint16
	// Segment is the segment in which it started.
	Segment uint16
	// Worker is the number of the worker within its track.
	Worker uint16
	// Class is the class of its error; 0: it succeeded.
	Class uint8
	// Opens means that it is the first of an iteration that fell due by the schedule of an
	// open loop.
	Opens bool
	// Again means that it failed and is tried again.
	Again bool
	// Warm means that its iteration began during warm-up, to which it belongs.
	Warm bool
}

const batchSize = 256

// none means that no operation is in progress.
const none = math.MinInt64

// batch is a block of samples on its way from one worker to the collector. The
// worker writes s[i] and then n; the collector reads n and then s[:n], so it may
// look into a batch that is still being filled.
type batch struct {
	n     atomic.Int32
	taken int32 // the collector's own count
	s     [batchSize]Call
}

// Shard takes the samples of one worker and belongs to that worker. Adding a
// sample costs one store to memory that no other core writes to; there are no
// locks and, once batches are being reused, no allocations.
type Shard struct {
	_     [64]byte
	own   *batch
	fill  int32
	in    *intake
	track int
	wait  int64 // what the collector reads of it
	again bool  // the operation is between two attempts
	_     [64]byte
	// Read by the collector: since when the operation in progress has been, how long it had
	// waited by then, and when one between two attempts was due.
	now    atomic.Pointer[batch]
	since  atomic.Int64
	waited atomic.Int64
	due    atomic.Int64
	_      [64]byte
}

// intake is the way of samples from workers to the collector: batches on their way, batches
// to be used again, and the shards that are being filled.
type intake struct {
	in   chan *batch
	free chan *batch
	log  *errorLog

	mu     sync.Mutex
	shards []*Shard
}

// Shard returns a new shard for a worker of a track. The worker must Close it.
func (in *intake) Shard(track int) *Shard {
	s := &Shard{in: in, track: track, own: in.fresh()}
	s.now.Store(s.own)
	s.since.Store(none)
	s.due.Store(none)
	in.mu.Lock()
	in.shards = append(in.shards, s)
	in.mu.Unlock()
	return s
}

// Add records one finished operation. It blocks only if 256 samples have gathered
// and the collector is far behind.
func (s *Shard) Add(v Call) {
	b := s.own
	b.s[s.fill] = v
	s.fill++
	b.n.Store(s.fill)
	if s.fill == batchSize {
		s.in.in <- b
		s.own, s.fill = s.in.fresh(), 0
		s.now.Store(s.own)
	}
}

// Started notes when the operation in progress was due and when this attempt at it began, for
// "oldest in flight".
func (s *Shard) Started(due, at int64) {
	if wait := at - due; wait != s.wait {
		s.wait = wait
		s.waited.Store(wait)
	}
	s.since.Store(at)
	if s.again {
		s.again = false
		s.due.Store(none)
	}
}

// Ended notes that no operation is in progress.
func (s *Shard) Ended() { s.since.Store(none) }

// Again notes that the operation that was due then has failed and will be tried again.
func (s *Shard) Again(due int64) {
	s.again = true
	s.due.Store(due)
}

// Failed returns the class of err and keeps its message if it is new.
func (s *Shard) Failed(op uint16, err error) uint8 { return s.in.log.note(op, err) }

// Newest returns when the newest operation in progress began, or math.MinInt64 if
// there is none.
func (in *intake) Newest() int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	at := int64(none)
	for _, s := range in.shards {
		at = max(at, s.since.Load())
	}
	return at
}

// Close hands over the remaining samples. The shard must not be used afterwards.
func (s *Shard) Close() {
	s.Ended()
	s.due.Store(none)
	s.in.in <- s.own
	s.now.Store(nil)
}

func (in *intake) fresh() *batch {
	select {
	case b := <-in.free:
		return b
	default:
		return new(batch)
	}
}

// recycle takes back a batch that has been read.
func (in *intake) recycle(b *batch) {
	b.taken = 0
	b.n.Store(0)
	select {
	case in.free <- b:
	default:
	}
}

// filling calls f for each batch that is being filled, and forgets the shards that are closed.
func (in *intake) filling(f func(*batch)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	live := in.shards[:0]
	for _, s := range in.shards {
		if b := s.now.Load(); b != nil {
			f(b)
			live = append(live, s)
		}
	}
	clear(in.shards[len(live):])
	in.shards = live
}

// calling calls f for each operation that has not ended, with its track, when it was due and
// since when it has been in progress: none between two attempts.
func (in *intake) calling(f func(track int, due, since int64)) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range in.shards {
		if since := s.since.Load(); since != none {
			f(s.track, since-s.waited.Load(), since)
		} else if due := s.due.Load(); due != none {
			f(s.track, due, none)
		}
	}
}
