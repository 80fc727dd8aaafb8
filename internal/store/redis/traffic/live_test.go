package traffic

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// heard records what do does, until the file has n calls.
func heard(t *testing.T, srv *labtest.Server, l *Live, n int, do func(c *goredis.Client)) (string, capture.Tally, error) {
	t.Helper()
	c := client(t, srv)
	target, err := store.ParseTarget(srv.URL())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	path := filepath.Join(t.TempDir(), "x.capture")
	type result struct {
		tally capture.Tally
		err   error
	}
	done := make(chan result, 1)
	go func() {
		tally, err := l.Record(ctx, target, path)
		done <- result{tally, err}
	}()
	require.Eventually(t, func() bool { // flag O: it listens
		return strings.Contains(c.ClientList(t.Context()).Val(), " flags=O")
	}, time.Minute, time.Millisecond)
	do(c)
	require.Eventually(t, func() bool { // each second it is in the file
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer f.Close() //nolint:errcheck // it was read
		r, err := capture.NewReader("x", f)
		if err != nil {
			return false
		}
		defer r.Close()
		var call capture.Call
		got := 0
		for err = r.Next(&call); err == nil; err = r.Next(&call) {
			if call.Command() != "CLIENT" && call.Command() != "HELLO" {
				got++
			}
		}
		return errors.Is(err, io.EOF) && got >= n
	}, time.Minute, 20*time.Millisecond)
	stop()
	r := <-done
	return path, r.tally, r.err
}

// without leaves out the calls of the test itself, and the numbers of connections.
func without(calls []string) (out []string) {
	for _, c := range calls {
		_, c, _ = strings.Cut(c, "/")
		if !strings.Contains(c, " CLIENT ") && !strings.Contains(c, " HELLO") {
			out = append(out, c)
		}
	}
	return out
}

func TestServerIsListenedTo(t *testing.T) {
	srv := labtest.Redis(t)
	var said []string
	l := &Live{Duration: time.Hour, Before: time.Millisecond, Say: func(s string) { said = append(said, s) }}
	path, tally, err := heard(t, srv, l, 6, func(c *goredis.Client) {
		ctx := t.Context()
		require.NoError(t, c.Set(ctx, "user:1", "hunter2", time.Minute).Err())
		require.NoError(t, c.SAdd(ctx, "s", "bob").Err())
		require.NoError(t, c.Eval(ctx, "return redis.call('GET', KEYS[1])", []string{"user:1"}).Err())
		require.NoError(t, c.Do(ctx, "CONFIG", "SET", "requirepass", "s3cret").Err())
		require.NoError(t, c.Do(ctx, "AUTH", "s3cret").Err())
		require.NoError(t, c.Do(ctx, "HELLO", 3, "AUTH", "default", "s3cret").Err())
		require.NoError(t, c.Do(ctx, "ACL", "SETUSER", "u", ">s3cret").Err())
		require.NoError(t, c.Do(ctx, "CONFIG", "SET", "requirepass", "").Err())
		require.NoError(t, c.LPush(ctx, "l\x00\"", "a", "bc").Err())
		require.NoError(t, c.Do(ctx, "GET", "user:1").Err())
		require.NoError(t, c.Do(ctx, "PING").Err())
	})
	require.NoError(t, err)
	got, r := texts(t, path)
	assert.Equal(t, []string{"0 SET user:1 [7] ex 60", "0 SADD s <3>", "0 EVAL [33] 1 user:1", "0 LPUSH l\x00\" [1] [2]", "0 GET user:1", "0 PING"}, without(got))
	assert.EqualValues(t, 1, tally.Left[leftScripts])
	assert.Equal(t, "it was interrupted", tally.Ended)
	assert.Equal(t, tally, r.Tally)
	assert.NotEmpty(t, r.Header.Identity)
	assert.Equal(t, srv.URL(), r.Header.Source)
	require.Len(t, said, 2)
	assert.Contains(t, said[0], "takes throughput", "what it costs is said before it costs anything")
	assert.NotContains(t, strings.Join(got, "\n"), "INFO", "our own calls are left out")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "s3cret")
}

