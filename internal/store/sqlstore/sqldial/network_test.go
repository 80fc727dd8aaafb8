package sqldial

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
)

// What was cut off has nothing to complain of when its pool closes it.
func TestSeveredConnectionsCloseWithoutAnError(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { assert.NoError(t, l.Close()) }()
	var n Network
	c, err := n.dial(t.Context(), "tcp", l.Addr().String())
	require.NoError(t, err)
	n.Sever()
	require.NoError(t, c.Close())
	_, err = n.dial(t.Context(), "tcp", l.Addr().String())
	require.ErrorIs(t, err, net.ErrClosed)
}

// noting is a connection that notes the deadlines of its reads.
type noting struct {
	net.Conn
	set []time.Time
}

func (c *noting) SetReadDeadline(t time.Time) error {
	c.set = append(c.set, t)
	return c.Conn.SetReadDeadline(t)
}

// A deadline that is late enough is kept for the next reads, and one that the user sets counts at
// once.
func TestDeadlinesAreSetWhereTheyWouldBeTooEarly(t *testing.T) {
	t.Parallel()
	one, other := net.Pipe()
	defer func() { assert.NoError(t, other.Close()) }()
	c := &noting{Conn: one}
	w := &wire{Conn: c, n: &Network{times: store.TimeoutSet{Read: time.Hour, Write: time.Hour}}}
	defer func() { assert.NoError(t, w.Close()) }()
	from := time.Now()
	read := func(times int) {
		go func() {
			for range times {
				_, _ = other.Write([]byte("x")) // the reader would notice
			}
		}()
		for range times {
			_, err := w.Read(make([]byte, 1))
			require.NoError(t, err)
		}
	}
	read(100)
	require.Len(t, c.set, 1)
	assert.False(t, c.set[0].Before(from.Add(time.Hour)))
	w.read = time.Now().Add(time.Hour - time.Minute)
	read(1)
	assert.Len(t, c.set, 2, "it would have been a minute too early")

	require.NoError(t, w.SetReadDeadline(time.Unix(1, 0)))
	_, err := w.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, w.SetReadDeadline(time.Time{}))
	read(2)
	assert.Len(t, c.set, 5, "the user's two, and one of ours after it")
}
