package main

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
)

// A memory: of known limits takes as long for each call, whichever profile makes it.
func TestMemoryTakesAsLongAsItsTargetSays(t *testing.T) {
	for name, c := range map[string]struct {
		profile, preset string
		set             map[string]string
	}{
		"ingestion": {"ingestion", "small", nil},
		"group":     {"group", "group", map[string]string{"groupNames": "g1"}},
		"sagas":     {"tx", "small", map[string]string{"mode": "saga"}},
		"checks":    {"authz", "small", map[string]string{"tests": "mix", "users": "20", "groups": "10"}},
		"mix":       {"mix", "ycsb/a", map[string]string{"records": "50"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := profile(t, c.profile)
				in := inputs(t, p, c.preset, c.set)
				plan, err := p.Design(in)
				require.NoError(t, err)
				plan = profiletest.Bind(t, p.Name, plan, profiletest.Open(t, "memory:?service=20ms&servers=4"), in, "run-1")
				require.NoError(t, plan.Setup(t.Context(), nil))
				res := profiletest.Work(t, plan)
				calls, slow := int64(0), false
				for _, op := range res.Ops {
					calls += op.Calls
					slow = slow || op.Calls > 0 && op.Service.Mean > 19.9e6
				}
				assert.Positive(t, calls)
				assert.True(t, slow, "%+v", res.Ops)
			})
		})
	}
}
