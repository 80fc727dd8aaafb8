package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// Own is one connection that sends requests as encoded, in the older protocol and
// without a pool in between, as redis-benchmark does: what is measured is the server,
// and as little of the client as possible. It belongs to one goroutine.
type Own struct {
	// Dial opens a connection, and logs in.
	Dial    func(ctx context.Context) (net.Conn, error)
	timeout time.Duration
	c       net.Conn
	in      *bufio.Reader
	// deadline is the one last set on the connection, used the time of its last use.
	deadline, used time.Time
	// ctx ends the calls; release ends watching it.
	ctx     context.Context
	release func() bool
	// none takes replies that nobody needs.
	none Reply
}

// idle is how long a connection may have been unused before it is replaced: the server
// may have closed it.
const idle = 10 * time.Second

// NewOwn returns a connection to the server that holds key, with the options of an open
// client.
func NewOwn(ctx context.Context, client Client, key string) (*Own, error) {
	o, err := servers{client}.holds(ctx, key)
	if err != nil {
		return nil, err
	}
	return &Own{Dial: o.connect, timeout: o.patience()}, nil
}

// patience returns how long a server may take to answer.
func (s Server) patience() time.Duration {
	if s.Read <= 0 {
		return 5 * time.Second
	}
	return s.Read
}

// dialRaw opens a connection and logs in.
func dialRaw(ctx context.Context, o *goredis.Options) (net.Conn, error) {
	c, err := o.Dialer(ctx, o.Network, o.Addr)
	if err != nil {
		return nil, err
	}
	var hello []byte
	replies := 1
	switch {
	case o.Password != "" && o.Username != "":
		hello = Encode("AUTH", o.Username, o.Password)
	case o.Password != "":
		hello = Encode("AUTH", o.Password)
	default:
		replies = 0
	}
	if o.DB != 0 {
		hello = append(hello, Encode("SELECT", strconv.Itoa(o.DB))...)
		replies++
	}
	if replies == 0 {
		return c, nil
	}
	r := Own{c: c, in: bufio.NewReader(c), timeout: serverOf(o).patience()}
	stop := context.AfterFunc(ctx, interrupt(c))
	defer stop()
	// A server without a password accepts go-redis when it sends one, so it must accept
	// us too.
	if err := r.exchange(hello, replies, &r.none); err != nil && !strings.Contains(err.Error(), "without any password configured") {
		return nil, errors.Join(fmt.Errorf("log in: %w", err), c.Close())
	}
	return c, c.SetDeadline(time.Time{})
}

// Call sends requests as encoded, connecting first if necessary, and reads their
// replies. It returns the first error reply; a broken connection is reopened next time.
func (r *Own) Call(ctx context.Context, request []byte, replies int) error {
	return r.do(ctx, request, replies, &r.none)
}

func (r *Own) do(ctx context.Context, request []byte, replies int, into *Reply) error {
	err := r.connect(ctx)
	if err == nil {
		err = r.exchange(request, replies, into)
	}
	if err != nil && !isReply(err) {
		r.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return err
}

// connect makes sure that there is a connection, which the end of ctx interrupts.
func (r *Own) connect(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.c != nil && r.ctx != ctx && !r.release() {
		r.Close() // it was interrupted
	}
	if r.c != nil && time.Since(r.used) > idle {
		r.Close()
	}
	if r.c == nil {
		c, err := r.Dial(ctx)
		if err != nil {
			return err
		}
		r.c, r.in, r.deadline, r.ctx = c, bufio.NewReaderSize(c, 16<<10), time.Time{}, nil
	}
	if r.ctx != ctx {
		r.ctx, r.release = ctx, context.AfterFunc(ctx, interrupt(r.c))
	}
	return nil
}

// interrupt ends whatever a connection is waiting for.
func interrupt(c net.Conn) func() {
	return func() { _ = c.Close() }
}

func isReply(err error) bool {
	_, ok := errors.AsType[respError](err)
	return ok
}

func (r *Own) exchange(request []byte, replies int, into *Reply) error {
	// The deadline is moved only occasionally: a call may wait an eighth longer than
	// the timeout.
	r.used = time.Now()
	if r.deadline.Sub(r.used) < r.timeout {
		r.deadline = r.used.Add(r.timeout + r.timeout/8)
		if err := r.c.SetDeadline(r.deadline); err != nil {
			return err
		}
	}
	if len(request) > 0 { // otherwise it was sent before
		if _, err := r.c.Write(request); err != nil {
			return err
		}
	}
	return into.readAll(r.in, replies)
}

// Close closes the connection; a later call opens a new one.
func (r *Own) Close() {
	if r.c != nil {
		_ = r.c.Close() // it is no longer needed
		r.c = nil
	}
	if r.release != nil {
		r.release()
		r.release = nil
	}
}
