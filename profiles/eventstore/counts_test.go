package eventstore

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// calls takes what an iteration records.
type calls struct{ n int }

func (c *calls) Add(measure.Call)           { c.n++ }
func (c *calls) Started(_, _ int64)         {}
func (c *calls) Again(int64)                {}
func (c *calls) Ended()                     {}
func (c *calls) Failed(uint16, error) uint8 { return 1 }

// counting is what counts the batches of a generator on their way, and its iteration.
type counting struct {
	boxes     *mailboxes
	generator uint32
	it        workload.Iteration
	to        calls
}

func newCounting(boxes *mailboxes, generator uint32) *counting {
	x := &counting{boxes: boxes, generator: generator}
	boxes.box(int(generator))
	x.it.Bind(func() int64 { return 0 }, &x.to, 0)
	x.it.BindStages(4)
	return x
}

func newBoxes() *mailboxes {
	return &mailboxes{counts: &stage.Counts{}, authors: generate.NewAuthors(generate.Documented())}
}

// pass counts and times a batch as its way through the stages does, and records that.
func (x *counting) pass() {
	m := transport.Meta{Generator: x.generator, Count: 300, Size: 440_000, Step: 1}
	c := x.boxes.counts
	c.Enter(1, false)
	c.Made(&m)
	c.Sent(&m)
	c.Confirmed(&m)
	x.boxes.stageTook(&m, stage.Confirm, true, 1, 2)
	for s := stage.Receive; s < stage.Count; s++ {
		x.boxes.stageTook(&m, s, false, 2, 3)
	}
	x.boxes.durable(m, 4, nil)
	x.boxes.of(&m).record(&x.it, opDurable, 0)
}

// BenchmarkCounting is what it costs to count and time a batch, with two generators.
func BenchmarkCounting(b *testing.B) {
	boxes := newBoxes()
	b.ReportAllocs()
	var all sync.WaitGroup
	for i := range uint32(2) {
		x := newCounting(boxes, i)
		all.Go(func() {
			for range b.N / 2 {
				x.pass()
			}
		})
	}
	all.Wait()
}

// No batch costs an allocation to count and time, once mailboxes have grown; it is counted in its
// step, and recorded as an operation and five stages.
func TestCountingDoesNotAllocate(t *testing.T) {
	x := newCounting(newBoxes(), 0)
	least := 1e9
	for range 5 {
		least = min(least, testing.AllocsPerRun(100, x.pass))
	}
	assert.Zero(t, least)
	assert.Equal(t, 5*101*6, x.to.n)
	s := x.boxes.counts.Step(1)
	assert.EqualValues(t, 5*101, s.Confirmed.Batches)
	assert.EqualValues(t, 5*101*440_000, s.SentBytes)
}
