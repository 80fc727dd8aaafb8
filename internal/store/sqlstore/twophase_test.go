package sqlstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// preparing are servers that can prepare, and how others than we do it there.
var preparing = map[string]struct {
	start   func(t *testing.T) *labtest.Server
	prepare []string
	undo    string
}{
	"mariadb": {
		func(t *testing.T) *labtest.Server { return labtest.Shared(t, "mariadb") },
		[]string{"XA START 'theirs','01:perfbench:0011223344556677'", "XA END 'theirs','01:perfbench:0011223344556677'", "XA PREPARE 'theirs','01:perfbench:0011223344556677'"},
		"XA ROLLBACK 'theirs','01:perfbench:0011223344556677'",
	},
	"postgres": {
		func(t *testing.T) *labtest.Server { return labtest.Postgres(t, "--max_prepared_transactions=8") },
		[]string{"BEGIN", "PREPARE TRANSACTION 'theirs/01:perfbench:0011223344556677'"},
		"ROLLBACK PREPARED 'theirs/01:perfbench:0011223344556677'",
	},
}

// What a namespace has prepared outlives its connection, is listed, and goes when its
// tables do; that of others stays.
func TestWhatIsPreparedGoesWithItsTables(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	for name, server := range preparing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, server.start(t).URL())
			s := store.Space{Namespace: "twophase", Name: "a", Shape: store.Map}
			require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
			x, err := sqlstore.New(t.Context(), c.SQL(), c.Dialect(), "twophase")
			require.NoError(t, err)
			theirs, err := c.SQL().Conn(t.Context())
			require.NoError(t, err)
			for _, text := range server.prepare {
				_, err := theirs.ExecContext(t.Context(), text)
				require.NoError(t, err)
			}
			branch := func(id string) (*sqlstore.Branch, error) {
				b, err := x.Begin(t.Context(), "gid", id, time.Second)
				if err == nil {
					_, err = b.Conn.ExecContext(t.Context(), "INSERT INTO twophase_a (k, v) VALUES ('"+id+"', 'x')")
				}
				if err == nil {
					err = b.Prepare(t.Context())
				}
				return b, err
			}
			for _, id := range []string{"01", "02", "03"} {
				b, err := branch(id)
				require.NoError(t, err)
				switch id {
				case "01":
					require.NoError(t, x.Commit(t.Context(), "gid", id, b))
					require.ErrorIs(t, x.Commit(t.Context(), "gid", id, nil), sqlstore.ErrNoBranch)
				case "02":
					require.NoError(t, x.Rollback(t.Context(), "gid", id, b))
				default:
					b.Detach()
				}
			}
			list, err := x.Prepared(t.Context())
			require.NoError(t, err)
			require.Len(t, list, 1)
			assert.Contains(t, list[0], "03")
			n, err := c.Maps.Count(t.Context(), s)
			require.NoError(t, err)
			assert.Equal(t, int64(1), n, "one of the three was committed")

			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			gone, err := c.Records.Drop(ctx, s, nil)
			require.NoError(t, err, "its lock is gone")
			assert.Equal(t, int64(1), gone)
			list, err = x.Prepared(t.Context())
			require.NoError(t, err)
			assert.Empty(t, list)
			_, err = theirs.ExecContext(t.Context(), server.undo)
			require.NoError(t, err, "that of others is still there")
			require.NoError(t, theirs.Close())
		})
	}
}

// A call that waits for what is prepared waits no longer than it may.
func TestWaitingForWhatIsPrepared(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	for name, server := range preparing {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := dial(t, server.start(t).URL())
			s := store.Space{Namespace: "waiting", Name: "a", Shape: store.Map}
			require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
			x, err := sqlstore.New(t.Context(), c.SQL(), c.Dialect(), "waiting")
			require.NoError(t, err)
			const insert = "INSERT INTO waiting_a (k, v) VALUES ('k', 'x')"
			b, err := x.Begin(t.Context(), "gid", "01", 0)
			require.NoError(t, err)
			_, err = b.Conn.ExecContext(t.Context(), insert)
			require.NoError(t, err)
			require.NoError(t, b.Prepare(t.Context()))
			_, err = x.Exec(t.Context(), 0, insert)
			assert.True(t, sqlstore.LockTimeout(err), "%v", err)
			require.NoError(t, x.Rollback(t.Context(), "gid", "01", b))
			n, err := x.Exec(t.Context(), 0, insert)
			require.NoError(t, err)
			assert.Equal(t, int64(1), n)
			again, err := x.Begin(t.Context(), "gid", "01", 0)
			require.NoError(t, err)
			require.NoError(t, again.Undo(t.Context()))
			_, err = c.Records.Drop(t.Context(), s, nil)
			require.NoError(t, err)
		})
	}
}

// What cannot keep as much prepared says so, and what to do.
func TestServersThatCannotPrepareEnough(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	for name, want := range map[string]string{"postgres": "max_prepared_transactions = 20", "mariadb": "max_connections"} {
		c := dial(t, labtest.Shared(t, name).URL())
		many := 20
		if name == "mariadb" {
			require.NoError(t, sqlstore.CanPrepare(t.Context(), c.SQL(), c.Dialect(), many))
			many = 1_000_000
		}
		err := sqlstore.CanPrepare(t.Context(), c.SQL(), c.Dialect(), many)
		require.Error(t, err)
		assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
		assert.Contains(t, fault.HintOf(err), want)
	}
	lite := dial(t, "sqlite:"+t.TempDir()+"/x.db")
	require.ErrorContains(t, sqlstore.CanPrepare(t.Context(), lite.SQL(), lite.Dialect(), 1), "SQLite cannot prepare")
}
