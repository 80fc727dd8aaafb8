package replay

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
)

// What is read ahead is kept in chunks, of which there are so many beside two for each lane,
// each with so many calls or bytes at most.
const (
	chunks     = 1024
	chunkCalls = 64
	chunkBytes = 64 << 10
	// flushed is after how many calls every lane gets what there is of it.
	flushed = 1024
)

// dealing says how the calls of a recording are dealt out to threads, and which of them are here.
type dealing struct {
	// The threads here are from up to to, without it, of so many.
	from, to, of int
	// byKey deals out by the first key in place of the connection.
	byKey bool
}

// scale is which part of the rate of all threads those here have. Their moments count from one
// mean gap of theirs to the next, since the rate that they are given is their part.
func (d *dealing) scale() float64 { return float64(d.to-d.from) / float64(d.of) }

// thread returns which thread an item is of.
func (d *dealing) thread(i *item, args []capture.Arg) int {
	n := uint64(d.of)
	if d.byKey {
		for _, p := range i.calls {
			if len(p.keys) > 0 {
				return int((hash(args[p.from+p.keys[0]].Text) ^ uint64(p.db)) % n)
			}
		}
	}
	return int(uint64(i.conn-1) % n)
}

func (d *dealing) has(thread int) bool { return thread >= d.from && thread < d.to }

// part goes through the recording for the moments of the calls that are dealt out to the threads
// here.
func (r *Recording) part(d dealing) (index, error) {
	x := index{end: r.when.end * d.scale(), every: r.when.every}
	err := r.items(nil, func(i *item, args []capture.Arg) error {
		if !d.has(d.thread(i, args)) {
			return nil
		}
		if x.n%x.every == 0 {
			x.marks = append(x.marks, i.moment*d.scale())
		}
		x.n++
		return nil
	})
	return x, err
}

// lanes hand the calls of a recording to threads, as these make them. One goroutine
// reads ahead, in bounded memory.
type lanes struct {
	r    *Recording
	deal dealing
	when index
	// apart means that each call waits for the answer to the one before it.
	apart bool
	all   []*lane
	free  chan *chunk

	begin  sync.Once
	ended  chan struct{}
	stop   sync.Once
	reader sync.WaitGroup
	failed atomic.Pointer[error]
}

// lane are the calls of one thread. But for its numbers, it belongs to the reader and the
// thread.
type lane struct {
	in   chan *chunk
	fill *chunk // the reader's
	// busy is the connection whose transaction is under way, 0: none; and held are the calls of
	// others that wait for its end, since a thread has one transaction at a time. Both are the
	// reader's.
	busy int64
	held []heldCall
	// conn and last are the connection and the moment of the call that was added last, and run is
	// how many came one behind the other without waiting. They are the reader's.
	conn int64
	last time.Duration
	run  int
	cur  *chunk // the thread's
	at   int
	// next are the bits of the moment of its next call, made is how many have been begun.
	next atomic.Uint64
	made atomic.Int64
	_    [64]byte
}

// pipelined is up to which pause between two calls of a connection the second was sent before the
// answer to the first had come: no answer reaches a client, and its next call the server, in that time.
const pipelined = 10 * time.Microsecond

// mostTogether is how many calls are sent at once at most.
const mostTogether = 256

// behind reports whether a call was sent without waiting for the answer to the one before it.
func (l *lane) behind(i *item) bool {
	along := l.conn == i.conn && i.at-l.last < pipelined && i.at >= l.last && l.run < mostTogether
	if l.conn, l.last = i.conn, i.at; along {
		l.run++
	} else {
		l.run = 1
	}
	return along
}

// heldCall is a call that waits.
type heldCall struct {
	item item
	args []capture.Arg
}

// mostHeld is how many calls of a lane wait at most for the end of a transaction.
const mostHeld = 1 << 16

// chunk is a number of calls of one lane.
type chunk struct {
	calls []call
	parts []part
	args  []capture.Arg
	keys  []int
	bytes int
}

// call is an item in a chunk.
type call struct {
	op          int
	number      int64
	moment      float64
	found       capture.Found
	from, to    int // parts
	transaction bool
	// behind means that it is sent with the one before it.
	behind bool
	// begins and last are as in an item.
	begins, last bool
}

func newLanes(r *Recording, deal dealing, when index, apart bool) *lanes {
	threads := deal.to - deal.from
	l := &lanes{r: r, deal: deal, when: when, apart: apart, ended: make(chan struct{})}
	n := chunks + 2*threads
	l.free = make(chan *chunk, n)
	for range n {
		l.free <- &chunk{}
	}
	for range threads {
		l.all = append(l.all, &lane{in: make(chan *chunk, n)})
	}
	return l
}

// read reads ahead, until the end or close.
func (l *lanes) read() {
	n := 0
	err := l.r.items(l.ended, func(i *item, args []capture.Arg) error {
		thread := l.deal.thread(i, args)
		if !l.deal.has(thread) {
			return nil
		}
		i.moment *= l.deal.scale()
		if err := l.whole(l.all[thread-l.deal.from], i, args); err != nil {
			return err
		}
		if n++; n%flushed == 0 {
			l.flush(i.at)
		}
		return nil
	})
	if err != nil {
		l.failed.Store(&err)
	}
	l.flush(math.MaxInt64)
	for _, one := range l.all {
		close(one.in)
	}
}

