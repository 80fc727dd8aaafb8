package main

import (
	"encoding/json"
	"errors"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// Who may answer an encrypted connection that nobody checks is told wherever
// results are read.
func TestUncheckedEncryptionIsToldEverywhere(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for name, tt := range map[string]struct {
		target func(t *testing.T) string
		how    string
	}{
		"redis": {func(t *testing.T) string { return with(labtest.RedisTLS(t, labtest.TLSOptions{}).URL(), "insecure=1") }, "insecure=1"},
		"postgres": {func(t *testing.T) string {
			return with(labtest.PostgresTLS(t, labtest.TLSOptions{}).URL(), "sslmode=require")
		}, "sslmode=require"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "postgres" {
				tier.Full(t, "the case redis")
			}
			p := start(t, path, "--target", tt.target(t), "--count", "100", "--threads", "2")
			require.Equal(t, 0, p.end(t), p.stderr.String())
			want := "is encrypted, but the server's identity is not checked (" + tt.how + ")"
			assert.Contains(t, p.stderr.String(), "warning: the connection to ")
			assert.Contains(t, p.stderr.String(), want)
			assert.Contains(t, p.stdout.String(), want)
			for _, format := range []string{"text", "markdown", "html", "json"} {
				report := exec.Command(path, "report", "latest", "--format", format, "--out", "-")
				report.Dir = p.Dir
				out, err := report.Output()
				require.NoError(t, err, format)
				words := strings.Join(strings.Fields(html.UnescapeString(string(out))), " ") // a line may be broken anywhere
				assert.Contains(t, words, want, format)
			}
		})
	}
}

