//go:build bottlenecks

package bench

import (
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/rundir"
)

// bottleneck is a run that is known to be held back by something.
type bottleneck struct {
	name, want string
	target     func(t *testing.T) string
	flags      []string
	env        string // NAME=VALUE of the process
}

var bottlenecks = []bottleneck{
	{name: "pacing", want: explain.Pacing, target: redisURL(), flags: []string{"--threads=4", "--rate=200"}},
	{name: "pacing on PostgreSQL", want: explain.Pacing, target: postgresURL(""), flags: []string{"--threads=4", "--rate=50"}},
	{name: "single-threaded Redis", want: explain.Thread, target: redisURL("--io-threads", "1"), flags: []string{"--threads=32", "--payload=64KiB", "--set=testCase=putall", "--batch=20"}},
	{name: "appendfsync always", want: explain.Sync, target: redisURL("--appendonly", "yes", "--appendfsync", "always"), flags: []string{"--threads=4"}},
	{name: "PostgreSQL's log", want: explain.Sync, target: postgresURL("", "fsync=on", "synchronous_commit=on"), flags: []string{"--threads=8"}},
	{name: "MariaDB's log", want: explain.Sync, target: mariaURL("", "--innodb-flush-log-at-trx-commit=1"), flags: []string{"--threads=8"}},
	{name: "a pool of 2 on PostgreSQL", want: explain.Pool, target: postgresURL("connections=2"), flags: []string{"--threads=32"}},
	{name: "a pool of 2 on MariaDB", want: explain.Pool, target: mariaURL("connections=2"), flags: []string{"--threads=32"}},
	{name: "a client of one processor", want: explain.Client, target: redisURL(), flags: []string{"--threads=64", "--payload=16"}, env: "GOMAXPROCS=1"},
	{name: "a store in the client", want: explain.Unknown, target: func(*testing.T) string { return "embedded:" }, flags: []string{"--threads=4"}},
}

func redisURL(args ...string) func(*testing.T) string {
	return func(t *testing.T) string { return labtest.Redis(t, args...).URL() }
}

func postgresURL(parameter string, args ...string) func(*testing.T) string {
	return func(t *testing.T) string { return with(t, labtest.Postgres(t, args...).URL(), parameter) }
}

func mariaURL(parameter string, args ...string) func(*testing.T) string {
	return func(t *testing.T) string { return with(t, labtest.MariaDB(t, args...).URL(), parameter) }
}

// Eight of ten prepared bottlenecks are named, and of the others it is said that they
// cannot be told, or that the machine was busy. Its figures are those of the machine: run
// it on one that has nothing else to do.
func TestPreparedBottlenecksAreNamed(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "perfbench")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../cmd/perfbench").CombinedOutput()
	require.NoError(t, err, string(out))
	right, wrong := 0, 0
	for _, b := range bottlenecks {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			cmd := exec.CommandContext(t.Context(), binary, append([]string{"run", "--profile=ingestion", "--target=" + b.target(t), "--duration=8s", "--warmup=1s", "--out=" + dir}, b.flags...)...)
			cmd.Env = append(os.Environ(), b.env)
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, string(out))
			runs, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Len(t, runs, 1)
			f, err := rundir.Load(runs[0])
			require.NoError(t, err)
			require.NotNil(t, f.Run.Why)
			got := f.Run.Why.Part().Resource
			t.Logf("want %q, got %q: %s", b.want, got, explain.Paragraph(f.Run.Why))
			switch got {
			case b.want:
				right++
			case explain.Unknown, explain.Machine:
			default:
				wrong++
			}
		})
	}
	t.Logf("%d of %d named rightly, %d wrongly", right, len(bottlenecks), wrong)
	if right < 8 || wrong > 0 {
		t.Errorf("%d of %d named rightly, %d wrongly", right, len(bottlenecks), wrong)
	}
}

// with adds a parameter to a target.
func with(t *testing.T, target, parameter string) string {
	t.Helper()
	u, err := url.Parse(target)
	require.NoError(t, err)
	if parameter == "" {
		return target
	}
	if u.RawQuery != "" {
		parameter = u.RawQuery + "&" + parameter
	}
	u.RawQuery = parameter
	return u.String()
}
