package baseline

import (
	"context"
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga"
	"github.com/perfbench/perfbench/profiles/tx/txtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

var mode = txtest.Mode{
	Params: append(Params(), saga.Params()...),
	Design: Design,
}

func given(pairs ...string) workload.Values { return mode.Given(pairs...) }

func bound(t testing.TB, c store.Conn, driver string, in workload.Inputs) *workload.Plan {
	t.Helper()
	return mode.Bound(t, c, driver, in)
}

func ready(t testing.TB, target string, in workload.Inputs) (*workload.Plan, store.Conn) {
	t.Helper()
	return mode.Ready(t, target, in)
}

func drive(ctx context.Context, t testing.TB, p *workload.Plan, stop func() bool) *txtest.Samples {
	t.Helper()
	return txtest.Drive(ctx, t, p, stop)
}

var (
	inputs = txtest.Inputs
	alone  = txtest.Alone
	open   = txtest.Open
)