// Whatever the store or broker: that nobody checks who answers is said before a run.
func TestUncheckedEncryptionIsWarnedOfOnEveryStore(t *testing.T) {
	for target, how := range map[string]string{
		"rediss://h?insecure=1":              "insecure=1",
		"rediss+cluster://h?insecure=1":      "insecure=1",
		"mysql://u@h/db?tls=1&insecure=1":    "insecure=1",
		"postgres://u@h/db?sslmode=require":  "sslmode=require",
		"postgres://u@h/db?tls=1&insecure=1": "insecure=1",
		"cassandra://h/k?tls=1&insecure=1":   "insecure=1",
		"coherence://h?tls=1&insecure=1":     "insecure=1",
		"amqps://h?insecure=1":               "insecure=1",
	} {
		args := []string{"run", "--profile", "ingestion", "--dry-run", "--target", target}
		if strings.HasPrefix(target, "amqps:") {
			args = []string{"run", "--profile", "event-store", "--dry-run", "--target", "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "--set", "via=" + target}
		}
		var out, stderr strings.Builder
		environ := []string{"HOME=" + t.TempDir(), "PERFBENCH_TARGET_PASSWORD=x"}
		code := run(t.Context(), cli.Env{Args: args, Environ: environ, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &stderr})
		assert.Zero(t, code, "%s: %s", target, stderr.String())
		assert.Contains(t, out.String()+stderr.String(), "is encrypted, but the server's identity is not checked ("+how+")", target)
	}
}

// with is the URL of a server with parameters of the test's own.
func with(url, params string) string {
	bare, _, _ := strings.Cut(url, "?")
	return bare + "?" + params
}

// logged is a program under way whose stderr can be read meanwhile.
type logged struct {
	*process
	log string
}

func startLogged(t *testing.T, path, profile string, args ...string) *logged {
	t.Helper()
	return startCommand(t, path, t.TempDir(), append([]string{"run", "--profile", profile}, args...)...)
}

// startCommand starts any command in a folder.
func startCommand(t *testing.T, path, dir string, args ...string) *logged {
	t.Helper()
	p := &logged{process: &process{Cmd: exec.Command(path, args...), out: filepath.Join(dir, "results")}, log: filepath.Join(dir, "stderr")}
	stderr, err := os.Create(p.log)
	require.NoError(t, err)
	t.Cleanup(func() { _ = stderr.Close() })
	p.Dir, p.Stdout, p.Cmd.Stderr = dir, &p.stdout, stderr
	p.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	require.NoError(t, p.Start())
	t.Cleanup(func() { _ = p.Process.Kill() }) // long gone, unless the test has failed
	return p
}

// text is what it has said so far.
func (p *logged) text(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(p.log)
	require.NoError(t, err)
	return string(data)
}

func (p *logged) says(t *testing.T, what string) {
	t.Helper()
	if !assert.Eventually(t, func() bool { return strings.Contains(p.text(t), what) }, 5*time.Minute, 20*time.Millisecond) {
		require.FailNow(t, "it does not say what it should", "expected %q, and it said:\n%s", what, p.text(t))
	}
}

// A store or broker that stays dead ends a run soon after its time: the run says what
// it waits for and for how long, and names what it gave up. (p.end kills what lasts
// five minutes.)
func TestStoreThatStaysDead(t *testing.T) {
	t.Parallel()
	path := binary(t)
	redis := func(t *testing.T) *labtest.Server { return labtest.Redis(t) }
	for name, tt := range map[string]struct {
		server  func(t *testing.T) *labtest.Server
		profile string
		broker  bool   // beside a store that goes on
		params  string // of the target
		args    []string
		waits   string
		named   string
	}{
		"redis, events": {server: redis, profile: "event-store", args: []string{"--rate", "2000"}, waits: eventsAway, named: "events were still on their way to the store when the drain was given up"},
		"redis, load":   {server: redis, profile: "authz", args: []string{"--set", "users=200000"}, waits: loadAway, named: gaveUp},
		"redis":         {server: redis, profile: "ingestion", args: []string{"--rate", "5000", "--drain", "3s"}, waits: storeAway, named: "the store did not answer for"},
		"rabbitmq": {
			server:  func(t *testing.T) *labtest.Server { return labtest.RabbitMQ(t, "--disk_free_limit.absolute", "50MB") },
			profile: "event-store", broker: true, args: []string{"--rate", "2000"},
			waits: "events on their way through the broker to the store; given up when none of it has ended for 1 s (--drain)",
			named: "events were still on their way through the broker to the store when the drain was given up",
		},
		"cassandra": {
			server:  func(t *testing.T) *labtest.Server { return labtest.ToKill(t, "cassandra") },
			profile: "ingestion", params: "?" + labtest.Patience,
			args:  []string{"--rate", "2000", "--drain", "3s"},
			waits: storeAway, named: "the store did not answer for",
		},
		"mariadb": {
			server:  func(t *testing.T) *labtest.Server { return labtest.MariaDB(t) },
			profile: "authz", args: []string{"--set", "users=20000"}, waits: loadAway, named: gaveUp,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tier.Full(t, "the story dies")
			srv := tt.server(t)
			args := []string{"--target", srv.URL() + tt.params}
			if tt.broker {
				args = []string{"--target", "memory:", "--set", "via=" + srv.URL()}
			}
			p := startLogged(t, path, tt.profile, append(append(args, "--duration", late, "--drain", "1s"), tt.args...)...)
			require.NoError(t, measured(p.out, 1))
			srv.Kill()
			assert.Equal(t, 3, p.end(t), p.text(t))
			require.Contains(t, p.text(t), tt.waits)
			assert.NotRegexp(t, `(?m)^00:(0[6-9]|[1-5]\d)\S* · 100 %`, p.text(t), "it does not call itself done while it waits")
			run := p.folder(t).Run
			assert.Contains(t, run.Verification.Summary+run.EndedBy, tt.named)
		})
	}
}

// late is when a run ends to whose store something happens after its first second: not
// before it has happened, on a crowded machine either.
const late = "5s"

// What a run says that it waits for.
const (
	storeAway  = "waiting for the store to answer, "
	eventsAway = "events on their way to the store; given up when none of it has ended for 1 s (--drain)"
	loadAway   = "that the store does not accept; given up when none of it has ended for 1 s (--drain)"
	gaveUp     = " (--drain)" // of one item, or of all: whichever is found first
)

