package eventstore

import (
	"context"
	"sync"
)

// gate bounds what the store stage holds, by number and by bytes. Who finds it full
// waits: that is the back-pressure, which reaches the generators through the
// transport.
type gate struct {
	maxCount, maxBytes int64

	mu        sync.Mutex
	changed   *sync.Cond
	count     int64
	bytes     int64
	peak      int64
	peakBytes int64
}

func newGate(maxCount, maxBytes int64) *gate {
	g := &gate{maxCount: max(maxCount, 1), maxBytes: max(maxBytes, 1)}
	g.changed = sync.NewCond(&g.mu)
	return g
}

// enter waits for room. What is larger than all the room there is gets in when
// nothing else is inside. It returns the context's error when that ends first.
func (g *gate) enter(ctx context.Context, size int64) error {
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
	g.peak, g.peakBytes = max(g.peak, g.count), max(g.peakBytes, g.bytes)
	return nil
}

func (g *gate) room(size int64) bool {
	return g.count == 0 || g.count < g.maxCount && g.bytes+size <= g.maxBytes
}

// leave makes room.
func (g *gate) leave(size int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.count--
	g.bytes -= size
	g.changed.Broadcast()
}

// inside tells what the stage holds, and the most that it has held.
func (g *gate) inside() (count, bytes, peak, peakBytes int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.count, g.bytes, g.peak, g.peakBytes
}