// whole adds an item to a lane, where calls of other connections do not come between those of a
// transaction: on the one connection that the thread has they would be part of it, and on another
// they could wait for it for ever.
func (l *lanes) whole(to *lane, i *item, args []capture.Arg) error {
	if to.busy != 0 && to.busy != i.conn {
		if len(to.held) >= mostHeld {
			return fault.Input(fmt.Errorf("%s: a transaction is so long that more than %d calls of the connections that share its thread wait for it", l.r.Path, mostHeld), "give more --threads, so that fewer connections share one")
		}
		c := *i
		c.calls = slices.Clone(i.calls)
		to.held = append(to.held, heldCall{c, slices.Clone(args)})
		return nil
	}
	if !l.put(to, i, args) {
		return errEnded
	}
	was := to.busy
	if to.busy = 0; i.open {
		to.busy = i.conn
	}
	if was == 0 || to.busy != 0 {
		return nil
	}
	held := to.held
	to.held = nil
	for n := range held {
		if err := l.whole(to, &held[n].item, held[n].args); err != nil {
			return err
		}
	}
	return nil
}

// hash is the same in every run.
func hash(key string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key)) // never fails
	return h.Sum64()
}

// put adds an item to a lane; false if it has ended.
func (l *lanes) put(to *lane, i *item, args []capture.Arg) bool {
	behind := !l.apart && to.behind(i)
	if to.fill != nil && to.fill.full(behind) {
		to.in <- to.fill // there is room for all chunks
		to.fill = nil
	}
	if to.fill == nil {
		select {
		case to.fill = <-l.free:
		default:
			l.flush(math.MaxInt64) // some may be waiting for what is here
			select {
			case to.fill = <-l.free:
			case <-l.ended:
				return false
			}
		}
		to.fill.reset()
	}
	c := to.fill
	c.add(i, args, l.r.op[i.command])
	c.calls[len(c.calls)-1].behind = behind && len(c.calls) > 1
	if l.apart && c.full(false) {
		to.in <- c
		to.fill = nil
	}
	return true
}

// full reports whether a chunk has as much as it may have, where the next call is sent with the last
// of it or is not.
func (c *chunk) full(behind bool) bool {
	return c.bytes >= chunkBytes || len(c.calls) >= chunkCalls && !behind
}

// flush gives every lane what there is of it by a moment, but for what more may belong to.
func (l *lanes) flush(at time.Duration) {
	for _, one := range l.all {
		if one.fill != nil && len(one.fill.calls) > 0 && (l.apart || at-one.last >= pipelined) {
			one.in <- one.fill
			one.fill = nil
		}
	}
}

func (c *chunk) reset() {
	clear(c.args) // whose texts are not needed any more
	c.calls, c.parts, c.args, c.keys, c.bytes = c.calls[:0], c.parts[:0], c.args[:0], c.keys[:0], 0
}

func (c *chunk) add(i *item, args []capture.Arg, op int) {
	k := call{op: op, number: i.number, moment: i.moment, found: i.found, from: len(c.parts), transaction: i.transaction, begins: i.begins, last: i.last}
	for _, p := range i.calls {
		from := len(c.args)
		c.args = append(c.args, args[p.from:p.to]...)
		keys := len(c.keys)
		c.keys = append(c.keys, p.keys...)
		c.parts = append(c.parts, part{from, len(c.args), slices.Clip(c.keys[keys:]), p.db})
	}
	k.to = len(c.parts)
	c.calls = append(c.calls, k)
	for _, a := range c.args[c.parts[k.from].from:] {
		c.bytes += len(a.Text) + 48
	}
}

// Next implements workload.Recorded.
func (l *lanes) Next(worker int, stale <-chan struct{}) (moment float64, more, known bool) {
	l.begin.Do(func() { l.reader.Go(l.read) })
	one := l.all[worker-l.deal.from]
	for one.cur == nil || one.at == len(one.cur.calls) {
		if one.cur != nil {
			l.free <- one.cur // there is room for all chunks
			one.cur = nil
		}
		select {
		case c, ok := <-one.in:
			if !ok {
				one.next.Store(math.Float64bits(math.Inf(1)))
				return 0, false, true
			}
			one.cur, one.at = c, 0
		case <-stale:
			return 0, false, false
		}
	}
	moment = one.cur.calls[one.at].moment
	one.next.Store(math.Float64bits(moment))
	return moment, true, true
}

// pop takes the next call of a worker, which Next has said is there, with those that were sent at
// once with it; none if there is none.
func (l *lanes) pop(worker int) (*chunk, []call) {
	one := l.all[worker-l.deal.from]
	if one.cur == nil || one.at == len(one.cur.calls) {
		return nil, nil
	}
	from := one.at
	for one.at++; one.at < len(one.cur.calls) && one.cur.calls[one.at].behind; one.at++ { //nolint:revive // it is counted
	}
	one.made.Add(int64(one.at - from))
	return one.cur, one.cur.calls[from:one.at]
}

// Reached implements workload.Recorded.
func (l *lanes) Reached() float64 {
	least := math.Inf(1)
	for _, one := range l.all {
		least = min(least, math.Float64frombits(one.next.Load()))
	}
	return min(least, l.when.end)
}

// Count implements workload.Recorded.
func (l *lanes) Count(moment float64) int64 { return l.when.count(moment) }

// Made implements workload.Recorded.
func (l *lanes) Made() int64 {
	n := int64(0)
	for _, one := range l.all {
		n += one.made.Load()
	}
	return n
}

// through is how many threads have come to the end of the recording.
func (l *lanes) through() (n int64) {
	for _, one := range l.all {
		if math.IsInf(math.Float64frombits(one.next.Load()), 1) {
			n++
		}
	}
	return n
}

// close ends the reading, and waits until it has ended.
func (l *lanes) close() {
	l.stop.Do(func() { close(l.ended) })
	l.begin.Do(func() {})
	l.reader.Wait()
}

// err is why the recording could not be read to its end.
func (l *lanes) err() error {
	if p := l.failed.Load(); p != nil {
		return *p
	}
	return nil
}
