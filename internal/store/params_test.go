package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

func target(t *testing.T, s string) store.Target {
	t.Helper()
	got, err := store.ParseTarget(s)
	require.NoError(t, err)
	return got
}

func TestCheckParams(t *testing.T) {
	known := append([]string{"db"}, store.NetworkParams...)
	assert.NoError(t, store.CheckParams(target(t, "redis://h?db=1&tls=1&read_timeout=1s"), known))
	assert.NoError(t, store.CheckParams(target(t, "redis://h"), nil))
	for in, want := range map[string][2]string{
		"redis://h?read_timout=1s":  {`unknown parameter "read_timout"`, "did you mean read_timeout"},
		"redis://h?password=secret": {`unknown parameter "password"`, "user:password@host"},
		"redis://h?a=1&b=2":         {"unknown parameter \"a\"\nredis: unknown parameter \"b\"", ""},
	} {
		err := store.CheckParams(target(t, in), known)
		require.Error(t, err)
		assert.Contains(t, err.Error(), want[0])
		assert.Contains(t, fault.HintOf(err), want[1])
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.NotContains(t, err.Error(), "secret")
	}
	assert.Equal(t, "this target takes no parameters", fault.HintOf(store.CheckParams(target(t, "null:?x=1"), nil)))
}

func TestTimeoutsAndConnections(t *testing.T) {
	got, err := store.Timeouts(target(t, "redis://h?dial_timeout=1s&read_timeout=20ms&write_timeout=3m"))
	require.NoError(t, err)
	assert.Equal(t, store.TimeoutSet{Dial: time.Second, Read: 20 * time.Millisecond, Write: 3 * time.Minute}, got)
	got, err = store.Timeouts(target(t, "redis://h"))
	require.NoError(t, err)
	assert.Equal(t, store.TimeoutSet{}, got)
	for _, in := range []string{"redis://h?dial_timeout=5", "redis://h?read_timeout=0s", "redis://h?write_timeout=-1s"} {
		_, err = store.Timeouts(target(t, in))
		require.Error(t, err, in)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.Contains(t, fault.HintOf(err), "5s")
	}
	n, err := store.Connections(target(t, "redis://h?connections=7"))
	require.NoError(t, err)
	assert.Equal(t, 7, n)
	_, err = store.Connections(target(t, "redis://h?connections=many"))
	assert.ErrorContains(t, err, `connections: "many" is not a whole number in 1..65536`)
}

func TestTLSConfig(t *testing.T) {
	files := labtest.Certificates(t)
	for _, off := range []string{"redis://h", "redis://h?tls=0", "redis+cluster://h?tls=off", "unix:///x"} {
		got, err := store.TLSConfig(target(t, off))
		require.NoError(t, err)
		assert.Nil(t, got, off)
	}
	for _, on := range []string{"rediss://h", "redis://h?tls=1", "rediss+cluster://h?tls=1", "rediss+sentinel://h/m", "mysql://h?tls=true"} {
		got, err := store.TLSConfig(target(t, on))
		require.NoError(t, err)
		require.NotNil(t, got, on)
		assert.False(t, got.InsecureSkipVerify)
		assert.Nil(t, got.RootCAs)
	}
	got, err := store.TLSConfig(target(t, "rediss://h?insecure=1&servername=n&ca="+files.CA+"&cert="+files.ClientCert+"&key="+files.ClientKey))
	require.NoError(t, err)
	assert.True(t, got.InsecureSkipVerify)
	assert.Equal(t, "n", got.ServerName)
	assert.NotNil(t, got.RootCAs)
	assert.Len(t, got.Certificates, 1)
	missing := filepath.Join(t.TempDir(), "missing.pem")
	for in, want := range map[string]string{
		"rediss://h?ca=" + missing: missing + ": no such file",
		"rediss://h?ca=" + files.CA + "&cert=" + missing + "&key=" + files.ClientKey: "cert: " + missing,
		"rediss://h?cert=" + files.ClientCert + "&key=" + missing:                    "key: " + missing,
		"rediss://h?cert=" + files.ClientCert:                                        "cert and key belong together",
		"rediss://h?ca=" + files.ClientKey:                                           "holds no certificate",
		"rediss://h?cert=" + files.ClientCert + "&key=" + files.Key:                  "private key does not match",
		"rediss://h?tls=0":       "contradicts the scheme",
		"redis://h?servername=x": "servername has no meaning without TLS",
		"redis://h?tls=maybe":    `tls: "maybe" is not 1 or 0`,
		"rediss://h?cert=" + files.ClientCert + "&key=-----BEGIN%20PRIVATE%20KEY-----%00abc": "key: cannot be read as a file",
	} {
		_, err := store.TLSConfig(target(t, in))
		if assert.Error(t, err, in) {
			assert.Contains(t, err.Error(), want)
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.NotContains(t, err.Error(), "PRIVATE KEY-----")
		}
	}
}

func TestHostPort(t *testing.T) {
	for in, want := range map[string]string{
		"h": "h:1", "h:2": "h:2", "[::1]": "[::1]:1", "[::1]:2": "[::1]:2", "127.0.0.1": "127.0.0.1:1",
	} {
		assert.Equal(t, want, store.HostPort(in, 1))
	}
}