// Calls that hang when the time is up are given up after the drain, and named: those
// of a phase that ends with the time, and those of a load, which goes on beyond it.
func TestStoreThatHangsAtTheEnd(t *testing.T) {
	t.Parallel()
	path := binary(t)
	hang := func(t *testing.T, srv *labtest.Server, profile string, args ...string) (p *logged) {
		t.Helper()
		glue := "?"
		if strings.Contains(srv.URL(), "?") {
			glue = "&"
		}
		p = startLogged(t, path, profile, append(args, "--target", srv.URL()+glue+"read_timeout=10m&write_timeout=10m", "--duration", late, "--drain", "1s")...)
		require.NoError(t, measured(p.out, 1))
		srv.Pause()
		defer srv.Resume()
		assert.Equal(t, 3, p.end(t), p.text(t))
		assert.Contains(t, p.text(t), "the time is up: waiting for ")
		assert.Equal(t, "incomplete", p.folder(t).Run.Verification.State)
		return p
	}
	t.Run("phase", func(t *testing.T) {
		t.Parallel()
		notices := strings.Join(hang(t, labtest.Redis(t), "ingestion", "--rate", "5000").folder(t).Run.Notices, "\n")
		assert.Contains(t, notices, "gave up at the end, after 1 s (--drain), on ")
		assert.Contains(t, notices, "under way in eligibility (putall)")
	})
	t.Run("load", func(t *testing.T) {
		t.Parallel()
		tier.Full(t, "the case phase")
		p := hang(t, labtest.Redis(t), "authz", "--set", "users=200000")
		assert.Contains(t, p.text(t), loadAway)
		assert.Contains(t, p.folder(t).Run.EndedBy, "that the store does not accept: none of it ended for ")
	})
	// A commit, and the closing of a prepared statement, heed no context.
	t.Run("mariadb", func(t *testing.T) {
		t.Parallel()
		tier.Full(t, "the case phase")
		hang(t, labtest.MariaDB(t), "tx", "--rate", "500")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		tier.Full(t, "the case phase")
		hang(t, labtest.Postgres(t), "tx", "--preset", "saga", "--rate", "200")
	})
}

// A server that is starting or loading when the run ends is waited for.
func TestServerThatLoadsAtTheEnd(t *testing.T) {
	t.Parallel()
	path := binary(t)
	t.Run("redis loading", func(t *testing.T) {
		t.Parallel()
		tier.Full(t, "the case postgres starting")
		srv := labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always", "--key-load-delay", "5000", "--loading-process-events-interval-bytes", "1024")
		// Keys of others, each of which takes 5 ms to load.
		redisCLI(t, srv, "EVAL", "for i = 1, 8000 do redis.call('SET', 'other' .. i, string.rep('x', 100)) end", "0")
		redisCLI(t, srv, "BGREWRITEAOF")
		require.Eventually(t, func() bool {
			return strings.Contains(redisCLI(t, srv, "INFO", "persistence"), "aof_rewrites:1") && strings.Contains(redisCLI(t, srv, "INFO", "persistence"), "aof_rewrite_in_progress:0")
		}, 5*time.Minute, 20*time.Millisecond)
		p := startLogged(t, path, "ingestion", "--target", srv.URL(), "--duration", late, "--drain", "50s", "--rate", "5000")
		require.NoError(t, measured(p.out, 1))
		srv.Kill()
		up := make(chan struct{})
		go func() { // it comes back when the data is loaded
			defer close(up)
			srv.Restart()
		}()
		p.says(t, "waiting for the store to answer, ")
		redisCLI(t, srv, "CONFIG", "SET", "key-load-delay", "0")
		<-up
		assert.Contains(t, []int{0, 5}, p.end(t), "5 where most calls fell into the time without a server: %s", p.text(t))
		assert.Equal(t, "passed", p.folder(t).Run.Verification.State)
	})
	t.Run("postgres starting", func(t *testing.T) {
		t.Parallel()
		srv := labtest.Postgres(t)
		p := startLogged(t, path, "ingestion", "--target", srv.URL(), "--duration", late, "--drain", "50s", "--rate", "5000")
		require.NoError(t, measured(p.out, 1))
		srv.Kill()
		p.says(t, "waiting for the store to answer, ")
		srv.Restart()
		assert.Contains(t, []int{0, 5}, p.end(t), "5 where most calls fell into the time without a server: %s", p.text(t))
		assert.Equal(t, "passed", p.folder(t).Run.Verification.State)
	})
}

