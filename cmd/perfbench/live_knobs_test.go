package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/workload"
)

// Of each profile, the knobs that a run makes no use of are no live knobs, on all tracks or on one,
// and the plan says why; those that it uses are.
func TestKnobsThatDoNothingInARunAreNotLive(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		profile, preset string
		set             map[string]string
		// idle are reasons by knob, or by track and knob; live are knobs that turn.
		idle map[string]string
		live []string
	}{
		"ingestion put":    {"ingestion", "small", map[string]string{"testCase": "put"}, map[string]string{"batch": "entries go one by one"}, []string{"threads", "rate", "payload"}},
		"ingestion putall": {"ingestion", "small", map[string]string{"testCase": "putall"}, nil, []string{"batch"}},
		"pbm get":          {"tx", "small", map[string]string{"mode": "pbm", "mapNames": "profile", "profile.testCase": "get"}, map[string]string{"batch": "only test case getall reads in batches"}, []string{"threads"}},
		"pbm getall":       {"tx", "small", map[string]string{"mode": "pbm", "mapNames": "profile", "profile.testCase": "getall"}, nil, []string{"batch"}},
		"pbm both": {"tx", "small", map[string]string{"mode": "pbm", "eligibility.testCase": "tx", "profile.testCase": "getall"}, map[string]string{
			"eligibility.batch": "only test case getall reads in batches", "profile.payload": "only test case tx writes",
		}, []string{"batch", "payload"}},
		"groups": {"group", "group", map[string]string{"groupNames": "g1,g2"}, map[string]string{"g1.batch": "group g1 makes no calls of several entries"}, []string{"batch", "payload", "threads"}},
		"events": {"event-store", "quick", nil, map[string]string{"drain.threads": "the drain waits for what was sent", "query.payload": "queries write nothing", "query.batch": "queries write nothing"}, []string{"threads", "rate", "payload", "batch"}},
		"reads":  {"mix", "ycsb/c", map[string]string{"records": "50"}, nil, []string{"threads", "rate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := profile(t, c.profile)
			plan, err := p.Design(inputs(t, p, c.preset, c.set))
			require.NoError(t, err)
			var live []string
			for _, k := range plan.Live() {
				live = append(live, k.Name)
			}
			assert.Subset(t, live, c.live)
			for at, why := range c.idle {
				track, knob := workload.AllTracks, at
				for i, tr := range plan.Tracks() {
					if rest, ok := strings.CutPrefix(at, tr.Name+"."); ok {
						track, knob = i, rest
					}
				}
				k, ok := plan.Knob(knob)
				require.True(t, ok, at)
				assert.Equal(t, why, plan.Idle(track, k), at)
				if track == workload.AllTracks {
					assert.NotContains(t, live, knob)
				}
			}
		})
	}
}
