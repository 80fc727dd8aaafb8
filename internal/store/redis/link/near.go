package link

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// Near reads through Redis' client-side caching: a reply is kept until the server says
// that its key has changed, the key expires, or the connection that watches over it
// breaks. There is one connection to each server, in RESP3, which carries the requests of
// all callers, their replies, and what the server invalidates; so these cannot overtake
// each other. It is safe for use by several goroutines. (go-redis' own cache works on
// database 0 of a single server only.)
type Near struct {
	servers servers
	most    time.Duration
	invalid atomic.Int64

	mu sync.RWMutex
	// keys holds what is cached of each key, by command.
	keys   map[string]map[string]*kept
	at     map[string]*tracker
	of     map[int]*tracker // by slot
	closed bool
}

// kept is a reply that is cached, or on its way.
type kept struct {
	by    *tracker
	until time.Time
	ready chan struct{}
	reply Reply
	err   error
}

// NewNear returns a cache that keeps no reply longer than most. It connects when it is
// first used.
func NewNear(client Client, most time.Duration) *Near {
	return &Near{servers: servers{client}, most: most, keys: map[string]map[string]*kept{}, at: map[string]*tracker{}, of: map[int]*tracker{}}
}

// Warm connects to every server that has data of its own.
func (n *Near) Warm(ctx context.Context) error {
	return Masters(ctx, n.servers.client, func(ctx context.Context, m Client) error {
		return n.tracker(ServerOf(m)).connect(ctx)
	})
}

// tracker returns the connection to a server.
func (n *Near) tracker(s Server) *tracker {
	n.mu.Lock()
	defer n.mu.Unlock()
	t := n.at[s.Addr]
	if t == nil {
		t = &tracker{near: n, server: s}
		n.at[s.Addr] = t
	}
	return t
}

// Invalidated returns how many keys servers have invalidated.
func (n *Near) Invalidated() int64 { return n.invalid.Load() }

// Close closes all connections; calls in progress and later calls fail.
func (n *Near) Close() {
	n.mu.Lock()
	n.closed = true
	all := n.at
	n.mu.Unlock()
	for _, t := range all {
		t.close(net.ErrClosed)
	}
}

// Read is one command that reads a key.
type Read struct {
	// Key is what it reads; Command are all arguments, Key included.
	Key     string
	Command []string
	// Reply is what it replied, which must not be changed; Hit means that the reply was
	// in memory, or another caller was about to get it. Err is why there is none.
	Reply *Reply
	Hit   bool
	Err   error

	kept *kept
	name string
	slot int
}

// Do carries out reads; those that are not in memory go to their servers together.
func (n *Near) Do(ctx context.Context, reads []Read) {
	now := time.Now()
	for i := range reads {
		n.begin(ctx, &reads[i], now)
	}
	for _, t := range n.trackers(reads) {
		t.flush()
	}
	for i := range reads {
		n.end(ctx, &reads[i])
	}
}

// begin finds a reply, or queues the request for it.
func (n *Near) begin(ctx context.Context, r *Read, now time.Time) {
	r.name, r.Hit, r.Err, r.kept = strings.Join(r.Command, "\x00"), false, nil, nil
	n.mu.RLock()
	k := n.keys[r.Key][r.name]
	n.mu.RUnlock()
	if k != nil {
		select {
		case <-k.ready:
			if k.err == nil && now.Before(k.until) {
				r.kept, r.Hit = k, true
				return
			}
		default:
			r.kept, r.Hit = k, true // another caller has asked
			return
		}
	}
	n.ask(ctx, r)
}

// ask queues a request whose reply will be kept.
func (n *Near) ask(ctx context.Context, r *Read) {
	t, slot, err := n.to(ctx, r.Key)
	if err == nil {
		err = t.connect(ctx)
	}
	if err != nil {
		r.Err = err
		return
	}
	k := &kept{by: t, ready: make(chan struct{}), reply: Reply{Keep: true}}
	r.kept, r.slot = k, slot
	n.mu.Lock()
	if n.keys[r.Key] == nil {
		n.keys[r.Key] = map[string]*kept{}
	}
	n.keys[r.Key][r.name] = k
	n.mu.Unlock()
	t.queue(append(Encode(r.Command...), Encode("PTTL", r.Key)...), k)
}