// Nothing of a busy server's calls is lost, and each connection's are in their order.
func TestManyCallsAreHeardInOrder(t *testing.T) {
	const conns, each = 20, 500
	path, tally, err := heard(t, labtest.Redis(t), &Live{Duration: time.Hour}, conns*each, func(c *goredis.Client) {
		done := make(chan error, conns)
		for n := range conns {
			go func() {
				conn := c.Conn()
				defer conn.Close() //nolint:errcheck // it has done its work
				for i := range each {
					if err := conn.Set(t.Context(), fmt.Sprintf("c%d", n), i, 0).Err(); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range conns {
			assert.NoError(t, <-done)
		}
	})
	require.NoError(t, err)
	assert.Zero(t, tally.Left[leftBehind])
	got, _ := texts(t, path)
	count := map[string]int{}
	for _, call := range got {
		if strings.Contains(call, " SET c") {
			count[call[:strings.LastIndex(call, " ")]]++
		}
	}
	assert.Len(t, count, conns, "a connection has one key")
	for c, n := range count {
		assert.Equal(t, each, n, c)
	}
}

func TestFullCaptureEndsItself(t *testing.T) {
	srv := labtest.Redis(t)
	c := client(t, srv)
	target, err := store.ParseTarget(srv.URL())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	calls := make(chan struct{})
	go func() {
		defer close(calls)
		for i := 0; ctx.Err() == nil; i++ {
			_ = c.Set(ctx, fmt.Sprint("key:", i*7919), "v", 0).Err() // until the test ends
		}
	}()
	path := filepath.Join(t.TempDir(), "x.capture")
	l := &Live{Options: capture.Options{Max: 2000}, Duration: time.Hour}
	tally, err := l.Record(t.Context(), target, path)
	require.NoError(t, err)
	assert.Equal(t, "it has as many bytes as it may", tally.Ended)
	stop()
	<-calls
}

func TestServerThatEndsTheConnectionEndsTheCapture(t *testing.T) {
	srv := labtest.Redis(t)
	_, tally, err := heard(t, srv, &Live{Duration: time.Hour}, 1, func(c *goredis.Client) {
		require.NoError(t, c.Set(t.Context(), "k", "v", 0).Err())
		require.NoError(t, c.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
	})
	require.NoError(t, err)
	assert.Contains(t, []string{"the server ended the connection", "it was interrupted"}, tally.Ended)
}

func TestWhoMayNotListenIsTold(t *testing.T) {
	srv := labtest.Redis(t)
	require.NoError(t, client(t, srv).Do(t.Context(), "ACL", "SETUSER", "app", "on", ">pw", "~*", "+@all", "-monitor").Err())
	target, err := store.ParseTarget(strings.Replace(srv.URL(), "redis://", "redis://app:pw@", 1))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "x.capture")
	_, err = (&Live{Duration: time.Hour}).Record(t.Context(), target, path)
	require.Error(t, err)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.Contains(t, err.Error(), "the server refuses MONITOR")
	assert.NotContains(t, err.Error(), "pw")
	assert.NoFileExists(t, path)
}

func TestClusterIsCapturedNodeByNode(t *testing.T) {
	target, err := store.ParseTarget(labtest.Cluster(t).URL())
	require.NoError(t, err)
	_, err = (&Live{Duration: time.Hour}).Record(t.Context(), target, filepath.Join(t.TempDir(), "x"))
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Contains(t, fault.HintOf(err), "redis://host:port")
}

// When nobody takes the blocks, lines are lost and counted, and the server is still read.
func TestLinesThatNobodyTakesAreCounted(t *testing.T) {
	full, free := make(chan []byte, blocks), make(chan []byte, blocks+2)
	free <- make([]byte, 0, blockSize)
	line := strings.Repeat("x", 99) + "\n"
	long := strings.Repeat("y", maxLive) + "\n"
	n := gather(bufio.NewReader(strings.NewReader(long+strings.Repeat(line, 10_000)+"the rest")), full, free)
	taken := int64(0)
	for block := range full {
		assert.Zero(t, len(block)%100, "only whole lines")
		taken += int64(len(block) / 100)
	}
	assert.EqualValues(t, 1, n.large)
	assert.Positive(t, taken)
	assert.EqualValues(t, 10_000, taken+n.behind)
}

// What listening costs cannot be told from a load that has changed by itself.
func TestTheCostOfListeningIsThatOfTheSameLoad(t *testing.T) {
	l := Live{Alone: Load{Calls: 1000, CPU: .1}, With: Load{Calls: 900, CPU: .12}}
	assert.Equal(t, "the server did 1000 calls/s on 0.10 cores before, and 900 calls/s (-10 %) on 0.12 cores while it was listened to", l.Cost())
	for _, calls := range []float64{0, 300, 5000} {
		l.With.Calls = calls
		assert.Contains(t, l.Cost(), "listened to: the load has changed, so that this says nothing of the cost")
		assert.NotContains(t, l.Cost(), "%")
	}
}
