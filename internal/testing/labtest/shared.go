package labtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// own is this process's keeper, from the first use to the end of Run.
var own struct {
	sync.Mutex
	keeper *Keeper
	ends   bool // Run will close it
}

func ownKeeper(t testing.TB) *Keeper {
	t.Helper()
	own.Lock()
	defer own.Unlock()
	if !own.ends {
		t.Fatal("labtest: servers that tests share would leave their data: this package needs a TestMain with labtest.Run")
	}
	if own.keeper == nil {
		k, err := NewKeeper()
		if err != nil {
			t.Fatalf("labtest: %v", err)
		}
		own.keeper = k
	}
	return own.keeper
}

// widest returns the keeper shared by the most tests: that of all packages if there is
// one, otherwise that of this package.
func widest(t testing.TB) asker {
	t.Helper()
	if path := os.Getenv(KeeperEnv); path != "" {
		return remote(path)
	}
	return ownKeeper(t)
}

// atOnce is how many parallel tests of a package run at once on a small machine: fewer if
// all packages share a keeper, because their servers then run side by side too.
func atOnce() int {
	least := 8
	if os.Getenv(KeeperEnv) != "" {
		least = 4
	}
	return max(least, runtime.GOMAXPROCS(0))
}

// Shared returns the server of a service, such as "redis" or "mariadb", that all tests
// of the package use: each must use its own namespace or database. It starts with the
// first request, and ends with Run.
func Shared(t testing.TB, name string) *Server {
	t.Helper()
	return from(t, ownKeeper(t), request{Name: name, Service: name})
}

// Common returns the server of a service that the tests of all packages use: each must
// use names that no other package has, and none may kill, freeze or control it.
func Common(t testing.TB, service string) *Server {
	t.Helper()
	r := commonOf(service)
	if !brief(t) {
		r.Name += " for benchmarks"
	}
	srv := from(t, widest(t), r)
	lent.Store(srv.URL(), true)
	return srv
}

// commonOf requests the server of a service that all packages use.
func commonOf(service string) request {
	r := request{Name: service, Service: service}
	if service == "cassandra" {
		r.Args = common
	}
	return r
}

// lent holds the targets that Common has returned.
var lent sync.Map

// IsCommon reports whether a target, whatever its options, is a server of [Common].
func IsCommon(target string) bool {
	base, _, _ := strings.Cut(target, "?")
	_, ok := lent.Load(base)
	return ok
}

// ToKill returns a server that no other test has until this one ends, to be killed,
// frozen and restarted. Tests of all packages take turns with it, and each must use
// names that no other has, as it may contain what others have left. It loses nothing
// that it has acknowledged, as far as servers of its kind can guarantee that.
func ToKill(t testing.TB, service string) *Server {
	t.Helper()
	r := request{Name: service + " to kill", Service: service, Turn: true}
	if service == "cassandra" {
		r.Args = durable
	}
	return from(t, widest(t), r)
}

// from gets a server from a keeper, until the test ends.
func from(t testing.TB, k asker, r request) *Server {
	t.Helper()
	Need(t, r.Service)
	r.Brief = brief(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*limit) // the first ones ever download
	defer cancel()
	a, release := k.do(ctx, r)
	t.Cleanup(release)
	if a.Err != "" {
		t.Fatalf("labtest: %s", a.Err)
	}
	return &Server{t: t, dir: a.Dir, state: a.State, restart: func(ctx context.Context, process string) error {
		again, _ := k.do(ctx, request{Name: r.Name, Service: r.Service, Restart: process})
		if again.Err != "" {
			return errors.New(again.Err)
		}
		return nil
	}}
}

// Run runs the tests of a package that share servers, ends those servers that belong to
// this package alone, and returns the code to exit with:
//
//	func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) }
//
// Such tests wait for servers far more than they compute: unless -parallel says
// otherwise, more of them run at once than there are processors. Unless they are
// benchmarks, or GOGC says otherwise, garbage is collected less often, as it is in the
// runs that they start: there is memory enough, and it takes a seventh of their time.
func Run(m *testing.M) int {
	flag.Parse()
	if os.Getenv("GOGC") == "" && flag.Lookup("test.bench").Value.String() == "" {
		const rarely = 400
		debug.SetGCPercent(rarely)
		if err := os.Setenv("GOGC", strconv.Itoa(rarely)); err != nil {
			fmt.Fprintln(os.Stderr, "labtest:", err) //nolint:forbidigo // there is no test to tell
			return 2
		}
	}
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		if err := flag.Set("test.parallel", strconv.Itoa(atOnce())); err != nil {
			fmt.Fprintln(os.Stderr, "labtest:", err) //nolint:forbidigo // there is no test to tell
			return 2
		}
	}
	own.Lock()
	own.ends = true
	own.Unlock()
	code := m.Run()
	own.Lock()
	defer own.Unlock()
	if own.keeper == nil {
		return code
	}
	if err := own.keeper.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "labtest:", err) //nolint:forbidigo // there is no test to tell
		code = max(code, 1)
	}
	return code
}