func redisCLI(t *testing.T, srv *labtest.Server, args ...string) string {
	t.Helper()
	_, port, _ := strings.Cut(srv.Addr(), ":")
	out, err := exec.Command("redis-cli", append([]string{"-p", port}, args...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}

// Facts of another shape than a profile writes end report with the field and exit
// code 2, of every profile.
func TestReportOnDamagedFacts(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for profile, tt := range map[string]struct {
		args, formats []string
		broken, field string
	}{
		"ingestion":   {[]string{"--count", "200"}, []string{"padogrid", "padogrid-csv"}, `{"maps":[{"total_entry_count":"many"}]}`, "facts.maps.total_entry_count is a string"},
		"group":       {[]string{"--count", "200"}, []string{"padogrid"}, `{"groups":7}`, "facts.groups is a number"},
		"tx":          {[]string{"--count", "200"}, []string{"padogrid"}, `{"maps":{"a":1}}`, "facts.maps is a object"},
		"authz":       {[]string{"--set", "users=40", "--set", "groups=10", "--set", "load=only"}, []string{"oae", "oae-html"}, `{"phases":"none"}`, "facts.phases is a string"},
		"event-store": {[]string{"--set", "events=500", "--set", "query=off"}, []string{"th2"}, `{"steps":[3]}`, "facts.steps is a number"},
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			p := startLogged(t, path, profile, append(tt.args, "--target", "memory:", "--format", "json")...)
			require.Equal(t, 0, p.end(t), p.text(t))
			file := filepath.Join(p.folder(t).Dir, rundir.RunFile)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, facts := range []string{tt.broken, `"words"`, `[1]`} {
				var run map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(data, &run))
				run["facts"] = json.RawMessage(facts)
				damaged, err := json.Marshal(run)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(file, damaged, 0o600))
				for _, format := range tt.formats {
					report := exec.Command(path, "report", "latest", "--format", format, "--out", "-")
					report.Dir = p.Dir
					out, err := report.CombinedOutput()
					exit, ok := errors.AsType[*exec.ExitError](err)
					require.True(t, ok, "%s of %s: %s", format, facts, out)
					assert.Equal(t, 2, exit.ExitCode(), "%s of %s: %s", format, facts, out)
					want := "facts is a "
					if facts == tt.broken {
						want = tt.field
					}
					words := strings.Join(strings.Fields(html.UnescapeString(string(out))), " ") // a line may be broken anywhere
					assert.Contains(t, words, want, format)
				}
			}
		})
	}
}

// Names from a file with control characters are refused, and reach neither the
// terminal nor the disk.
func TestControlCharactersInNames(t *testing.T) {
	t.Parallel()
	path := binary(t)
	for profile, file := range map[string]string{
		"group": "groupNames=g\\u001b[31m1\ng\\u001b[31m1.operations=op1\nop1.map=m\nop1.testCase=put\n",
	} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "x.properties"), []byte(file), 0o600))
			c := exec.Command(path, "run", "--profile", profile, "--file", "x.properties", "--target", "memory:", "--count", "100")
			c.Dir = dir
			out, err := c.CombinedOutput()
			exit, ok := errors.AsType[*exec.ExitError](err)
			require.True(t, ok, string(out))
			assert.Equal(t, 2, exit.ExitCode(), string(out))
			assert.NotContains(t, string(out), "\x1b")
			_, err = os.Stat(filepath.Join(dir, "results"))
			assert.ErrorIs(t, err, os.ErrNotExist)
		})
	}
}

// A run whose work failed has no figures, though its pauses and its first calls succeeded:
// exit code 5. One whose store refuses everything has 3.
func TestARunOfWhichMostCallsFailedExitsWithFive(t *testing.T) {
	t.Parallel()
	tier.Full(t, "the story stores, which ends with code 5")
	srv := labtest.Redis(t)
	p := startLogged(t, binary(t), "group", "--preset", "put-sleep", "--target", srv.URL(), "--duration", "5s")
	require.NoError(t, measured(p.out, 1))
	redisCLI(t, srv, "CONFIG", "SET", "maxmemory", "1")
	assert.Equal(t, 5, p.end(t), p.text(t))
	assert.Contains(t, p.text(t), "the run is INVALID: ")
	assert.Equal(t, "INVALID", p.folder(t).Run.Verdict.State)
}

