package sqlstore_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// lacks returns what a server lacks, with its reasons.
func lacks(t *testing.T, c *sqlstore.Conn) map[store.Ability]string {
	t.Helper()
	facts, err := c.Facts(t.Context())
	require.NoError(t, err)
	out := map[store.Ability]string{}
	for _, f := range facts.All {
		if f.Lacks != nil {
			out[f.Ability] = f.Lacks.Error()
		}
	}
	return out
}

// Behind a pooler that gives each transaction another connection, everything works: nothing is
// prepared that would be missing on the next.
func TestConformanceBehindAPooler(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	srv := labtest.Postgres(t)
	pooler := "postgres://pb@" + labtest.PgBouncer(t, srv.Addr()) + "/perfbench"
	storetest.Run(t, func(t *testing.T) store.Conn { return dial(t, pooler) })
	assert.Contains(t, lacks(t, dial(t, pooler)), store.Ability("sessions"))
	_, done, err := sqlstore.NewDirect(dial(t, pooler)).Do(t.Context(), "SELECT 1", nil, nil)
	require.NoError(t, err)
	assert.False(t, done, "the direct way would prepare")
	assert.NotContains(t, lacks(t, dial(t, srv.URL())), store.Ability("sessions"))
}

// What a server does not show is told by its name: a view that the user may not read, and a
// table of the schema that tells of waiting.
func TestWhatAServerLacks(t *testing.T) {
	t.Parallel()
	tier.Full(t, inPlace)
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		srv := labtest.Postgres(t)
		admin := dial(t, srv.URL())
		assert.Empty(t, lacks(t, admin))
		run(t, admin, "CREATE ROLE app LOGIN")
		run(t, admin, "GRANT ALL ON DATABASE perfbench TO app")
		run(t, admin, "GRANT ALL ON SCHEMA public TO app")
		for _, view := range []string{"pg_stat_database", "pg_stat_activity", "pg_prepared_xacts"} {
			run(t, admin, "REVOKE SELECT ON pg_catalog."+view+" FROM PUBLIC")
		}
		c := dial(t, "postgres://app@"+srv.Addr()+"/perfbench")
		got := lacks(t, c)
		for _, a := range []store.Ability{"pg_stat_database", "pg_stat_activity", store.TwoPhase} {
			assert.Contains(t, got[a], "permission denied", a)
		}
		require.NoError(t, c.Prober.Probe(t.Context(), store.Space{Namespace: "n", Shape: store.Map}), "it can be used")
		require.ErrorContains(t, store.Require(t.Context(), c, []store.Need{{Ability: store.TwoPhase, For: "transType=xa"}}),
			"transType=xa needs transactions that can be prepared, which this server lacks")
	})
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		got := lacks(t, dial(t, labtest.MariaDB(t).URL()))
		assert.NotContains(t, got, store.TwoPhase)
		assert.NotContains(t, got, store.Ability("status"))
	})
}
