package watch

import (
	"io"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// How long, and how often, to ask for what the kernel counts a little later.
const (
	timeToTell = 2 * time.Minute
	tick       = 5 * time.Millisecond
)

// pair is a TCP connection to ourselves.
func pair(t *testing.T) (l net.Listener, near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	near, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	far, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	return l, near, far
}

// carry sends n bytes and waits until the sender knows that they have arrived.
func carry(t *testing.T, from, to net.Conn, n int) {
	t.Helper()
	sent := make(chan error, 1)
	go func() {
		_, err := from.Write(make([]byte, n))
		sent <- err
	}()
	_, err := io.ReadFull(to, make([]byte, n))
	require.NoError(t, err)
	require.NoError(t, <-sent)
}

func TestBytesOfAProcessAreThoseOfItsConnections(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports")
	}
	l, near, far := pair(t)
	carry(t, near, far, 5000) // before anybody asked
	var own Sockets
	in, out, err := own.Add(os.Getpid(), "")
	require.NoError(t, err)
	assert.Zero(t, in+out)

	// A process that may not be looked into: those at its port, which is one end.
	var theirs Sockets
	_, _, err = theirs.Add(-1, l.Addr().String())
	require.NoError(t, err)

	carry(t, near, far, 300_000)
	carry(t, far, near, 7_000) // also tells near's kernel that all has arrived
	require.Eventually(t, func() bool {
		in, out, err = own.Add(os.Getpid(), "")
		return err == nil && in >= 307_000 && out >= 307_000
	}, timeToTell, tick, "both ends are ours")
	require.Eventually(t, func() bool {
		in, out, err = theirs.Add(-1, l.Addr().String())
		return err == nil && in == 300_000 && out == 7_000
	}, timeToTell, tick, "one end")

	// A connection that is new counts from its beginning, one that has gone stays.
	again, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer again.Close()
	other, err := l.Accept()
	require.NoError(t, err)
	defer other.Close()
	carry(t, again, other, 1000)
	require.NoError(t, near.Close())
	require.NoError(t, far.Close())
	require.Eventually(t, func() bool {
		in, _, err = theirs.Add(-1, l.Addr().String())
		return err == nil && in == 301_000
	}, timeToTell, tick)

	_, _, err = theirs.Add(-1, "")
	assert.Error(t, err, "neither the process nor where it listens is known")
}