// end waits for a reply. A server that no longer has the key is followed.
func (n *Near) end(ctx context.Context, r *Read) {
	for range redirects {
		if r.Err != nil {
			break
		}
		select {
		case <-r.kept.ready:
		case <-ctx.Done():
			r.Err = ctx.Err()
			return
		}
		if r.Err = r.kept.err; r.Err == nil {
			r.Reply = &r.kept.reply
			return
		}
		n.forget(r.Key, r.name, r.kept)
		text := r.Err.Error()
		if !isReply(r.Err) || !strings.HasPrefix(text, "MOVED ") && !strings.HasPrefix(text, "ASK ") {
			break
		}
		n.mu.Lock()
		delete(n.of, r.slot)
		n.mu.Unlock()
		n.servers.reload(ctx)
		r.Hit, r.Err = false, nil
		if n.ask(ctx, r); r.Err == nil {
			r.kept.by.flush()
		}
	}
	if r.Err != nil && !isReply(r.Err) && r.kept != nil {
		n.mu.Lock()
		delete(n.of, r.slot) // another server may have taken over
		n.mu.Unlock()
	}
}

// redirects is how often a key is followed from server to server.
const redirects = 4

// trackers returns the connections that the requests of reads wait in.
func (n *Near) trackers(reads []Read) map[*tracker]*tracker {
	all := map[*tracker]*tracker{}
	for i := range reads {
		if r := &reads[i]; r.Err == nil && !r.Hit {
			all[r.kept.by] = r.kept.by
		}
	}
	return all
}

// to returns the connection to the server that holds a key, and the key's slot.
func (n *Near) to(ctx context.Context, key string) (*tracker, int, error) {
	slot := 0
	if IsCluster(n.servers.client) {
		slot = slotOf([]byte(key))
	}
	n.mu.Lock()
	t, closed := n.of[slot], n.closed
	n.mu.Unlock()
	if closed {
		return nil, slot, &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed}
	}
	if t != nil {
		return t, slot, nil
	}
	s, err := n.servers.holds(ctx, key)
	if err != nil {
		return nil, slot, fmt.Errorf("find the server: %w", err)
	}
	t = n.tracker(s)
	n.mu.Lock()
	n.of[slot] = t
	n.mu.Unlock()
	return t, slot, nil
}

// forget removes a reply, unless another has taken its place.
func (n *Near) forget(key, name string, k *kept) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.keys[key][name] != k {
		return
	}
	if delete(n.keys[key], name); len(n.keys[key]) == 0 {
		delete(n.keys, key)
	}
}

// drop removes everything of a key.
func (n *Near) drop(key string) {
	n.mu.Lock()
	delete(n.keys, key)
	n.mu.Unlock()
}

// dropAll removes everything that a connection watches over.
func (n *Near) dropAll(t *tracker) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for key, of := range n.keys {
		for name, k := range of {
			if k.by == t {
				delete(of, name)
			}
		}
		if len(of) == 0 {
			delete(n.keys, key)
		}
	}
}

// tracker is the connection to one server.
type tracker struct {
	near   *Near
	server Server

	// opening is held while a connection is opened.
	opening sync.Mutex
	mu      sync.Mutex
	c       net.Conn
	out     []byte
	waiting []*kept // in the order in which their replies come
	sending sync.Mutex
}

// connect makes sure that there is a connection.
func (t *tracker) connect(ctx context.Context) error {
	t.opening.Lock()
	defer t.opening.Unlock()
	t.mu.Lock()
	open := t.c != nil
	t.mu.Unlock()
	if open {
		return nil
	}
	c, err := t.server.connect(ctx)
	if err != nil {
		return err
	}
	in := bufio.NewReaderSize(c, 16<<10)
	if err := t.track(ctx, c, in); err != nil {
		return errors.Join(err, c.Close())
	}
	t.mu.Lock()
	t.c, t.out, t.waiting = c, nil, nil
	t.mu.Unlock()
	fault.Go(func() { t.read(c, in) }) // ends when the connection is closed
	return nil
}

// track turns RESP3 and client-side caching on.
func (t *tracker) track(ctx context.Context, c net.Conn, in *bufio.Reader) error {
	stop := context.AfterFunc(ctx, interrupt(c))
	defer stop()
	if err := c.SetDeadline(time.Now().Add(t.server.patience())); err != nil {
		return err
	}
	if _, err := c.Write(append(Encode("HELLO", "3"), Encode("CLIENT", "TRACKING", "ON")...)); err != nil {
		return err
	}
	var none Reply
	for range 2 {
		none.reset()
		if err := t.next(in, &none); err != nil {
			return err
		}
	}
	return c.SetDeadline(time.Time{})
}

