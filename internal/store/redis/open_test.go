package redis_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// refused asserts that err says one thing in one line, with a hint, and ends the
// process as an unfit store does.
func refused(t *testing.T, err error, what, hint string) {
	t.Helper()
	require.Error(t, err)
	assert.Contains(t, err.Error(), what)
	assert.NotContains(t, err.Error(), "\n")
	assert.Contains(t, fault.HintOf(err), hint)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err), "%v", err)
}

func TestRefusalsOfOpen(t *testing.T) {
	t.Parallel()
	plain := labtest.Redis(t)
	locked := labtest.Redis(t, "--requirepass", "correct-horse")
	secured := labtest.RedisTLS(t, labtest.TLSOptions{ClientAuth: true})
	trusting := labtest.RedisTLS(t, labtest.TLSOptions{})
	cluster := labtest.Cluster(t)
	nobody := labtest.Nobody(t)
	_, port, err := net.SplitHostPort(nobody)
	require.NoError(t, err)
	tests := []struct {
		name, target, what, hint string
	}{
		{"nobody listens", "redis://" + nobody, "connection refused", "is the server running? try  redis-cli -p " + port + " ping"},
		{"nobody listens in the cluster", "redis+cluster://" + labtest.Nobody(t), "connection refused", "is the server running?"},
		{"nobody listens among the sentinels", "redis+sentinel://" + labtest.Nobody(t) + "/m", "connection refused", "is the server running?"},
		{"a name that does not exist", "redis://no-such-host.invalid", `"no-such-host.invalid" cannot be resolved`, "spelling"},
		{"a password is missing", locked.URL(), "wants a password", "--password-file"},
		{"a wrong password", as(locked.URL(), "", "tr0ub4dor"), "the password is wrong", "check user and password"},
		{"a wrong user", as(locked.URL(), "nobody", "tr0ub4dor"), `the user "nobody" does not exist`, "check user and password"},
		{"TLS to a server without", with("rediss://"+plain.Addr(), "dial_timeout=300ms"), "does not speak TLS", "without TLS"},
		{"no TLS to a server with", "redis://" + secured.Addr(), "closed the connection", "rediss://"},
		{"an authority that is not trusted", "rediss://" + trusting.Addr(), "authority that is not trusted", "ca=FILE"},
		{"a certificate for another name", with("rediss://"+trusting.Addr(), "ca="+trusting.CA, "servername=elsewhere.example"), "certificate is for another name", "servername="},
		// which the server may tell, or hang up before its word is read
		{"no client certificate", with("rediss://"+secured.Addr(), "ca="+secured.CA), "", "cert=FILE"},
		{"a cluster taken for a server", "redis://" + cluster.Addr(), "is a node of a cluster", "redis+cluster://" + cluster.Addr()},
		{"a server taken for a cluster", "redis+cluster://" + plain.Addr(), "is a single server", "redis://" + plain.Addr()},
		{"a server taken for a sentinel", "redis+sentinel://" + plain.Addr() + "/m", "keeps data and is not a sentinel", "redis://" + plain.Addr()},
		{"an HTTP server", "redis://" + talker(t, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"), "does not speak the protocol of Redis", "right port"},
		{"an SSH server", "redis://" + talker(t, "SSH-2.0-OpenSSH_9.2\r\n"), "does not speak the protocol of Redis", "right port"},
		{"a server that hangs up", "redis://" + talker(t, ""), "closed the connection", "rediss://"},
		{"a server that says nothing", with("redis://"+silent(t), "read_timeout=200ms"), "no answer in time", "read_timeout="},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := try(t, tt.target)
			refused(t, err, tt.what, tt.hint)
			for _, secret := range []string{"tr0ub4dor", "correct-horse"} {
				assert.NotContains(t, err.Error()+fault.HintOf(err), secret)
			}
			t.Logf("%v\n  %s", err, fault.HintOf(err))
		})
	}
}

