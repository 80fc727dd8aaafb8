package sqlstore_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

const secret = "s3cret-pw"

// refused wants an error of an unfit store: one line with what, a hint with that,
// and no password.
func refused(t *testing.T, err error, what, hint string) {
	t.Helper()
	require.Error(t, err)
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err), "%v", err)
	assert.Contains(t, err.Error(), what)
	assert.Contains(t, fault.HintOf(err), hint)
	assert.NotContains(t, err.Error()+fault.HintOf(err), secret)
	assert.NotContains(t, err.Error(), "\n", "one sentence")
}

// with adds a parameter to a URL.
func with(url, param string) string {
	if strings.Contains(url, "?") {
		return url + "&" + param
	}
	return url + "?" + param
}

// as replaces who logs in.
func as(url, user string) string { return strings.Replace(url, "//pb@", "//"+user+"@", 1) }

// in replaces the database.
func in(url, database string) string { return strings.Replace(url, "/perfbench", "/"+database, 1) }

func try(t *testing.T, url string) error {
	t.Helper()
	c, err := sqlstore.Open(t.Context(), target(t, url), store.OpenOptions{Threads: 1})
	if err == nil {
		assert.NoError(t, c.Close())
	}
	return err
}

// run executes statements as the administrator.
func run(t *testing.T, c *sqlstore.Conn, texts ...string) {
	t.Helper()
	for _, text := range texts {
		_, err := c.SQL().ExecContext(t.Context(), text)
		require.NoError(t, err, text)
	}
}

func TestMariaDBRefusals(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.MariaDB(t)
	url, admin := srv.URL(), dial(t, srv.URL())
	run(t, admin,
		"CREATE USER reader@'127.0.0.1' IDENTIFIED BY '"+secret+"'", "GRANT SELECT ON perfbench.* TO reader@'127.0.0.1'",
		"CREATE USER few@'127.0.0.1' WITH MAX_USER_CONNECTIONS 1", "GRANT ALL ON perfbench.* TO few@'127.0.0.1'")
	refused(t, try(t, as(url, "reader:"+secret+"x")), `the user "reader" does not exist`, "check user and password")
	refused(t, try(t, as(url, "nobody")), `the user "nobody"`, "--password-file")
	refused(t, try(t, in(url, "missing")), `there is no database "missing"`, "CREATE DATABASE missing")
	refused(t, try(t, as(in(url, "other"), "reader:"+secret)), `may not do this`, "grant")
	refused(t, try(t, with(url, "tls=1")), "does not speak TLS", "leave out tls=1")
	refused(t, try(t, with(strings.Replace(url, "mysql:", "postgres:", 1), "dial_timeout=2s")), "", "")

	reader := dial(t, as(url, "reader:"+secret))
	s := store.Space{Namespace: "n", Name: "a", Shape: store.Map}
	refused(t, reader.Prober.Probe(t.Context(), s), `the user "reader" may not do this`, "grant")
	refused(t, reader.Records.Record(t.Context(), store.Made{Space: s}), `the user "reader" may not do this`, "grant")
	nowhere := dial(t, as(in(url, ""), "reader:"+secret))
	refused(t, nowhere.EnsureDatabase(t.Context(), "fresh"), `the user "reader" may not create the database "fresh"`, "name one that exists")

	one := dial(t, with(as(url, "few"), "connections=3"))
	held, err := one.SQL().Conn(t.Context())
	require.NoError(t, err)
	err = one.Maps.Set(t.Context(), s, []byte("k"), []byte("v"))
	assert.Equal(t, store.Overloaded, one.Classify(err), "%v", err)
	require.NoError(t, held.Close())

	run(t, admin, "SET GLOBAL read_only = 1", "GRANT CREATE, INSERT, UPDATE, DELETE, DROP ON perfbench.* TO reader@'127.0.0.1'")
	refused(t, reader.Prober.Probe(t.Context(), s), "the server is read-only", "replica")
	info, err := reader.Info(t.Context())
	require.NoError(t, err)
	assert.Contains(t, strings.Join(info.Warnings, "\n"), "the server is read-only")
	run(t, admin, "SET GLOBAL read_only = 0")
	require.NoError(t, dial(t, as(url, "reader:"+secret)).Prober.Probe(t.Context(), s))

	srv.Kill()
	refused(t, try(t, url), "connection refused", "is the server running?")
}

