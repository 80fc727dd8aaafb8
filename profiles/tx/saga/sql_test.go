package saga

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
	"github.com/perfbench/perfbench/profiles/tx/saga/onsql"
)

var databases = map[sqltext.Dialect]func(t *testing.T) string{
	sqltext.MySQL:    sagaTargets["mariadb"],
	sqltext.Postgres: sagaTargets["postgres"],
	sqltext.SQLite:   sagaTargets["sqlite"],
}

// TestDatabases is about what only databases do, on one server of each kind.
func TestDatabases(t *testing.T) {
	for name, start := range databases {
		t.Run(string(name), func(t *testing.T) {
			if name != sqltext.SQLite {
				tier.Full(t, "the case sqlite, and TestAccountsInOppositeOrder")
			}
			url := start(t)
			t.Run("sweep", func(t *testing.T) { sweeps(t, url) })
			t.Run("retention", func(t *testing.T) { retains(t, url) })
			if name != sqltext.SQLite { // which has one level
				t.Run("isolation", func(t *testing.T) { isolates(t, name, url) })
			}
			if name == sqltext.Postgres {
				t.Run("conflicts of sagas", func(t *testing.T) { sagasMeet(t, url) })
			}
		})
	}
}

// What has been finished for longer than it is kept goes, and nothing else.
func sweeps(t *testing.T, url string) {
	p, conn := ready(t, url, apart("sweep", "mode=saga", "threads=2", "transactions=30", "accountCount=20", "failRate=0.3", "finishedExpire=1h", "retryInterval=1h", "cronInterval=1h", "checkInterval=0s"))
	profiletest.Work(t, p)
	st := onsql.New(common.New(conn.(sqlstore.Typed)), p.Binder.(Binding).Spec)
	half := &model.Saga{}
	half.Reset("half", 0, 2, time.Now())
	half.Next = time.Now().Add(time.Hour)
	require.NoError(t, st.Layer().Open().Save(t.Context(), half))
	rows := func(table string) (n int) {
		require.NoError(t, st.DB.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+table).Scan(&n))
		return n
	}
	n, err := st.Sweep(t.Context(), time.Now())
	require.NoError(t, err)
	assert.Zero(t, n, "none is old enough")
	assert.Equal(t, 31, rows(st.Global))
	assert.Equal(t, 31*4, rows(st.Branch))
	n, err = st.Sweep(t.Context(), time.Now().Add(2*time.Hour))
	require.NoError(t, err)
	assert.Equal(t, int64(30), n)
	assert.Equal(t, 1, rows(st.Global), "an unfinished one stays, however old")
	assert.Equal(t, 4, rows(st.Branch))
	assert.Zero(t, rows(st.Barrier))
	assert.Equal(t, 20, rows(st.Account))
}

// A run that lasts longer than finished sagas are kept removes them, counts and
// times that, and misses none.
func retains(t *testing.T, url string) {
	p, _ := ready(t, url, apart("keep", "mode=saga", "threads=2", "transactions=1000000", "accountCount=50", "finishedExpire=1s", "retryInterval=100ms", "cronInterval=50ms", "rate=500"))
	res := profiletest.WorkUntil(t, p, func() bool {
		f := p.Facts(nil).(*Facts)
		return f.Swept > 0 && f.Rates.Sustained > 0
	})
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	f := p.Facts(nil).(*Facts)
	assert.Positive(t, f.Swept)
	sweeps, bad := res.Ops[model.OpSweep].Calls, res.Ops[model.OpSweep].Errors
	assert.Positive(t, sweeps)
	assert.Zero(t, bad)
	assert.Positive(t, f.Rates.Burst)
	assert.Positive(t, f.Rates.Sustained)
}

// Each session has the level that the target names.
func isolates(t *testing.T, name sqltext.Dialect, url string) {
	ask := map[sqltext.Dialect]string{sqltext.MySQL: "SHOW VARIABLES WHERE Variable_name IN ('tx_isolation', 'transaction_isolation')", sqltext.Postgres: "SELECT 'level', current_setting('transaction_isolation')"}[name]
	for _, level := range []string{"read-committed", "repeatable-read", "serializable"} {
		var word, got string
		require.NoError(t, open(t, at(url, level)).(sqlstore.Typed).SQL().QueryRowContext(t.Context(), ask).Scan(&word, &got))
		assert.Equal(t, level, strings.ReplaceAll(strings.ToLower(got), " ", "-"))
	}
}

// at is a target with an isolation level.
func at(url, level string) string {
	if strings.Contains(url, "?") {
		return url + "&isolation=" + level
	}
	return url + "?isolation=" + level
}

func sagasMeet(t *testing.T, url string) {
	p, _ := ready(t, at(url, "serializable"), apart("sagas", "mode=saga", "threads=8", "transactions=300", "accountCount=3", "failRate=0.1", "retryInterval=1h", "cronInterval=1h", "checkInterval=0s"))
	res := profiletest.Work(t, p)
	f := p.Facts(nil).(*Facts)
	assert.Positive(t, f.Conflicts)
	timed := res.Ops[model.OpLost].Calls
	assert.Equal(t, f.Conflicts, timed)
	v := p.Verify(t.Context())
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
}
