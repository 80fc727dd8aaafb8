package authz_test

import (
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/workload"
)

// carried is the check of what records carry.
func carried(o *session.Concluded) (out workload.Check) {
	for _, c := range o.Run.Verification.Checks {
		if strings.HasPrefix(c.Name, "what principals") {
			out = c
		}
	}
	return out
}

// Principals and sections are written as large as the knobs say, by the load and by
// updates beside reading, and whoever reads them finds what was written.
func TestSizesOfPrincipalsAndSections(t *testing.T) {
	target := labtest.Redis(t).URL()
	for _, c := range []struct {
		set  []string
		want map[string]float64
	}{
		{
			[]string{"users=60", "groups=20", "tests=valid,mix", "mixOps=400", "mix=check=80,update=20", "payload=600", "mix-0-0.payload=900"},
			map[string]float64{"load-0-0.payload": 600, "mix-0-0.payload": 900},
		},
		{
			[]string{"mode=user-profile", "users=60", "viewer=mixed", "updateRate=0.3", "payload=3000", "principal=500", "threads=2"},
			map[string]float64{"load-0-0.payload": 3000, "profile-0-0.payload": 3000, "users-0-0.principal": 500, "payload": 3000, "principal": 500},
		},
	} {
		o := finish(t, start(t, target, c.set...))
		require.NoError(t, o.Err)
		assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
		assert.True(t, carried(o).OK, "%+v", o.Run.Verification)
		n, errs := total(&o.Run, "update")
		assert.Positive(t, n)
		assert.Zero(t, errs)
		sizes := map[string]float64{}
		for name, v := range o.Run.Settings {
			if strings.HasSuffix(name, "payload") || strings.HasSuffix(name, "principal") {
				sizes[name] = v
			}
		}
		assert.Equal(t, c.want, sizes)
	}
}

// What is not as it was written is named, though another run wrote it.
func TestWhatCarriesSomethingElse(t *testing.T) {
	target := labtest.Redis(t).URL()
	o, err := goredis.ParseURL(target)
	require.NoError(t, err)
	c := goredis.NewClient(o)
	defer c.Close()
	set := []string{"mode=user-profile", "users=40", "payload=500", "principal=500", "seed=3"}
	out := finish(t, start(t, target, append(set, "load=only")...))
	require.NoError(t, out.Err)
	assert.True(t, carried(out).OK, "a load alone is read back too")
	read := append(set[:2:2], "seed=3", "load=never")
	out = finish(t, start(t, target, read...))
	require.NoError(t, out.Err, "the sizes that another run has set are not known, and need not be")
	for field, kind := range map[string]string{"description": "pr", "publications#data": "pf"} {
		keys, err := c.Keys(t.Context(), "perfbench:authz:{*}:"+kind+":u:*").Result()
		require.NoError(t, err)
		require.Len(t, keys, 40)
		was, err := c.HGet(t.Context(), keys[0], field).Result()
		require.NoError(t, err)
		other, err := c.HGet(t.Context(), keys[1], field).Result()
		require.NoError(t, err)
		cut := func(s string) string { return s[len(s)-500:] }
		if field != "description" {
			cut = func(s string) string { return s[len(s)-500-2 : len(s)-2] }
		}
		require.NoError(t, c.HSet(t.Context(), keys[0], field, strings.Replace(was, cut(was), cut(other), 1)).Err())
		out = finish(t, start(t, target, read...))
		assert.Equal(t, workload.Failed, out.Run.Verification.State, field)
		check := carried(out)
		assert.False(t, check.OK, field)
		assert.Contains(t, strings.Join(check.Examples, "\n"), strings.SplitN(keys[0], ":"+kind+":", 2)[1]+": its filling", field)
		require.NoError(t, c.HSet(t.Context(), keys[0], field, was).Err())
	}
}
