//go:build linux || darwin

package lab_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// A replica takes over from a killed primary with all that was acknowledged to it, the old primary
// comes back as its replica.
func TestAReplicaTakesOver(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestWhatRolesThereAre")
	for _, tt := range []struct {
		service, driver, dsn string
		args                 []string
		behind               string
	}{
		{"postgres-standby", "pgx", "postgres://pb@%s/perfbench", []string{"--synchronous_standby_names", "*"}, "nothing, synchronous"},
		{"mariadb-replica", "mysql", "pb@tcp(%s)/perfbench", []string{"--rpl_semi_sync_master_enabled", "ON"}, "nothing, semi-synchronous"},
	} {
		t.Run(tt.service, func(t *testing.T) {
			t.Parallel()
			labtest.Need(t, tt.service)
			dir, began := t.TempDir(), time.Now() // mariadb-install-db does not quote a path
			step := func(step string) { t.Logf("%.2f %s", time.Since(began).Seconds(), step) }
			t.Cleanup(func() { assert.NoError(t, lab.Down(context.Background(), dir, tt.service, step)) })
			st, err := lab.Up(t.Context(), dir, tt.service, lab.Options{Args: tt.args, Tied: true, Brief: true, Progress: step})
			require.NoError(t, err)
			s := lab.ServersAt(dir, st.URL)
			require.NotNil(t, s)
			on := func(name string) *sql.DB {
				for _, p := range st.Processes {
					if p.Name == name {
						db, err := sql.Open(tt.driver, fmt.Sprintf(tt.dsn, p.Addr))
						require.NoError(t, err)
						t.Cleanup(func() { assert.NoError(t, db.Close()) })
						return db
					}
				}
				t.Fatalf("no process %s", name)
				return nil
			}
			rows := 0
			add := func(name string) {
				db := on(name)
				for range 50 {
					_, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO a VALUES (%d)", rows))
					require.NoError(t, err)
					rows++
				}
			}
			_, err = on("node-1").ExecContext(t.Context(), "CREATE TABLE a (n INT PRIMARY KEY)")
			require.NoError(t, err)
			primary, replica := "node-1", "node-2"
			add(primary)
			for role, want := range map[string]string{lab.Primary: primary, lab.Replica: replica} {
				got, err := s.Find(t.Context(), role)
				require.NoError(t, err)
				assert.Equal(t, want, got)
			}
			name, err := s.TakeOver(t.Context())
			require.NoError(t, err)
			assert.Empty(t, name, "the primary is alive")

			require.NoError(t, s.Kill(t.Context(), primary))
			name, err = s.TakeOver(t.Context())
			require.NoError(t, err)
			require.Equal(t, replica, name)
			var n int
			require.NoError(t, on(replica).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM a").Scan(&n))
			assert.Equal(t, rows, n)
			add(replica) // it waits for nobody

			done, err := lab.Heal(t.Context(), dir, tt.service, step)
			require.NoError(t, err)
			assert.Equal(t, []string{primary + " was started again, and follows " + replica}, done)
			primary, replica = replica, primary
			add(primary)

			states, err := lab.Status(dir)
			require.NoError(t, err)
			require.Len(t, states, 1)
			assert.Eventually(t, func() bool {
				now := lab.Look(t.Context(), dir, states[0]).Processes
				return now[0].Role == lab.Replica && now[0].Behind == tt.behind && now[1].Role == lab.Primary
			}, 20*time.Second, 100*time.Millisecond)
			// Both have ended: the one that was the primary last is the primary.
			require.NoError(t, errors.Join(s.Kill(t.Context(), primary), s.Kill(t.Context(), replica)))
			done, err = lab.Heal(t.Context(), dir, tt.service, step)
			require.NoError(t, err)
			assert.Equal(t, []string{primary + " was started again", replica + " was started again, and follows " + primary}, done)
			add(primary)
			require.NoError(t, on(primary).QueryRowContext(t.Context(), "SELECT COUNT(*) FROM a").Scan(&n))
			assert.Equal(t, rows, n)
		})
	}
}

// A server that is no replica takes over from nobody.
func TestWhatRolesThereAre(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	st := up(t, dir, "redis")
	s := lab.ServersAt(dir, st.URL)
	require.NotNil(t, s)
	require.NoError(t, s.Kill(t.Context(), "redis"))
	name, err := s.TakeOver(t.Context())
	require.NoError(t, err)
	assert.Empty(t, name)
	assert.EqualError(t, s.Check(lab.Replica), "redis has no replica")
}

// A replica of a cluster takes over the slots of its primary by itself, and the old primary comes
// back as its replica.
func TestAReplicaTakesOverInACluster(t *testing.T) {
	t.Parallel()
	tier.Full(t, "TestWhatRolesThereAre; internal/store/redis/link follows a cluster")
	needRedis(t)
	const service = "redis-cluster-replicas"
	dir := labDir(t)
	st := up(t, dir, service)
	require.Len(t, st.Processes, 6)
	s := lab.ServersAt(dir, st.URL)
	require.NotNil(t, s)
	roles := func() (out []string) {
		states, err := lab.Status(dir)
		require.NoError(t, err)
		for _, p := range lab.Look(t.Context(), dir, states[0]).Processes {
			out = append(out, p.Role+p.Of)
		}
		return out
	}
	assert.Equal(t, []string{lab.Primary, lab.Primary, lab.Primary, "replicanode-1", "replicanode-2", "replicanode-3"}, roles())
	for role, want := range map[string]string{lab.Primary: "node-1", lab.Replica: "node-4"} {
		got, err := s.Find(t.Context(), role)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	require.NoError(t, s.Kill(t.Context(), "node-1"))
	name, err := s.TakeOver(t.Context())
	require.NoError(t, err)
	assert.Empty(t, name, "the servers see to that themselves")
	require.Eventually(t, func() bool {
		return roles()[3] == lab.Primary
	}, 30*time.Second, 100*time.Millisecond)
	done, err := lab.Heal(t.Context(), dir, service, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"node-1 was started again, and follows node-4"}, done)
	assert.Equal(t, []string{"replicanode-4", lab.Primary, lab.Primary, lab.Primary, "replicanode-2", "replicanode-3"}, roles())
}