func TestPostgresRefusals(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.Postgres(t)
	url, admin := srv.URL(), dial(t, srv.URL())
	run(t, admin, "CREATE ROLE reader LOGIN", "CREATE ROLE few LOGIN CONNECTION LIMIT 1", "CREATE ROLE shut LOGIN PASSWORD '"+secret+"'")
	refused(t, try(t, as(url, "nobody:"+secret)), `the user "nobody" does not exist`, "check user and password")
	refused(t, try(t, in(url, "missing")), `there is no database "missing"`, "CREATE DATABASE missing")
	refused(t, try(t, with(url, "tls=1")), "does not speak TLS", "leave out tls=1")
	refused(t, try(t, with(strings.Replace(url, "postgres:", "mysql:", 1), "dial_timeout=300ms")), "no answer in time", "MariaDB")

	reader := dial(t, as(url, "reader"))
	s := store.Space{Namespace: "n", Name: "a", Shape: store.Map}
	refused(t, reader.Prober.Probe(t.Context(), s), `the user "reader" may not do this`, "grant")
	nowhere := dial(t, as(in(url, ""), "reader"))
	refused(t, nowhere.EnsureDatabase(t.Context(), "fresh"), `may not create the database "fresh"`, "name one that exists")

	one := dial(t, with(as(url, "few"), "connections=3"))
	held, err := one.SQL().Conn(t.Context())
	require.NoError(t, err)
	err = one.Maps.Set(t.Context(), s, []byte("k"), []byte("v"))
	assert.Equal(t, store.Overloaded, one.Classify(err), "%v", err)
	require.NoError(t, held.Close())

	run(t, admin, "ALTER ROLE pb SET default_transaction_read_only = on")
	still := dial(t, url)
	refused(t, still.Prober.Probe(t.Context(), s), "the server is read-only", "replica")
	info, err := still.Info(t.Context())
	require.NoError(t, err)
	assert.Contains(t, strings.Join(info.Warnings, "\n"), "writes are refused")

	hba := filepath.Join(strings.TrimSpace(ask(t, admin, "SHOW data_directory")), "pg_hba.conf")
	require.NoError(t, os.WriteFile(hba, []byte("host all shut 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 trust\n"), 0o600))
	run(t, still, "SELECT pg_reload_conf()")
	require.Eventually(t, func() bool { return try(t, url) != nil }, limit, tick)
	refused(t, try(t, url), "no connections without TLS", "tls=1")
	refused(t, try(t, as(url, "shut:"+secret+"x")), `the user "shut"`, "check user and password")
	require.NoError(t, try(t, as(url, "shut:"+secret)))

	srv.Kill()
	refused(t, try(t, url), "connection refused", "is the server running?")
}

func TestTLS(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	for name, start := range map[string]func(testing.TB, labtest.TLSOptions) *labtest.TLSServer{
		"mariadb": labtest.MariaDBTLS, "postgres": labtest.PostgresTLS,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, labtest.TLSOptions{ClientAuth: true})
			c := dial(t, srv.URL())
			info, err := c.Info(t.Context())
			require.NoError(t, err)
			assert.NotEmpty(t, info.Version)
			plain, _, _ := strings.Cut(srv.URL(), "?")
			refused(t, try(t, plain), "", "tls=1")
			refused(t, try(t, with(plain, "tls=1")), "authority that is not trusted", "ca=FILE")
			refused(t, try(t, with(srv.URL(), "servername=other")), "for another name", "servername=")
			refused(t, try(t, with(plain, "tls=1&ca="+srv.CA)), "", "")
		})
	}
}

