package mix

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// plain is what every store can do; structures are what stores of keys can do beside it.
const plain = `
data:
  product: {records: 300, size: 20..2KiB}
  user:    {records: 100, fields: {name: 30, mail: 20..40, bio: 200}}
  stock:   {records: 50, type: counter, start: 10}
operations:
  look:   {get: product, keys: zipf 0.99}
  many:   {get: product, batch: 2..5}
  change: {put: product}
  rename: {update: user, fields: [name, mail]}
  some:   {get: user, fields: 2}
  whole:  {get: user}
  rework: {modify: user, fields: 1}
  order:  [{get: user}, {add: stock, by: -2..3}, {insert: order, size: 100..200}, {get: user, keys: same}]
  newest: {get: order, keys: latest 0.99}
  drop:   {delete: order, keys: sequential}
`

const structures = `
data:
  recent: {records: 20, type: list, length: 5, most: 10, size: 40}
  tags:   {records: 20, type: set, length: 8}
  ranks:  {records: 5, type: sorted, length: 20}
  events: {records: 4, type: stream, length: 3, size: 50}
  cache:  {records: 100, size: 64, cached: true, ttl: 1h}
  person: {records: 10, fields: 3, size: 20}
  stock:  {records: 50, type: counter, start: 10}
operations:
  lists:   [{push: recent}, {range: recent, count: 3}, {pop: recent}]
  tagging: [{include: tags}, {has: tags}, {exclude: tags}, {members: tags}]
  ranking: [{include: ranks}, {range: ranks, count: 4}, {has: ranks}]
  logging: [{append: events}, {range: events, count: 2}]
  through: {get: cache, fill: true, hit: 90%}
`

const transaction = `
data:
  person: {records: 10, fields: 3, size: 20}
  stock:  {records: 50, type: counter, start: 10}
operations:
  pay: {steps: [{get: person}, {update: person, keys: same, fields: 1}, {add: stock, by: -1}, {insert: payment, size: 50}], atomic: true}
`

// caseOf is a run of a workload.
func caseOf(t *testing.T, target, text string, set ...string) profiletest.Case {
	t.Helper()
	path := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return profiletest.Case{Profile: Profile(), Target: target, Files: []string{path}, Set: append([]string{"threads=4", "count=3000", "seed=7"}, set...)}
}

// ordered is what stores can do that keep their keys in order.
const ordered = `
data:
  product: {records: 300, size: 20..200}
operations:
  walk: {scan: product, count: 1..20, keys: zipf 0.99}
  more: {insert: product}
`

func TestEveryCallOnEveryStore(t *testing.T) {
	for _, name := range []string{"memory", "embedded", "redis", "cluster", "sentinel", "sqlite", "mariadb", "postgres"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "embedded" || name == "sentinel" {
				tier.Full(t, "the case redis")
			}
			target := profiletest.Target(t, name)
			o := profiletest.Drive(t, caseOf(t, target, plain, "namespace=mixplain", "count=1500"))
			f := profiletest.Facts[run.Facts](t, o.Concluded)
			assert.Positive(t, f.Hits)
			assert.Positive(t, f.ReadBack)
			require.NotNil(t, f.HitRatio)
			switch name {
			case "memory", "embedded", "redis", "cluster", "sentinel":
				profiletest.Drive(t, caseOf(t, target, structures, "namespace=mixstructures", "count=800"))
			default:
				profiletest.Drive(t, caseOf(t, target, ordered, "namespace=mixordered", "count=800"))
			}
			if name != "cluster" {
				profiletest.Drive(t, caseOf(t, target, transaction, "namespace=mixtx", "count=800"))
			}
		})
	}
}

// What is loaded is recognised by the next run, which goes on behind what was inserted.
func TestALaterRunGoesOn(t *testing.T) {
	t.Parallel()
	c := caseOf(t, labtest.Redis(t).URL(), `
data: {product: {records: 200, size: 50}}
operations: {look: {get: product}, more: {insert: product}}`)
	c.Out = t.TempDir()
	first := profiletest.Facts[run.Facts](t, c.Run(t))
	second := c.With("load=skip").Run(t)
	assert.Equal(t, workload.Passed, second.Run.Verification.State)
	f := profiletest.Facts[run.Facts](t, second)
	assert.Equal(t, int64(200), f.Data[0].Loaded)
	assert.InDelta(t, 1500, first.Data[0].Inserted, 200)
	assert.Zero(t, f.Misses, "it knows how many there are")
}

