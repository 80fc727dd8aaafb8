package mix

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// sized is a workload whose reads tell how large what is stored is.
const sized = `
data: {product: {records: 300, size: 50}}
operations: {look: {get: product}, change: {put: product}}
mix: {look: 95, change: 5}
`

// A run reads records as large as it asks for, whatever an earlier run has left: those of another size
// are loaded again, which is said, and those of the same size are not. A change while a run goes on
// reaches what is written from then on, and the next run knows it.
func TestRecordsAreAsLargeAsAskedFor(t *testing.T) {
	for _, name := range []string{"redis", "sqlite", "mariadb", "postgres", "cassandra"} {
		t.Run(name, func(t *testing.T) {
			if name != "redis" && name != "sqlite" {
				tier.Full(t, "the same on redis and sqlite")
			}
			t.Parallel()
			c := caseOf(t, profiletest.Target(t, name), sized, "namespace=mixsized", "count=1000")
			c.Out = t.TempDir()
			reload := func(o *session.Concluded) string {
				for _, n := range o.Run.Notices {
					if strings.Contains(n, "deleted and loaded again") {
						return n
					}
				}
				return ""
			}
			deletes := func(c profiletest.Case) []string {
				t.Helper()
				p, err := c.Prepare(t.Context(), t)
				require.NoError(t, err)
				return p.Preview().Deletes
			}
			runs := func(c profiletest.Case, size int64) (run.Facts, string) {
				t.Helper()
				o := c.Run(t)
				f := profiletest.Facts[run.Facts](t, o)
				require.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
				require.Positive(t, f.Hits)
				if size > 0 {
					assert.Equal(t, size*f.Hits, f.BytesRead, "each of them")
				}
				return f, reload(o)
			}
			f, said := runs(c.With("payload=512"), 512)
			assert.Empty(t, said, "nothing was there")
			assert.Equal(t, []string{"512"}, f.Data[0].Sizes)
			assert.Equal(t, []string{"earlier product, if of another size"}, deletes(c.With("payload=16KiB")), "before it starts")
			assert.Empty(t, deletes(c.With("payload=16KiB", "load=skip")), "it is refused instead")
			f, said = runs(c.With("payload=16KiB"), 16<<10)
			assert.Contains(t, said, "deleted and loaded again with 16 KiB: ")
			assert.Contains(t, said, "product, which run ")
			assert.Contains(t, said, " had left with records of 512 B")
			assert.Equal(t, []string{"16384"}, f.Data[0].Sizes)
			_, said = runs(c.With("payload=16KiB", "load=skip"), 16<<10)
			assert.Empty(t, said, "they are as large as that")

			o, err := c.With("payload=512", "load=skip").Start(t.Context(), t)
			if err == nil {
				profiletest.Finish(t, o)
			}
			require.ErrorContains(t, err, "product holds records of 16 KiB, which run ")
			require.ErrorContains(t, err, "and this run asks for 512 B: load=skip loads nothing")
			assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
			assert.Contains(t, fault.HintOf(err), "perfbench data delete --target URL --namespace mixsized")

			changed := c.With("payload=16KiB")
			changed.Timetable = []string{"0s:payload=1KiB"}
			f, said = runs(changed, 0)
			assert.Empty(t, said)
			assert.Equal(t, []string{"16384", "1024"}, f.Data[0].Sizes)
			assert.Less(t, f.BytesRead, 16<<10*f.Hits, "some of what is read is small by now")
			assert.Greater(t, f.BytesRead, 1<<10*f.Hits)
			assert.Positive(t, f.BytesWritten)
			_, said = runs(c.With("payload=16KiB"), 16<<10)
			assert.Contains(t, said, "with records of 16 KiB and 1 KiB")
			_, said = runs(c, 50)
			assert.Contains(t, said, "loaded again with 50 B")
		})
	}
}

// The plan says of which data operations delete, and which data expires, before the run.
func TestThePlanSaysWhatOperationsDelete(t *testing.T) {
	t.Parallel()
	deletes := func(text string, set ...string) []string {
		t.Helper()
		p, err := Design(workload.Inputs{Values: profiletest.Given(nil, append([]string{"workload=" + text}, set...)...)})
		require.NoError(t, err)
		return p.Deletes
	}
	const both = `{data: {stock: {records: 5, type: counter}, session: {records: 5, type: counter, ttl: 1s}}, operations: {drop: {delete: stock}, look: {get: session}}}`
	assert.Equal(t, []string{"during the run what operations delete of stock", "during the run what expires of session"}, deletes(both))
	assert.Equal(t, []string{"during the run what expires of session"}, deletes(both, "load=only"))
	assert.Empty(t, deletes(`{data: {stock: {records: 5, type: counter}}, operations: {look: {get: stock}}}`))
}

// Elements of a list are as large as the payload says, loaded or pushed.
func TestElementsAreAsLargeAsThePayload(t *testing.T) {
	t.Parallel()
	c := caseOf(t, profiletest.Target(t, "embedded"), `
data: {recent: {records: 20, type: list, length: 5, most: 10, size: 40}}
operations: {read: {range: recent, count: 5}, more: {push: recent}}`, "payload=100", "count=400")
	f := profiletest.Facts[run.Facts](t, c.Run(t))
	assert.Positive(t, f.BytesRead)
	assert.Zero(t, f.BytesRead%100)
	assert.Zero(t, f.BytesWritten%100)
}

// What the payload does while a run goes on is said of each workload, and "]" goes on from the size that
// the records really have.
func TestThePayloadSaysWhatItReaches(t *testing.T) {
	t.Parallel()
	knob := func(text string, set ...string) workload.Knob {
		t.Helper()
		p, err := Design(workload.Inputs{Values: profiletest.Given(nil, append([]string{"workload=" + text}, set...)...)})
		require.NoError(t, err)
		k, ok := p.Knob("payload")
		require.True(t, ok)
		return k
	}
	k := knob(sized)
	assert.Equal(t, "payload is the size of what is written from now on: what is stored keeps 50 B", k.Keeps)
	assert.InDelta(t, 50, k.Usual, 0)
	assert.Equal(t, "as planned", k.Zero)
	k = knob("{data: {a: {records: 5, size: 50}, b: {records: 5, size: 70}}, operations: {look: {get: a}, see: {get: b}}}")
	assert.Equal(t, "this workload only reads, and what is stored keeps 50 B and 70 B", k.Fixed)
	assert.InDelta(t, 60, k.Usual, 0, "the mean")
	assert.Contains(t, knob(sized, "payload=1KiB").Keeps, "what is stored keeps 1 KiB")
}
