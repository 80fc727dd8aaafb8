package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// client makes a client of a server.
func client(t *testing.T, srv *labtest.Server) *goredis.Client {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// linkTo makes a link to the server of a client.
func linkTo(t *testing.T, c *goredis.Client, timeout time.Duration) *Shared {
	t.Helper()
	o, err := servers{c}.holds(t.Context(), "k")
	require.NoError(t, err)
	return &Shared{dial: func(ctx context.Context) (net.Conn, error) { return o.connect(ctx) }, timeout: timeout}
}

// call makes a call whose reply is a number.
func call(l *Shared, request []byte, a *ask) (int64, error) {
	var r Reply
	err := l.call(request, 1, &r, a)
	return r.N, err
}

// number is a request whose reply is n.
func number(n int64) []byte {
	return Encode("EVAL", "return tonumber(ARGV[1])", "0", strconv.FormatInt(n, 10))
}

// names are the numbers of the connections of a kind: those that have called cmd last.
func names(t *testing.T, c *goredis.Client, cmd string) []string {
	t.Helper()
	text, err := c.ClientList(t.Context()).Result()
	require.NoError(t, err)
	var out []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, " cmd="+cmd+" ") {
			out = append(out, strings.Fields(line)[0])
		}
	}
	return out
}

// However many share a connection, each gets the reply of its own request.
func TestEachGetsItsOwnReply(t *testing.T) {
	c := client(t, labtest.Redis(t))
	l := linkTo(t, c, 10*time.Second)
	var wg sync.WaitGroup
	for w := range int64(50) {
		wg.Go(func() {
			a := newAsk(t.Context())
			for i := range int64(100) {
				n, err := call(l, number(w*1000+i), a)
				if !assert.NoError(t, err) || !assert.Equal(t, w*1000+i, n) {
					return
				}
			}
		})
	}
	wg.Wait()
	assert.Len(t, names(t, c, "eval"), 1)
	_, err := call(l, Encode("EVAL", "this is no Lua", "0"), newAsk(t.Context()))
	require.ErrorContains(t, err, "ERR ")
	assert.True(t, isReply(err))
	n, err := call(l, number(7), newAsk(t.Context()))
	require.NoError(t, err, "an error reply is one reply, and the next is the next")
	assert.Equal(t, int64(7), n)
}

// blocked has n callers wait on l for a reply that does not come.
func blocked(ctx context.Context, t *testing.T, c *goredis.Client, l *Shared, n int) chan error {
	t.Helper()
	out := make(chan error, n)
	for range n {
		go func() {
			_, err := call(l, Encode("BLPOP", "none", "0"), newAsk(ctx))
			out <- err
		}()
	}
	require.Eventually(t, func() bool { return l.flying.Load() == int64(n) && len(names(t, c, "blpop")) == 1 }, time.Minute, time.Millisecond)
	return out
}

// A connection that breaks fails all calls that were under way on it, and only
// those.
func TestBrokenSharedConnection(t *testing.T) {
	c := client(t, labtest.Redis(t))
	l, other := linkTo(t, c, 20*time.Second), linkTo(t, c, 20*time.Second)
	_, err := call(other, number(1), newAsk(t.Context()))
	require.NoError(t, err)
	for range 3 {
		calls := blocked(t.Context(), t, c, l, 5)
		id := strings.TrimPrefix(names(t, c, "blpop")[0], "id=")
		require.NoError(t, c.Do(t.Context(), "CLIENT", "KILL", "ID", id).Err())
		for range 5 {
			err := <-calls
			require.ErrorContains(t, err, "not known")
			assert.False(t, isReply(err))
		}
		n, err := call(l, number(5), newAsk(t.Context()))
		require.NoError(t, err, "it is made anew")
		assert.Equal(t, int64(5), n)
	}
	n, err := call(other, number(2), newAsk(t.Context()))
	require.NoError(t, err)
	assert.Equal(t, int64(2), n)
}

// A server that is silent is given up, and used again once it answers.
func TestSilentServerOnASharedConnection(t *testing.T) {
	srv := labtest.Redis(t)
	c := client(t, srv)
	l := linkTo(t, c, 300*time.Millisecond)
	_, err := call(l, number(1), newAsk(t.Context()))
	require.NoError(t, err)
	srv.Pause()
	errs := make(chan error, 10)
	for i := range 10 {
		// The last ones are more than the buffers of a socket hold.
		request := Encode("SET", "k", strings.Repeat("x", 1<<(2*i)))
		go func() {
			_, err := call(l, request, newAsk(t.Context()))
			errs <- err
		}()
	}
	for range 10 {
		assert.ErrorIs(t, <-errs, os.ErrDeadlineExceeded)
	}
	srv.Resume()
	require.Eventually(t, func() bool {
		n, err := call(l, number(6), newAsk(t.Context()))
		return err == nil && n == 6
	}, 20*time.Second, 10*time.Millisecond)
}

// Nobody connects again and again, one after the other, to a server that is gone.
func TestSharedConnectionToNobody(t *testing.T) {
	srv := labtest.Redis(t)
	l := linkTo(t, client(t, srv), time.Second)
	_, err := call(l, number(1), newAsk(t.Context()))
	require.NoError(t, err)
	srv.Kill()
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			_, err := call(l, number(1), newAsk(t.Context()))
			// Who calls before the end of the connection was noticed is told of that end.
			assert.True(t, errors.As(err, new(*net.OpError)) || errors.Is(err, io.EOF), "%v", err)
		})
	}
	wg.Wait()
	srv.Restart()
	n, err := call(l, number(1), newAsk(t.Context()))
	require.NoError(t, err)
	assert.Equal(t, int64(1), n)
}

