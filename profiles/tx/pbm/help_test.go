package pbm

import (
	"context"
	"os"
	"testing"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/txtest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

var mode = txtest.Mode{
	Params: Params(),
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
	inputs   = txtest.Inputs
	alone    = txtest.Alone
	open     = txtest.Open
	driverOf = txtest.DriverOf
)

// small is 40 groups of 5 members by 4 threads, and 200 profiles.
var small = []string{
	"mode=pbm", "mapNames=eligibility,profile", "memberSetSize=5", "eligibility.totalEntryCount=200", "eligibility.threadCount=4",
	"profile.totalEntryCount=100", "profile.threadCount=3", "payloadSize=100", "batchSize=7",
}

// apart are the inputs of a run in a namespace of its own.
func apart(namespace string, words ...string) workload.Inputs {
	in := inputs(given(words...))
	in.Namespace = namespace
	return in
}
