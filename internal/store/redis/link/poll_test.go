//go:build unix

package link

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// pair is a connection, and its other end.
func pair(t *testing.T) (here, there net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	here, err = net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	there, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	return here, there
}

// polled has two connections, and no reason to look after others.
func polled(t *testing.T, bound time.Duration) (p *busyPoll, there [2]net.Conn) {
	t.Helper()
	p = newBusyPoll(bound)
	p.around = time.Now().Add(time.Hour)
	for i := range there {
		var here net.Conn
		here, there[i] = pair(t)
		require.NotEqual(t, noFd, p.add(here))
	}
	return p, there
}

// Polling that is not worth it is left out ever more often; once that it is ends this.
func TestBusyPollGivesUpWhatIsNotWorthIt(t *testing.T) {
	t.Parallel()
	p, there := polled(t, time.Nanosecond)
	for want := 1; want <= 2*mostRest; want *= 2 {
		p.await()
		require.Equal(t, min(want, mostRest), p.rest)
		spent := p.spent.Load()
		for p.rest > 0 {
			p.await()
		}
		require.Equal(t, spent, p.spent.Load(), "nobody polls meanwhile")
	}
	_, err := there[1].Write([]byte("+"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { p.await(); return p.back == 1 }, time.Minute, time.Millisecond)
	p.await()
	assert.Zero(t, p.rest, "what is there is worth it")
}

// Whoever polls sees what has arrived for another, and one polls at a time.
func TestBusyPollLooksAfterAllConnections(t *testing.T) {
	t.Parallel()
	p, there := polled(t, time.Hour)
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for p.back = 2; p.back != 1; { // a processor that others want ends a wait, too
			p.await()
		}
		over.Store(true)
	})
	for !p.polling.Load() && !over.Load() {
		time.Sleep(time.Millisecond)
	}
	assert.False(t, over.Load(), "nothing is there yet")
	_, err := there[1].Write([]byte("+"))
	require.NoError(t, err)
	wg.Wait()
	assert.Positive(t, p.spent.Load())
}

// What is closed is polled no longer, and what is encrypted never.
func TestBusyPollKnowsWhatItCanPoll(t *testing.T) {
	t.Parallel()
	p := newBusyPoll(BusyPoll)
	here, _ := pair(t)
	assert.Equal(t, noFd, p.add(tls.Client(here, nil)))
	fd := p.add(here)
	p.learn()
	require.Len(t, p.list, 1)
	p.remove(noFd)
	p.remove(fd)
	p.learn()
	assert.Empty(t, p.list)
	assert.Equal(t, noFd, newBusyPoll(0).add(here))
}

// Callers who share connections have their replies polled for, unless that is turned off; calls one
// after the other have no use for it.
func TestSharedConnectionsPoll(t *testing.T) {
	t.Parallel()
	c := client(t, labtest.Redis(t))
	many := func(l *Lines, callers int, enough func(calls int64) bool) {
		var calls atomic.Int64
		var wg sync.WaitGroup
		for range callers {
			wg.Go(func() {
				var at Caller
				for ended := false; !ended; ended = enough(calls.Add(1)) {
					at.Command("PING")
					_, err := l.Do(t.Context(), &at)
					if !assert.NoError(t, err) {
						return
					}
				}
			})
		}
		wg.Wait()
	}
	on, off := NewLines(c, true, 2, BusyPoll), NewLines(c, true, 2, 0)
	many(on, 16, func(int64) bool { return on.Stats().Polled > 0 })
	assert.Len(t, on.poll.fds, 2)
	many(off, 16, func(calls int64) bool { return calls > 10_000 })
	assert.Zero(t, off.Stats().Polled)
	on.Close()
	off.Close()
	assert.Empty(t, on.poll.fds)
}
