package run

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// A message of headerBytes or more begins with
//
//	bytes 0-3    mark
//	bytes 4-7    1 in warm-up, else 0
//	bytes 8-15   number of the message, from 1, within its topic and run
//	bytes 16-23  when its publishing began, in ns since the run was connected
//
// Of shorter messages only the number received is known.
const (
	headerBytes = 24
	headerMark  = 0x70626d31
)

// topicRun is the state of one topic.
type topicRun struct {
	o     *model.Op
	from  model.Subscriber
	epoch time.Time // of the times in messages

	attempted, published atomic.Int64
	sent                 atomic.Int64 // numbers given out
	// delivered, strange and untimed are totals over all receivers.
	delivered, strange, untimed atomic.Int64
	// brief means that messages without a number were received.
	brief atomic.Bool

	mu sync.Mutex
	// boxes are the receivers that listen, gone those that were turned off.
	boxes, gone []*inbox
}

// owed returns how many deliveries the publishing so far should lead to: each message
// once for each receiver that was listening when it was sent.
func (t *topicRun) owed() int64 {
	sent := t.sent.Load()
	t.mu.Lock()
	defer t.mu.Unlock()
	var n int64
	for _, x := range slices.Concat(t.boxes, t.gone) {
		n += max(min(x.until.Load(), sent)-x.from, 0)
	}
	return n
}

// topics are those that operations name.
type topics struct{ all map[topicName]*topicRun }

// topicName is what a topic goes by.
type topicName struct {
	kind   model.Kind
	target string
}

// newTopics returns the topics of a plan on a layer.
func newTopics(s *model.Spec, l model.Adapter) *topics {
	from, _ := l.(model.Subscriber) // one without any refuses the callers of topics
	x, now := &topics{map[topicName]*topicRun{}}, time.Now()
	for _, o := range s.Order {
		if name := (topicName{o.Kind, o.Target}); o.Kind.Topic() && x.all[name] == nil {
			x.all[name] = &topicRun{o: o, from: from, epoch: now}
		}
	}
	return x
}

// of is the topic of an operation.
func (x *topics) of(o *model.Op) *topicRun { return x.all[topicName{o.Kind, o.Target}] }

// stamp numbers the messages of a call and adds when they were sent.
func (t *topicRun) stamp(c *model.Call) {
	n := int64(len(c.Entries))
	first := t.sent.Add(n) - n + 1
	now := int64(time.Since(t.epoch))
	for i := range c.Entries {
		v := c.Entries[i].Val
		if len(v) < headerBytes {
			continue
		}
		binary.LittleEndian.PutUint32(v, headerMark)
		binary.LittleEndian.PutUint32(v[4:], 0)
		if c.Warm {
			v[4] = 1
		}
		binary.LittleEndian.PutUint64(v[8:], uint64(first+int64(i)))
		binary.LittleEndian.PutUint64(v[16:], uint64(now))
	}
}

// message is a message as received.
type message struct {
	sent, got int64 // ns since the run was connected; sent is -1 if unknown
	warm      bool
}

// inbox is one receiver of a topic. A goroutine of the store puts messages in, and its
// worker takes them out.
type inbox struct {
	t  *topicRun
	in chan message // of capacity 8192, for what arrives while the worker records
	// The messages with numbers after from, up to until, are owed to this receiver;
	// others that arrive do not count.
	from  int64
	until atomic.Int64
	ready atomic.Bool // from has been set, and messages count
	// count is the number of messages received.
	count atomic.Int64
	stop  func() error
	err   atomic.Pointer[error]
	off   time.Time // when it was turned off
}

// Put receives a message. If the worker is far behind, or has ended, the message counts
// but its time is not recorded.
func (x *inbox) Put(body []byte) {
	m := message{sent: -1, got: int64(time.Since(x.t.epoch))}
	if !x.ready.Load() {
		return
	}
	if len(body) >= headerBytes {
		if binary.LittleEndian.Uint32(body) != headerMark {
			x.t.strange.Add(1)
			return
		}
		if n := int64(binary.LittleEndian.Uint64(body[8:])); n <= x.from || n > x.until.Load() {
			return
		}
		m.warm = body[4] == 1
		m.sent = int64(binary.LittleEndian.Uint64(body[16:]))
	} else if !x.t.brief.Load() {
		x.t.brief.Store(true)
	}
	select {
	case x.in <- m:
	default:
		x.t.untimed.Add(1)
	}
	x.count.Add(1) // last, so that what counts as delivered can be taken out
	x.t.delivered.Add(1)
}

// listens reports whether the receiver has not been turned off.
func (x *inbox) listens() bool { return x.until.Load() == math.MaxInt64 }

// Fail keeps the first error of the receiver.
func (x *inbox) Fail(err error) { x.err.CompareAndSwap(nil, &err) }

// receiverTask records deliveries. It belongs to its worker.
type receiverTask struct {
	t      *topicRun
	x      *inbox
	worker int
	from   []*groupRun // who publishes
	timer  *time.Timer
	last   time.Time
}

// receiver returns the i-th receiver of a topic, which listens from then on, whether or
// not anybody takes out its messages. One that was turned off is replaced.
func (t *topicRun) receiver(ctx context.Context, i int) (*inbox, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.boxes) <= i {
		x, err := t.newReceiver(ctx)
		if err != nil {
			return nil, err
		}
		t.boxes = append(t.boxes, x)
	}
	if i >= 0 && !t.boxes[i].listens() {
		x, err := t.newReceiver(ctx)
		if err != nil {
			return nil, err
		}
		t.gone = append(t.gone, t.boxes[i])
		t.boxes[i] = x
	}
	return t.boxes[max(i, 0)], nil
}

