package mix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// batches are calls about several records.
const batches = `
data: {product: {records: 300, size: 20..200}, user: {records: 100, fields: 5, size: 20}}
operations:
  several: {get: product, batch: 1..20}
  some:    {get: user, batch: 3, fields: 2}
  write:   {put: product, batch: 2..9}
  people:  {put: user, batch: 4}
  more:    {insert: order, size: 40}
  gone:    {delete: order, batch: 1..3, keys: sequential}
`

// ownSQL are statements of the user's own, alone and in a transaction.
const ownSQL = `
data:
  product: {records: 200, size: 20..200}
  stock:   {records: 50, type: counter, start: 10}
  visits:  {records: 50, type: counter}
operations:
  look:  {statement: "SELECT v FROM {product} WHERE k = ? OR k = '?'", args: [{key: product, keys: zipf 0.99}]}
  count: {statement: "SELECT count(*) FROM {product} WHERE k >= ? AND k < ?", args: ["0", "9"], expect: 200}
  sell:  {statement: "UPDATE {stock} SET n = n - ? WHERE k = ?", args: [{number: 1..3}, {key: stock}]}
  visit: {steps: [{add: visits, by: 1..5}, {statement: "UPDATE {stock} SET n = n + ? WHERE k = ?", args: [{number: 1..3}, {key: stock}]}], atomic: true}
  plain: {get: product}
`

// expiring is what lives for a while.
const expiring = `
data: {session: {records: 100, size: 50, ttl: 1h}, user: {records: 50, fields: 3, size: 20, ttl: 1h}}
operations:
  look:  {get: session}
  user:  {get: user, fields: 2}
  keep:  {put: session}
  write: {put: user, ttl: 30m..1h}
  more:  {insert: session}
`

// ownCQL are those of Cassandra.
const ownCQL = `
data: {product: {records: 200, size: 20..200}, note: {records: 1, size: 20}}
operations:
  look:  {statement: "SELECT v FROM {product} WHERE k = ?", args: [{key: product, keys: zipf 0.99}]}
  count: {statement: "SELECT count(*) FROM {product} WHERE k = ?", args: [{key: product}]}
  write: {statement: "INSERT INTO {note} (k, v) VALUES (?, ?) USING TTL ?", args: ["mine", {value: 20}, {number: 100..200}]}
  plain: {get: product}
`

// The default preset and all that a store can do, on each store of tables and on Coherence.
func TestPresetsOnEveryStore(t *testing.T) {
	for name, texts := range map[string][]string{
		"sqlite": {batches, ownSQL}, "mariadb": {batches, ownSQL}, "postgres": {batches, ownSQL}, "cassandra": {batches, ownCQL, expiring}, "coherence": {batches, expiring},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "sqlite" {
				tier.Full(t, "TestEveryCallOnEveryStore, TestCassandra and TestCoherence")
			}
			target := profiletest.Target(t, name)
			o := profiletest.Drive(t, profiletest.Case{Profile: Profile(), Target: target, Set: []string{"threads=4", "count=2000", "records=200", "namespace=mixshop"}})
			f := profiletest.Facts[run.Facts](t, o.Concluded)
			assert.Positive(t, f.Hits)
			assert.Zero(t, f.Misses)
			assert.Equal(t, "browse", o.Run.Operations[0].Op)
			for _, text := range texts {
				profiletest.Drive(t, caseOf(t, target, text, "namespace=mixmore"))
			}
		})
	}
}

// refused is the error with which a run does not begin, or ends before it writes a record.
func refused(t *testing.T, target, text string) error {
	t.Helper()
	c := caseOf(t, target, text, "namespace=mixno")
	c.Out = t.TempDir()
	run, err := c.Start(t.Context(), t)
	if err == nil {
		err = profiletest.Finish(t, run).Err
	}
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err), "%v", err)
	return err
}

func TestWhatTablesDoNotHave(t *testing.T) {
	const has = "data: {product: {records: 9}}\noperations: {get: {get: product}, "
	sqlite := profiletest.Target(t, "sqlite")
	for name, tt := range map[string]struct{ text, want, hint string }{
		"lists":        {"data: {recent: {records: 9, type: list, length: 2}}\noperations: {push: {push: recent}}", "data set recent: an SQL database keeps no lists", "redis://"},
		"expiry":       {"data: {product: {records: 9, ttl: 1h}}\noperations: {get: {get: product}}", "rows of an SQL database do not expire, and product has a ttl", "cassandra://"},
		"names":        {"data: {a-b: {records: 9}, A_b: {records: 9}}\noperations: {get: {get: a-b}}", "data sets a-b and A_b would be the same table", "another name"},
		"fields":       {"data: {user: {records: 9, fields: [Name, name]}}\noperations: {get: {get: user}}", "data set user: fields Name and name would be the same column", "another name"},
		"arguments":    {has + `look: {statement: "SELECT v FROM {product} WHERE k = ?"}}`, "operation look: the statement has 1 placeholder, and 0 arguments", "question mark"},
		"no statement": {has + `look: {statement: "SELEC 1"}}`, "operation look: sqlite does not take the statement", "{NAME}"},
		"no column":    {has + `look: {statement: "SELECT w FROM {product}"}}`, "operation look: sqlite does not take the statement", "{NAME}"},
	} {
		t.Run(name, func(t *testing.T) {
			err := refused(t, sqlite, tt.text)
			require.ErrorContains(t, err, tt.want)
			assert.Contains(t, fault.HintOf(err), tt.hint)
		})
	}
	long := caseOf(t, sqlite, has+"put: {put: product}}", "namespace="+strings.Repeat("long", 13))
	_, err := long.Start(t.Context(), t)
	require.ErrorContains(t, err, "_mix_product, has 64 bytes, and 63 are the most")
	for _, name := range []string{"mariadb", "postgres"} {
		target := profiletest.Target(t, name)
		require.ErrorContains(t, refused(t, target, has+`look: {statement: "SELECT w FROM {product}"}}`), "does not take the statement")
	}
}

func TestWhatCassandraDoesNotHave(t *testing.T) {
	t.Parallel()
	target := profiletest.Target(t, "cassandra")
	const has = "data: {product: {records: 9}}\noperations: {get: {get: product}, "
	for text, want := range map[string]string{
		"data: {recent: {records: 9, type: set, length: 2}}\noperations: {has: {has: recent}}":    "data set recent: Cassandra keeps no sets",
		"data: {stock: {records: 9, type: counter, ttl: 1h}}\noperations: {add: {add: stock}}":    "counters of Cassandra do not expire, and stock has a ttl",
		"data: {stock: {records: 9, type: counter}}\noperations: {put: {put: stock}}":             "Cassandra has no put on a counter",
		has + `wipe: {statement: "TRUNCATE {product}"}}`:                                          "a statement of Cassandra begins with SELECT, INSERT, UPDATE, DELETE",
		has + `look: {statement: "SELECT v FROM {product} WHERE k = ?"}}`:                         "operation look: the statement has 1 placeholder, and 0 arguments",
		has + `look: {statement: "SELECT w FROM {product} WHERE k = ?", args: [{key: product}]}}`: "operation look: Cassandra does not take the statement",
		has + `both: {steps: [{get: product}, {put: product, keys: same}], atomic: true}}`:        "Cassandra has no transactions over several records",
	} {
		require.ErrorContains(t, refused(t, target, text), want)
	}
}
