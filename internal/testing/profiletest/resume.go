package profiletest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// Moment is when a process of [Case.Resumed] dies.
type Moment string

// Moments.
const (
	// AtWork is in the middle of the work.
	AtWork Moment = "at work"
	// Verifying is when all work is done, and verification begins.
	Verifying Moment = "verifying"
	// Removing is when everything that the run made has been removed, and nothing has
	// been reported yet.
	Removing Moment = "removing"
)

// Resumed carries out a whole run with n workers, which are goroutines here. Its
// coordinator, a separate process, kills itself at a moment (for [AtWork] once it has
// done more than that many units), and the run is continued here.
func (c Case) Resumed(t *testing.T, n int, at Moment, units int64) *session.Concluded {
	t.Helper()
	require.NotEmpty(t, c.Out)
	a := asked{Workers: n, Moment: at}
	if at == AtWork {
		a.DiesAfter = units
	}
	first := spawn(t, c, a)
	var all sync.WaitGroup
	for first.lines.Scan() {
		if url, ok := strings.CutPrefix(first.lines.Text(), "join "); ok {
			c.join(t, &all, url, n)
		} else if !strings.HasPrefix(first.lines.Text(), "done ") {
			first.said.WriteString(first.lines.Text() + "\n")
		}
	}
	first.gone()
	dir, err := rundir.Find(c.Out, "latest")
	require.NoError(t, err)
	p, err := session.Revive(t.Context(), c.env(), dir, "")
	require.NoError(t, err)
	l, err := p.Start(t.Context(), nil)
	require.NoError(t, err)
	o := Finish(t, l)
	all.Wait()
	require.NoError(t, o.Err)
	require.Len(t, o.Run.Workers, n)
	for _, w := range o.Run.Workers {
		assert.Equal(t, "ended", w.State)
	}
	require.Len(t, o.Run.Resumed, 1)
	return o
}

// fatal returns the profile for a process that dies at that moment.
func (m Moment) fatal(t *testing.T, p workload.Profile) workload.Profile {
	design := p.Design
	p.Design = func(in workload.Inputs) (*workload.Plan, error) {
		plan, err := design(in)
		if err == nil {
			plan.Binder = dying{plan.Binder, plan.Binder.(workload.Divisible), m, t}
		}
		return plan, err
	}
	return p
}

// dying is a Binder whose plan ends its process.
type dying struct {
	workload.Binder
	workload.Divisible
	at Moment
	t  *testing.T
}

// Connector makes the plan end the process at the moment.
func (d dying) Connector(driver string) workload.Connector {
	connect := d.Binder.Connector(driver)
	return func(ctx context.Context, b *workload.Bound) error {
		if err := connect(ctx, b); err != nil {
			return err
		}
		switch d.at {
		case Verifying:
			b.Parts = append(workload.Parts{dyingToVerify{d.t}}, b.Parts...)
		case Removing:
			b.Parts = append(workload.Parts{&dyingOnceRemoved{of: b.Parts, t: d.t}}, b.Parts...)
		}
		return nil
	}
}

// dyingToVerify is a part of a plan that ends its process instead of verifying.
type dyingToVerify struct{ t *testing.T }

// Verify ends the process.
func (d dyingToVerify) Verify(context.Context) workload.Verification {
	die(d.t)
	return workload.Verification{}
}

// dyingOnceRemoved is a part of a plan that ends its process when everything has been removed.
type dyingOnceRemoved struct {
	of      workload.Parts
	t       *testing.T
	removed atomic.Bool
}

// Teardown notes that the others are removed after it.
func (d *dyingOnceRemoved) Teardown(context.Context) error {
	d.removed.Store(true)
	return nil
}

// Facts are asked for when everything has been removed.
func (d *dyingOnceRemoved) Facts(measured *measure.Result) any {
	if d.removed.Load() {
		die(d.t)
	}
	return d.of.Facts(measured)
}
