// Package labtest gives tests real servers. It is for tests only. If the server's
// program is missing, the test fails in CI (CI=true) and is skipped elsewhere, naming
// the package.
//
//	srv := labtest.Redis(t)
//	client := redis.NewClient(&redis.Options{Addr: srv.Addr()})
//	srv.Kill() // as a crash would
//	srv.Restart()
//
// Servers that start at once are a test's own, and gone when it ends. Others are
// shared, by a package ([Shared]), by all packages of one go test ([Common]), or in
// turn ([ToKill]); a [Keeper] has those. None outlives the process that started it.
package labtest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/lab"
)

const limit = 150 * time.Second // for any one start or stop; the lab has its own, shorter

// Server is a running service. A method that cannot do what it says fails the test, so
// only the test's goroutine may call it.
type Server struct {
	t     testing.TB
	dir   string
	state lab.State
	// restart restarts a process; nil if this process does so itself.
	restart func(ctx context.Context, process string) error
}

// Redis starts a private redis-server. The args are those of its command line
// ("--requirepass", "secret"); passwords among them are not part of the URL.
func Redis(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "redis", lab.Options{Args: args})
}

// Cluster starts three masters, "node-1" to "node-3", that form a cluster. All of them
// get the args.
func Cluster(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "redis-cluster", lab.Options{Args: args})
}

// Sentinel starts "master" and "replica", which get the args, and "sentinel-1" to
// "sentinel-3", which consider a master dead after a second. Clients ask for the master
// "perfbench".
func Sentinel(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "redis-sentinel", lab.Options{Args: args})
}

// MariaDB starts a private MariaDB server with the user pb, who may do anything
// and has no password, and the database perfbench. The args are settings of its
// configuration ("--max-connections", "10"). A start takes about a second: let
// the cases of a test share one.
func MariaDB(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "mariadb", lab.Options{Args: args})
}

// Postgres starts a private PostgreSQL server with the user pb, who may do
// anything and has no password, and the database perfbench. The args are settings
// of its configuration ("--max_connections", "10"). A start takes about a second:
// let the cases of a test share one.
func Postgres(t testing.TB, args ...string) *Server {
	t.Helper()
	return start(t, "postgres", lab.Options{Args: args})
}

func start(t testing.TB, name string, o lab.Options) *Server {
	t.Helper()
	Need(t, name)
	s := &Server{t: t, dir: t.TempDir()}
	t.Cleanup(func() { s.stop(name) })                        // t.Context has ended by then
	ctx, cancel := context.WithTimeout(t.Context(), 10*limit) // the first Cassandra ever fetches
	defer cancel()
	o.Tied, o.Brief, o.Environ = true, brief(t), os.Environ()
	var err error
	if s.state, err = lab.Up(ctx, s.dir, name, o); err != nil {
		t.Fatalf("labtest: %v", err)
	}
	return s
}

// brief reports whether a server is for a test, which wants it quickly, rather than for
// a benchmark, which wants it as fast as possible.
func brief(t testing.TB) bool {
	_, bench := t.(*testing.B)
	return !bench
}

// Need skips the test, or fails it in CI, if a program of the service is missing. Every
// function that returns a server does this by itself; a test with much to do before
// that calls Need first.
func Need(t testing.TB, name string) {
	t.Helper()
	for _, s := range lab.Services() {
		if s.Name != name {
			continue
		}
		for _, n := range s.Needs {
			if _, err := n.FindIn(nil, os.Environ()); err != nil {
				lacks(t, err, n.Package)
			}
		}
	}
}

// lacks skips or fails the test because a program is missing.
func lacks(t testing.TB, err error, pkg string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("labtest: %v: install the Debian package %s", err, pkg)
	}
	t.Skipf("SKIPPED, NOTHING WAS TESTED: %v: install the Debian package %s", err, pkg)
}

// LogsEnv names in the environment of tests the folder for the logs of servers whose test
// failed; without it they go to a new folder for temporary files.
const LogsEnv = "PERFBENCH_TEST_LOGS"