// Two processes on one server, as two application servers in front of it: it counts the calls
// of both, so neither compares them, and each says so. Their joint document has figures.
func TestTwoProcessesOnOneServerPassTheirVerification(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(t *testing.T) string{
		"redis": func(t *testing.T) string { return labtest.Redis(t).URL() },
		"postgres": func(t *testing.T) string {
			url := labtest.Postgres(t, "--shared_preload_libraries=pg_stat_statements").URL()
			_, err := openSQL(t, "pgx", url).ExecContext(t.Context(), "CREATE EXTENSION pg_stat_statements")
			require.NoError(t, err)
			return url
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tier.Full(t, "TestNothingOfOthersIsLost beside a run under way, and the counts of each server's calls in profiles/tx/saga")
			passSideBySide(t, start(t))
		})
	}
}

// passSideBySide carries out two runs at a time on one server.
func passSideBySide(t *testing.T, url string) {
	t.Helper()
	path := binary(t)
	args := func(namespace string) []string {
		return []string{"--preset", "saga", "--target", url, "--namespace", namespace, "--duration", "15s", "--rate", "100"}
	}
	one := startLogged(t, path, "tx", args("one")...)
	require.NoError(t, measured(one.out, 1))
	two := startLogged(t, path, "tx", args("two")...)
	for _, p := range []*logged{one, two} {
		require.Equal(t, 0, p.end(t), p.text(t))
	}
	passedTogether(t, one, two)
}

// passedTogether checks that two runs of sagas on one server passed without comparing calls,
// and that their joint document has figures.
func passedTogether(t *testing.T, both ...*logged) {
	t.Helper()
	args := []string{"report"}
	for i, p := range both {
		run := p.folder(t).Run
		assert.Equal(t, "passed", run.Verification.State, run.Verification.Summary)
		assert.Contains(t, run.Verification.Summary, "were not compared: another perfbench used the same server", "process %d", i+1)
		found, err := filepath.Glob(filepath.Join(p.out, "*", "run.json"))
		require.NoError(t, err)
		require.Len(t, found, 1)
		args = append(args, filepath.Dir(found[0]))
	}
	out, err := exec.Command(binary(t), append(args, "--format", "ab", "--out", "-")...).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Regexp(t, `Requests per second: +[1-9]`, string(out))
	assert.NotContains(t, string(out), "NaN")
}

// A process that begins after another and ends before it is seen, too, though neither at the
// beginning nor at the end of the other does it hold a lease.
func TestANeighbourThatCameAndWentIsSeen(t *testing.T) {
	t.Parallel()
	tier.Full(t, "internal/store/redis' TestNeighboursAreSeenByTheirLeases")
	path, url := binary(t), labtest.Redis(t).URL()
	whole := startLogged(t, path, "tx", "--preset", "saga", "--target", url, "--namespace", "whole", "--duration", "1h", "--rate", "100")
	require.NoError(t, measured(whole.out, 1))
	within := startLogged(t, path, "tx", "--preset", "saga", "--target", url, "--namespace", "within", "--duration", "3s", "--rate", "100")
	require.Equal(t, 0, within.end(t), within.text(t))
	id := whole.folder(t).Run.ID
	require.NoError(t, whole.Process.Signal(os.Interrupt))
	require.Equal(t, 130, whole.end(t), whole.text(t))
	passedTogether(t, whole, within)
	assert.Contains(t, within.folder(t).Run.Verification.Summary, id)
	assert.Contains(t, whole.folder(t).Run.Verification.Summary, within.folder(t).Run.ID)
}

// A search on a store that is killed ends with it, and does not find that no rate holds.
func TestASearchEndsWithItsStore(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	p := startCommand(t, binary(t), t.TempDir(), "find", "ingestion", "--under", "p99<1h", "--set", "drain=1s", "--target", srv.URL())
	require.NoError(t, measured(p.out, 2))
	srv.Kill()
	assert.Equal(t, 3, p.end(t), p.text(t))
	assert.Contains(t, p.text(t), "(--drain), and the store does not answer")
	assert.NotContains(t, p.text(t), "holds under")
}
