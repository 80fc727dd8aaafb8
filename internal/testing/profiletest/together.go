package profiletest

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/remote/part"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// join carries out a worker's part of a run.
func join(t testing.TB, p workload.Profile, url string) error {
	w, err := remote.Join(t.Context(), remote.JoinOptions{URL: url, Version: version})
	if err != nil {
		return err
	}
	env := part.Env{Profiles: []workload.Profile{p}, Log: slog.New(slog.DiscardHandler), Say: func(string) {}}
	return part.Do(t.Context(), env, w)
}

// Together carries out the whole run with n workers, which are goroutines here.
func (c Case) Together(t testing.TB, n int) *session.Concluded {
	t.Helper()
	var all sync.WaitGroup
	l := c.begin(t, n, func(url string) { c.join(t, &all, url, n) })
	o := Finish(t, l)
	all.Wait()
	require.NoError(t, o.Err)
	require.Len(t, o.Run.Workers, n)
	for _, w := range o.Run.Workers {
		require.Empty(t, w.Fault, "worker %d: %v", w.Number, o.Run.Verdict.Reasons)
	}
	return o
}

// begin starts the run with that many workers, and calls where with the URL to join; 0:
// without workers.
func (c Case) begin(t testing.TB, workers int, where func(url string)) *session.Driven {
	t.Helper()
	p, err := c.Prepare(t.Context(), t)
	require.NoError(t, err)
	if workers > 0 {
		p, err = p.WithWorkers(crew.Ask{Workers: workers, Listen: "127.0.0.1:0"})
		require.NoError(t, err)
	}
	told := false
	l, err := p.Start(t.Context(), func(g session.Progress) {
		if _, url, ok := strings.Cut(g.Note, "perfbench join "); ok && !told {
			told = true
			where(url)
		}
	})
	require.NoError(t, err)
	return l
}

// join makes n workers, goroutines here, do their parts of the run.
func (c Case) join(t testing.TB, all *sync.WaitGroup, url string, n int) {
	for range n {
		all.Go(func() { assert.NoError(t, join(t, c.Profile, url)) })
	}
}