// queue adds a request to those that flush sends.
func (t *tracker) queue(request []byte, k *kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.c == nil { // it broke in between
		k.err = &net.OpError{Op: "write", Net: "tcp", Err: io.ErrUnexpectedEOF}
		close(k.ready)
		return
	}
	t.out, t.waiting = append(t.out, request...), append(t.waiting, k)
}

// flush sends what is queued.
func (t *tracker) flush() {
	t.sending.Lock()
	defer t.sending.Unlock()
	t.mu.Lock()
	c, out := t.c, t.out
	t.out = nil
	t.mu.Unlock()
	if c == nil || len(out) == 0 {
		return
	}
	// A server that is silent for longer than it may be has the calls fail.
	_ = c.SetDeadline(time.Now().Add(t.server.patience())) // then the write fails
	if _, err := c.Write(out); err != nil {
		t.close(err)
	}
}

// read hands out replies, and removes what the server invalidates.
func (t *tracker) read(c net.Conn, in *bufio.Reader) {
	for {
		t.mu.Lock()
		if t.c == c && len(t.waiting) == 0 {
			_ = c.SetReadDeadline(time.Time{}) // it may be silent while nobody waits; if it is closed, reading fails
		}
		t.mu.Unlock()
		err := t.pushes(in)
		var k *kept
		t.mu.Lock()
		switch {
		case t.c != c:
			t.mu.Unlock()
			return // whoever closed it has told those who waited
		case err != nil:
		case len(t.waiting) == 0:
			err = errors.New("a reply that nobody has asked for")
		default:
			k, t.waiting = t.waiting[0], t.waiting[1:]
		}
		t.mu.Unlock()
		if err == nil {
			if err = t.answer(in, k); err != nil {
				k.err = err
			}
			close(k.ready)
		}
		if err != nil {
			t.closeIf(c, err)
			return
		}
	}
}

// answer reads the reply of a command, and for how long it is valid.
func (t *tracker) answer(in *bufio.Reader, k *kept) error {
	err := t.next(in, &k.reply)
	if err != nil && !isReply(err) {
		return err
	}
	var left Reply
	if late := t.next(in, &left); late != nil && !isReply(late) {
		return late
	}
	valid := t.near.most
	if left.N >= 0 {
		valid = min(valid, time.Duration(left.N)*time.Millisecond)
	}
	k.err, k.until = err, time.Now().Add(valid)
	return nil
}

// next reads a reply, and whatever the server pushes before it.
func (t *tracker) next(in *bufio.Reader, into *Reply) error {
	if err := t.pushes(in); err != nil {
		return err
	}
	n, err := into.read(in)
	into.N = n
	return err
}

// pushes reads what the server pushes until something else comes.
func (t *tracker) pushes(in *bufio.Reader) error {
	for {
		head, err := in.Peek(1)
		if err != nil {
			return err
		}
		if head[0] != '>' {
			return nil
		}
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(bytes.TrimSpace(line[1:])))
		if err != nil {
			return strange(line)
		}
		push := Reply{Keep: true}
		nothing := false
		for range n {
			nothing = false
			number, err := push.read(in)
			if err != nil && !isReply(err) {
				return err
			}
			nothing = number < 0
		}
		t.pushed(&push, nothing)
	}
}

// pushed removes what a message of the server invalidates: keys, or everything.
func (t *tracker) pushed(push *Reply, all bool) {
	if what, ok := push.At(0); !ok || string(what) != "invalidate" {
		return
	}
	if all {
		t.near.dropAll(t)
		return
	}
	for i := 1; i < push.Len(); i++ {
		if key, ok := push.At(i); ok {
			t.near.invalid.Add(1)
			t.near.drop(string(key))
		}
	}
}

// closeIf is close, unless c has been replaced.
func (t *tracker) closeIf(c net.Conn, err error) {
	t.mu.Lock()
	same := t.c == c
	t.mu.Unlock()
	if same {
		t.close(err)
	}
}

// close closes the connection; the calls that wait fail, and what it watched over is
// forgotten.
func (t *tracker) close(err error) {
	t.mu.Lock()
	c, waiting := t.c, t.waiting
	t.c, t.out, t.waiting = nil, nil, nil
	t.mu.Unlock()
	if c != nil {
		_ = c.Close() // it is no longer needed
	}
	t.near.dropAll(t)
	for _, k := range waiting {
		k.err = err
		close(k.ready)
	}
}
