//go:build bottlenecks

package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/explain"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// bottleneck is a run that is known to be held back by something.
type bottleneck struct {
	name, want string
	target     func(t *testing.T) string
	flags      []string
	env        string // NAME=VALUE of the process
	// beside, when set, works on the target until the run is over.
	beside func(ctx context.Context, t *testing.T, target string)
}

var bottlenecks = []bottleneck{
	{name: "pacing", want: explain.Pacing, target: redisURL(), flags: []string{"--threads=4", "--rate=200"}},
	{name: "single-threaded Redis", want: explain.Thread, target: redisURL("--io-threads", "1"), flags: []string{"--threads=4"}, beside: keepBusy},
	{name: "appendfsync always", want: explain.Sync, target: redisURL("--appendonly", "yes", "--appendfsync", "always"), flags: []string{"--threads=4"}},
	{name: "PostgreSQL's log", want: explain.Sync, target: postgresURL("", "--fsync=on", "--synchronous_commit=on"), flags: []string{"--threads=8"}},
	{name: "MariaDB's log", want: explain.Sync, target: mariaURL("", "--innodb-flush-log-at-trx-commit=1"), flags: []string{"--threads=8"}},
	{name: "a pool of 2 on PostgreSQL", want: explain.Pool, target: postgresURL("connections=2"), flags: []string{"--threads=32"}},
	{name: "a pool of 2 on MariaDB", want: explain.Pool, target: mariaURL("connections=2"), flags: []string{"--threads=32"}},
	{name: "rows that another has locked on MariaDB", want: explain.Locks, target: mariaURL(""), flags: []string{"--threads=2", "--set=totalEntryCount=100"}, beside: lockRows},
	{name: "a client of one processor", want: explain.Client, target: redisURL(), flags: []string{"--threads=64", "--payload=16"}, env: "GOMAXPROCS=1"},
	{name: "two threads far from their store", want: explain.Threads, target: far, flags: []string{"--threads=2"}},
	{name: "a rate and a full main thread", want: explain.Pacing, target: redisURL("--io-threads", "1"), flags: []string{"--threads=4", "--rate=50"}, beside: keepBusy},
	{name: "a store in the client", want: explain.Unknown, target: func(*testing.T) string { return "embedded:" }, flags: []string{"--threads=4"}},
}

// far is a Redis whose replies take 5 ms longer, as over a long way.
func far(t *testing.T) string {
	u, err := url.Parse(labtest.Redis(t).URL())
	require.NoError(t, err)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() }) // it ends the loop
	server := u.Host
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
			if err != nil {
				_ = c.Close()
				continue
			}
			go func() { _, _ = io.Copy(s, c); _ = s.Close() }()
			go func() {
				defer c.Close()
				for buf := make([]byte, 64<<10); ; {
					n, err := s.Read(buf)
					if err != nil || store.Pause(t.Context(), 5*time.Millisecond) != nil {
						return
					}
					if _, err = c.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	u.Host = l.Addr().String()
	return u.String()
}

func redisURL(args ...string) func(*testing.T) string {
	return func(t *testing.T) string { return labtest.Redis(t, args...).URL() }
}

// keepBusy has the main thread of a Redis work for scripts of others: a client on the
// same machine would take the processors that it needs to do so by itself.
func keepBusy(ctx context.Context, t *testing.T, target string) {
	o, err := goredis.ParseURL(target)
	if !assert.NoError(t, err) {
		return
	}
	c := goredis.NewClient(o)
	defer func() { assert.NoError(t, c.Close()) }()
	for ctx.Err() == nil {
		_ = c.Eval(ctx, "local n = 0; for i = 1, 200000 do n = n + i end; return n", nil).Err() // ends with ctx
	}
}

// lockRows has transactions that lock all rows of every table of ours, one for each, and
// keep them locked for most of the time.
func lockRows(ctx context.Context, t *testing.T, target string) {
	to, err := store.ParseTarget(target)
	if !assert.NoError(t, err) {
		return
	}
	c, err := sqlstore.Open(ctx, to, store.OpenOptions{Threads: 4})
	if !assert.NoError(t, err) {
		return
	}
	defer func() { assert.NoError(t, c.Close()) }()
	var all sync.WaitGroup
	for _, table := range []string{"perfbench_eligibility", "perfbench_profile"} {
		all.Go(func() {
			for ctx.Err() == nil {
				tx, err := c.SQL().BeginTx(ctx, nil)
				if err != nil {
					continue
				}
				if _, err = tx.ExecContext(ctx, "SELECT COUNT(*) FROM (SELECT * FROM "+table+" FOR UPDATE) AS locked"); err == nil { // it is there
					_ = store.Pause(ctx, 50*time.Millisecond)
				}
				_ = tx.Rollback()
				_ = store.Pause(ctx, 2*time.Millisecond)
			}
		})
	}
	all.Wait()
}

func postgresURL(parameter string, args ...string) func(*testing.T) string {
	return func(t *testing.T) string { return with(t, labtest.Postgres(t, args...).URL(), parameter) }
}

func mariaURL(parameter string, args ...string) func(*testing.T) string {
	return func(t *testing.T) string { return with(t, labtest.MariaDB(t, args...).URL(), parameter) }
}

// At least eight of twelve prepared bottlenecks are named, and of the others it is said that
// they cannot be told, or that the machine was busy. Its figures are those of the machine: run
// it on one that has nothing else to do. Each can be done by itself
// (-run 'TestPreparedBottlenecksAreNamed/pacing').
func TestPreparedBottlenecksAreNamed(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "perfbench")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "../../../cmd/perfbench").CombinedOutput()
	require.NoError(t, err, string(out))
	right, busy, unknown, wrong := 0, 0, 0, 0
	for _, b := range bottlenecks {
		t.Run(b.name, func(t *testing.T) {
			dir, target := t.TempDir(), b.target(t)
			cmd := exec.CommandContext(t.Context(), binary, append([]string{"run", "--profile=ingestion", "--target=" + target, "--duration=8s", "--warmup=1s", "--out=" + dir}, b.flags...)...)
			cmd.Env = append(os.Environ(), b.env)
			ctx, cancel := context.WithCancel(t.Context())
			var beside sync.WaitGroup
			if b.beside != nil {
				beside.Go(func() { b.beside(ctx, t, target) })
			}
			out, err := cmd.CombinedOutput()
			cancel()
			beside.Wait()
			require.NoError(t, err, string(out))
			runs, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Len(t, runs, 1)
			f, err := rundir.Load(runs[0])
			require.NoError(t, err)
			require.NotNil(t, f.Run.Why)
			got := explain.Main(explain.Limits(f.Run.Why)).Resource
			t.Logf("want %q, got %q: %s", b.want, got, explain.Paragraph(f.Run.Why))
			switch got {
			case b.want:
				right++
			case explain.Machine:
				busy++
			case explain.Unknown:
				unknown++
			default:
				wrong++
			}
		})
	}
	runs := right + busy + unknown + wrong
	sum := fmt.Sprintf("%d of %d right, %d cannot tell, %d wrong", right, runs, unknown+busy, wrong)
	if busy > 0 {
		sum += fmt.Sprintf("; of those that cannot tell %d blame a busy machine", busy)
	}
	t.Log(sum)
	if least := runs * 8 / len(bottlenecks); right < least || wrong > 0 {
		t.Errorf("%s: %d are to be right, and none wrong", sum, least)
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
