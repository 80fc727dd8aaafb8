package tx

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // as every TestMain ends

// given makes values: "name=value" texts of flags over the parameters' defaults.
func given(pairs ...string) workload.Values {
	vs := workload.Values{}
	for _, p := range params() {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	for _, p := range pairs {
		name, text, _ := strings.Cut(p, "=")
		vs.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"})
	}
	return vs
}

var runs atomic.Int64

func inputs(vs workload.Values) workload.Inputs {
	return workload.Inputs{Values: vs, Seed: 1, Namespace: "t"}
}

// alone are inputs in a namespace of its own, for a server that others use too.
func alone(vs workload.Values) workload.Inputs {
	in := inputs(vs)
	in.Namespace = "pg_t" + // as careless patterns may take for the database's own
		strconv.FormatInt(runs.Add(1), 10)
	return in
}

func open(t testing.TB, target string) store.Conn {
	t.Helper()
	tg, _, err := drivers.Parse(target)
	require.NoError(t, err)
	c, err := drivers.Open(t.Context(), tg, store.OpenOptions{Threads: 64})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// bound designs a plan and binds it, as a run of its own, to a connection of the
// target's driver.
func bound(t testing.TB, c store.Conn, driver string, in workload.Inputs) *workload.Plan {
	t.Helper()
	in.Driver = driver
	p, err := Design(in)
	require.NoError(t, err)
	prof := Profile()
	b, ok := prof.Binding(driver)
	require.True(t, ok)
	require.Empty(t, b.Refuse)
	return profiletest.Bind(t, Name, p, c, in, fmt.Sprint(time.Now(), runs.Add(1)))
}

// driverOf is the driver's name of a target.
func driverOf(t testing.TB, target string) string {
	t.Helper()
	_, d, err := drivers.Parse(target)
	require.NoError(t, err)
	return d.Name
}

func ready(t testing.TB, target string, in workload.Inputs) (*workload.Plan, store.Conn) {
	t.Helper()
	c := open(t, target)
	p := bound(t, c, driverOf(t, target), in)
	require.NoError(t, p.Setup(t.Context(), nil))
	return p, c
}

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
