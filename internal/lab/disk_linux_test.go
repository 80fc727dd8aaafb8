package lab_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/lab/powercut"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// The tests' own program serves file systems, as perfbench does for users.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "disk" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := powercut.Serve(ctx, os.Args[2], os.Args[3])
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// powered starts a service whose power can be cut, or skips where there is none.
func powered(t *testing.T, dir, name string, args ...string) (lab.State, *lab.Servers) {
	t.Helper()
	if err := powercut.Available(); err != nil {
		t.Skipf("power cuts are not tested: %v", err)
	}
	st, err := lab.Up(t.Context(), dir, name, lab.Options{Args: args, Disk: []string{os.Args[0], "disk"}, Tied: true})
	if err != nil && strings.Contains(err.Error(), powercut.ErrMissing.Error()) {
		t.Skipf("power cuts are not tested: %v", err)
	}
	require.NoError(t, err)
	s := lab.ServersAt(dir, st.URL)
	require.NotNil(t, s)
	require.NoError(t, s.CanCut())
	return st, s
}

// cut cuts the power of a server and turns it on again.
func cut(t *testing.T, s *lab.Servers) {
	t.Helper()
	name, err := s.Find(t.Context(), lab.Primary)
	require.NoError(t, err)
	require.NoError(t, s.Cut(t.Context(), name, false))
	require.NoError(t, s.Restart(t.Context(), name))
}

// A torn cut leaves some of what was not synced, and nothing of it passes for whole.
func TestATornPowerCutLeavesSomeSectors(t *testing.T) {
	t.Parallel()
	needRedis(t)
	st, s := powered(t, labDir(t), "redis", "--appendonly", "yes", "--appendfsync", "no")
	addr := st.Processes[0].Addr
	const sector, sectors = 512, 64
	redisDo(t, addr, "CONFIG SET appendfsync always", "SET a 1")
	redisDo(t, addr, "CONFIG SET appendfsync no", "SET b "+strings.Repeat("v", sectors*sector))
	require.NoError(t, s.Cut(t.Context(), "redis", true))
	kept := 0
	files, err := filepath.Glob(filepath.Join(st.Disk.At, "appendonlydir", "*.incr.aof"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.True(t, bytes.Contains(text, []byte("SET\r\n$1\r\na\r\n")), "what was synced is whole")
	for at := 0; at+sector <= len(text); at += sector {
		if bytes.Equal(text[at:at+sector], bytes.Repeat([]byte("v"), sector)) {
			kept++
		}
	}
	assert.Less(t, kept, sectors-1, "some sectors are lost")
	t.Logf("%d of %d sectors are left, in a file of %d bytes", kept, sectors, len(text))
}

func TestAPowerCutLosesWhatRedisHadNotSynced(t *testing.T) {
	t.Parallel()
	needRedis(t)
	dir := labDir(t)
	st, s := powered(t, dir, "redis", "--appendonly", "yes", "--appendfsync", "no")
	addr := st.Processes[0].Addr
	redisDo(t, addr, "SET a 1", "CONFIG SET appendfsync always", "SET b 2")
	redisDo(t, addr, "CONFIG SET appendfsync no", "SET c 3")
	cut(t, s)
	assert.Equal(t, []string{":2", ":0"}, redisDo(t, addr, "EXISTS a b", "EXISTS c"), "what came before a sync is synced with it")

	_, err := lab.Up(t.Context(), dir, "redis", lab.Options{Args: []string{"--appendonly", "yes", "--appendfsync", "no"}})
	require.ErrorContains(t, err, "with other settings", "servers with their data on the machine's own disk are others")
	all, err := lab.Status(dir)
	require.NoError(t, err)
	require.NotNil(t, all[0].Disk)
	require.NoError(t, lab.Send(all[0].Disk.Process, syscall.SIGKILL))
	assert.Empty(t, lab.WaitGone(t.Context(), []lab.Process{all[0].Disk.Process}, lab.StopLimit))
	all, err = lab.Status(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"its file system has ended, and with it the data"}, all[0].Broken())
	_, err = lab.Heal(t.Context(), dir, "redis", nil)
	require.ErrorContains(t, err, "its file system has ended")
	require.NoError(t, lab.Down(t.Context(), dir, "redis", nil))
	assert.False(t, powercut.Mounted(all[0].Disk.At))
}

// A server that syncs each write answers as much later as its disk, until the lab has put that right.
func TestADiskCanBeSlow(t *testing.T) {
	t.Parallel()
	needRedis(t)
	dir := labDir(t)
	st, s := powered(t, dir, "redis", "--appendonly", "yes", "--appendfsync", "always")
	broken := func() []string {
		all, err := lab.Status(dir)
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0].Broken()
	}
	assert.Empty(t, broken())
	const by = 50 * time.Millisecond
	require.NoError(t, s.SlowSync(t.Context(), by))
	began := time.Now()
	redisDo(t, st.Processes[0].Addr, "SET a 1", "SET a 2", "SET a 3")
	assert.GreaterOrEqual(t, time.Since(began), by, "the writes of one connection may be synced together")
	assert.Equal(t, []string{"fsync takes 50ms longer"}, broken())
	done, err := lab.Heal(t.Context(), dir, "redis", nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"fsync takes no longer than it has to"}, done)
	assert.Empty(t, broken())
}

func TestAPowerCutIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	_, err := lab.Up(t.Context(), dir, "memcached", lab.Options{Disk: []string{"disk"}})
	require.ErrorContains(t, err, "the power of memcached cannot be cut")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	s := lab.ServersAt(dir, up(t, dir, "redis").URL)
	require.ErrorContains(t, s.CanCut(), "redis was started without --power-cut")
	require.Error(t, s.Cut(t.Context(), "redis", true))
	require.Error(t, s.SlowSync(t.Context(), time.Second))
}

func TestRedisThatAlwaysSyncsLosesNothing(t *testing.T) {
	tier.Full(t, "TestAPowerCutLosesWhatRedisHadNotSynced cuts once")
	t.Parallel()
	alwaysSyncs(t, 3)
}

func TestProofThatRedisLosesNothingIn50Cuts(t *testing.T) {
	tier.Proof(t, "TestRedisThatAlwaysSyncsLosesNothing cuts three times")
	alwaysSyncs(t, 50)
}

func alwaysSyncs(t *testing.T, cuts int) {
	t.Helper()
	needRedis(t)
	st, s := powered(t, labDir(t), "redis", "--appendonly", "yes", "--appendfsync", "always")
	addr, keys := st.Processes[0].Addr, 0
	for range cuts {
		for range 20 {
			keys++
			require.Equal(t, []string{"+OK"}, redisDo(t, addr, fmt.Sprintf("SET k%d v", keys)))
		}
		cut(t, s)
		require.Equal(t, []string{fmt.Sprintf(":%d", keys)}, redisDo(t, addr, "DBSIZE"))
	}
}

// Without the lab's usual fsync=off, what was committed stays, and the rest is lost by those that
// were told to.
func TestAPowerCutLosesWhatSQLServersHadNotSynced(t *testing.T) {
	tier.Full(t, "TestAPowerCutLosesWhatRedisHadNotSynced, which is another server")
	for _, tt := range []struct {
		name, driver, dsn string
		args              []string
		kept              bool
	}{
		{"postgres", "pgx", "postgres://pb@%s/perfbench", nil, true},
		{"postgres", "pgx", "postgres://pb@%s/perfbench", []string{"--fsync", "off"}, false},
		{"mariadb", "mysql", "pb@tcp(%s)/perfbench", nil, true},
		{"mariadb", "mysql", "pb@tcp(%s)/perfbench", []string{"--innodb-flush-log-at-trx-commit", "2", "--innodb-flush-log-at-timeout", "2700"}, false},
	} {
		t.Run(fmt.Sprintf("%s kept=%t", tt.name, tt.kept), func(t *testing.T) {
			t.Parallel()
			labtest.Need(t, tt.name)
			dir := t.TempDir() // mariadb-install-db does not quote the path of a data folder that exists
			t.Cleanup(func() { assert.NoError(t, lab.Down(context.Background(), dir, tt.name, nil)) })
			st, s := powered(t, dir, tt.name, tt.args...)
			db, err := sql.Open(tt.driver, fmt.Sprintf(tt.dsn, st.Processes[0].Addr))
			require.NoError(t, err)
			defer db.Close()
			_, err = db.ExecContext(t.Context(), "CREATE TABLE t (k INT PRIMARY KEY)")
			require.NoError(t, err)
			for k := range 20 {
				_, err = db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO t VALUES (%d)", k))
				require.NoError(t, err)
			}
			name, err := s.Find(t.Context(), lab.Primary)
			require.NoError(t, err)
			require.NoError(t, s.Cut(t.Context(), name, false))
			if err = s.Restart(t.Context(), name); err != nil {
				require.False(t, tt.kept, err) // it may even be unable to start
				return
			}
			db.SetMaxIdleConns(0)
			var rows int
			err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM t").Scan(&rows)
			if tt.kept {
				require.NoError(t, err)
				assert.Equal(t, 20, rows)
			} else {
				assert.True(t, err != nil || rows < 20, "%d rows", rows)
			}
		})
	}
}
