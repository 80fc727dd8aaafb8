package workbench

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Nobody can tune a run that is over in a second: each of these goes on for longer than
// its preset would have it, and leaves a whole report when it is stopped.
func TestARunOfTheWorkbenchGoesOnUntilItIsStopped(t *testing.T) {
	b := &bench{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: t.TempDir(), state: t.TempDir(), logs: &logRing{}, soft: t.Context(), hard: t.Context()}
	b.env.CacheDir = ""
	for preset, once := range map[string]struct {
		profile string
		units   int64 // more than it comes to
	}{
		"shop": {"group", 1600}, "small": {"tx", 8000}, "saga": {"tx", 3500}, "profiles": {"authz", 3000}, "quick": {"event-store", 90_000},
	} {
		t.Run(preset, func(t *testing.T) {
			r := request.Request{Profile: once.profile, Preset: preset, Target: "memory:", Formats: []string{"json"}}
			plan, err := b.Preview(r)
			require.NoError(t, err)
			assert.Contains(t, plan.Length, "until you stop it")
			run, err := b.Start(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, "forever", run.Info().Request.Values["duration"].Text, "the same run again, elsewhere")
			for look := time.NewTicker(20 * time.Millisecond); run.Snapshot().Done < once.units && run.Progress().Stage <= screen.Measuring; <-look.C {
				assert.Zero(t, run.Snapshot().Total, "there is no share of it that is done")
			}
			run.Stop()
			<-run.Done()
			out := run.Outcome()
			require.NoError(t, out.Err)
			assert.Equal(t, workload.Passed, out.Verification.State, out.Verification.Summary)
			f, err := rundir.Load(out.Dir)
			require.NoError(t, err)
			assert.Equal(t, "user", f.Run.EndedBy)
		})
	}
}

func TestAnIngestionOfTheWorkbenchBeginsItsKeysAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		r := putting("totalEntryCount", "100")
		r.Preset = ""
		run, err := b.Start(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, "sustained", run.Info().Request.Preset)
		until(func() bool { return run.Snapshot().At > 10*time.Second || run.Progress().Stage > screen.Measuring })
		assert.Greater(t, run.Snapshot().Done, int64(1000), "a hundred keys, again and again")
		run.Stop()
		<-run.Done()
		require.NoError(t, run.Outcome().Err)
		assert.Equal(t, workload.Passed, run.Outcome().Verification.State)
	})
}

// The picker has a row for the folder.
func TestResultsOfARunThatIsKeptElsewhere(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.home = t.TempDir()
		r := putting("count", "10")
		r.Out = "~/elsewhere"
		run, err := b.Start(t.Context(), r)
		require.NoError(t, err)
		<-run.Done()
		f, err := b.Load(run.Outcome().ID)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(b.home, "elsewhere"), filepath.Dir(f.Dir))
	})
}

func TestWhatEndsARunOfTheWorkbench(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for want, values := range map[string][]string{
			"30 s": {"duration", "30s"}, "100 entries": {"count", "100"}, "until its work is done": {"duration", "once"},
			"until throughput ±1% is known, or you stop it": {"until", "throughput ±1%"},
		} {
			plan, err := b.Preview(putting(values...))
			require.NoError(t, err)
			assert.Equal(t, want, plan.Length)
		}
		plan, err := b.Preview(request.Request{Profile: "tx", Preset: "baseline", Target: "memory:"})
		require.NoError(t, err)
		assert.Contains(t, plan.Length, "one row after the other")
		require.ErrorContains(t, b.CanSweep(putting("duration", "forever"), sweep.Asked{Over: []string{"threads=1,2"}, Repeat: "1"}), "no time for the other points")
	})
}
