package tx

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/testing/txtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// TestChild is no test of its own: it is what TestPerfbenchKilled starts and kills.
func TestChild(t *testing.T) { profiletest.Child(t, Profile()) }

// perfbench itself is killed: the next runs take up what is unfinished, and check what
// the log of the first says was acknowledged.
func TestPerfbenchKilled(t *testing.T) {
	for name, url := range map[string]func(t *testing.T) string{
		model.TransSaga: func(t *testing.T) string { return labtest.Redis(t).URL() },
		model.TransTCC:  func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "tcc.db") },
		model.TransMsg:  func(t *testing.T) string { return labtest.Shared(t, "postgres").URL() },
		model.TransXA:   func(t *testing.T) string { return labtest.Shared(t, "mariadb").URL() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == model.TransMsg || name == model.TransXA {
				tier.Full(t, "the cases saga and tcc")
			}
			k := killed{url: url(t), kind: name, namespace: "killed" + name, dir: t.TempDir()}
			k.test(t)
		})
	}
	t.Run("not due", func(t *testing.T) {
		t.Parallel()
		k := killed{url: labtest.Redis(t).URL(), kind: model.TransSaga, namespace: "notdue", dir: t.TempDir()}
		k.leave(t)
	})
}

// killed is a run of a kind of transaction that is killed, and those after it.
type killed struct{ url, kind, namespace, dir string }

func (k killed) run(words ...string) profiletest.Case {
	c := profiletest.Case{Profile: Profile(), Target: k.url, Out: filepath.Join(k.dir, "results"), Set: []string{
		"mode=saga", "transType=" + k.kind, "namespace=" + k.namespace, "accountCount=1000", "retryInterval=300ms", "failRate=0.1", "ackLog=" + filepath.Join(k.dir, "acks"), "threads=8",
	}}
	switch k.kind {
	case model.TransXA:
		c = c.With("lockTimeout=0s", "timeout=500ms")
	case model.TransTCC, model.TransMsg:
		c = c.With("timeout=500ms")
	}
	return c.With(words...)
}

// next is a run after the one that was killed.
func (k killed) next(t *testing.T, words ...string) (saga.Facts, workload.Verification) {
	t.Helper()
	o := k.run(append(words, "count=200")...).Run(t)
	require.NoError(t, o.Err)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	return profiletest.Facts[saga.Facts](t, o), o.Run.Verification
}

// Whatever is not due yet when a run begins, one of those after it takes up.
func (k killed) test(t *testing.T) {
	t.Helper()
	first := profiletest.Spawn(t, k.run("duration=5m"))
	first.Until(300)
	theirs := k.plant(t)
	first.Kill()

	var found, undecided int64
	said := ""
	for left := int64(1); left > 0; {
		f, v := k.next(t)
		assert.Contains(t, v.Summary, "that earlier runs had acknowledged, 0 are lost or changed")
		assert.Greater(t, f.EarlierAcked, int64(300))
		assert.Zero(t, f.EarlierLost)
		found += f.AtStart.Found + f.InRun.Found + f.AtEnd.Found
		undecided += f.AtStart.Undecided
		said += v.Summary
		left = f.Left
	}
	assert.Contains(t, said, " taken up ")
	assert.Positive(t, found, "eight were under way")
	assert.Zero(t, undecided)
	theirs()
}

// leave kills a run whose sagas are not due for an hour: the next run leaves them
// alone, and misses none of the money that they have under way.
func (k killed) leave(t *testing.T) {
	t.Helper()
	const later = "retryInterval=1h"
	first := profiletest.Spawn(t, k.run("duration=5m", later))
	first.Until(300)
	first.Kill()

	f, v := k.next(t, later)
	assert.Contains(t, v.Summary, "unfinished ones left alone that are not due yet, with ")
	assert.Positive(t, f.Left, "eight were under way")
	assert.Zero(t, f.AtStart.Found)
	assert.Zero(t, f.EarlierLost)
}

// plant prepares a transaction of others, where the kind is one that is prepared in
// the database; what it returns sees to it that it is the only one left, and takes
// it away.
func (k killed) plant(t *testing.T) (check func()) {
	if k.kind != model.TransXA {
		return func() {}
	}
	db := txtest.TypedSQL(t, k.url)
	conn, err := db.SQL().Conn(t.Context())
	require.NoError(t, err)
	for _, text := range []string{"XA START 'theirs','1'", "XA END 'theirs','1'", "XA PREPARE 'theirs','1'"} {
		_, err := conn.ExecContext(t.Context(), text)
		require.NoError(t, err)
	}
	return func() {
		_, err := conn.ExecContext(t.Context(), "XA ROLLBACK 'theirs','1'")
		require.NoError(t, err, "it is untouched")
		require.NoError(t, conn.Close())
		require.NoError(t, db.EnsureDatabase(t.Context(), k.namespace))
		x, err := sqlstore.New(t.Context(), db.SQL(), db.Dialect(), k.namespace)
		require.NoError(t, err)
		left, err := x.Prepared(t.Context())
		require.NoError(t, err)
		assert.Empty(t, left)
	}
}

// A store that is killed ends each mode, however much there is left to do.
func TestStoreGone(t *testing.T) {
	t.Parallel()
	for mode, words := range map[string]struct{ endless, set string }{
		"pbm":      {"testCount=100000", "mapNames=eligibility,profile eligibility.totalEntryCount=100 profile.totalEntryCount=100 testIntervalInMsec=0"},
		"saga":     {"transactions=10000000", "accountCount=10"},
		"baseline": {"requests=10000000", "rows=set ceiling=off"},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			profiletest.Case{Profile: Profile(), Closed: mode == "baseline", Set: append(strings.Fields(words.set), "mode="+mode)}.Gone(t, words.endless)
		})
	}
}