func TestAcceptedByOpen(t *testing.T) {
	locked := labtest.Redis(t, "--requirepass", "p@ss/w?rd#%")
	do(t, open(t, as(locked.URL(), "", "p@ss/w?rd#%")), "acl", "setuser", "app", "on", ">correct-horse", "~*", "+@all")
	secured := labtest.RedisTLS(t, labtest.TLSOptions{ClientAuth: true})
	trusting := labtest.RedisTLS(t, labtest.TLSOptions{})
	for name, target := range map[string]string{
		"a user":                    as(locked.URL(), "app", "correct-horse"),
		"a server's certificate":    with("rediss://"+trusting.Addr(), "ca="+trusting.CA),
		"tls=1":                     with("redis://"+trusting.Addr(), "tls=1", "ca="+trusting.CA),
		"a certificate by its name": with("rediss://"+trusting.Addr(), "ca="+trusting.CA, "servername=localhost"),
		"anyone's certificate":      with("rediss://"+trusting.Addr(), "insecure=1"),
		"a client's certificate":    with("rediss://"+secured.Addr(), "ca="+secured.CA, "cert="+secured.Cert, "key="+secured.Key),
		"what the lab tells":        secured.URL(),
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, target)
			require.NoError(t, c.Maps.Put(t.Context(), space("a"), []byte("k"), []byte("v")))
		})
	}
}

func TestBadTargets(t *testing.T) {
	for target, what := range map[string]string{
		"redis://h1,h2":              "several hosts",
		"redis+sentinel://h1":        "the name of the master is missing",
		"redis+cluster://h1/1":       "a cluster has no databases",
		"redis+cluster://h1?db=1":    "a cluster has no databases",
		"redis://h1/x":               "not the number of a database",
		"redis://h1/1?db=2":          "contradicts",
		"redis://h1?db=-1":           "db:",
		"redis://h1?protocol=4":      "protocol:",
		"redis://h1?read_timeout=5":  "read_timeout:",
		"redis://h1?busy_poll=5":     `busy_poll: "5" is neither off nor a duration up to 10ms`,
		"redis://h1?busy_poll=1s":    `busy_poll: "1s" is neither off nor a duration up to 10ms`,
		"rediss://h1?busy_poll=50us": "busy_poll=50us: with TLS it cannot be seen",

		"redis://h1?busy_poll=50us&pipelining=off": "busy_poll=50us: callers who have a connection each do not poll",

		"redis://h1?connections=0":        "connections:",
		"redis://h1?ca=x":                 "ca has no meaning without TLS",
		"rediss://h1?ca=/does/not/exist":  "/does/not/exist: no such file",
		"rediss://h1?cert=/does/not/x":    "cert and key belong together",
		"rediss://h1?tls=0":               "contradicts the scheme",
		"unix:relative/path":              "not absolute",
		"rediss://h1?insecure=perhaps":    "insecure:",
		"redis://h1?dial_timeout=forever": "dial_timeout:",
	} {
		t.Run(target, func(t *testing.T) {
			_, err := try(t, target)
			require.Error(t, err)
			assert.Contains(t, err.Error(), what)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		})
	}
}

func TestOpenEndsWithItsContext(t *testing.T) {
	target, err := store.ParseTarget("redis://" + silent(t))
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, err = redis.Open(ctx, target, options)
	refused(t, err, "no answer in time", "")
}

// talker returns the address of a server that says something and hangs up.
func talker(t *testing.T, says string) string {
	t.Helper()
	return listen(t, func(c net.Conn) {
		buf := make([]byte, 512)
		_, _ = c.Read(buf)
		_, _ = io.WriteString(c, says)
		_ = c.Close()
	})
}

// silent returns the address of a server that takes connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	return listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
}

func listen(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

func TestOpenGivenUpByTheUserIsNoFaultOfTheStore(t *testing.T) {
	target, err := store.ParseTarget("redis://" + labtest.Nobody(t))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = redis.Open(ctx, target, options)
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, fault.CodeOther, fault.CodeOf(err))
}

// Near caches only read. Their connections are those of the target all the same, so not
// even that passes a fence that is shut.
func TestNearCachesAreFenced(t *testing.T) {
	o := options
	o.Fence = store.NewFence()
	target, err := store.ParseTarget(labtest.Redis(t).URL())
	require.NoError(t, err)
	c, err := redis.Open(t.Context(), target, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	near := link.NewNear(c.Client(), time.Hour)
	defer near.Close()
	read := func(key string) error {
		reads := []link.Read{{Key: key, Command: []string{"GET", key}}}
		near.Do(t.Context(), reads)
		return reads[0].Err
	}
	require.NoError(t, read("a"))
	gone := errors.New("taken over by others")
	require.ErrorIs(t, o.Fence.Guard(t.Context(), func() bool { return true }, func(context.Context) (error, error) { return gone, nil }), gone)
	require.ErrorIs(t, read("b"), gone)
}