// keepLogs keeps the logs of the servers of a test that failed, and says where.
func (s *Server) keepLogs() {
	dir := os.Getenv(LogsEnv)
	var err error
	if dir == "" {
		dir, err = os.MkdirTemp("", "perfbench-logs-")
	} else {
		err = os.MkdirAll(dir, 0o755)
	}
	for _, p := range s.state.Processes {
		if err != nil {
			break
		}
		var log []byte
		if log, err = os.ReadFile(filepath.Join(p.Dir, "log")); err == nil {
			path := filepath.Join(dir, strings.NewReplacer("/", "-", " ", "-").Replace(s.t.Name())+"."+p.Name+".log")
			err = os.WriteFile(path, log, 0o644)
			s.t.Logf("the log of %s: %s", p.Name, path)
		}
	}
	if err != nil {
		s.t.Logf("labtest: keep the logs of the servers: %v", err)
	}
}

// stop ends the servers, and keeps their logs when the test failed.
func (s *Server) stop(name string) {
	if s.t.Failed() {
		s.keepLogs()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := lab.Down(ctx, s.dir, name, nil); err != nil && s.state.Name != "" {
		s.t.Errorf("labtest: %v", err)
	}
}

// URL returns the service as a target, without a password.
func (s *Server) URL() string { return s.state.URL }

// Patience are the parameters of a target that may be slow because it shares a
// processor with many others. Whatever a test waits for, unless it is a timeout, it
// should wait for with these.
const Patience = "dial_timeout=2m&read_timeout=2m&write_timeout=2m"

// Patient returns URL with [Patience].
func (s *Server) Patient() string { return s.URL() + "?" + Patience }

// Addr returns the host:port of the first server: the only one, the first node, the
// first master.
func (s *Server) Addr() string { return s.state.Processes[0].Addr }

// Addrs returns the host:port of every server whose name begins with prefix: "node",
// "sentinel", "" for all.
func (s *Server) Addrs(prefix string) []string {
	var addrs []string
	for _, p := range s.state.Processes {
		if strings.HasPrefix(p.Name, prefix) {
			addrs = append(addrs, p.Addr)
		}
	}
	return addrs
}

// PIDs returns the process ids of all servers.
func (s *Server) PIDs() []int {
	var ids []int
	for _, p := range s.state.Processes {
		ids = append(ids, p.PID)
	}
	return ids
}

// Dir returns the state folder of the lab, for lab.Resolve and lab.Status.
func (s *Server) Dir() string { return s.dir }

// Jolokia returns the URL at which a Java server reports over HTTP what its JVM
// measures, with a slash at its end; empty for other servers.
func (s *Server) Jolokia() string { return s.state.Jolokia }

// Version returns the version that the server reports, if any.
func (s *Server) Version() string { return s.state.Version }

// Kill ends the named servers, or the first one, as a crash would, and returns
// when they are gone.
func (s *Server) Kill(names ...string) {
	s.t.Helper()
	s.each("kill", names, func(ctx context.Context, name string) error {
		return lab.Kill(ctx, s.dir, s.state.Name, name)
	})
}

// Restart restarts the named servers, or the first one, on the same port after a Kill,
// and returns when they answer. Redis servers come back empty without "--appendonly",
// "yes".
func (s *Server) Restart(names ...string) {
	s.t.Helper()
	s.each("restart", names, func(ctx context.Context, name string) error {
		if s.restart != nil {
			return s.restart(ctx, name)
		}
		return lab.Restart(ctx, s.dir, s.state.Name, name)
	})
}

// Pause freezes the named servers, or the first one: connections stay open, and
// nothing answers until Resume.
func (s *Server) Pause(names ...string) {
	s.t.Helper()
	s.each("pause", names, func(_ context.Context, name string) error {
		return lab.Pause(s.dir, s.state.Name, name)
	})
}

// Resume lets the named servers, or the first one, continue after a Pause.
func (s *Server) Resume(names ...string) {
	s.t.Helper()
	s.each("resume", names, func(_ context.Context, name string) error {
		return lab.Resume(s.dir, s.state.Name, name)
	})
}

func (s *Server) each(what string, names []string, do func(ctx context.Context, name string) error) {
	s.t.Helper()
	if len(names) == 0 {
		names = []string{s.state.Processes[0].Name}
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	for _, name := range names {
		if err := do(ctx, name); err != nil {
			s.t.Fatalf("labtest: %s %s: %v", what, name, err)
		}
	}
}
