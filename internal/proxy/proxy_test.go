package proxy_test

import (
	"context"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/proxy"
)

// echo is a server that answers each byte with itself. It returns its address and how many
// bytes have reached it.
func echo(t *testing.T) (addr string, reached func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	var mu sync.Mutex
	n := 0
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for buf := make([]byte, 1); ; {
					if _, err := io.ReadFull(c, buf); err != nil {
						return
					}
					mu.Lock()
					n++
					mu.Unlock()
					if _, err := c.Write(buf); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func start(t *testing.T) *proxy.Proxy {
	p := proxy.New()
	t.Cleanup(p.Close)
	return p
}

func dial(t *testing.T, p *proxy.Proxy, addr string) net.Conn {
	t.Helper()
	c, err := p.Dial(t.Context(), &net.Dialer{}, "tcp", addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// ask sends a byte and returns how long its answer took.
func ask(t *testing.T, c net.Conn) time.Duration {
	t.Helper()
	began := time.Now()
	_, err := c.Write([]byte("x"))
	require.NoError(t, err)
	_, err = io.ReadFull(c, make([]byte, 1))
	require.NoError(t, err)
	return time.Since(began)
}

func TestEverythingPasses(t *testing.T) {
	addr, reached := echo(t)
	p := start(t)
	ask(t, dial(t, p, addr))
	assert.Equal(t, 1, reached())
	way, err := p.Address(addr)
	require.NoError(t, err)
	assert.NotEqual(t, addr, way)
	c, err := net.Dial("tcp", way)
	require.NoError(t, err)
	defer c.Close()
	ask(t, c)
	assert.Equal(t, 2, reached())

	var none *proxy.Proxy
	ask(t, dial(t, none, addr))
	way, err = none.Address(addr)
	require.NoError(t, err)
	assert.Equal(t, addr, way, "nothing stands in between")
}

func TestAnswersComeLater(t *testing.T) {
	addr, _ := echo(t)
	p := start(t)
	c := dial(t, p, addr)
	ask(t, c)
	p.Set(proxy.State{Delay: 50 * time.Millisecond})
	assert.GreaterOrEqual(t, ask(t, c), 50*time.Millisecond)
	p.Set(proxy.State{Delay: 40 * time.Millisecond, Jitter: 20 * time.Millisecond})
	assert.GreaterOrEqual(t, ask(t, c), 40*time.Millisecond)
	p.Set(proxy.State{Loss: 1}) // sent again and again, each time later
	_, err := c.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = c.Read(make([]byte, 1))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
}

// What is sent before and after a change of the state comes in the order in which it was sent.
func TestNothingOvertakes(t *testing.T) {
	addr, _ := echo(t)
	p := start(t)
	c := dial(t, p, addr)
	var sent []byte
	for i := range 200 {
		if i%20 == 0 {
			p.Set(proxy.State{Delay: time.Duration(i%3) * 5 * time.Millisecond, Jitter: time.Duration(i%2) * 3 * time.Millisecond})
		}
		sent = append(sent, byte(i))
		_, err := c.Write(sent[i:])
		require.NoError(t, err)
	}
	got := make([]byte, len(sent))
	_, err := io.ReadFull(c, got)
	require.NoError(t, err)
	assert.Equal(t, sent, got)
}

func TestBandwidthIsThatOfAllConnections(t *testing.T) {
	addr, _ := echo(t)
	p := start(t)
	a, b := dial(t, p, addr), dial(t, p, addr)
	ask(t, a)
	ask(t, b)
	p.Set(proxy.State{Bandwidth: 10_000})
	began := time.Now()
	data := make([]byte, 1000)
	var all sync.WaitGroup
	for _, c := range []net.Conn{a, b} {
		all.Go(func() {
			_, err := c.Write(data)
			assert.NoError(t, err)
			_, err = io.ReadFull(c, make([]byte, len(data)))
			assert.NoError(t, err)
		})
	}
	all.Wait()
	assert.GreaterOrEqual(t, time.Since(began), 200*time.Millisecond)
}

// What is sent to a half-open connection never arrives, and the connection is reset when the
// fault ends; one made afterwards works.
func TestHalfOpen(t *testing.T) {
	addr, reached := echo(t)
	p := start(t)
	idle := dial(t, p, addr)
	ask(t, idle)
	const times = 50
	for i := range times {
		old := dial(t, p, addr)
		ask(t, old)
		p.Set(proxy.State{HalfOpen: true})
		fresh := dial(t, p, addr)
		for _, c := range []net.Conn{old, fresh} {
			_, err := c.Write([]byte("x"))
			require.NoError(t, err, "it is taken")
		}
		require.Eventually(t, func() bool { return p.Swallowed() == 2 }, time.Minute, time.Millisecond)
		p.Set(proxy.State{})
		for _, c := range []net.Conn{old, fresh} {
			_, err := c.Read(make([]byte, 1))
			require.Error(t, err, "never answered, round %d", i)
		}
	}
	assert.Equal(t, 1+times, reached())
	ask(t, idle)
	ask(t, dial(t, p, addr))
}

func TestANewAddress(t *testing.T) {
	addr, reached := echo(t)
	p := start(t)
	idle, old := dial(t, p, addr), dial(t, p, addr)
	ask(t, idle)
	ask(t, old)
	p.Set(proxy.State{Moved: true})
	_, err := old.Write([]byte("x"))
	require.NoError(t, err, "it is taken")
	require.Eventually(t, func() bool { return p.Swallowed() == 1 }, time.Minute, time.Millisecond)
	fresh := dial(t, p, addr)
	ask(t, fresh)
	p.Set(proxy.State{Moved: true, Delay: time.Millisecond})
	ask(t, fresh)
	assert.Equal(t, 1, p.Swallowed(), "what is new stays, whatever else changes")
	p.Set(proxy.State{})
	for _, c := range []net.Conn{old, idle} {
		_, err := c.Read(make([]byte, 1))
		require.Error(t, err, "nothing at the old address is ever answered")
	}
	ask(t, fresh)
	assert.Equal(t, 5, reached())
}

func TestRefused(t *testing.T) {
	addr, _ := echo(t)
	p := start(t)
	c := dial(t, p, addr)
	ask(t, c)
	p.Set(proxy.State{Refused: true})
	_, err := c.Read(make([]byte, 1))
	require.Error(t, err, "open connections are reset")
	_, err = p.Dial(t.Context(), &net.Dialer{}, "tcp", addr)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	p.Set(proxy.State{})
	ask(t, dial(t, p, addr))
}

func TestAPauseHoldsWhatPasses(t *testing.T) {
	addr, reached := echo(t)
	p := start(t)
	c := dial(t, p, addr)
	ask(t, c)
	p.Set(proxy.State{Paused: true})
	_, err := c.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, c.SetReadDeadline(time.Now().Add(20*time.Millisecond)))
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err)
	assert.Equal(t, 1, reached())
	p.Set(proxy.State{})
	require.NoError(t, c.SetReadDeadline(time.Time{}))
	_, err = io.ReadFull(c, make([]byte, 1))
	require.NoError(t, err, "nothing was lost")
	p.Set(proxy.State{Paused: true})
	p.Close()
	_, err = c.Read(make([]byte, 1))
	require.Error(t, err, "the end comes in spite of a pause")
	_, err = p.Dial(t.Context(), &net.Dialer{}, "tcp", addr)
	require.ErrorIs(t, err, net.ErrClosed)
}

func TestStoresOfThisProcessWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := proxy.New()
		wait := func() (time.Duration, error) {
			began := time.Now()
			err := p.Wait(t.Context())
			return time.Since(began), err
		}
		took, err := wait()
		require.NoError(t, err)
		assert.Zero(t, took)
		p.Set(proxy.State{Delay: 5 * time.Millisecond})
		took, err = wait()
		require.NoError(t, err)
		assert.Equal(t, 5*time.Millisecond, took)
		p.Set(proxy.State{Loss: 1})
		took, err = wait()
		require.NoError(t, err)
		assert.Equal(t, 2*63*proxy.Retransmission, took)
		for state, want := range map[proxy.State]error{{Paused: true}: nil, {HalfOpen: true}: proxy.ErrRefused} {
			p.Set(state)
			time.AfterFunc(2*time.Second, func() { p.Set(proxy.State{}) })
			took, err = wait()
			require.ErrorIs(t, err, want)
			assert.Equal(t, 2*time.Second, took)
		}
		p.Set(proxy.State{Refused: true})
		_, err = wait()
		require.ErrorIs(t, err, proxy.ErrRefused)
		p.Set(proxy.State{Paused: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, p.Wait(ctx), context.DeadlineExceeded)
	})
}
