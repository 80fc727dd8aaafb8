package tx

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/fault"
)

// rawConn is one connection that sends requests as they were encoded before the
// run and throws replies away, as redis-benchmark does: what is measured is the
// server, and as little of a client as can be. It belongs to one goroutine.
type rawConn struct {
	dial    func(ctx context.Context) (net.Conn, error)
	timeout time.Duration
	c       net.Conn
	in      *bufio.Reader
}

// respError is an error reply of the server. It implements go-redis's interface
// for such, so that it is put in the same classes.
type respError string

// Error returns the reply.
func (e respError) Error() string { return string(e) }

// RedisError marks a reply of the server.
func (respError) RedisError() {}

// newRaw makes connections to the server that holds key, with the options of an
// open client.
func newRaw(ctx context.Context, client goredis.UniversalClient, key string) (*rawConn, error) {
	var o *goredis.Options
	switch c := client.(type) {
	case *goredis.ClusterClient:
		m, err := c.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		o = m.Options()
	case *goredis.Client:
		o = c.Options()
	default:
		return nil, fault.Store(errors.New("baseline: this client tells no options"), "")
	}
	r := &rawConn{timeout: max(o.ReadTimeout, time.Second)}
	r.dial = func(ctx context.Context) (net.Conn, error) {
		nc, err := o.Dialer(ctx, o.Network, o.Addr)
		if err != nil {
			return nil, err
		}
		r.c, r.in = nc, bufio.NewReaderSize(nc, 16<<10)
		var hello [][]byte
		switch {
		case o.Password != "" && o.Username != "":
			hello = append(hello, encode("AUTH", o.Username, o.Password))
		case o.Password != "":
			hello = append(hello, encode("AUTH", o.Password))
		}
		if o.DB != 0 {
			hello = append(hello, encode("SELECT", strconv.Itoa(o.DB)))
		}
		for _, h := range hello {
			if err := r.exchange(h, 1); err != nil {
				return nil, errors.Join(fmt.Errorf("log in: %w", err), nc.Close())
			}
		}
		return nc, nil
	}
	return r, nil
}

// encode writes a request as the protocol has it.
func encode(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// call sends a request, dialling first where need be, and reads its replies. The
// first error reply is returned; a connection that broke is dialled anew next time.
func (r *rawConn) call(ctx context.Context, request []byte, replies int) error {
	if r.c == nil {
		if _, err := r.dial(ctx); err != nil {
			r.close()
			return err
		}
		context.AfterFunc(ctx, r.interrupt(r.c))
	}
	err := r.exchange(request, replies)
	if err != nil && !isReply(err) {
		r.close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return err
}

// interrupt ends what a connection is waiting for.
func (r *rawConn) interrupt(c net.Conn) func() {
	return func() { _ = c.Close() }
}

func isReply(err error) bool {
	_, ok := errors.AsType[respError](err)
	return ok
}

func (r *rawConn) exchange(request []byte, replies int) error {
	if err := r.c.SetDeadline(time.Now().Add(r.timeout)); err != nil {
		return err
	}
	if _, err := r.c.Write(request); err != nil {
		return err
	}
	var first error
	for range replies {
		if err := r.skip(); err != nil {
			if !isReply(err) {
				return err
			}
			if first == nil {
				first = err
			}
		}
	}
	return first
}

// skip reads one reply.
func (r *rawConn) skip() error {
	line, err := r.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	switch line[0] {
	case '-':
		return respError(string(line[1:max(len(line)-2, 1)]))
	case '$', '*':
		n, err := strconv.Atoi(string(line[1:max(len(line)-2, 1)]))
		if err != nil {
			return fmt.Errorf("a reply begins with %q", line)
		}
		if line[0] == '$' && n >= 0 {
			_, err = r.in.Discard(n + 2)
			return err
		}
		for range n {
			if err := r.skip(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rawConn) close() {
	if r.c != nil {
		_ = r.c.Close() // it is of no use any more
		r.c = nil
	}
}
