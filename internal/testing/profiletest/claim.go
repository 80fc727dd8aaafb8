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
	setup, teardown := p.Setup, p.Teardown
	if p.Keeps != nil {
		tb.Cleanup(func() { _ = p.Keeps.Close() })
	}
	var claim *ownership.Claim
	p.Setup = func(ctx context.Context, progress func(done, total int64)) error {
		conn := c
		if p.Keeps != nil {
			conn = p.Keeps
		}
		var err error
		claim, err = ownership.Take(ctx, conn, ownership.Want{
			Namespace: in.Namespace, Profile: profile, Run: runID, Spaces: p.Claims, Allow: in.AllowExisting, Admit: p.Admit,
		})
		if err == nil {
			err = claim.Release(ctx)
		}
		if err != nil || setup == nil {
			return err
		}
		if err := setup(ctx, progress); err != nil {
			return errors.Join(err, claim.Abandon(ctx, err))
		}
		return nil
	}
	p.Teardown = func(ctx context.Context) error {
		var err error
		if teardown != nil {
			err = teardown(ctx)
		}
		return errors.Join(err, claim.Cleanup(ctx))
	}
	return p
}
