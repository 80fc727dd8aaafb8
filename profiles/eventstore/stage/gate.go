package stage

import (
	"context"
	"sync"
)

// Gate limits what the store stage holds, by number and by bytes. Callers that find it
// full wait: that is the back-pressure, which reaches the generators through the
// transport.
type Gate struct {
	MaxCount, MaxBytes int64

	mu        sync.Mutex
	changed   *sync.Cond
	count     int64
	bytes     int64
	Peak      int64
	PeakBytes int64
}

// NewGate returns a gate that admits up to maxCount items with maxBytes in total.
func NewGate(maxCount, maxBytes int64) *Gate {
	g := &Gate{MaxCount: max(maxCount, 1), MaxBytes: max(maxBytes, 1)}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// enter waits for room. An item larger than the limit is admitted when nothing else is
// inside. It returns the context's error if that ends first.
func (g *Gate) enter(ctx context.Context, size int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.room(size) {
		stop := context.AfterFunc(ctx, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.changed.Broadcast()
		})
		defer stop()
	}
	for !g.room(size) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		g.changed.Wait()
	}
	g.count++
	g.bytes += size
	g.Peak, g.PeakBytes = max(g.Peak, g.count), max(g.PeakBytes, g.bytes)
	return nil
}

func (g *Gate) room(size int64) bool {
	return g.count == 0 || g.count < g.MaxCount && g.bytes+size <= g.MaxBytes
}

// leave makes room.
func (g *Gate) leave(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count--
	g.bytes -= size
	g.changed.Broadcast()
}

// Inside returns what the stage holds, and the most that it has held.
func (g *Gate) Inside() (count, bytes, peak, peakBytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count, g.bytes, g.Peak, g.PeakBytes
}
