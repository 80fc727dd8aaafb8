package link

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// Wire is one connection that is never replaced by another, so that its address is known. It
// belongs to one goroutine, except that the end of its context ends whatever it does.
type Wire struct {
	c       net.Conn
	in      *bufio.Reader
	own     Own
	release func() bool
}

// NewWire connects to the server of a client that is not of a cluster, and logs in.
func NewWire(ctx context.Context, client Client) (*Wire, error) {
	s := ServerOf(client)
	if s.connect == nil {
		return nil, fault.Store(errors.New("redis: a cluster has no single server"), "name one of its nodes: redis://host:port")
	}
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &Wire{c: c, in: bufio.NewReaderSize(c, 1<<20)}
	w.own = Own{c: c, in: w.in, timeout: s.patience()}
	w.release = context.AfterFunc(ctx, interrupt(c))
	return w, nil
}

// Ask sends a request and returns the text of its reply.
func (w *Wire) Ask(args ...string) (string, error) {
	reply := Reply{Keep: true}
	if err := w.own.exchange(Encode(args...), 1, &reply); err != nil {
		return "", err
	}
	if reply.Len() == 0 {
		return "", nil
	}
	text, _ := reply.At(0)
	return string(text), nil
}

// Addr returns this connection's address as the server sees it: what the server says, if it
// says it, and otherwise what is known here.
func (w *Wire) Addr() string {
	text, err := w.Ask("CLIENT", "INFO")
	for field := range strings.FieldsSeq(text) {
		if addr, ok := strings.CutPrefix(field, "addr="); ok && err == nil {
			return addr
		}
	}
	return w.c.LocalAddr().String()
}

// Listen sends a request whose reply is followed by lines without end, and returns these as
// they come.
func (w *Wire) Listen(args ...string) (*bufio.Reader, error) {
	if _, err := w.Ask(args...); err != nil {
		return nil, err
	}
	return w.in, w.c.SetDeadline(time.Time{})
}

// Close closes the connection.
func (w *Wire) Close() {
	w.release()
	_ = w.c.Close() // it is no longer needed
}
