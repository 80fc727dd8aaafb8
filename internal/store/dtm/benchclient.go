package dtm

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// Clock returns the time in nanoseconds.
type Clock interface{ Now() int64 }

// Request is the record of one request, with times by a Clock.
type Request struct {
	// Reached means that there was a connection; Dialled that it was opened for this
	// request, at Connected; Replied that a reply began.
	Reached, Dialled, Replied bool
	Connected                 int64
	// Sent is when the request was written, First when the reply began.
	Sent, First int64
	// Status, Bytes and Body describe the reply: its status, its length including the
	// head, and the length of its body.
	Status, Bytes, Body int
}

// BenchClient requests the benchmark's URL as ab does: with HTTP/1.0, reading until the
// server has closed the connection unless it is kept. It belongs to one goroutine.
type BenchClient struct {
	bench   *Bench
	keep    bool
	request []byte
	dialer  net.Dialer
	in      *bufio.Reader
	body    []byte
	// deadline is the one last set on a kept connection.
	deadline time.Time

	ctx     context.Context // the context that the watch covers
	release func() bool
	mu      sync.Mutex // guards changes of conn, which the watch closes
	conn    net.Conn
}

const (
	mostHeads = 100
	mostBody  = 1 << 20
	// shownBody is how much of a body is shown.
	shownBody = 120
)

// Get makes one request. The error is a network error or a ReplyError.
func (c *BenchClient) Get(ctx context.Context, clock Clock) (r Request, err error) {
	if c.ctx != ctx {
		c.Close()
		c.ctx, c.release = ctx, context.AfterFunc(ctx, c.interrupt)
	}
	if err := c.connect(ctx, clock, &r); err != nil {
		return r, ended(ctx, err)
	}
	kept, err := c.exchange(clock, &r)
	if !kept || err != nil {
		c.hangUp()
	}
	if err != nil {
		return r, ended(ctx, err)
	}
	if r.Status/100 != 2 || bytes.Contains(c.body, []byte(wordFailure)) || bytes.Contains(c.body, []byte(wordOngoing)) {
		return r, &ReplyError{r.Status, string(c.body[:min(len(c.body), shownBody)])}
	}
	return r, nil
}

// ended returns the end of ctx if that is why something failed, and err otherwise.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (c *BenchClient) connect(ctx context.Context, clock Clock, r *Request) error {
	if r.Reached = c.conn != nil; r.Reached {
		return nil
	}
	conn, err := c.bench.proxy.Dial(ctx, &c.dialer, "tcp", c.bench.addr)
	if err != nil {
		return err
	}
	r.Reached, r.Dialled, r.Connected = true, true, clock.Now()
	if c.in == nil {
		c.in = bufio.NewReader(conn)
	}
	c.in.Reset(conn)
	c.deadline = time.Time{}
	c.mu.Lock()
	c.conn = conn
	c.mu.Unlock()
	if ctx.Err() != nil { // the watch may have run too early to close it
		c.hangUp()
		return ctx.Err()
	}
	return nil
}

func (c *BenchClient) exchange(clock Clock, r *Request) (kept bool, err error) {
	// The deadline of a kept connection is moved only occasionally: a reply may take an
	// eighth longer than the timeout.
	if now, most := time.Now(), c.bench.times.Read; c.deadline.Sub(now) < most {
		c.deadline = now.Add(most + most/8)
		if err := c.conn.SetDeadline(c.deadline); err != nil {
			return false, err
		}
	}
	if _, err := c.conn.Write(c.request); err != nil {
		return false, err
	}
	r.Sent = clock.Now()
	if _, err := c.in.Peek(1); err != nil {
		return false, early(err)
	}
	r.Replied, r.First = true, clock.Now()
	length, kept, err := c.head(r)
	if err != nil {
		return false, early(err)
	}
	if err := c.read(length, r); err != nil {
		return false, early(err)
	}
	if c.keep && kept {
		return true, nil
	}
	// Like ab, wait for the server to close.
	if _, err := c.in.ReadByte(); err == nil {
		return false, errors.New("the reply goes on past its end")
	} else if !errors.Is(err, io.EOF) {
		return false, err
	}
	return false, nil
}

// early turns the end of a connection before the end of a reply into an error of its
// own.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the server closed the connection before the reply ended: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// head reads status and fields; length is -1 if the body ends with the connection.
func (c *BenchClient) head(r *Request) (length int, kept bool, err error) {
	length = -1
	for n := 0; ; n++ {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, false, err
		}
		r.Bytes += len(line)
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case n == 0:
			if r.Status, err = statusOf(line); err != nil {
				return 0, false, err
			}
			continue
		case len(line) == 0:
			return length, kept && length >= 0, nil
		case n > mostHeads:
			return 0, false, errors.New("the header of the reply does not end")
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err = strconv.Atoi(string(value)); err != nil || length < 0 || length > mostBody {
				return 0, false, fmt.Errorf("the reply says it has %q bytes", value)
			}
		case bytes.EqualFold(name, []byte("connection")):
			kept = bytes.EqualFold(value, []byte("keep-alive"))
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			return 0, false, errors.New("the reply comes in chunks, which HTTP/1.0 does not have")
		}
	}
}

// statusOf parses a status line: HTTP/1.0 200 OK.
func statusOf(line []byte) (int, error) {
	if len(line) >= 12 && bytes.HasPrefix(line, []byte("HTTP/1.")) && line[8] == ' ' {
		n := 0
		for _, d := range line[9:12] {
			if d < '0' || d > '9' {
				n = -1
				break
			}
			n = 10*n + int(d-'0')
		}
		if n >= 100 {
			return n, nil
		}
	}
	return 0, fmt.Errorf("the reply begins with %q, which is not HTTP", line[:min(len(line), shownBody)])
}

// read reads the body.
func (c *BenchClient) read(length int, r *Request) error {
	if length < 0 {
		body, err := io.ReadAll(io.LimitReader(c.in, mostBody))
		c.body = body
		r.Body, r.Bytes = len(body), r.Bytes+len(body)
		return err
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	n, err := io.ReadFull(c.in, c.body)
	r.Body, r.Bytes = n, r.Bytes+n
	return err
}

// interrupt ends whatever the connection is waiting for.
func (c *BenchClient) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // the request reports why it failed
	}
}

// hangUp closes the connection.
func (c *BenchClient) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // it is no longer needed
		c.conn = nil
	}
}

// Close closes the connection.
func (c *BenchClient) Close() {
	if c.release != nil {
		c.release()
		c.release = nil
	}
	c.hangUp()
}
