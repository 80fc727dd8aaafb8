package profiletest

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fleet"
	"github.com/perfbench/perfbench/internal/fleet/crew"
	"github.com/perfbench/perfbench/internal/fleet/part"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// Together carries out the whole run by n workers, which are as many goroutines here.
func (c Case) Together(t testing.TB, n int) *session.Outcome {
	t.Helper()
	p, err := c.Prepare(t.Context(), t)
	require.NoError(t, err)
	p, err = p.WithWorkers(crew.Ask{Workers: n, Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	var all sync.WaitGroup
	begun := false
	l, err := p.Start(t.Context(), func(g session.Progress) {
		_, url, ok := strings.Cut(g.Note, "perfbench join ")
		if !ok || begun {
			return
		}
		begun = true
		for range n {
			all.Go(func() {
				w, err := fleet.Join(t.Context(), fleet.JoinOptions{URL: url, Version: "test"})
				if assert.NoError(t, err) {
					env := part.Env{Profiles: []workload.Profile{c.Profile}, Log: slog.New(slog.DiscardHandler), Tell: func(string) {}}
					assert.NoError(t, part.Do(t.Context(), env, w))
				}
			})
		}
	})
	require.NoError(t, err)
	o := Finish(t, l)
	all.Wait()
	require.NoError(t, o.Err)
	require.Len(t, o.Run.Workers, n)
	return o
}
