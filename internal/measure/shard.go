package measure

import (
	"math"
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
	c     *Collector
	track int
	_     [64]byte
	// Read by the collector.
	now   atomic.Pointer[batch]
	since atomic.Int64
	_     [64]byte
}

// Shard returns a new shard for a worker of a track. The worker must Close it.
func (c *Collector) Shard(track int) *Shard {
	s := &Shard{c: c, track: track, own: c.fresh()}
	s.now.Store(s.own)
	s.since.Store(none)
	c.mu.Lock()
	c.shards = append(c.shards, s)
	c.mu.Unlock()
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
		s.c.in <- b
		s.own, s.fill = s.c.fresh(), 0
		s.now.Store(s.own)
	}
}

// Started notes when the operation in progress began, for "oldest in flight".
func (s *Shard) Started(at int64) { s.since.Store(at) }

// Ended notes that no operation is in progress.
func (s *Shard) Ended() { s.since.Store(none) }

// Failed returns the class of err and keeps its message if it is new.
func (s *Shard) Failed(op uint16, err error) uint8 { return s.c.log.note(op, err) }

// Newest returns when the newest operation in progress began, or math.MinInt64 if
// there is none.
func (c *Collector) Newest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := int64(none)
	for _, s := range c.shards {
		at = max(at, s.since.Load())
	}
	return at
}

// Close hands over the remaining samples. The shard must not be used afterwards.
func (s *Shard) Close() {
	s.Ended()
	s.c.in <- s.own
	s.now.Store(nil)
}

func (c *Collector) fresh() *batch {
	select {
	case b := <-c.free:
		return b
	default:
		return new(batch)
	}
}
