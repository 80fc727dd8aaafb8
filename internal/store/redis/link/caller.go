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
	// way and slot are where the call goes, and together what goes there with it, while
	// several are sent at once.
	way      *way
	slot     int
	together []byte
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
	l.DoEach(ctx, cs, func(_ int, err error) {
		if first == nil {
			first = err
		}
	})
	return first
}

// DoEach sends the requests of several callers at once, each to its server, and tells what
// came of each, by its place in the list, once its reply has been read: first of all the
// first, and of those to one server in their order. It returns when all have been told.
func (l *Lines) DoEach(ctx context.Context, cs []*Caller, told func(i int, err error)) {
	for _, c := range cs {
		var err error
		if c.way, c.slot, err = l.to(ctx, c.key()); err != nil {
			for i := range cs {
				told(i, err)
			}
			return
		}
	}
	if !l.shared {
		for i, c := range cs {
			if c.way != nil {
				c.way.pool.doEach(ctx, cs, i, told)
			}
		}
		return
	}
	lead := map[*Shared]*wire{}
	for _, c := range cs {
		c.place(ctx, l)
		s := c.way.shared[cs[0].lane%len(c.way.shared)]
		if w := s.queue(c.wire(), c.count, &c.Reply, c.seat.ask); w != nil {
			lead[s] = w
		}
	}
	for s, w := range lead {
		s.flush(w)
	}
	for i, c := range cs {
		err := c.seat.ask.wait()
		if err != nil {
			err = l.failed(ctx, c, c.slot, err)
		}
		told(i, err)
	}
}

// doEach sends the requests of those callers, from one on, that go where that one does, over
// one connection. Their ways are nil then.
func (p *pool) doEach(ctx context.Context, cs []*Caller, from int, told func(i int, err error)) {
	lead, w := cs[from], cs[from].way
	own, err := p.acquire(ctx)
	if err == nil {
		defer p.release(own)
	}
	lead.together = lead.together[:0]
	for _, c := range cs[from:] {
		if c.way == w {
			lead.together = append(lead.together, c.wire()...)
		}
	}
	request := lead.together
	for i, c := range cs {
		if c.way != w {
			continue
		}
		c.way = nil
		if err == nil || isReply(err) {
			err = own.do(ctx, request, c.count, &c.Reply)
			request = nil // all of it has been sent
		}
		if err == nil {
			told(i, nil)
			continue
		}
		told(i, p.of.failed(ctx, c, c.slot, err))
	}
}
