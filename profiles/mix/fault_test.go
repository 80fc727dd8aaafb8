package mix

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// A server that dies in the middle of a run and comes back costs errors. What it has
// acknowledged is there, and what became of the calls on their way is not known.
func TestKilledInMidRun(t *testing.T) {
	for name, server := range map[string]func(t *testing.T) *labtest.Server{
		"mariadb":   func(t *testing.T) *labtest.Server { return labtest.MariaDB(t) },
		"postgres":  func(t *testing.T) *labtest.Server { return labtest.Postgres(t) },
		"cassandra": func(t *testing.T) *labtest.Server { return labtest.ToKill(t, "cassandra") },
	} {
		t.Run(name, func(t *testing.T) {
			tier.Full(t, "TestPresetsOnEveryStore on servers that live")
			t.Parallel()
			srv := server(t)
			c := caseOf(t, srv.URL()+"?dial_timeout=2m&read_timeout=10s", plain)
			c.Set = []string{"threads=4", "seed=7", "namespace=mixkilled", "duration=1h", "drain=10m"}
			c, middle := c.Amid(t, "mix", 2000)
			l, err := c.Start(t.Context(), t)
			require.NoError(t, err)
			middle.Do(t, func() { srv.Kill() })
			failed := func() bool {
				return slices.ContainsFunc(l.Snapshot().Errors, func(e measure.ErrorCount) bool { return e.Class == "unreachable" })
			}
			require.Eventually(t, failed, 5*time.Minute, 5*time.Millisecond, "calls to a dead server fail")
			srv.Restart()
			before := l.Snapshot().Done
			require.Eventually(t, func() bool { return l.Snapshot().Done > before+1000 }, 5*time.Minute, 5*time.Millisecond, "calls go on")
			l.Stop(nil)
			o := profiletest.Finish(t, l)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
		})
	}
}

// A server that keeps nothing on disk answers again after it was killed, and has lost everything: calls
// fail in a class of their own, and verdict and verification say what has happened.
func TestAStoreThatComesBackEmpty(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t, "--save", "", "--appendonly", "no")
	c := caseOf(t, srv.URL(), `
data:
  product: {records: 300, size: 50}
  stock:   {records: 50, type: counter, start: 1000}
operations:
  look:  {get: product}
  order: {add: stock, by: -1}
`)
	c.Set = []string{"threads=2", "seed=7", "namespace=mixempty", "duration=1h", "rate=2000"}
	l, err := c.Start(t.Context(), t)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Snapshot().Done > 1000 && l.Snapshot().At > 3*time.Second }, 5*time.Minute, 5*time.Millisecond)
	srv.Kill()
	srv.Restart()
	lost := func() bool {
		return slices.ContainsFunc(l.Snapshot().Errors, func(e measure.ErrorCount) bool { return e.Class == "lost" && e.Count > 100 })
	}
	require.Eventually(t, lost, 5*time.Minute, 5*time.Millisecond, "what was loaded is gone")
	l.Stop(nil)
	o := profiletest.Finish(t, l)
	v := o.Run.Verification
	assert.Equal(t, workload.Failed, v.State)
	assert.Contains(t, v.Summary, "the store has lost what it held, as one does that keeps nothing on disk and is started again: not one of the records that must be there is")
	assert.Contains(t, strings.Join(o.Run.Verdict.Reasons, "\n"), "calls found no record where one had been acknowledged, so the store has lost it (class lost)")
	assert.Regexp(t, `The server was started again at about 00:\d\d of the run and came back empty\.`, strings.Join(o.Run.Remarks(), "\n"))
	assert.Contains(t, fmt.Sprint(o.Run.Marks), "the server was started again and came back empty")
	assert.Condition(t, func() bool {
		return slices.ContainsFunc(v.Checks, func(c workload.Check) bool { return strings.HasPrefix(c.Name, "stock: ") && !c.OK })
	}, "%+v", v.Checks)
}
