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

// Clock tells the time in nanoseconds.
type Clock interface{ Now() int64 }

// Request is one request as it went, by a clock.
type Request struct {
	// Reached says that there was a connection, Dialled that it was made for this
	// request, at Connected; Replied that a reply began.
	Reached, Dialled, Replied bool
	Connected                 int64
	// Sent is when the request was written, First when the reply began.
	Sent, First int64
	// Status, Bytes and Body are of the reply: its status, its length with its head, and
	// that of its body.
	Status, Bytes, Body int
}

// BenchClient asks for the benchmark's URL as ab does: by HTTP/1.0, reading until the
// server has closed the connection unless that is kept. It belongs to one goroutine.
type BenchClient struct {
	bench   *Bench
	keep    bool
	request []byte
	dialer  net.Dialer
	in      *bufio.Reader
	body    []byte
	// deadline is what a kept connection was told last.
	deadline time.Time

	ctx     context.Context // what the watch is over
	release func() bool
	mu      sync.Mutex // guards changes of conn, which the watch closes
	conn    net.Conn
}

const (
	mostHeads = 100
	mostBody  = 1 << 20
	// shownBody is how much of a body is told.
	shownBody = 120
)

// Get makes one request. The error is that of the network, or a ReplyError.
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

// ended is the end of ctx where that is why something failed.
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
	conn, err := c.dialer.DialContext(ctx, "tcp", c.bench.addr)
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
	if ctx.Err() != nil { // the watch may have come too early to close it
		c.hangUp()
		return ctx.Err()
	}
	return nil
}

func (c *BenchClient) exchange(clock Clock, r *Request) (kept bool, err error) {
	// The deadline of a kept connection is moved now and then only: a reply may take
	// longer than the timeout by an eighth.
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
	// As ab, wait for the server to close.
	if _, err := c.in.ReadByte(); err == nil {
		return false, errors.New("the reply goes on behind its end")
	} else if !errors.Is(err, io.EOF) {
		return false, err
	}
	return false, nil
}

// early makes the end of a connection before that of a reply an error of its own.
func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the server closed the connection before the reply ended: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// head reads status and fields; length is -1 where the end of the connection is that
// of the body.
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
			return 0, false, errors.New("the reply has no end of fields")
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
			return 0, false, errors.New("the reply comes in chunks, which HTTP/1.0 has not")
		}
	}
}

// statusOf reads a status line: HTTP/1.0 200 OK.
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

// interrupt ends what the connection is waiting for.
func (c *BenchClient) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // the request tells why it failed
	}
}

// hangUp closes the connection.
func (c *BenchClient) hangUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // it is of no use any more
		c.conn = nil
	}
}

// Close lets go of the connection.
func (c *BenchClient) Close() {
	if c.release != nil {
		c.release()
		c.release = nil
	}
	c.hangUp()
}
