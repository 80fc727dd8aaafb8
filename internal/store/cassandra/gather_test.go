package cassandra

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
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

func TestTheBufferOfAHugeFrameIsNotKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, peer := pipe(t)
		for _, size := range []int{mostKept + 1, 1} {
			_, err := g.Write(make([]byte, size))
			require.NoError(t, err)
			_, err = io.CopyN(io.Discard, peer, int64(size))
			require.NoError(t, err)
			synctest.Wait()
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		assert.LessOrEqual(t, cap(g.unsent), mostKept)
	})
}

func TestFramesOfManyWritersArriveWholeAndInOrder(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(srv.Close)
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for name, wrap := range map[string]func(client, server net.Conn) (w, r net.Conn){
		"plain": func(client, server net.Conn) (w, r net.Conn) { return client, server },
		"tls": func(client, server net.Conn) (w, r net.Conn) {
			return tls.Client(client, &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}),
				tls.Server(server, &tls.Config{Certificates: srv.TLS.Certificates, MinVersion: tls.VersionTLS12})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			t.Cleanup(func() { _ = l.Close() })
			c, err := net.Dial("tcp", l.Addr().String())
			require.NoError(t, err)
			g := gather(c)
			t.Cleanup(func() { _ = g.Close() })
			server, err := l.Accept()
			require.NoError(t, err)
			t.Cleanup(func() { _ = server.Close() })
			w, r := wrap(g, server)
			checkFrames(t, w, r)
		})
	}
}

// checkFrames has many write frames to w, and reads them from r: each is the writer, its number,
// the length of what follows, and that many bytes of the writer.
func checkFrames(t *testing.T, w io.Writer, r io.Reader) {
	t.Helper()
	const writers, each = 16, 200
	failed := make(chan error, writers)
	for by := range uint32(writers) {
		go func() {
			for i := range uint32(each) {
				size := (by*977 + i*131) % 8192
				frame := binary.BigEndian.AppendUint32(nil, by)
				frame = binary.BigEndian.AppendUint32(frame, i)
				frame = binary.BigEndian.AppendUint32(frame, size)
				frame = append(frame, bytes.Repeat([]byte{byte(by)}, int(size))...)
				if _, err := w.Write(frame); err != nil {
					failed <- err
					return
				}
				clear(frame) // it is the driver's again
			}
			failed <- nil
		}()
	}
	var next [writers]uint32
	for range writers * each {
		var head [3]uint32
		require.NoError(t, binary.Read(r, binary.BigEndian, &head))
		by, size := head[0], head[2]
		require.Less(t, by, uint32(writers))
		require.Equal(t, next[by], head[1], "the next frame of writer %d", by)
		next[by]++
		body := make([]byte, size)
		_, err := io.ReadFull(r, body)
		require.NoError(t, err)
		require.Equal(t, bytes.Repeat([]byte{byte(by)}, int(size)), body)
	}
	for range writers {
		require.NoError(t, <-failed)
	}
}
