package labtest_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

func open(t *testing.T, o *redis.Options) *redis.Client {
	t.Helper()
	o.DisableIdentity, o.MaxRetries, o.DialerRetries, o.Protocol = true, -1, 1, 2
	c := redis.NewClient(o)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

func TestArgsReachTheServerButNotItsCommandLine(t *testing.T) {
	t.Parallel()
	const secret = `s3 "cr\et` + "\xc3\xa9"
	srv := labtest.Redis(t, "--requirepass", secret, "--maxmemory", "11mb")
	c := open(t, &redis.Options{Addr: srv.Addr(), Password: secret})
	got, err := c.ConfigGet(t.Context(), "maxmemory").Result()
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"maxmemory": "11534336"}, got)
	info, err := c.Info(t.Context(), "server").Result()
	require.NoError(t, err)
	assert.Contains(t, info, "redis_version:"+srv.Version())
	assert.NotContains(t, srv.URL(), "s3")
	all, err := lab.Status(srv.Dir())
	require.NoError(t, err)
	assert.NotContains(t, strings.Join(all[0].Processes[0].Command, " "), "s3")

	stranger := open(t, &redis.Options{Addr: srv.Addr()})
	assert.ErrorContains(t, stranger.Ping(t.Context()).Err(), "NOAUTH")
}

func TestKilledServerComesBackOnItsPortWithItsFile(t *testing.T) {
	t.Parallel()
	// Loading takes a while: by then it answers some questions, and is not back.
	srv := labtest.Redis(t, "--key-load-delay", "3000", "--loading-process-events-interval-bytes", "1024")
	c := open(t, &redis.Options{Addr: srv.Addr()})
	_, err := c.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for i := range 100 {
			p.Set(t.Context(), fmt.Sprint("other", i), strings.Repeat("x", 100), 0)
		}
		p.Set(t.Context(), "k", "v", 0)
		return p.Save(t.Context()).Err()
	})
	require.NoError(t, err)
	srv.Kill()
	require.Error(t, c.Ping(t.Context()).Err())
	srv.Restart()
	got, err := open(t, &redis.Options{Addr: srv.Addr(), MaxRetries: -1}).Get(t.Context(), "k").Result()
	require.NoError(t, err)
	assert.Equal(t, "v", got)
}

func TestPausedServerIsSilentUntilResumed(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	c := open(t, &redis.Options{Addr: srv.Addr(), ReadTimeout: 100 * time.Millisecond})
	require.Eventually(t, func() bool { return c.Ping(t.Context()).Err() == nil }, time.Minute, time.Millisecond)
	srv.Pause()
	err := c.Ping(t.Context()).Err()
	require.Error(t, err)
	assert.True(t, os.IsTimeout(err), "%v", err)
	srv.Resume()
	patient := open(t, &redis.Options{Addr: srv.Addr(), ReadTimeout: 30 * time.Second})
	assert.NoError(t, patient.Ping(t.Context()).Err())
}

func TestTLSServer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name       string
		clientAuth bool
		show       bool // a client certificate
		ok         bool
	}{
		{"a certificate is optional and not shown", false, false, true},
		{"a certificate is asked for and shown", true, true, true},
		{"a certificate is asked for and not shown", true, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := labtest.RedisTLS(t, labtest.TLSOptions{ClientAuth: tt.clientAuth})
			u, err := url.Parse(srv.URL())
			require.NoError(t, err)
			assert.Equal(t, "rediss", u.Scheme)
			assert.Equal(t, srv.Addr(), u.Host)
			assert.Equal(t, srv.CA, u.Query().Get("ca"))
			assert.Equal(t, tt.clientAuth, u.Query().Get("cert") == srv.Cert)

			pem, err := os.ReadFile(srv.CA)
			require.NoError(t, err)
			config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
			require.True(t, config.RootCAs.AppendCertsFromPEM(pem))
			if tt.show {
				pair, err := tls.LoadX509KeyPair(srv.Cert, srv.Key)
				require.NoError(t, err)
				config.Certificates = []tls.Certificate{pair}
			}
			err = open(t, &redis.Options{Addr: srv.Addr(), TLSConfig: config}).Ping(t.Context()).Err()
			assert.Equal(t, tt.ok, err == nil, "%v", err)
			assert.Error(t, open(t, &redis.Options{Addr: srv.Addr()}).Ping(t.Context()).Err(), "without TLS")
		})
	}
}

func TestClusterTakesWritesOnEverySlot(t *testing.T) {
	t.Parallel()
	tier.Full(t, "what every test of a server does with it")
	srv := labtest.Cluster(t)
	assert.Equal(t, "redis+cluster://"+strings.Join(srv.Addrs("node"), ","), srv.URL())
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: srv.Addrs("node"), DisableIdentity: true, MaxRedirects: -1})
	defer c.Close()
	// Every slot once: keys by trial, since a slot is a hash.
	key := make(map[int64]string, 16384)
	tmp := open(t, &redis.Options{Addr: srv.Addr()})
	for base := 0; len(key) < 16384; base += 20000 {
		pipe := tmp.Pipeline()
		names := make([]string, 20000)
		slots := make([]*redis.IntCmd, len(names))
		for i := range names {
			names[i] = "k" + string(rune('a'+i%26)) + time.Duration(base+i).String()
			slots[i] = pipe.ClusterKeySlot(t.Context(), names[i])
		}
		_, err := pipe.Exec(t.Context())
		require.NoError(t, err)
		for i, s := range slots {
			key[s.Val()] = names[i]
		}
	}
	pipe := c.Pipeline()
	for _, k := range key {
		pipe.Set(t.Context(), k, "v", 0)
	}
	_, err := pipe.Exec(t.Context())
	require.NoError(t, err)
	var stored int64
	for _, addr := range srv.Addrs("node") {
		n, err := open(t, &redis.Options{Addr: addr}).DBSize(t.Context()).Result()
		require.NoError(t, err)
		assert.Positive(t, n, "%s has a share", addr)
		stored += n
	}
	assert.EqualValues(t, 16384, stored)
}

func TestSentinelsReplaceAKilledMaster(t *testing.T) {
	t.Parallel()
	tier.Full(t, "what every test of a server does with it")
	srv := labtest.Sentinel(t, "--requirepass", "secret")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "perfbench", SentinelAddrs: srv.Addrs("sentinel"), Password: "secret", DisableIdentity: true,
	})
	defer c.Close()
	require.NoError(t, c.Set(ctx, "before", 1, 0).Err())
	srv.Kill("master")
	require.Eventually(t, func() bool { return c.Set(ctx, "after", 1, 0).Err() == nil }, time.Minute, 50*time.Millisecond)

	replica := open(t, &redis.Options{Addr: srv.Addrs("replica")[0], Password: "secret"})
	n, err := replica.Exists(ctx, "before", "after").Result()
	require.NoError(t, err)
	assert.EqualValues(t, 2, n, "the replica took over, with what the master had")

	srv.Restart("master")
	old := open(t, &redis.Options{Addr: srv.Addr(), Password: "secret"})
	assert.NoError(t, old.Ping(ctx).Err())
}
