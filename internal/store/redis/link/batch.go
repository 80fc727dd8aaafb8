package link

import (
	"context"
	"sync"
)

// Batch is a set of calls that are sent at once, each to its server. It belongs to one
// goroutine.
type Batch struct {
	of *Batches
	cs []*Caller
	n  int
}

// Call adds a call, whose command the caller must then write.
func (b *Batch) Call() *Caller {
	if b.n == len(b.cs) {
		b.cs = append(b.cs, &Caller{})
	}
	c := b.cs[b.n]
	b.n++
	c.Reset()
	c.Reply.Keep = false
	return c
}

// Command adds a call with a command on a key.
func (b *Batch) Command(name, key string) *Caller {
	c := b.Call()
	c.Add(name)
	c.Add(key)
	return c
}

// Calls returns the calls added so far.
func (b *Batch) Calls() []*Caller { return b.cs[:b.n] }

// Do sends the calls, waits for all replies, and returns the first error.
func (b *Batch) Do(ctx context.Context) error {
	switch b.n {
	case 0:
		return nil
	case 1:
		_, err := b.of.lines.Do(ctx, b.cs[0])
		return err
	}
	return b.of.lines.DoAll(ctx, b.cs[:b.n])
}

// Release returns the batch for reuse; its replies are no longer valid.
func (b *Batch) Release() {
	b.n = 0
	b.of.free.Put(b)
}

// Batches provides batches for goroutines that have none of their own. It is safe for
// use by several goroutines.
type Batches struct {
	lines *Lines
	free  sync.Pool
}

// NewBatches returns Batches whose calls are sent over lines.
func NewBatches(lines *Lines) *Batches { return &Batches{lines: lines} }

// Acquire returns an empty batch, to be returned with Give.
func (p *Batches) Acquire() *Batch {
	if b, ok := p.free.Get().(*Batch); ok {
		return b
	}
	return &Batch{of: p}
}
