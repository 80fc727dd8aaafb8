package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func TestClassify(t *testing.T) {
	c := open(t, labtest.Redis(t).URL())
	s := space("a")
	ctx := t.Context()
	reply := func(text string) error {
		return c.Client().Eval(ctx, "return redis.error_reply(ARGV[1])", nil, text).Err()
	}
	do(t, c, "set", "perfbench:text", "v")
	for name, tt := range map[string]struct {
		err  error
		want store.Class
	}{
		"none":                 {nil, store.Worked},
		"wrong type":           {c.Maps.Set(ctx, space("text"), []byte("k"), []byte("v")), store.WrongType},
		"wrong type in script": {c.Maps.Put(ctx, space("text"), []byte("k"), []byte("v")), store.WrongType},
		"nil":                  {c.Client().Get(ctx, "none").Err(), store.Missing},
		"read-only":            {reply("READONLY You can't write against a read only replica."), store.ReadOnly},
		"persistence failed":   {reply("MISCONF Redis is configured to save RDB snapshots"), store.ReadOnly},
		"out of memory":        {reply("OOM command not allowed when used memory > 'maxmemory'."), store.OutOfMemory},
		"no permission":        {reply("NOPERM this user has no permissions"), store.Refused},
		"no password":          {reply("NOAUTH Authentication required."), store.Refused},
		"loading":              {reply("LOADING Redis is loading the dataset in memory"), store.Overloaded},
		"busy":                 {reply("BUSY Redis is busy running a script."), store.Overloaded},
		"max clients":          {reply("ERR max number of clients reached"), store.Overloaded},
		"try again":            {reply("TRYAGAIN Multiple keys request during rehashing of slot"), store.Overloaded},
		"cluster down":         {reply("CLUSTERDOWN Hash slot not served"), store.Unreachable},
		"master down":          {reply("MASTERDOWN Link with MASTER is down"), store.Unreachable},
		"syntax":               {reply("ERR syntax error"), store.Other},
		"lost race":            {goredis.TxFailedErr, store.Conflict},
		"cancelled":            {fmt.Errorf("x: %w", context.Canceled), store.Canceled},
		"deadline":             {context.DeadlineExceeded, store.Timeout},
		"read deadline":        {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, store.Timeout},
		"pool":                 {goredis.ErrPoolTimeout, store.Timeout},
		"refused":              {&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}, store.Unreachable},
		"dial deadline":        {&net.OpError{Op: "dial", Err: context.DeadlineExceeded}, store.Unreachable},
		"reset":                {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, store.Unreachable},
		"hung up":              {fmt.Errorf("x: %w", io.EOF), store.Unreachable},
		"closed":               {goredis.ErrClosed, store.Unreachable},
		"anything":             {errors.New("anything"), store.Other},
	} {
		assert.Equal(t, tt.want, c.Classify(tt.err), "%s: %v", name, tt.err)
	}
	err := c.Maps.Set(ctx, space("text"), []byte("k"), []byte("v"))
	assert.ErrorContains(t, err, "hset perfbench:text: WRONGTYPE", "says what was done to what")
	_, err = c.Maps.Count(ctx, s)
	assert.NoError(t, err)
}

func TestServerDiesAndComesBack(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	c := open(t, srv.URL())
	s := space("a")
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	srv.Kill()
	for range 20 {
		err := c.Maps.Put(t.Context(), s, []byte("k"), []byte("v"))
		require.Error(t, err)
		assert.Equal(t, store.Unreachable, c.Classify(err), "%v", err)
	}
	srv.Restart()
	back(t, c, s)
	require.NoError(t, c.Maps.Put(t.Context(), s, []byte("k"), []byte("v")), "the script is gone from the server and must be loaded again")
}

// back waits until writes work again.
func back(t *testing.T, c *redis.Conn, s store.Space) {
	t.Helper()
	require.Eventually(t, func() bool {
		return c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")) == nil
	}, 30*time.Second, 20*time.Millisecond)
}

func TestServerStandsStill(t *testing.T) {
	srv := labtest.Redis(t)
	c, hasty := open(t, srv.URL()), open(t, with(srv.URL(), "read_timeout=1s"))
	s := space("a")
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	srv.Pause()
	err := hasty.Maps.Set(t.Context(), s, []byte("k"), []byte("w"))
	assert.Equal(t, store.Timeout, hasty.Classify(err), "%v", err)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err = c.Maps.Set(ctx, s, []byte("k"), []byte("w"))
	assert.Equal(t, store.Timeout, c.Classify(err), "%v", err)
	srv.Resume()
	back(t, c, s)
}

func TestNodeOfClusterDies(t *testing.T) {
	t.Parallel()
	tier.Full(t, "a run of each profile on a cluster, and TestConformance")
	srv := labtest.Cluster(t)
	c := open(t, with(srv.URL(), "read_timeout=2s", "dial_timeout=2s"))
	s := grouped("a")
	put := func() (failed int) {
		for i := range 30 {
			err := c.Maps.PutGroup(t.Context(), s, fmt.Appendf(nil, "x%d", i), []byte("k"), []byte("v"))
			if err != nil {
				failed++
				class := c.Classify(err)
				assert.Contains(t, []store.Class{store.Unreachable, store.Timeout}, class, "%v", err)
			}
		}
		return failed
	}
	require.Eventually(t, func() bool { return put() == 0 }, time.Minute, 100*time.Millisecond)
	srv.Kill("node-2")
	require.Positive(t, put())
	srv.Restart("node-2")
	require.Eventually(t, func() bool { return put() == 0 }, 60*time.Second, 100*time.Millisecond)
}

