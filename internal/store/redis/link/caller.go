package link

import (
	"context"
	"errors"
	"runtime"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// Caller holds the request and the reply of calls. It belongs to one goroutine, and is
// reused for the next call.
type Caller struct {
	Request
	// Reply is the last reply.
	Reply Reply
	// seat and lane are for shared connections: the place in the queue, and which of
	// the connections is used.
	seat *seat
	lane int
}

// seat holds a place. When nobody refers to it any more, the place is unregistered from
// its context.
type seat struct{ ask *ask }

// Do sends a caller's request and reads the reply. It returns the reply's number or,
// for bytes and lists, their length; -1 for nil.
func (l *Lines) Do(ctx context.Context, c *Caller) (int64, error) {
	w, slot, err := l.to(ctx, c.key())
	if err != nil {
		return 0, err
	}
	request := c.wire()
	if w.pool != nil {
		err = w.pool.do(ctx, request, c)
	} else {
		c.place(ctx, l)
		err = w.shared[c.lane%len(w.shared)].call(request, c.count, &c.Reply, c.seat.ask)
	}
	if err != nil {
		err = l.failed(ctx, c, slot, err)
	}
	return c.Reply.N, err
}

// place makes a place in the queue, in which waiting ends with ctx.
func (c *Caller) place(ctx context.Context, l *Lines) {
	switch {
	case c.seat == nil:
		c.lane = int(l.lane.Add(1))
	case c.seat.ask.ended || c.seat.ask.ctx != ctx:
		c.seat.ask.stop()
	default:
		return
	}
	c.seat = &seat{newAsk(ctx)}
	runtime.AddCleanup(c.seat, func(stop func() bool) { stop() }, c.seat.ask.stop)
}

func (p *pool) do(ctx context.Context, request []byte, c *Caller) error {
	own, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer p.release(own)
	err = own.do(ctx, request, c.count, &c.Reply)
	if err != nil && isReply(err) && strings.HasPrefix(err.Error(), "READONLY") {
		own.Close() // another server has become the master
	}
	return err
}

// failed has a call that came to the wrong server carried out by the right one, and
// notes that servers have changed their roles.
func (l *Lines) failed(ctx context.Context, c *Caller, slot int, err error) error {
	c.Reply.N = 0
	if ctx.Err() != nil {
		return err
	}
	if !isReply(err) {
		l.forget(ctx, slot)
		return err
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "MOVED "), strings.HasPrefix(text, "ASK "):
		l.redirects.Add(1)
		l.forget(ctx, slot)
		if len(c.where) > 0 {
			return l.transact(ctx, c)
		}
		if c.count > 1 { // it is not known which of them were carried out
			return err
		}
		return l.through(ctx, c, c.args())
	case strings.HasPrefix(text, "READONLY"):
		l.forget(ctx, slot) // another server has become the master
	}
	return err
}

// through sends a command through go-redis.
func (l *Lines) through(ctx context.Context, c *Caller, args []any) error {
	cmd := goredis.NewCmd(ctx, args...)
	if c.keyAt < len(args) {
		cmd.SetFirstKeyPos(int8(c.keyAt)) //nolint:gosec // 1 or 3
	}
	_ = l.servers.client.Process(ctx, cmd) // the command keeps its error
	err := cmd.Err()
	if errors.Is(err, goredis.Nil) {
		err = nil
	}
	if err == nil {
		c.Reply.convert(cmd.Val())
	}
	return err
}

// DoAll sends the requests of several callers at once, each to its server, waits for
// all replies, and returns the first error.
func (l *Lines) DoAll(ctx context.Context, cs []*Caller) error {
	var first error
	keep := func(c *Caller, slot int, err error) {
		if err != nil {
			err = l.failed(ctx, c, slot, err)
		}
		if first == nil {
			first = err
		}
	}
	at, slot := make([]*way, len(cs)), make([]int, len(cs))
	for i, c := range cs {
		var err error
		if at[i], slot[i], err = l.to(ctx, c.key()); err != nil {
			return err
		}
	}
	if !l.shared {
		for i, w := range at {
			if w != nil {
				w.pool.doAll(ctx, w, at[i:], cs[i:], func(j int, err error) { keep(cs[i+j], slot[i+j], err) })
			}
		}
		return first
	}
	lead := map[*Shared]*wire{}
	for i, c := range cs {
		c.place(ctx, l)
		s := at[i].shared[cs[0].lane%len(at[i].shared)]
		if w := s.queue(c.wire(), c.count, &c.Reply, c.seat.ask); w != nil {
			lead[s] = w
		}
	}
	for s, w := range lead {
		s.flush(w)
	}
	for i, c := range cs {
		keep(c, slot[i], c.seat.ask.wait())
	}
	return first
}

// doAll sends the requests of those callers whose way is w over one connection, reports
// the outcome of each through told, and removes their ways from at.
func (p *pool) doAll(ctx context.Context, w *way, at []*way, cs []*Caller, told func(i int, err error)) {
	own, err := p.acquire(ctx)
	if err == nil {
		defer p.release(own)
	}
	var request []byte
	var mine []int
	for i, c := range cs {
		if at[i] == w {
			request, mine, at[i] = append(request, c.wire()...), append(mine, i), nil
		}
	}
	for _, i := range mine {
		if err == nil || isReply(err) {
			err = own.do(ctx, request, cs[i].count, &cs[i].Reply)
			request = nil // all of it has been sent
		}
		told(i, err)
	}
}