func (t *topicRun) newReceiver(ctx context.Context) (*inbox, error) {
	x := &inbox{t: t, in: make(chan message, 8192)}
	x.until.Store(math.MaxInt64)
	stop, err := t.from.Subscribe(ctx, t.o, x)
	if err != nil {
		return nil, err
	}
	x.stop = stop
	// Messages numbered from now on are published when the subscription exists.
	x.from = t.sent.Load()
	x.ready.Store(true)
	return x, nil
}

// turnOff makes all receivers from the i-th on stop listening: what is sent afterwards
// is not for them. It returns those that are off and may still have messages.
func (t *topicRun) turnOff(i int) []*inbox {
	t.mu.Lock()
	defer t.mu.Unlock()
	for j := i; j < len(t.boxes); j++ {
		if x := t.boxes[j]; x.listens() {
			x.until.Store(t.sent.Load())
			x.off = time.Now()
		}
	}
	var out []*inbox
	for _, x := range slices.Concat(t.boxes, t.gone) {
		if !x.listens() && x.stop != nil {
			out = append(out, x)
		}
	}
	return out
}

// lingering returns how long the subscription of a receiver that was turned off is kept
// for messages on their way; longer for a stream, which loses nothing.
func (t *topicRun) lingering() time.Duration {
	if t.o.Kind == model.KindRTopic {
		return 10 * drain
	}
	return drain
}

// sweep records what receivers that were turned off still have, and ends their
// subscriptions when there is no more.
func (k *receiverTask) sweep(it *workload.Iteration) {
	for _, x := range k.t.turnOff(it.Settings.Threads) {
		k.drain(it, x, cap(x.in))
		if x.count.Load() < x.until.Load()-x.from && time.Since(x.off) < k.t.lingering() {
			continue
		}
		if err := x.stop(); err != nil {
			k.x.Fail(err)
		}
		k.drain(it, x, cap(x.in))
		k.t.mu.Lock()
		x.stop = nil
		k.t.mu.Unlock()
	}
}

// drain records what a receiver has, without waiting.
func (k *receiverTask) drain(it *workload.Iteration, x *inbox, most int) {
	for range most {
		select {
		case m := <-x.in:
			k.record(it, m)
		default:
			return
		}
	}
}

// listen returns the task of a receiver.
func (t *topicRun) listen(from []*groupRun, worker int) (workload.Task, error) {
	// The receiver outlives the phase, for messages that are still on their way: verify
	// ends it.
	x, err := t.receiver(context.Background(), worker)
	if err != nil {
		return nil, err
	}
	return &receiverTask{t: t, x: x, worker: worker, from: from, timer: time.NewTimer(time.Hour)}, nil
}

// patience is how long a receiver waits for the next message before it checks whether
// there will be any.
const patience = 20 * time.Millisecond

// Do records what has arrived.
func (k *receiverTask) Do(ctx context.Context, it *workload.Iteration) error {
	if k.worker == 0 { // there is always one
		k.sweep(it)
	}
	if !k.x.listens() && k.worker < it.Settings.Threads { // turned on again
		x, err := k.t.receiver(context.Background(), k.worker)
		if err != nil {
			return err
		}
		k.x = x
	}
	k.timer.Reset(patience)
	select {
	case m := <-k.x.in:
		k.record(it, m)
		k.drain(it, k.x, 255) // further ones, without the timer
		k.last = time.Now()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-k.timer.C:
	}
	if err := k.x.err.Swap(nil); err != nil {
		now := it.Now()
		it.Record(0, 0, now, now, now, *err)
		return *err
	}
	if it.Warmup {
		return nil
	}
	for _, r := range k.from {
		if !r.over() {
			k.last = time.Now()
			return nil
		}
	}
	if k.idle() {
		return workload.ErrDone
	}
	return nil
}

// idle reports whether nothing more will come, and everything that came has been taken
// out: on a busy machine it may have come just when patience ended.
func (k *receiverTask) idle() bool {
	t := k.t
	return (t.delivered.Load() >= t.owed() || time.Since(k.last) > time.Second) && len(k.x.in) == 0
}

// record adds one delivery. The two clocks are aligned by their current readings.
func (k *receiverTask) record(it *workload.Iteration, m message) {
	if m.sent < 0 || m.warm != it.Warmup {
		return
	}
	offset := it.Now() - int64(time.Since(k.t.epoch))
	it.Record(0, 1, m.sent+offset, m.sent+offset, m.got+offset, nil)
}

// hangUp waits for messages on their way, no longer than most, and ends all receivers.
func (x *topics) hangUp(ctx context.Context, most time.Duration) error {
	var errs []error
	for _, t := range x.all {
		t.mu.Lock()
		boxes := slices.Concat(t.boxes, t.gone)
		t.mu.Unlock()
		until := time.Now().Add(most)
		for len(boxes) > 0 && t.delivered.Load() < t.owed() && time.Now().Before(until) && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
		}
		for _, box := range boxes {
			t.mu.Lock()
			stop := box.stop
			box.stop = nil
			t.mu.Unlock()
			if stop != nil {
				errs = append(errs, stop())
			}
		}
	}
	return errors.Join(errs...)
}