// A caller that goes away leaves the replies of others where they belong.
func TestCallerThatGoesAway(t *testing.T) {
	c := client(t, labtest.Redis(t))
	l := linkTo(t, c, 20*time.Second)
	ctx, cancel := context.WithCancel(t.Context())
	gone := blocked(ctx, t, c, l, 3)
	got := make(chan int64, 10)
	for i := range int64(10) {
		go func() {
			n, err := call(l, number(i), newAsk(t.Context()))
			assert.NoError(t, err)
			got <- n - i
		}()
	}
	require.Eventually(t, func() bool { return l.flying.Load() == 13 }, time.Minute, time.Millisecond)
	cancel()
	for range 3 {
		require.ErrorIs(t, <-gone, context.Canceled)
	}
	for range 100 { // the end of the context and the call meet in any order
		_, err := call(l, number(1), newAsk(ctx))
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, c.RPush(t.Context(), "none", 1, 2, 3).Err())
	for range 10 {
		assert.Zero(t, <-got)
	}
	assert.Len(t, names(t, c, "eval"), 1, "the connection is the same")
}

// pipe makes a link to a server that answers each request after a while, and says
// how often it was connected to and left.
func pipe(timeout time.Duration, after func(n int) time.Duration) (l *Shared, came, left *atomic.Int64) {
	came, left = new(atomic.Int64), new(atomic.Int64)
	return &Shared{timeout: timeout, dial: func(context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe()
		came.Add(1)
		go func() {
			defer theirs.Close()
			in := bufio.NewReader(theirs)
			for n := 0; ; n++ {
				for range 3 { // a request of one word
					if _, err := in.ReadString('\n'); err != nil {
						left.Add(1)
						return
					}
				}
				time.Sleep(after(n))
				if _, err := fmt.Fprintf(theirs, ":%d\r\n", n); err != nil {
					left.Add(1)
					return
				}
			}
		}()
		return ours, nil
	}}, came, left
}

// One attempt to connect that takes as long as it may is the attempt of all who wait,
// and one whose caller goes away is nobody else's.
func TestOneAttemptToConnectIsForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long = 5 * time.Second
		dials := atomic.Int64{}
		l := &Shared{timeout: time.Second, dial: func(ctx context.Context) (net.Conn, error) {
			dials.Add(1)
			select {
			case <-ctx.Done():
				return nil, net.ErrClosed
			case <-time.After(long):
				return nil, &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
			}
		}}
		callers := func(ctx context.Context, n int, want error) *sync.WaitGroup {
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {
					_, err := call(l, Encode("PING"), newAsk(ctx))
					assert.ErrorIs(t, err, want)
				})
			}
			return &wg
		}
		began := time.Now()
		callers(t.Context(), 20, os.ErrDeadlineExceeded).Wait()
		assert.Equal(t, long, time.Since(began))
		assert.EqualValues(t, 1, dials.Load())

		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := callers(brief, 1, context.DeadlineExceeded)
		synctest.Wait()
		rest := callers(t.Context(), 20, os.ErrDeadlineExceeded)
		first.Wait()
		rest.Wait()
		assert.Equal(t, 2*long+time.Second, time.Since(began))
		assert.EqualValues(t, 3, dials.Load())
	})
}

// A connection that nobody uses is left, after longer than a call may take; one
// that is used rarely is kept.
func TestIdleSharedConnectionIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, came, left := pipe(time.Second, func(int) time.Duration { return 900 * time.Millisecond })
		a := newAsk(t.Context())
		for i := range int64(5) {
			n, err := call(l, Encode("PING"), a)
			require.NoError(t, err)
			assert.Equal(t, i, n)
			time.Sleep(idle - 2*time.Second)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		assert.Equal(t, []int64{1, 1}, []int64{came.Load(), left.Load()})
		n, err := call(l, Encode("PING"), a)
		require.NoError(t, err)
		assert.Zero(t, n)
		time.Sleep(2 * idle)
		synctest.Wait()
		assert.Equal(t, []int64{2, 2}, []int64{came.Load(), left.Load()})
	})
}

// Silence is counted from the last reply, or from when there was something to wait
// for.
func TestSilenceOnASharedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _, left := pipe(time.Second, func(n int) time.Duration {
			if n == 2 {
				return time.Hour
			}
			return 700 * time.Millisecond
		})
		began := time.Now()
		var wg sync.WaitGroup
		failed := make(chan time.Duration, 4)
		for range 4 {
			wg.Go(func() {
				if _, err := call(l, Encode("PING"), newAsk(t.Context())); err != nil {
					failed <- time.Since(began)
				}
			})
			synctest.Wait()
		}
		wg.Wait()
		require.Len(t, failed, 2)
		for range 2 {
			assert.Equal(t, 2400*time.Millisecond, <-failed, "two replies, and a second of silence")
		}
		time.Sleep(2 * time.Hour)
		assert.Equal(t, int64(1), left.Load())
	})
}
