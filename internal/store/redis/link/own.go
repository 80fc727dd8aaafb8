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

	"github.com/perfbench/perfbench/internal/fault"
)

// Own is one connection that sends requests as they were encoded, in the older
// protocol and without a pool in between, as redis-benchmark does: what is measured
// is the server, and as little of a client as can be. It belongs to one goroutine.
type Own struct {
	// Dial makes a connection, and logs in.
	Dial    func(ctx context.Context) (net.Conn, error)
	timeout time.Duration
	c       net.Conn
	in      *bufio.Reader
	// deadline is what the connection was told, used when it was used last.
	deadline, used time.Time
	// release ends the watch over the context of the connection.
	release func() bool
}

// idle is how long a connection may have been left alone and still be used: the
// server may have closed it.
const idle = 10 * time.Second

// respError is an error reply of the server. It implements go-redis's interface
// for such, so that it is put in the same classes.
type respError string

// Error returns the reply.
func (e respError) Error() string { return string(e) }

// RedisError marks a reply of the server.
func (respError) RedisError() {}

// servers finds the server that holds a key.
type servers struct{ client goredis.UniversalClient }

// holds returns the options of the server that holds key.
func (s servers) holds(ctx context.Context, key string) (*goredis.Options, error) {
	switch c := s.client.(type) {
	case *goredis.ClusterClient:
		m, err := c.MasterForKey(ctx, key)
		if err != nil {
			return nil, err
		}
		return m.Options(), nil
	case *goredis.Client:
		return c.Options(), nil
	}
	return nil, fault.Store(errors.New("redis: this client tells no options"), "")
}

// pool is how many connections to a server the target allows.
func (s servers) pool() int {
	switch c := s.client.(type) {
	case *goredis.ClusterClient:
		return c.Options().PoolSize
	case *goredis.Client:
		return c.Options().PoolSize
	}
	return 1
}

// reload has a cluster asked again who holds what; false where one server holds all.
func (s servers) reload(ctx context.Context) bool {
	c, ok := s.client.(*goredis.ClusterClient)
	if ok {
		c.ReloadState(ctx)
	}
	return ok
}

// NewOwn makes connections to the server that holds key, with the options of an
// open client.
func NewOwn(ctx context.Context, client goredis.UniversalClient, key string) (*Own, error) {
	o, err := servers{client}.holds(ctx, key)
	if err != nil {
		return nil, err
	}
	return &Own{Dial: func(ctx context.Context) (net.Conn, error) { return dialRaw(ctx, o) }, timeout: readTimeout(o)}, nil
}

// readTimeout is how long a server may take to answer.
func readTimeout(o *goredis.Options) time.Duration {
	if o.ReadTimeout <= 0 {
		return 5 * time.Second
	}
	return o.ReadTimeout
}

// dialRaw makes a connection and logs in.
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
	r := Own{c: c, in: bufio.NewReader(c), timeout: readTimeout(o)}
	stop := context.AfterFunc(ctx, r.interrupt(c))
	defer stop()
	// A server that wants no password lets the library in that has one, and so us.
	if _, err := r.exchange(hello, replies); err != nil && !strings.Contains(err.Error(), "without any password configured") {
		return nil, errors.Join(fmt.Errorf("log in: %w", err), c.Close())
	}
	return c, c.SetDeadline(time.Time{})
}

// Encode writes a request as the protocol has it.
func Encode(args ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(a), a)
	}
	return b
}

// Call sends a request, dialling first where need be, and reads its replies. The
// first error reply is returned; a connection that broke is dialled anew next time.
func (r *Own) Call(ctx context.Context, request []byte, replies int) error {
	_, err := r.do(ctx, request, replies)
	return err
}

// number is call for a request with one reply, which is a number.
func (r *Own) number(ctx context.Context, request []byte) (int64, error) {
	return r.do(ctx, request, 1)
}

func (r *Own) do(ctx context.Context, request []byte, replies int) (int64, error) {
	if err := r.connect(ctx); err != nil {
		return 0, err
	}
	n, err := r.exchange(request, replies)
	if err != nil && !isReply(err) {
		r.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
	}
	return n, err
}

// connect makes sure that there is a connection, which the end of ctx interrupts.
func (r *Own) connect(ctx context.Context) error {
	if r.c != nil && time.Since(r.used) > idle {
		r.Close()
	}
	if r.c != nil {
		return nil
	}
	c, err := r.Dial(ctx)
	if err != nil {
		return err
	}
	r.c, r.in, r.deadline = c, bufio.NewReaderSize(c, 16<<10), time.Time{}
	r.release = context.AfterFunc(ctx, r.interrupt(r.c))
	return nil
}

// interrupt ends what a connection is waiting for.
func (r *Own) interrupt(c net.Conn) func() {
	return func() { _ = c.Close() }
}

func isReply(err error) bool {
	_, ok := errors.AsType[respError](err)
	return ok
}

func (r *Own) exchange(request []byte, replies int) (last int64, err error) {
	// A deadline is moved now and then only: a call may wait for a little longer
	// than the timeout, by an eighth of it.
	r.used = time.Now()
	if r.deadline.Sub(r.used) < r.timeout {
		r.deadline = r.used.Add(r.timeout + r.timeout/8)
		if err := r.c.SetDeadline(r.deadline); err != nil {
			return 0, err
		}
	}
	if _, err := r.c.Write(request); err != nil {
		return 0, err
	}
	var first error
	for range replies {
		n, err := readReply(r.in)
		if err != nil {
			if !isReply(err) {
				return 0, err
			}
			if first == nil {
				first = err
			}
		}
		last = n
	}
	return last, first
}

// readReply reads one reply and returns its number, or that of its bytes or
// elements.
func readReply(in *bufio.Reader) (int64, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < 3 {
		return 0, fmt.Errorf("a reply begins with %q", line)
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '-':
		return 0, respError(string(text))
	case '+':
		return 0, nil
	case '$', '*', ':':
	default:
		return 0, fmt.Errorf("a reply begins with %q", line)
	}
	kind := line[0]
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("a reply begins with %q", line)
	}
	switch {
	case kind == '$' && n >= 0:
		_, err = in.Discard(int(n) + 2)
	case kind == '*':
		for range n {
			if _, err := readReply(in); err != nil {
				return n, err
			}
		}
	}
	return n, err
}

// Close ends the connection; a later call makes a new one.
func (r *Own) Close() {
	if r.c != nil {
		_ = r.c.Close() // it is of no use any more
		r.c = nil
	}
	if r.release != nil {
		r.release()
		r.release = nil
	}
}
