package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// TestScripts runs the stories of testdata/script with the real program. Beside
// testscript's own commands they have these:
//
//	exits CODE ARGS...     runs perfbench and wants this exit code, or one of several: 0|5
//	plain FILE|stdout|stderr  wants no control characters
//	redis VAR [ARGS...]    starts a server of the test's own, its URL in $VAR
//	redis-cli VAR ARGS...  sends a command to it
//	memcached VAR          starts a Memcached
//	postgres VAR [ARGS...], mariadb VAR [ARGS...]  start a database each
//	redis-stop VAR, redis-start VAR
//	measured N [DIR]       waits until a run below results has written N rows
//	absent TEXT            wants TEXT in no file below the work folder
//	$EXAMPLES              the folder docs/examples
//	rest INSTEAD           leaves the story to make test-all; see tier.Full
func TestScripts(t *testing.T) {
	t.Parallel()
	bin := filepath.Dir(binary(t))
	shown, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:             "testdata/script",
		ContinueOnError: false,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("EXAMPLES", shown)
			e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
			e.Values["t"] = e.T()
			e.Values["servers"] = map[string]*labtest.Server{}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": cmdExits, "plain": cmdPlain, "redis": cmdRedis, "memcached": cmdMemcached, "postgres": cmdDatabase(labtest.Postgres), "mariadb": cmdDatabase(labtest.MariaDB), "redis-cli": cmdRedisCLI,
			"redis-stop": cmdRedisStop, "redis-start": cmdRedisStart, "measured": cmdMeasured, "absent": cmdAbsent, "rest": cmdRest,
		},
	})
}

func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: exits CODE ARGS...")
	}
	want := strings.Split(args[0], "|")
	err := ts.Exec("perfbench", args[1:]...)
	got := 0
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if stderr := ts.ReadFile("stderr"); strings.Contains(stderr, "goroutine ") || strings.Contains(stderr, "panic") {
		ts.Fatalf("a stack trace: %s", stderr)
	}
	if !slices.Contains(want, strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s; stdout:\n%s\nstderr:\n%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func cmdPlain(ts *testscript.TestScript, _ bool, args []string) {
	for _, name := range args {
		for i, r := range ts.ReadFile(name) {
			if r != '\n' && r != '\t' && unicode.IsControl(r) {
				ts.Fatalf("%s has control character %q at %d", name, r, i)
			}
		}
	}
}

func servers(ts *testscript.TestScript) map[string]*labtest.Server {
	return ts.Value("servers").(map[string]*labtest.Server)
}

func tb(ts *testscript.TestScript) testing.TB {
	t, ok := ts.Value("t").(testing.TB)
	if !ok {
		ts.Fatalf("no testing.TB")
	}
	return t
}

func cmdRest(ts *testscript.TestScript, _ bool, args []string) {
	tier.Full(tb(ts), strings.Join(args, " "))
}

func cmdRedis(ts *testscript.TestScript, _ bool, args []string) {
	srv := labtest.Redis(tb(ts), args[1:]...)
	servers(ts)[args[0]] = srv
	ts.Setenv(args[0], srv.URL())
	ts.Setenv(args[0]+"_ADDR", srv.Addr())
}

func cmdMemcached(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], labtest.Memcached(tb(ts)).URL())
}

func cmdDatabase(start func(testing.TB, ...string) *labtest.Server) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Setenv(args[0], start(tb(ts), args[1:]...).URL())
	}
}

func cmdRedisCLI(ts *testscript.TestScript, _ bool, args []string) {
	host, port, _ := strings.Cut(servers(ts)[args[0]].Addr(), ":")
	ts.Check(ts.Exec("redis-cli", append([]string{"--no-auth-warning", "-h", host, "-p", port}, args[1:]...)...))
}

func cmdRedisStop(ts *testscript.TestScript, _ bool, args []string)  { servers(ts)[args[0]].Kill() }
func cmdRedisStart(ts *testscript.TestScript, _ bool, args []string) { servers(ts)[args[0]].Restart() }

func cmdMeasured(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(measured(ts.MkAbs(append(args, "results")[1]), n))
}

// measured waits until the newest run below out has n rows in its series.
func measured(out string, n int) error {
	if eventually(5*time.Minute, func() bool {
		files, _ := filepath.Glob(filepath.Join(out, "*", "series.csv")) // the pattern is ours, and right
		if len(files) == 0 {
			return false
		}
		data, err := os.ReadFile(files[len(files)-1])
		return err == nil && strings.Count(string(data), "\n") > n
	}) {
		return nil
	}
	return fmt.Errorf("no run has measured %d rows in time", n)
}

// eventually asks until the answer is yes, which it returns, or it has been too long.
// Unlike testify's it asks on the goroutine of the test.
func eventually(long time.Duration, yes func() bool) bool {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(long); !yes(); <-tick.C {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

func cmdAbsent(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".secret") {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), args[0]) {
			err = fmt.Errorf("%s holds %q", path, args[0])
		}
		return err
	}))
	for _, name := range []string{"stdout", "stderr"} {
		if strings.Contains(ts.ReadFile(name), args[0]) {
			ts.Fatalf("%s holds %q", name, args[0])
		}
	}
}
