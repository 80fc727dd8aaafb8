package link

import (
	"context"
	"sync"
)

// Batch is calls that are sent at once, each to its server. It belongs to one goroutine.
type Batch struct {
	of *Batches
	cs []*Caller
	n  int
}

// Call adds a call, for the caller to put its command together.
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

// Command adds a call of a command on a key.
func (b *Batch) Command(name, key string) *Caller {
	c := b.Call()
	c.Add(name)
	c.Add(key)
	return c
}

// Calls are the calls that there are.
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

// Give hands a batch back; its replies are gone then.
func (b *Batch) Give() {
	b.n = 0
	b.of.free.Put(b)
}

// Batches lends batches to goroutines that have none of their own. It is safe for use by
// several goroutines.
type Batches struct {
	lines *Lines
	free  sync.Pool
}

// NewBatches makes batches that are sent over lines.
func NewBatches(lines *Lines) *Batches { return &Batches{lines: lines} }

// Take lends a batch without calls, until Give.
func (p *Batches) Take() *Batch {
	if b, ok := p.free.Get().(*Batch); ok {
		return b
	}
	return &Batch{of: p}
}
