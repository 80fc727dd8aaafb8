package profiletest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/storetest"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// Driven is the outcome of [Drive].
type Driven struct {
	*session.Concluded
	// Made is what the run had recorded as its own when it was verified.
	Made []store.Made
}

// Drive carries out a run with --cleanup in a store that also contains data of others:
// what is stored must pass the verification, nothing of ours may be left, and their
// data must be unchanged. On a store that keeps nothing there is nothing to verify.
func Drive(t *testing.T, c Case) Driven {
	t.Helper()
	w := &watcher{t: t}
	design := c.Profile.Design
	c.Profile.Design = func(in workload.Inputs) (*workload.Plan, error) {
		p, err := design(in)
		if err == nil {
			w.Binder, w.namespace, w.profile = p.Binder, in.Namespace, c.Profile.Name
			p.Binder = w
		}
		return p, err
	}
	c.Formats = append(append([]rundir.Format(nil), c.Formats...), rundir.Format{ID: "left", Title: "What is left in the store", Encode: w.left})
	o := c.With("cleanup=on").Run(t)
	require.NoError(t, o.Err)
	want := workload.Passed
	if w.forgets {
		want = workload.Skipped
	}
	assert.Equal(t, want, o.Run.Verification.State, "%+v", o.Run.Verification)
	assert.Equal(t, c.Errors, len(o.Run.Errors) > 0, "%+v", o.Run.Errors)
	assert.NotContains(t, o.Run.Verdict.Causes, string(verdict.Laws), "%v", o.Run.Verdict.Reasons)
	require.NotEmpty(t, o.Run.Segments)
	assert.NotEmpty(t, o.Run.Segments[0].Accounts, "two accounts of the workers' time")
	if seen := o.Run.Observed; seen != nil && seen.Store != nil && seen.Store.Asked != nil {
		assert.NotNil(t, seen.Store.Made, "what the store must have counted")
	}
	assert.True(t, w.looked, "the store was looked at after the cleanup")
	return Driven{o, w.made}
}

// watcher looks at the store of a run through the run's own connection, because an
// embedded store disappears with it.
type watcher struct {
	workload.Binder
	t                  *testing.T
	namespace, profile string

	conn   store.Conn
	ground ground
	before []string
	made   []store.Made
	claims bool // the plan has spaces of its own in the store
	// forgets means that the store keeps nothing, looked that the store was looked at.
	forgets, looked bool
}

// Connector plants data of others before the plan's own connector sees the store, and
// makes Verify look at what the run has recorded.
func (w *watcher) Connector(driver string) workload.Connector {
	connect := w.Binder.Connector(driver)
	if connect == nil {
		return nil
	}
	return func(ctx context.Context, b *workload.Bound) error {
		w.conn, w.ground, w.forgets = b.Conn, groundOf(w.t, b.Conn, w.namespace), store.Forgets(b.Conn)
		if err := w.ground.plant(ctx); err != nil {
			return err
		}
		var err error
		if w.before, err = w.ground.names(ctx); err != nil {
			return err
		}
		if err := connect(ctx, b); err != nil {
			return err
		}
		w.claims = b.Claims != nil
		b.Parts = append(workload.Parts{noting{w, b.Parts}}, b.Parts...)
		return nil
	}
}

// noting notes what a plan has made before it verifies.
type noting struct {
	w  *watcher
	of workload.Parts
}

// Verify has the plan verify.
func (n noting) Verify(ctx context.Context) workload.Verification {
	var err error
	n.w.made, err = storetest.As[store.Keeper](n.w.t, n.w.conn).Made(ctx, n.w.namespace)
	assert.NoError(n.w.t, err)
	return n.of.Verify(ctx)
}

// left is the encoder of a format that is written when the cleanup is over and the
// connection is still open. It writes nothing.
func (w *watcher) left(*rundir.Folder) ([]rundir.File, error) {
	t, ctx, keep := w.t, w.t.Context(), storetest.As[store.Keeper](w.t, w.conn)
	if w.looked = true; w.forgets {
		return nil, nil
	}
	assert.Equal(t, w.claims, len(w.made) > 0, "the run has recorded what it made")
	for _, m := range w.made {
		assert.Equal(t, w.profile, m.Profile, m.Name)
		found, err := keep.Inspect(ctx, m.Space, m.Parts...)
		assert.NoError(t, err)
		assert.False(t, found.Exists, "%s is gone", m.Name)
	}
	made, err := keep.Made(ctx, w.namespace)
	assert.NoError(t, err)
	assert.Empty(t, made, "nothing is recorded as ours")
	after, err := w.ground.names(ctx)
	assert.NoError(t, err)
	assert.Equal(t, w.before, after, "nothing of ours is left")
	note, err := w.ground.read(ctx)
	assert.NoError(t, err)
	assert.Equal(t, theirs, note, "data of others")
	return nil, nil
}
