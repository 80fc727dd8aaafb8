package measure

import (
	"math"
	"sync/atomic"
)

// Sample is one finished operation. Times are nanoseconds since measurement
// began, negative in warm-up.
type Sample struct {
	// Due is when it should have begun; equals Start in closed loop.
	Due, Start, End int64
	// Late is how much of the wait, Start − Due, is our own lateness: a worker was
	// free when the operation fell due and woke late, or was still behind for having
	// woken late before. The rest of the wait is backlog: all workers were busy.
	Late int64
	// Units is how many units of the profile it covered.
	Units int32
	// Op is the index of the operation in the run's list.
	Op uint16
	// Segment is the segment in which it started.
	Segment uint16
	// Worker is the number of the worker within its track.
	Worker uint16
	// Class is the class of its error; 0: it worked.
	Class uint8
	// Warm says that its iteration began in warm-up, to which it belongs.
	Warm bool
}

const batchSize = 256

// none marks that no operation is under way.
const none = math.MinInt64

// batch is a block of samples on its way from one worker to the collector. The
// worker writes s[i] and then n; the collector reads n and then s[:n], so it may
// look into a batch that is still being filled.
type batch struct {
	n     atomic.Int32
	taken int32 // the collector's
	s     [batchSize]Sample
}

// Shard takes the samples of one worker; it belongs to that worker. Adding costs
// one store that no other core writes to: no lock, no allocation once batches go
// round.
type Shard struct {
	_     [64]byte
	own   *batch
	fill  int32
	c     *Collector
	track int
	_     [64]byte
	// What the collector reads.
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

// Add records one finished operation. Only when 256 have gathered and the
// collector is far behind does it wait.
func (s *Shard) Add(v Sample) {
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

// Started notes when the operation under way began, for "oldest in flight".
func (s *Shard) Started(at int64) { s.since.Store(at) }

// Ended notes that none is under way.
func (s *Shard) Ended() { s.since.Store(none) }

// Failed returns the class of err and keeps its message if it is new.
func (s *Shard) Failed(op uint16, err error) uint8 { return s.c.log.note(op, err) }

// Newest tells when the newest operation under way began; math.MinInt64: none is.
func (c *Collector) Newest() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := int64(none)
	for _, s := range c.shards {
		at = max(at, s.since.Load())
	}
	return at
}

// Close hands over what is left. The shard must not be used again.
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
