package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// told are results that note what a person is told.
func told(t *testing.T) (*results, *bytes.Buffer, *[]string) {
	t.Helper()
	var all bytes.Buffer
	var lines []string
	return newResults(&all, func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }), &all, &lines
}

func read(t *testing.T, file string) (*results, *bytes.Buffer, *[]string) {
	t.Helper()
	r, all, lines := told(t)
	f, err := os.Open(filepath.Join("testdata", file))
	require.NoError(t, err)
	defer f.Close()
	r.read(f)
	return r, all, lines
}

// Cases count, not the tests that they are part of; the reasons of skips and the failures
// come to the end.
func TestEverythingIsCountedOnce(t *testing.T) {
	r, all, lines := read(t, "run.json")
	assert.Equal(t, "5 packages (1 as they were when they last passed), 3 cases passed, 4 failed, 1 skipped (1: needs a thing), 1 left to make test-all, 1 left to make proofs", r.summary())
	assert.Equal(t, []left{{"github.com/perfbench/perfbench/a", "TestLeft"}}, r.left)
	assert.Equal(t, []string{
		"FAILED: a TestMany/bad (0.5 s)", "FAILED: b TestStuck (did not end)", "FAILED: c does not compile", "FAILED: d outside its tests",
	}, *lines)
	var b strings.Builder
	r.details(&b)
	assert.Contains(t, b.String(), "FAILED: a TestMany/bad (0.5 s)\n        x_test.go:3: it is bad\n")
	assert.Contains(t, b.String(), "panic: test timed out")
	assert.Contains(t, b.String(), "c.go:1:1: syntax error")
	assert.Contains(t, b.String(), "exit status 2")
	assert.NotContains(t, b.String(), "=== RUN")
	assert.Contains(t, all.String(), "=== a\n")
	assert.Equal(t, "5 of 6 packages; at work: e", r.progress(6))
	r.longest()
	assert.Contains(t, all.String(), "=== the longest cases, in seconds\n    2.1 a TestGood\n    0.1 a TestMany/good\n    0.1 b TestFirst\n")
}

// A story of testscript says after its reason where it was and what it had done.
func TestTheReasonOfAStoryIsItsOwn(t *testing.T) {
	const why = tier.LeftTo + "another story"
	assert.Equal(t, why, reason("    script_test.go:94: "+why+"\n    testscript.go:609: WORK=$WORK\n        HOME=$WORK\n"))
	assert.Equal(t, "the second", reason("    a_test.go:1: the first\n    a_test.go:2: the second\n"))
	assert.Equal(t, "no reason", reason(""))
}

func TestLongOutputIsCut(t *testing.T) {
	r, _, _ := told(t)
	r.failed("x", strings.Repeat("line\n", most+7))
	var b strings.Builder
	r.details(&b)
	assert.Contains(t, b.String(), "… and 7 more lines")
}

// What a story of testscript did before it failed may be a thousand lines.
func TestAFailureShowsFirstWhatFailed(t *testing.T) {
	r, _, _ := told(t)
	r.failed("x", strings.Repeat("        > exits 0 run\n", 2*most)+"        FAIL: testdata/script/x.txtar:51: exit code 5, want 0\n        stderr:\n")
	var b strings.Builder
	r.details(&b)
	assert.Equal(t, fmt.Sprintf(`
FAILED: x
            FAIL: testdata/script/x.txtar:51: exit code 5, want 0
            stderr:
    … and %d more lines
`, 2*most), b.String())
}

func TestACommandFindsTheKeeperAndItsFailureIsOurs(t *testing.T) {
	for command, fails := range map[string]bool{
		`test -S "$` + labtest.KeeperEnv + `"`: false,
		`echo "out of order" >&2; exit 3`:      true,
		`kill -KILL $$`:                        true,
	} {
		t.Run(command, func(t *testing.T) {
			r, _, _ := told(t)
			dir, err := os.MkdirTemp("", "keeper") // the path of a socket may have some hundred bytes only
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			socket := filepath.Join(dir, "s")
			l, err := net.Listen("unix", socket)
			require.NoError(t, err)
			defer l.Close()
			j := job{command: []string{"sh", "-c", command}}
			err = j.perform(t.Context(), r, []string{labtest.KeeperEnv + "=" + socket})
			assert.Equal(t, fails, err != nil)
			assert.Equal(t, fails, len(r.failures) > 0, "%v", r.failures)
		})
	}
	r, _, _ := told(t)
	require.Error(t, job{command: []string{"/nowhere/at-all"}}.perform(t.Context(), r, nil))
	assert.Len(t, r.failures, 1)
}