// A load that is all there is to do is measured.
func TestOnlyLoading(t *testing.T) {
	t.Parallel()
	c := caseOf(t, labtest.Redis(t).URL(), `
data: {product: {records: 5000, size: 50}, user: {records: 300, fields: 4}, stock: {records: 100, type: counter, start: 1000}}
operations: {look: {get: product}, order: {add: stock, by: -1}}
mix: {look: 1, order: 0}`, "load=only")
	c.Set = []string{"threads=3", "load=only"}
	c.Out = t.TempDir()
	o := c.Run(t)
	require.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Equal(t, int64(5400), o.Run.Operations[0].Count)
	c.Set = []string{"threads=3", "load=skip", "count=1000"}
	f := profiletest.Facts[run.Facts](t, c.Run(t))
	assert.Zero(t, f.Misses)
	assert.Equal(t, int64(1000), f.Hits)
}

func TestWhatAStoreCannotDoIsRefusedBefore(t *testing.T) {
	for text, want := range map[string][2]string{
		"data: {product: {records: 9}}\noperations: {walk: {scan: product}}": {"keys of Redis have no order", "range on a sorted set"},
	} {
		_, err := caseOf(t, "embedded:", text).Start(t.Context(), t)
		require.ErrorContains(t, err, want[0])
		assert.Contains(t, fault.HintOf(err), want[1])
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	_, err := caseOf(t, profiletest.Target(t, "cluster"), transaction).Start(t.Context(), t)
	require.ErrorContains(t, err, "a cluster has no transactions on several keys")
}

// Statements of the stores' own, on the tables and keys that the profile makes.
func TestStatements(t *testing.T) {
	t.Parallel()
	const data = "data: {user: {records: 100, fields: [name, mail], size: 30}}\noperations:\n  look: {get: user}\n"
	for name, text := range map[string]string{
		"redis":    "  own: {statement: 'HLEN ?', args: [{key: user, keys: zipf 0.99}], expect: 2}",
		"embedded": "  own: {statement: 'HGET ? \"mail\"', args: [{key: user}]}",
		"postgres": "  own: {statement: 'SELECT f_name FROM mixown_mix_user WHERE k = ? AND 5 < ?', args: [{key: user}, {number: 6..9}], expect: 1}",
		"sqlite":   "  own: {statement: 'UPDATE mixown_mix_user SET f_mail = f_mail WHERE k IN (?, ?)', args: [{key: user, records: 0..49, keys: uniform}, {key: user, records: 50..99, keys: uniform}], expect: 2}",
	} {
		profiletest.Drive(t, caseOf(t, profiletest.Target(t, name), data+text, "namespace=mixown", "count=500"))
	}
	o := caseOf(t, "embedded:", data+"  own: {statement: 'HLEN ?', args: [{key: user}], expect: 3}", "count=500")
	o.Errors = true
	v := o.Run(t).Run.Verification
	assert.Equal(t, workload.Failed, v.State)
	assert.Contains(t, v.Checks[0].Examples[0], "HLEN ?: expected 3, found 2")
}

func TestAPipelineCountsItsCalls(t *testing.T) {
	t.Parallel()
	o := profiletest.Drive(t, caseOf(t, "embedded:", "data: {user: {records: 100}}\noperations: {look: {get: user, pipeline: 10}, change: {put: user, pipeline: 10}}", "count=1000"))
	assert.Equal(t, int64(1000), o.Run.Operations[0].Count+o.Run.Operations[1].Count)
	f := profiletest.Facts[run.Facts](t, o.Concluded)
	assert.Equal(t, o.Run.Operations[0].Count, f.Hits)
}

func TestCoherence(t *testing.T) {
	t.Parallel()
	target := profiletest.Target(t, "coherence")
	profiletest.Drive(t, caseOf(t, target, plain, "namespace=mixplain", "count=1500"))
	for text, want := range map[string]string{
		ordered:     "Coherence has no scan on a value",
		transaction: "Coherence has no transactions over several entries",
		structures:  "Coherence keeps no sorted sets",
		"data: {user: {records: 9, fields: 3, ttl: 1h}}\noperations: {put: {update: user, fields: 1}}": "an entry of Coherence that is replaced by update no longer expires, and user has a ttl",
		"data: {product: {records: 9}}\noperations: {say: {statement: \"SELECT 1\"}}":                  "Coherence has no statements",
	} {
		require.ErrorContains(t, refused(t, target, text), want)
	}
}

func TestCassandra(t *testing.T) {
	t.Parallel()
	target := profiletest.Target(t, "cassandra")
	profiletest.Drive(t, caseOf(t, target, plain, "namespace=mixplain", "count=1500"))
	profiletest.Drive(t, caseOf(t, target, ordered, "namespace=mixordered"))
	_, err := caseOf(t, target, transaction, "namespace=mixtx").Start(t.Context(), t)
	require.ErrorContains(t, err, "Cassandra has no transactions over several records")
}
