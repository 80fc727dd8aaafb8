package profiletest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// Losing carries out the whole run by n workers, each in a process of its own, of which one
// is killed whenever more than so many units have been done. What they had left is dealt to
// the others. The rate of the case must be so low that nobody ends before: it is lifted then. The package
// has a TestChild.
func (c Case) Losing(t *testing.T, n int, after ...int64) *session.Concluded {
	t.Helper()
	o := c.losing(t, crew.Redeal, n, after)
	require.GreaterOrEqual(t, len(o.Run.Workers), n+1, "one that has nothing left has no heir")
	return o
}

// Degrading is Losing, but nobody does what the killed workers had left.
func (c Case) Degrading(t *testing.T, n int, after ...int64) *session.Concluded {
	t.Helper()
	return c.losing(t, crew.Degrade, n, after)
}

func (c Case) losing(t *testing.T, onLoss string, n int, after []int64) *session.Concluded {
	t.Helper()
	p, err := c.Prepare(t.Context(), t)
	require.NoError(t, err)
	p, err = p.WithWorkers(crew.Ask{Workers: n, Listen: "127.0.0.1:0", OnLoss: onLoss, Patience: 5 * time.Second})
	require.NoError(t, err)
	var all []*Process
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	late := time.AfterFunc(3*time.Minute, func() { cancel(errors.New("not all workers have joined")) })
	l, err := p.Start(ctx, func(g session.Progress) {
		_, url, ok := strings.Cut(g.Note, "perfbench join ")
		for ok && len(all) < n {
			all = append(all, spawn(t, c, asked{Join: url}))
		}
	})
	late.Stop()
	require.NoError(t, err)
	for i, units := range after {
		require.Eventually(t, func() bool { return l.Snapshot().Done > units }, 5*time.Minute, time.Millisecond, "%d units", units)
		all[i].Kill()
	}
	for track := range l.Snapshot().Tracks { // until then it was so low that nobody ended, however crowded the machine
		l.Change("test", track, func(s workload.Settings) workload.Settings {
			s.Rate = 0
			return s
		})
	}
	o := Finish(t, l)
	for _, w := range all[len(after):] {
		out := &strings.Builder{}
		for w.lines.Scan() {
			out.WriteString(w.lines.Text() + "\n")
		}
		require.NoError(t, w.cmd.Wait(), out.String())
	}
	require.NoError(t, o.Err)
	return o
}