// The longest jobs come first in the list, and none of them may be left for the end.
func TestTheFirstJobsBeginFirst(t *testing.T) {
	r, _, _ := told(t)
	file := filepath.Join(t.TempDir(), "began")
	var jobs []job
	for i := range 3 * atOnce {
		jobs = append(jobs, job{command: []string{"sh", "-c", fmt.Sprintf("echo %d >>%s; while [ $(wc -l <%s) -lt %d ]; do sleep 0.01; done", i, file, file, atOnce)}})
	}
	l := &lab{out: &bytes.Buffer{}, began: time.Now()}
	assert.False(t, l.perform(t.Context(), r, jobs, nil))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	began := strings.Fields(string(text))
	require.Len(t, began, len(jobs))
	assert.ElementsMatch(t, []string{"0", "1", "2", "3"}, began[:atOnce])
}

func TestPackagesWithTestsAreListed(t *testing.T) {
	all, err := list(t.Context(), []string{"../bench", "../labtest", "../../store/sqlstore"})
	require.NoError(t, err)
	var names []string
	for _, p := range all {
		names = append(names, short(p.ImportPath))
		assert.Contains(t, p.Deps, "testing")
	}
	assert.Equal(t, []string{"internal/store/sqlstore", "internal/testing/labtest"}, names, "the longest first, and none that has only benchmarks")
	assert.True(t, alone(all[0]), "SQLite is in it")
	assert.False(t, alone(all[1]))
}

func TestNamedPackagesAreThere(t *testing.T) {
	for _, name := range slices.Concat(whole, waiting, long) {
		assert.DirExists(t, filepath.Join("../../..", name))
	}
}

// What the small tier has left runs in the large one, and nothing beside it.
func TestTheRestIsWhatWasLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "left.json")
	_, err := large(nil, path, true, false)
	require.ErrorContains(t, err, "run it first")
	const module = "github.com/perfbench/perfbench/"
	require.NoError(t, keep(path, []left{{module + "cmd/perfbench", "TestA/b_(c)"}, {module + "cmd/perfbench", "TestD"}, {module + "internal/b", "TestE"}, {module + "internal/b", "TestGapsRepeat"}}))
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\nvar mu sync.Mutex\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "x_test.go"), []byte("func TestX(t *testing.T) {\n\tt.Parallel()\n"), 0o600))
	all := []pkg{
		{ImportPath: module + "cmd/perfbench", Dir: dir, GoFiles: []string{"x.go"}, TestGoFiles: []string{"x_test.go"}},
		{ImportPath: module + "internal/b", Dir: dir, GoFiles: []string{"x.go"}, TestGoFiles: []string{"x_test.go"}},
		{ImportPath: module + "internal/c", Dir: dir, TestGoFiles: []string{"x_test.go"}},
		{ImportPath: module + "internal/e", Dir: dir, GoFiles: []string{"x.go"}, TestGoFiles: []string{"x_test.go"}, Deps: []string{"fmt", sqlite}},
	}
	jobs, err := large(all, path, false, false)
	require.NoError(t, err)
	require.Len(t, jobs, 4)
	assert.Contains(t, jobs[0].command, "vet")
	assert.Contains(t, jobs[1].command, "-race")
	assert.Contains(t, jobs[1].compile, "-race")
	assert.NotContains(t, jobs[1].env, rarely, "it needs memory")
	assert.Contains(t, jobs[2].env, rarely)
	assert.Contains(t, jobs[1].command, "-skip="+computed)
	assert.Equal(t, module+"internal/b", jobs[1].command[len(jobs[1].command)-1], "the only one in which there is something to find")
	assert.Contains(t, jobs[2].command, `-run=^TestA$/^b_\(c\)$|^TestD$`)
	assert.Contains(t, jobs[2].env, tier.Env+"=all")
	assert.Contains(t, jobs[3].command, "-run=^TestGapsRepeat$", "what the detector does without")

	jobs, err = large(all, path, true, false)
	require.NoError(t, err)
	require.Len(t, jobs, 3, "without a detector, what is left of each package")
	assert.Contains(t, jobs[2].command, "-run=^TestE$|^TestGapsRepeat$")
	jobs, err = large(all, path, false, true)
	require.NoError(t, err)
	require.Len(t, jobs, 2, "with all under the detector, nothing else")
	assert.Equal(t, 4, jobs[1].packages)
	assert.NotContains(t, jobs[1].command, "-skip="+computed)
}
