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
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Nobody can tune a run that is over in a second: each of these goes on for longer than
// its preset would have it, and leaves a whole report when it is stopped.
func TestARunOfTheWorkbenchGoesOnUntilItIsStopped(t *testing.T) {
	tier.Slow(t, tier.Waits)
	at := &surroundings{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: t.TempDir(), state: t.TempDir(), soft: t.Context(), hard: t.Context()}
	at.env.CacheDir = ""
	b := newBench(at)
	for preset, once := range map[string]struct {
		profile string
		units   int64 // more than it comes to
	}{
		"shop": {"group", 1600}, "small": {"tx", 8000}, "saga": {"tx", 3500}, "profiles": {"authz", 3000}, "quick": {"event-store", 90_000},
	} {
		t.Run(preset, func(t *testing.T) {
			r := request.Request{Profile: once.profile, Preset: preset, Target: "memory:", Formats: []string{"json"}}
			plan, err := b.requests.Preview(r)
			require.NoError(t, err)
			assert.Contains(t, plan.Length, "until you stop it")
			of, err := b.starter.Start(t.Context(), r)
			require.NoError(t, err)
			assert.Equal(t, "forever", of.Run.Info().Request.Values["duration"].Text, "the same run again, elsewhere")
			for look := time.NewTicker(20 * time.Millisecond); of.Run.Snapshot().Done < once.units && of.Run.Progress().Stage <= screen.Measuring; <-look.C {
				assert.Zero(t, of.Run.Snapshot().Total, "there is no share of it that is done")
			}
			of.Ending.Stop()
			<-of.Run.Done()
			out := of.Run.Outcome()
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
		of, err := b.starter.Start(t.Context(), r)
		require.NoError(t, err)
		assert.Equal(t, "small", of.Run.Info().Request.Preset)
		until(func() bool {
			return of.Run.Snapshot().At > 10*time.Second || of.Run.Progress().Stage > screen.Measuring
		})
		assert.Greater(t, of.Run.Snapshot().Done, int64(1000), "a hundred keys, again and again")
		of.Ending.Stop()
		<-of.Run.Done()
		require.NoError(t, of.Run.Outcome().Err)
		assert.Equal(t, workload.Passed, of.Run.Outcome().Verification.State)
	})
}

// The picker has a row for the folder.
func TestResultsOfARunThatIsKeptElsewhere(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		b.requests.home = t.TempDir()
		r := putting("count", "10")
		r.Out = "~/elsewhere"
		of, err := b.starter.Start(t.Context(), r)
		require.NoError(t, err)
		<-of.Run.Done()
		f, err := b.kept.Load(of.Run.Outcome().ID)
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(b.requests.home, "elsewhere"), filepath.Dir(f.Dir))
	})
}

func TestWhatEndsARunOfTheWorkbench(t *testing.T) {
	inBubble(t, func(t *testing.T, b *bench) {
		for want, values := range map[string][]string{
			"30 s": {"duration", "30s"}, "30 s; 5 s of warm-up first": {"duration", "30s", "warmup", "5s"}, "30 s; up to 30 s of warm-up first": {"duration", "30s", "warmup", "auto"}, "100 entries": {"count", "100"}, "until its work is done": {"duration", "once"},
			"until throughput ±1% is known, or you stop it": {"until", "throughput ±1%"},
		} {
			plan, err := b.requests.Preview(putting(values...))
			require.NoError(t, err)
			assert.Equal(t, want, plan.Length)
		}
		plan, err := b.requests.Preview(request.Request{Profile: "tx", Preset: "baseline", Target: "memory:"})
		require.NoError(t, err)
		assert.Contains(t, plan.Length, "one row after the other")
		require.ErrorContains(t, b.sweeper.CanSweep(putting("duration", "forever"), sweep.Asked{Over: []string{"threads=1,2"}, Repeat: "1"}), "no time for the other points")
	})
}
