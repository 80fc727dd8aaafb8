package authz_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// TestChild is no test of its own: it is what TestKilledLoadGoesOn starts and kills.
func TestChild(t *testing.T) { profiletest.Child(t, authz.Profile()) }

// sum adds up operations over all tracks.
func sum(r *rundir.Run, ops ...string) (n int64) {
	for _, op := range ops {
		count, _ := total(r, op)
		n += count
	}
	return n
}

// A load that was killed in the middle goes on under the same tenants: what was
// marked is not stored again, at most a batch for each worker is, and nothing is
// missing.
func TestKilledLoadGoesOn(t *testing.T) {
	t.Parallel()
	const workers, batch = 3, 20
	cassandra := labtest.Cassandra(t).Patient()
	for name, c := range map[string]struct {
		target string
		set    []string
		ops    []string
		all    int64
		kill   int64
	}{
		"checks": {
			target: cassandra, ops: []string{"user", "group", "membership"}, kill: 300,
			set: []string{"namespace=killedchecks", "users=400", "groups=100", "variant=v1", "tests=valid", "seed=5"},
		},
		"profiles": {
			target: cassandra, ops: []string{"user", "section"}, all: 3 * 600, kill: 350,
			set: []string{"namespace=killedprofiles", "mode=user-profile", "users=600", "seed=5"},
		},
		"only users": {
			target: labtest.Redis(t).URL(), ops: []string{"user", "section"}, all: 3 * 1500, kill: 700,
			set: []string{"mode=user-profile", "users=1500", "seed=5"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "only users" {
				tier.Full(t, "the case on Redis")
			}
			set := append([]string{fmt.Sprintf("threads=%d", workers), fmt.Sprintf("loadBatch=%d", batch)}, c.set...)
			before := profiletest.Crash(t, caseOf(c.target, append(set, "rate=1500")...), c.kill) // or all is loaded before a busy machine looks
			o := finish(t, start(t, c.target, set...))
			require.NoError(t, o.Err)
			assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
			again := sum(&o.Run, c.ops...)
			if c.all == 0 {
				f := profiletest.Facts[report.Facts](t, o)
				c.all = int64(f.Dataset.Users + f.Dataset.Groups + f.Dataset.Memberships)
			}
			assert.Positive(t, again)
			assert.LessOrEqual(t, again, c.all-before+workers*batch, "at most one batch a worker is written again")
		})
	}
}
