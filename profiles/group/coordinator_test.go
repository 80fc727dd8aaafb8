package group

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// TestChild is no test of its own: it is what TestResumedGroups starts, and what dies.
func TestChild(t *testing.T) { profiletest.Child(t, Profile()) }

// The coordinator of groups, which has loaded what they read, dies, and the run comes to what
// it would have come to: also where it dies before the last group has begun.
func TestResumedGroups(t *testing.T) {
	target := labtest.Redis(t).URL()
	for preset, set := range map[string][]string{
		"shop": {"rate", "150"}, // of each group
		"get":  {"rate", "500", "get1.payloadSize", "10"},
		"list": {"rate", "500", "totalInvocationCount", "1500"},
	} {
		t.Run(preset, func(t *testing.T) {
			if preset != "shop" {
				tier.Full(t, "the preset shop")
			}
			set = append(set, "preset", preset, "threads", "4")
			before := func(namespace string) {
				if preset == "list" { // what is there counts
					require.NoError(t, caseOf(target, nil, append(set, "namespace", namespace, "rate", "unlimited")...).Run(t).Err)
				}
			}
			before("one" + preset)
			one := caseOf(target, nil, append(set, "namespace", "one"+preset, "rate", "unlimited")...).Run(t)
			require.NoError(t, one.Err)
			// profiles/tx's TestResumedTransactionsOnMaps has the other moments.
			for at, units := range map[profiletest.Moment]int64{profiletest.AtWork: 100} {
				t.Run(string(at), func(t *testing.T) {
					t.Parallel()
					before(preset + string(at[0]))
					c := caseOf(target, nil, append(set, "namespace", preset+string(at[0]), "cleanup", "on")...)
					c.Out = t.TempDir()
					o := c.Resumed(t, 3, at, units)
					assert.Equal(t, one.Run.Verification, o.Run.Verification)
					want, got := profiletest.Facts[report.Facts](t, one), profiletest.Facts[report.Facts](t, o)
					for _, f := range []*report.Facts{&want, &got} {
						for i := range f.Groups {
							f.Groups[i].Started, f.Groups[i].Stopped, f.Groups[i].ThreadMS = nil, nil, nil
						}
					}
					assert.Equal(t, want, got)
				})
			}
		})
	}
}
