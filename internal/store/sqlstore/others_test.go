package sqlstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// on runs a test against all three products.
func on(t *testing.T, f func(t *testing.T, url string)) {
	t.Helper()
	each(t, func(t *testing.T, start func(args ...string) *labtest.Server) { f(t, start().URL()) })
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f(t, "sqlite:"+t.TempDir()+"/x.db")
	})
}

// A table of others where our records would be, empty as it is, is neither taken nor
// dropped: it has a column too many, or another key.
func TestEmptyTableInPlaceOfRecordsStays(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, url string) {
		c := dial(t, url)
		for namespace, columns := range map[string]string{
			"wide":    "k VARCHAR(99) PRIMARY KEY, v VARCHAR(99), note VARCHAR(99)",
			"unkeyed": "k VARCHAR(99), v VARCHAR(99)",
		} {
			run(t, c, "CREATE TABLE "+namespace+"_made ("+columns+")")
			l := store.Lease{Token: "1"}
			_, how, err := c.Leases.Hold(t.Context(), namespace, l, time.Minute)
			require.ErrorContains(t, err, "the table "+namespace+"_made already exists and has columns other than those of perfbench's records")
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.Equal(t, store.Denied, how)
			_ = c.Leases.Free(t.Context(), namespace, l) // it may as well say that this is no lease
			assert.Equal(t, "0", ask(t, c, "SELECT COUNT(*) FROM "+namespace+"_made"), "and nothing was written")
		}
	})
}

// A probe makes tables and rows of drawn names alone, and a space recorded as ours in
// whose place others have put a table is not dropped.
func TestTablesThatOthersPutInOurPlaceStay(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, url string) {
		c := dial(t, url)
		run(t, c, "CREATE TABLE ns_probe (k VARCHAR(99) PRIMARY KEY, v VARCHAR(99))")
		s := store.Space{Namespace: "ns", Name: "a", Shape: store.Map}
		for _, probed := range []store.Space{s, {Namespace: "ns", Shape: store.Map}} {
			require.NoError(t, c.Prober.Probe(t.Context(), probed))
		}
		assert.Equal(t, "0", ask(t, c, "SELECT COUNT(*) FROM ns_probe"))
		require.NoError(t, c.Records.Record(t.Context(), store.Made{Space: s}))
		run(t, c, "DROP TABLE ns_a", "CREATE TABLE ns_a (k VARCHAR(99) PRIMARY KEY, v VARCHAR(99), note VARCHAR(99))", "INSERT INTO ns_a VALUES ('k', 'v', 'theirs')")
		gone, err := c.Records.Drop(t.Context(), s, nil)
		require.NoError(t, err)
		assert.Zero(t, gone)
		assert.Equal(t, "theirs", ask(t, c, "SELECT note FROM ns_a"))
		made, err := c.Records.Made(t.Context(), "ns")
		require.NoError(t, err)
		assert.Empty(t, made)
	})
}

// Processes under different namespaces, and in different databases where these are counted
// together, see each other's leases, and not their own. One that came and went since is seen,
// too. Tables of others that are named like our records are passed over, and so is a lease
// that has expired.
func TestNeighboursAreSeenByTheirLeases(t *testing.T) {
	t.Parallel()
	on(t, func(t *testing.T, url string) {
		ctx, a, b := t.Context(), dial(t, url), dial(t, url)
		sees := func(c *sqlstore.Conn, want ...store.Lease) {
			t.Helper()
			list, err := c.Leases.Neighbours(ctx)
			require.NoError(t, err)
			if a.Dialect() == sqltext.SQLite { // within this process, which counts nothing
				want = nil
			}
			assert.ElementsMatch(t, want, list)
		}
		hold := func(c *sqlstore.Conn, namespace string, l store.Lease, ttl time.Duration) {
			t.Helper()
			_, how, err := c.Leases.Hold(ctx, namespace, l, ttl)
			require.NoError(t, err)
			require.Equal(t, store.Taken, how)
		}
		run(t, a, "CREATE TABLE wide_made (k VARCHAR(99) PRIMARY KEY, v VARCHAR(99))")
		run(t, a, "CREATE TABLE other_made (k INTEGER PRIMARY KEY, w INTEGER)")
		require.NoError(t, a.Records.Record(ctx, store.Made{Space: store.Space{Namespace: "kept", Name: "a", Shape: store.Map}}))
		sees(a)
		mine, theirs := store.Lease{Run: "mine", Token: "1"}, store.Lease{Run: "theirs", Token: "2"}
		hold(dial(t, url), "late", store.Lease{Run: "gone", Token: "3"}, -time.Minute)
		hold(a, "one", mine, time.Minute)
		hold(b, "", theirs, time.Minute)
		sees(a, theirs)
		sees(b, mine)
		last := theirs
		if a.Dialect() == sqltext.MySQL {
			last = store.Lease{Run: "far", Token: "4"}
			run(t, a, "CREATE DATABASE elsewhere")
			far := dial(t, strings.Replace(url, "/"+a.Database(), "/elsewhere", 1))
			hold(far, "one", last, time.Minute)
			sees(b, last, mine)
			require.NoError(t, far.Leases.Free(ctx, "one", last))
		}
		require.NoError(t, b.Leases.Free(ctx, "", theirs))
		sees(a, last)
		_, how, err := a.Leases.Hold(ctx, "one", mine, time.Minute)
		require.NoError(t, err)
		assert.Equal(t, store.Renewed, how)
		sees(a, last)
		require.NoError(t, a.Leases.Free(ctx, "one", mine))
		hold(a, "one", mine, time.Minute)
		sees(a)
	})
}