func TestReplicaRefusesToBeProbed(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestConformance, and cmd/perfbench's TestNothingOfOthersIsLost behind sentinels")
	srv := labtest.Sentinel(t)
	target := "redis://" + srv.Addrs("replica")[0]
	c := open(t, target)
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, info.Warnings)
	assert.Contains(t, strings.Join(info.Warnings, "\n"), "is a replica")
	refused(t, c.Prober.Probe(t.Context(), space("a")), "read-only replica", "use its master")
	assert.Equal(t, store.ReadOnly, c.Classify(c.Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v"))))
}

func TestMasterDiesUnderSentinel(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestConformance, and cmd/perfbench's TestNothingOfOthersIsLost behind sentinels")
	srv := labtest.Sentinel(t)
	c := open(t, with(srv.URL(), "read_timeout=2s", "dial_timeout=2s"))
	s := space("a")
	require.NoError(t, c.Maps.Set(t.Context(), s, []byte("k"), []byte("v")))
	srv.Kill("master")
	back(t, c, s)
}

func TestFullServer(t *testing.T) {
	srv := labtest.Redis(t, "--maxmemory", "3mb", "--maxmemory-policy", "noeviction")
	c := open(t, srv.URL())
	var err error
	for i := 0; err == nil && i < 100; i++ {
		err = c.Maps.Set(t.Context(), space("a"), fmt.Append(nil, i), make([]byte, 100<<10))
	}
	assert.Equal(t, store.OutOfMemory, c.Classify(err), "%v", err)
	info, err := c.Info(t.Context())
	require.NoError(t, err)
	require.Len(t, info.Warnings, 1)
	assert.Contains(t, info.Warnings[0], "noeviction")
	assert.Positive(t, info.FreeBytes)
	assert.Less(t, info.FreeBytes, int64(1<<20))
	do(t, c, "config", "set", "maxmemory", "1mb")
	refused(t, c.Prober.Probe(t.Context(), space("b")), "maxmemory", "raise maxmemory")
}

func TestServerThatCannotSave(t *testing.T) {
	dir := t.TempDir()
	srv := labtest.Redis(t, "--save", "3600 1", "--dbfilename", "dump.rdb", "--enable-protected-configs", "yes")
	c := open(t, srv.URL())
	gone := dir + "/gone"
	require.NoError(t, os.Mkdir(gone, 0o755))
	do(t, c, "config", "set", "dir", gone)
	require.NoError(t, os.Remove(gone))
	require.NoError(t, c.Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v")))
	_ = c.Client().BgSave(t.Context()).Err()
	require.Eventually(t, func() bool {
		return c.Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v")) != nil
	}, 30*time.Second, 20*time.Millisecond)
	refused(t, c.Prober.Probe(t.Context(), space("a")), "could not save its data", "CONFIG SET save")
	do(t, c, "config", "set", "save", "") // or it would not want to end
}

func TestProbeNamesWhatIsMissing(t *testing.T) {
	srv := labtest.Redis(t)
	admin := open(t, srv.URL())
	for name, tt := range map[string]struct {
		rules []any
		what  string
	}{
		"nothing but reading": {[]any{"~*", "+@read", "+ping", "+info"}, `the user "app" may not use HSET on perfbench:_probe`},
		"no scripts":          {[]any{"~*", "+@read", "+@write", "+ping"}, `may not use MULTI`},
		"other keys":          {[]any{"~other:*", "+@all"}, `may not use HSET on perfbench:_probe`},
		"not this key":        {[]any{"~perfbench:_*", "+@all"}, `may not use HDEL on perfbench:a`},
	} {
		t.Run(name, func(t *testing.T) {
			do(t, admin, append([]any{"acl", "setuser", "app", "reset", "on", ">correct-horse"}, tt.rules...)...)
			c := open(t, as(srv.URL(), "app", "correct-horse"))
			err := c.Prober.Probe(t.Context(), space("a"))
			refused(t, err, tt.what, "ACL SETUSER app")
			assert.NotContains(t, err.Error(), "correct-horse")
			assert.Equal(t, store.Refused, c.Classify(err))
		})
	}
	do(t, admin, "acl", "setuser", "app", "reset", "on", ">correct-horse", "~perfbench:*", "+@read", "+@write", "+@scripting", "+ping")
	require.NoError(t, open(t, as(srv.URL(), "app", "correct-horse")).Prober.Probe(t.Context(), space("a")))
	do(t, admin, "set", "perfbench:text", "v")
	err := admin.Prober.Probe(t.Context(), space("text"))
	require.ErrorContains(t, err, "perfbench:text holds something that is not a hash")
	assert.Contains(t, fault.HintOf(err), "--namespace")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "a space that is not ours is bad input")
	assert.Equal(t, []any{"perfbench:text"}, do(t, admin, "keys", "*"), "a probe leaves nothing behind")
}

func TestPasswordIsChangedInMidRun(t *testing.T) {
	srv := labtest.Redis(t)
	c := open(t, with(srv.URL(), "connections=1"))
	do(t, c, "config", "set", "requirepass", "correct-horse")
	do(t, open(t, as(srv.URL(), "", "correct-horse")), "client", "kill", "type", "normal", "skipme", "yes")
	err := c.Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v"))
	for i := 0; i < 5 && c.Classify(err) == store.Unreachable; i++ {
		err = c.Maps.Set(t.Context(), space("a"), []byte("k"), []byte("v"))
	}
	assert.Equal(t, store.Refused, c.Classify(err), "%v", err)
}
