package cassandra

import (
	"bytes"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pipe returns both ends of a connection, whose writes wait for reads; the first gathers.
func pipe(t *testing.T) (g *gathered, peer net.Conn) {
	t.Helper()
	c, peer := net.Pipe()
	g = gather(c)
	t.Cleanup(func() { _, _ = g.Close(), peer.Close() })
	return g, peer
}

func write(t *testing.T, g *gathered, text string) {
	t.Helper()
	n, err := g.Write([]byte(text))
	require.NoError(t, err)
	assert.Equal(t, len(text), n)
}

func TestALoneFrameIsSentAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, peer := pipe(t)
		began := time.Now()
		write(t, g, "frame")
		got := make([]byte, 100)
		n, err := peer.Read(got)
		require.NoError(t, err)
		assert.Equal(t, "frame", string(got[:n]))
		assert.Zero(t, time.Since(began))
	})
}

func TestFramesThatAreWrittenMeanwhileAreSentTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, peer := pipe(t)
		write(t, g, "first")
		synctest.Wait() // it is being sent, as long as nobody reads it
		for _, text := range []string{"second", "third", "fourth"} {
			write(t, g, text)
		}
		got := make([]byte, 100)
		for _, want := range []string{"first", "secondthirdfourth"} {
			n, err := peer.Read(got)
			require.NoError(t, err)
			assert.Equal(t, want, string(got[:n]))
		}
	})
}

func TestReadersAreToldWhySendingFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, _ := pipe(t)
		began := time.Now()
		require.NoError(t, g.SetWriteDeadline(began.Add(time.Second)))
		write(t, g, "nobody reads this")
		_, err := g.Read(make([]byte, 1))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Second, time.Since(began))
		_, err = g.Write([]byte("more"))
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "nor is anything sent after it")
	})
}

func TestWhatIsUnsentIsBounded(t *testing.T) {
	t.Parallel()
	for name, then := range map[string]func(*gathered, net.Conn){
		"read":   func(_ *gathered, peer net.Conn) { _, _ = io.CopyN(io.Discard, peer, 1+mostUnsent) },
		"closed": func(g *gathered, _ net.Conn) { _ = g.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g, peer := pipe(t)
				write(t, g, "1")
				synctest.Wait()
				_, err := g.Write(bytes.Repeat([]byte("2"), mostUnsent))
				require.NoError(t, err)
				done := make(chan error, 1)
				go func() {
					_, err := g.Write([]byte("3"))
					done <- err
				}()
				synctest.Wait()
				require.Empty(t, done, "too much is unsent")
				then(g, peer)
				if err := <-done; name == "closed" {
					assert.ErrorIs(t, err, net.ErrClosed)
				} else {
					assert.NoError(t, err)
				}
			})
		})
	}
}