func TestSQLiteRefusals(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused(t, try(t, "sqlite:"+dir+"/none/x.db"), "cannot be opened", "folder")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "text"), []byte(strings.Repeat("no database ", 100)), 0o600))
	refused(t, try(t, "sqlite:"+dir+"/text"), "is not an SQLite database", "another path")
	s := store.Space{Namespace: "n", Name: "a", Shape: store.Map}
	path := dir + "/x.db"
	w := dial(t, "sqlite:"+path)
	require.NoError(t, w.Records.Record(t.Context(), store.Made{Space: s}))
	r := dial(t, "sqlite:"+path+"?mode=ro")
	refused(t, r.Prober.Probe(t.Context(), s), "can only be read", "mode=ro")
	err := r.Maps.Set(t.Context(), s, []byte("k"), nil)
	assert.Equal(t, store.ReadOnly, r.Classify(err))

	tx, err := w.SQL().BeginTx(t.Context(), nil)
	require.NoError(t, err)
	hasty := dial(t, "sqlite:"+path+"?busy_timeout=1")
	err = hasty.Maps.Set(t.Context(), s, []byte("k"), nil)
	assert.Equal(t, store.Conflict, hasty.Classify(err), "%v", err)
	require.NoError(t, tx.Rollback())
}

func TestTemporarySQLiteGoesWithItsConnection(t *testing.T) {
	t.Parallel()
	c, err := sqlstore.Open(t.Context(), target(t, "sqlite:"), store.OpenOptions{})
	require.NoError(t, err)
	require.FileExists(t, c.Database())
	require.NoError(t, c.Close())
	assert.NoDirExists(t, filepath.Dir(c.Database()))
}

func TestBadTargets(t *testing.T) {
	t.Parallel()
	for url, want := range map[string][2]string{
		"postgres://h1,h2/d?target_session_attrs=readwrite":      {`"readwrite" is not one of any, primary, read-write`, "read-write"},
		"postgres://u:" + secret + "@h/d?isolation=seri":         {`"seri" is not an isolation level`, "serializable"},
		"mysql://u:" + secret + "@h/d?isolation=snapshot":        {`"snapshot" is not an isolation level`, "read-committed"},
		"mysql://u:" + secret + "@h/d?parseTime=maybe":           {`parseTime: "maybe" is not 1 or 0`, ""},
		"mysql://u:" + secret + "@h/d?charset=a,b&loc=Moon/Base": {"Moon/Base", ""},
		"postgres://h/d?sslmode=prefer":                          {`sslmode: "prefer"`, "write verify-full, require or disable"},
		"postgres://h/d?sslmode=require&tls=1":                   {"set the same", "tls=1"},
		"postgres://u:" + secret + "@h/d?ca=/x":                  {"ca has no meaning without TLS", "tls=1"},
		"postgres://h/d?statement_cache_capacity=many":           {"statement_cache_capacity", ""},
		"mysql://h/d?dial_timeout=3":                             {"dial_timeout", "500ms"},
		"postgres://h/d?connections=0":                           {"connections", ""},
	} {
		_, err := sqlstore.Open(t.Context(), target(t, url), store.OpenOptions{})
		if assert.Error(t, err, url) {
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%s: %v", url, err)
			assert.Contains(t, err.Error(), want[0])
			assert.Contains(t, fault.HintOf(err), want[1])
			assert.NotContains(t, err.Error()+fault.HintOf(err), secret)
		}
	}
}

func TestWhatIsNoSQLServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("220 mail.example.com ready\r\n")) // it is a stranger: whatever happens to it
			_ = c.Close()
		}
	}()
	for _, scheme := range []string{"mysql", "postgres"} {
		refused(t, try(t, scheme+"://u:"+secret+"@"+l.Addr().String()+"/d"), scheme+": 127.0.0.1:", "")
	}
	srv := labtest.Redis(t)
	for _, scheme := range []string{"mysql", "postgres"} {
		refused(t, try(t, scheme+"://u:"+secret+"@"+srv.Addr()+"/d?dial_timeout=300ms"), "", "")
	}
	refused(t, try(t, "mysql://u:"+secret+"@no-such-host.invalid/d"), "cannot be resolved", "spelling")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = sqlstore.Open(ctx, target(t, "mysql://"+l.Addr().String()+"/d"), store.OpenOptions{})
	assert.ErrorIs(t, err, context.Canceled)
}
