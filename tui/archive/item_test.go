package archive

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestARunIsFoundByItsDateAsItIsShown(t *testing.T) {
	now := time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC)
	at := func(t time.Time) Item {
		return Item{Run: &rundir.Run{ID: "r", Started: t, Profile: "tx", Target: "redis://shop-7", Verdict: rundir.Verdict{State: "DEGRADED"}, Tags: map[string]string{"team": "blue"}}}
	}
	today, before, long := at(now.Add(-107*time.Minute)), at(now.AddDate(0, 0, -1)), at(now.AddDate(0, -3, 0))
	for sought, want := range map[string][3]bool{
		"today": {true, false, false}, "18:13": {true, false, false}, "today 18:13": {true, false, false}, "2026-11-23": {true, false, false},
		"yesterday": {false, true, false}, "sun": {false, true, true}, "aug": {false, false, true}, "2026-08": {false, false, true},
		"tx": {true, true, true}, "blue": {true, true, true}, "team=blue": {true, true, true}, "shop-7": {true, true, true}, "degraded": {true, true, true}, "valid": {},
	} {
		assert.Equal(t, want, [3]bool{today.holds(sought, now), before.holds(sought, now), long.holds(sought, now)}, sought)
	}
}

// A run is found by what its row says of it, and as failed if it was anything of that kind.
func TestARunIsFoundByHowItWasJudged(t *testing.T) {
	wrong := Item{Run: &rundir.Run{Verdict: rundir.Verdict{State: "INVALID"}, Verification: workload.Verification{State: workload.Failed}}}
	cut := Item{Run: &rundir.Run{Verdict: rundir.Verdict{State: "DEGRADED"}, EndedBy: rundir.CutShort}}
	for sought, want := range map[string][2]bool{
		"failed": {true, false}, "verification failed": {true, false}, "invalid": {true, false}, "cut short": {false, true}, "degraded": {false, true},
	} {
		assert.Equal(t, want, [2]bool{wrong.holds(sought, time.Now()), cut.holds(sought, time.Now())}, sought)
	}
}
