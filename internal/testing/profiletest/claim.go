package profiletest

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// Bind connects a plan to a store of the driver of in, for the run with that id, and
// does what a session does in addition: Setup first claims the spaces of the plan, and
// Teardown drops what it made. The lease is released at once, so that a test can set up
// one plan after another in one namespace.
func Bind(tb testing.TB, profile string, plan *workload.Plan, c store.Conn, in workload.Inputs, runID string) *workload.Plan {
	tb.Helper()
	p, err := plan.Bind(tb.Context(), in.Driver, c, runID)
	require.NoError(tb, err)
	if p.Claims == nil {
		return p
	}
	if p.Keeps != nil {
		tb.Cleanup(func() { _ = p.Keeps.Close() })
		c = p.Keeps
	}
	want := ownership.Want{Namespace: in.Namespace, Profile: profile, Run: runID, Spaces: p.Claims, Allow: in.AllowExisting, Admit: p.Admit}
	p.Parts = workload.Parts{&claiming{Parts: p.Parts, conn: c, want: want}}
	return p
}

// claiming are the parts of a plan whose setup claims its spaces first.
type claiming struct {
	workload.Parts
	conn  store.Conn
	want  ownership.Want
	claim *ownership.Claim
}

// Setup claims the spaces, and has the parts prepare the store.
func (c *claiming) Setup(ctx context.Context, progress func(done, total int64)) (err error) {
	if c.claim, err = ownership.Take(ctx, c.conn, c.want); err == nil {
		err = c.claim.Release(ctx)
	}
	if err != nil {
		return err
	}
	if err := c.Parts.Setup(ctx, progress); err != nil {
		return errors.Join(err, c.claim.Abandon(ctx, err))
	}
	return nil
}

// Teardown has the parts remove what they made, and drops the spaces.
func (c *claiming) Teardown(ctx context.Context) error {
	return errors.Join(c.Parts.Teardown(ctx), c.claim.Cleanup(ctx))
}
