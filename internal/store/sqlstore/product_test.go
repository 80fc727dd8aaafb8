package sqlstore

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// What servers answer when they are asked for their version.
func TestProducts(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"10.11.6-MariaDB-0+deb12u1 Debian 12":                                     "mariadb 10.11.6",
		"8.4.3 MySQL Community Server - GPL":                                      "mysql 8.4.3",
		"8.0.36-28 Percona Server (GPL), Release 28, Revision 47601f19":           "mysql 8.0.36",
		"8.0.11-TiDB-v8.5.1 TiDB Server (Apache License 2.0) Community Edition":   "tidb 8.5.1",
		"8.0.30-Vitess Version: 21.0.2 (Git revision x branch y) built on z":      "vitess 8.0.30",
		"8.0.34-PlanetScale planetscale":                                          "vitess 8.0.34",
		"5.7.32 SingleStoreDB source distribution (compatible; MySQL Enterprise)": "singlestore 5.7.32",
	} {
		product, version := identify(sqltext.MySQL, answer)
		assert.Equal(t, want, product+" "+version)
	}
	for answer, want := range map[string]string{
		"PostgreSQL 15.10 (Debian 15.10-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc":                  "postgresql 15.10",
		"PostgreSQL 17.2 on aarch64-unknown-linux-gnu, compiled by gcc":                                      "postgresql 17.2",
		"CockroachDB CCL v25.1.0 (x86_64-pc-linux-gnu, built 2025/02/10 14:27:11, go1.22.8)":                 "cockroachdb 25.1.0",
		"PostgreSQL 15.2-YB-2.25.1.0-b0 on x86_64-pc-linux-gnu, compiled by clang":                           "yugabytedb 2.25.1.0-b0",
		"PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 (Red Hat), Redshift 1.0.104": "redshift 1.0.104",
	} {
		product, version := identify(sqltext.Postgres, answer)
		assert.Equal(t, want, product+" "+version)
	}
	product, version := identify(sqltext.SQLite, "sqlite 3.50.1")
	assert.Equal(t, "sqlite 3.50.1", product+" "+version)
}

// A server that has no such row is no error: how many connections it has is then unknown.
func TestAStatusThatIsMissing(t *testing.T) {
	t.Parallel()
	tier.Full(t, "the row that is there, whenever a MariaDB is opened")
	target, err := store.ParseTarget(labtest.MariaDB(t).URL())
	require.NoError(t, err)
	c, err := Open(t.Context(), target, store.OpenOptions{Threads: 1})
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	n, err := connected(t.Context(), c.SQL(), threadsConnected)
	require.NoError(t, err)
	assert.Positive(t, n)
	n, err = connected(t.Context(), c.SQL(), "No_such_row")
	require.NoError(t, err)
	assert.Zero(t, n)
}

// A server that allows 0 connections, as TiDB says, allows any number.
func TestRoomForConnections(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 3, room(10, 7))
	assert.Equal(t, -1, room(10, 11))
	assert.Equal(t, math.MaxInt, room(0, 7))
	assert.Equal(t, math.MaxInt, room(-1, 0))
}
