package workbench

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Who watches a run of this machine turns its knobs: the run does so, its log says it, and
// what there is no room for is refused in words. The end comes from the folder.
func TestARunIsChangedFromBeside(t *testing.T) {
	tier.Slow(t, tier.Waits)
	env := command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session()
	env.CacheDir = ""
	p, err := session.Prepare(t.Context(), env, session.Request{
		Profile: "ingestion", Target: "memory:", Out: filepath.Join(t.TempDir(), "a path longer than that of a socket may be", strings.Repeat("r", 60)),
		Values: putting("threads", "4", "rate", "200", "duration", "5m").Values,
	})
	require.NoError(t, err)
	live, err := p.Start(t.Context(), nil)
	require.NoError(t, err)
	dir := live.Opened.Dir()
	info, err := os.Stat(filepath.Join(dir, rundir.SocketFile))
	require.NoError(t, err)
	assert.Zero(t, info.Mode().Perm()&0o077, "nobody else may open it")

	r, err := watchRun(t.Context(), &kept{surroundings: &surroundings{env: env}}, cli.Watched{Dir: dir})
	require.NoError(t, err)
	a := r.access()
	require.NotNil(t, a.Control)
	before := live.Settings(screen.All).Threads
	more := func(s workload.Settings) workload.Settings { s.Threads++; return s }
	for range 3 { // quicker than anybody answers
		a.Control.Change("workbench", screen.All, more)
	}
	assert.Equal(t, before+3, r.Settings(screen.All).Threads, "shown at once")
	comes(t, func() bool { return live.Settings(screen.All).Threads == before+3 })
	a.Control.Change("workbench", 0, func(s workload.Settings) workload.Settings { s.Paused = true; return s })
	comes(t, func() bool { return live.Settings(0).Paused })
	a.Control.Mark(a.Run.Snapshot().At, "from beside")
	comes(t, func() bool { return len(r.Snapshot().Marks) == 1 })
	assert.NotEmpty(t, r.Snapshot().Changes)
	a.Control.Change("workbench", screen.All, func(s workload.Settings) workload.Settings { s.Payload = 1 << 30; s.Threads = 4096; return s })
	comes(t, func() bool { return strings.Contains(r.Progress().Note, "not turned: ") })

	release, held := live.Hold("a search turns the knobs"), live.Settings(screen.All).Threads
	a.Control.Change("workbench", screen.All, more)
	comes(t, func() bool { return strings.Contains(r.Progress().Note, "not turned: a search turns the knobs") })
	assert.Equal(t, held, live.Settings(screen.All).Threads)
	comes(t, func() bool { return r.Progress().Held == "a search turns the knobs" })
	release()
	comes(t, func() bool { return r.Progress().Held == "" })

	other := &watchedRun{w: sharing{crew.WatchLocal(dir)}, kept: r.kept}
	require.NoError(t, other.begin(t.Context()))
	assert.True(t, other.info.Shared, "as the run says")
	assert.False(t, r.info.Shared)

	live.Stop(session.ErrStopped)
	o := live.Conclude(context.Background())
	require.NoError(t, o.Err)
	comes(t, func() bool {
		select {
		case <-r.Done():
			return true
		default:
			return false
		}
	})
	assert.Contains(t, r.Outcome().Summary, o.Run.ID)
	assert.True(t, r.Outcome().Watched)
	assert.NoFileExists(t, filepath.Join(dir, rundir.SocketFile))
}

// sharing is a watcher of a run whose calls may share connections.
type sharing struct{ crew.Watcher }

func (s sharing) Ask(ctx context.Context) ([]byte, error) {
	data, err := s.Watcher.Ask(ctx)
	if err != nil {
		return nil, err
	}
	v, err := crew.ReadView(data)
	if err != nil {
		return nil, err
	}
	v.Shared = true
	return v.Pack(), nil
}

// comes waits for what must come.
func comes(t *testing.T, what func() bool) {
	t.Helper()
	require.Eventually(t, what, 20*time.Second, 10*time.Millisecond)
}
