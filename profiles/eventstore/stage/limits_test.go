package stage

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/ledger"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// slow is a data layer that takes as long as it is told, or for ever.
type slow struct {
	model.Intake
	takes   time.Duration // 0: until the stage ends
	during  func()
	flushes []time.Time
}

func (s *slow) Store(ctx context.Context, rs []*model.Record) (int, error) {
	if s.during != nil {
		s.during()
	}
	if s.takes == 0 {
		<-ctx.Done()
		return 0, context.Cause(ctx)
	}
	time.Sleep(s.takes)
	return len(rs), nil
}

func (s *slow) Flush(context.Context, *model.Tallies) error {
	s.flushes = append(s.flushes, time.Now())
	return nil
}

// line is generators, the direct transport and a store stage, as a run has them.
type line struct {
	st   *Stage
	d    *transport.Direct
	l    *slow
	made atomic.Int64
	all  sync.WaitGroup
}

// newLine begins a store stage behind a transport.
func newLine(t *testing.T, s *Options, l *slow) *line {
	t.Helper()
	began := time.Now()
	clock := func() int64 { return int64(time.Since(began)) }
	x := &line{d: transport.NewDirect(clock, prefetch, s.MaxTaskBytes), l: l}
	recv, err := x.d.Receiver(t.Context(), prefetch)
	require.NoError(t, err)
	x.st = &Stage{
		Options: s, Layer: l, Traits: model.Traits{Writers: 128, Group: 1}, Receiver: recv, Gate: NewGate(int64(s.MaxTasks), s.MaxTaskBytes),
		Counts: &Counts{}, Failures: &Failures{}, Ledger: ledger.New(0), Clock: clock, Wall: func() int64 { return time.Now().UnixNano() },
		Took: func(transport.Meta, int, int64, int64) {}, Durable: func(transport.Meta, int64, error) {}, Stored: func(*model.Record) {},
	}
	require.NoError(t, x.st.Start())
	return x
}

// generate makes batches as fast as they are taken, until ctx ends or so many are made.
func (x *line) generate(ctx context.Context, t *testing.T, number, batches int) {
	p, err := x.d.Publisher(ctx, number, func(transport.Meta, error) {})
	require.NoError(t, err)
	g := eventstoretest.Some(t, generate.Documented(), 300, generate.DocumentedBody)
	g.Number = number
	x.all.Go(func() {
		for range batches {
			first := g.Fill(wire.StampOf(time.Now().UnixNano()), 300, generate.DocumentedBody)
			e := transport.NewEnvelope()
			e.Body = g.Encode(e.Body[:0])
			e.Seal(g.Number, first, len(g.Batch.Events))
			if p.Publish(ctx, e) != nil {
				return
			}
			x.made.Add(1)
		}
	})
}

// prefetch is how many batches a receiver is given at most.
const prefetch = 16

func limited() *Options {
	return &Options{
		Codec: wire.LZ4, CompressOver: 5120, BatchLimit: 1 << 20, MaxTasks: 8, MaxTaskBytes: 3 << 20,
		Retries: 3, RetryBase: time.Second, Composers: 2, PerCall: 1, Timeout: time.Hour, Requeue: true,
	}
}

// A store that is slower than the generators makes them wait: at no moment is more
// held than the limits allow, and everything comes through in the end.
func TestASlowStoreIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limited()
		l := &slow{takes: 50 * time.Millisecond}
		x := newLine(t, s, l)
		var mu sync.Mutex
		var most, mostBytes, queued, queuedBytes int64
		l.during = func() {
			count, bytes, _, _ := x.st.Gate.Inside()
			depth, err := x.d.Depth(t.Context())
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			most, mostBytes = max(most, count), max(mostBytes, bytes)
			queued, queuedBytes = max(queued, depth.Ready+depth.Unacked), max(queuedBytes, depth.Bytes)
		}
		for i := range 2 {
			x.generate(t.Context(), t, i, 60)
		}
		x.all.Wait()
		time.Sleep(time.Minute) // what is on its way arrives
		depth, err := x.d.Depth(t.Context())
		require.NoError(t, err)
		assert.Equal(t, transport.Depth{}, depth)
		x.st.Crash()
		assert.EqualValues(t, 120, x.made.Load())
		assert.LessOrEqual(t, most, int64(s.MaxTasks))
		assert.LessOrEqual(t, mostBytes, s.MaxTaskBytes)
		assert.Positive(t, mostBytes)
		assert.LessOrEqual(t, queued, int64(prefetch))
		assert.LessOrEqual(t, queuedBytes, s.MaxTaskBytes)
		_, _, peak, peakBytes := x.st.Gate.Inside()
		assert.LessOrEqual(t, peak, int64(s.MaxTasks))
		assert.LessOrEqual(t, peakBytes, s.MaxTaskBytes)
	})
}

// While the store stands still, generators that could make gigabytes make what the
// limits allow, and so does the heap.
func TestAStoreThatStandsStillBoundsMemory(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		runtime.GC() // the pools let go with the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	synctest.Test(t, func(t *testing.T) {
		s := limited()
		x := newLine(t, s, &slow{})
		ctx, cancel := context.WithCancel(t.Context())
		before := heap()
		for i := range 4 {
			x.generate(ctx, t, i, 100_000) // of 440 KB each
		}
		time.Sleep(10 * time.Minute) // and all that can is done
		synctest.Wait()
		depth, err := x.d.Depth(ctx)
		require.NoError(t, err)
		count, bytes, _, _ := x.st.Gate.Inside()
		assert.LessOrEqual(t, bytes, s.MaxTaskBytes)
		assert.LessOrEqual(t, count, int64(s.MaxTasks))
		assert.LessOrEqual(t, depth.Bytes, s.MaxTaskBytes)
		assert.Equal(t, depth.Ready+depth.Unacked, x.made.Load(), "everything that was taken is there")
		// Two stages of the limit, and what each of four generators and two composers works with.
		assert.Less(t, heap()-before, 2*s.MaxTaskBytes+6*(2<<20))
		cancel()
		x.all.Wait()
		x.st.Crash()
	})
}

// What is counted is written every 15 s, as long as there is something.
func TestStatisticsAreWrittenEveryInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := limited()
		s.FlushEvery = 15 * time.Second
		l := &slow{takes: time.Millisecond}
		began := time.Now()
		x := newLine(t, s, l)
		g := eventstoretest.Some(t, generate.Documented(), 10, 100)
		for range 44 {
			x.st.count(g.Batch.Events)
			time.Sleep(time.Second)
		}
		x.st.Crash()
		require.Len(t, l.flushes, 2)
		for i, at := range l.flushes {
			assert.Equal(t, time.Duration(i+1)*15*time.Second, at.Sub(began))
		}
	})
}
