package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

// atOnce is how many jobs run side by side: one with the race detector compiles for long, one is go
// vet, and tests of the others wait for servers more than they compute.
const atOnce = 4

// rarely is added to the environment of compilers, linkers and tests, which spend a sixth of their
// processor time on collecting garbage otherwise. The race detector makes do without: it needs memory.
const rarely = "GOGC=400"

// job is one go test, or a check of the code, which has no packages.
type job struct {
	packages int
	env      []string
	command  []string
	// compile, if set, is done before: it compiles what the command needs.
	compile []string
	// polite leaves the processors to the other jobs where they want them.
	polite bool
}

// perform carries the job out. An error means that something in it failed.
func (j job) perform(ctx context.Context, r *results, env []string) error {
	if len(j.compile) > 0 {
		cmd := j.of(ctx, j.compile)
		cmd.Env = append(append(os.Environ(), rarely), j.env...)
		_ = cmd.Run() // go test says what is wrong
	}
	cmd := j.of(ctx, j.command)
	cmd.Env = append(append(os.Environ(), env...), j.env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		r.failOf(j, err.Error())
		return err
	}
	r.read(out)
	err = cmd.Wait()
	r.write(said.Bytes())
	if err != nil {
		r.failOf(j, said.String())
	}
	return err
}

// of returns one of the job's commands.
func (j job) of(ctx context.Context, words []string) *exec.Cmd {
	if j.polite {
		words = append([]string{"nice", "-n", "5"}, words...)
	}
	return command(ctx, words[0], words[1:]...)
}

// failOf records what a command itself said when it failed, if its tests have not said so.
func (r *results) failOf(j job, said string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.failures) == 0 || j.packages == 0 {
		r.failed(strings.Join(j.command[:min(2, len(j.command))], " "), said)
	}
}

// pkg is a package that has tests.
type pkg struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	// Deps are what its test program is built of.
	Deps []string
}

// longest are the packages whose tests take longest: they come first, so that none of
// them runs alone at the end. Those of whole are runs, and reports of runs.
var (
	whole = []string{
		"cmd/perfbench", "profiles/group", "profiles/eventstore", "profiles/authz", "profiles/tx/saga", "profiles/mix", "profiles/ingestion",
		"profiles/tx/baseline", "profiles/tx/pbm", "profiles/tx", "internal/report",
	}
	long = []string{"internal/store/redis/traffic", "internal/store/cassandra", "internal/store/coherence", "internal/store/sqlstore", "internal/broker"}
	// waiting are those that wait for servers and clocks, and compute next to nothing: they run beside whole runs.
	// computing are those that keep one processor busy for long: they run beside those that wait, too.
	computing = []string{"tui", "internal/engine", "internal/find", "internal/session"}
	waiting   = []string{"internal/store/redis", "internal/lab", "internal/remote", "internal/store/redis/link"}
)

// sqlite is in the test programs of some packages, which the detector would have compiled again:
// generated code that takes a tenth of all compiling.
const sqlite = "modernc.org/sqlite/lib"

// computed matches tests whose time goes into figures, pictures and the disks of servers. Other tests of their
// packages have the same goroutines, and make test has these: the detector does without.
const computed = "^(TestResponseTimesAreThoseOfTheory|TestARealServerIsAQueue|TestGapsRepeat|TestLoopAllocatesNothing|TestMemoryDoesNotGrowWithTheRun" +
	"|TestBrokenFiguresDisagreeWithTheEngine|TestBursts|TestAPowerCutLosesWhatSQLServersHadNotSynced|TestRedisThatAlwaysSyncsLosesNothing" +
	"|TestSeekFindsWhatTheoryHas.*|TestAStoreComesBack.*|TestFewerCallsThanTheRateAreNoBacklog|TestTruncatedFilesStayConsistent|TestReadingAheadIsBounded" +
	"|TestFindTellsTooFewThreadsFromTheStore|TestFindBlamesAStoreThatIsTooSlowForTheCondition|TestFindDoesNotBlameWhatWasStolenForAFullQueue" +
	"|TestFindTellsThatItWasAnotherMixWithoutALimit|TestFindTriesMoreThreadsBeforeItBlamesTheStore|TestAStepKeepsTheFiguresOfItsConditions" +
	"|TestAStepWithoutItsPercentileIsDoubtful|TestACrowdedMachineDoesNotLowerWhatHeld|TestASearchWaitsForACrowdToPass|TestUsersComeAtARateAndWaitForTheirAnswers" +
	"|TestFindTellsWhatWasDoneWithoutALimit|TestFindDoesNotBlameACrowdForAFullQueue|TestFindOnAStoreOfKnownCapacity|TestFindOverThreads" +
	"|TestVirtualTimeHasNoAlarms|TestLoopTakesNoLock|TestALongLogTakesNoMoreMemory|TestOrdersLoadWithoutGrowthInMemory" +
	"|TestAKeyThatDoesNothingSaysSo|TestSharedConnectionsAreToldWhereverTheyAre|TestTheBottomLineShowsOnlyKeysThatHelpListsToo" +
	"|Test(Dashboard|LowerPanel)?Pictures?(Of.*)?|TestEveryThemeSaysTheSame|TestEachTerminalGetsTheColoursThatItHas" +
	"|TestNoScreenIsLargerThanTheTerminal|TestEveryKeyThatIsOfferedDoesSomething)$"

var figures = regexp.MustCompile(computed)

// tests are the files with the tests of a package.
func (p pkg) tests() []string { return slices.Concat(p.TestGoFiles, p.XTestGoFiles) }

// list returns the packages that have tests, and not only benchmarks, the longest first.
func list(ctx context.Context, patterns []string) ([]pkg, error) {
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	cmd := command(ctx, "go", append([]string{"list", "-test", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Deps"}, patterns...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var all []pkg
	built := map[string][]string{} // of what the test programs are, by the package
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if of, ok := strings.CutSuffix(p.ImportPath, ".test"); ok {
			built[of] = p.Deps
		} else if !strings.Contains(p.ImportPath, " ") && has(p.Dir, p.tests(), isTest) {
			all = append(all, p)
		}
	}
	for i := range all {
		all[i].Deps = built[all[i].ImportPath]
	}
	first := slices.Concat(whole[:4], waiting[:2], computing, whole[4:7], waiting[2:], whole[7:], long)
	rank := func(p pkg) int {
		i := slices.Index(first, short(p.ImportPath))
		if i < 0 {
			return len(first)
		}
		return i
	}
	slices.SortStableFunc(all, func(a, b pkg) int { return rank(a) - rank(b) })
	return all, nil
}

func paths(all []pkg) (out []string) {
	for _, p := range all {
		out = append(out, p.ImportPath)
	}
	return out
}

// compile compiles tests, too, and links nothing.
var compile = []string{"go", "list", "-test", "-export", "-f", "{{with .Error}}{{.}}{{end}}"}

// common are the arguments of every go test: vet is a job of its own, and a test program
// without symbols for a debugger is linked in four fifths of the time.
var common = []string{"test", "-json", "-vet=off", "-ldflags=-s", "-timeout=20m"}

// small is everything but what [tier.Full] leaves. Tests wait for servers more than
// they compute: three more packages than processors. Their order is not shuffled, so that go
// need not repeat a package that uses no servers and is as it was when it last passed.
func small(all []pkg) []job {
	args := append(slices.Clone(common), "-p="+strconv.Itoa(runtime.NumCPU()+3))
	return []job{{packages: len(all), env: []string{"CGO_ENABLED=0", rarely, tier.Env + "=some"}, command: append(append([]string{"go"}, args...), paths(all)...)}}
}

// large is what the small tier left, by its list, and all tests that the race detector can
// find something in; without a C compiler there is none. go vet is in it because it reads
// every package of every library, which takes a third as long as compiling them all.
func large(all []pkg, leftovers string, noRace, raceAll bool) ([]job, error) {
	text, err := os.ReadFile(leftovers)
	if err != nil {
		return nil, fmt.Errorf("what make test has left is not known: run it first: %w", err)
	}
	var rest []left
	if err := json.Unmarshal(text, &rest); err != nil {
		return nil, fmt.Errorf("%s: %w: run make test again", leftovers, err)
	}
	var raced []pkg
	if !noRace {
		raced = all
		if !raceAll {
			raced = slices.DeleteFunc(slices.Clone(all), alone)
		}
	}
	tests := map[string][]string{}
	for _, l := range rest {
		tests[l.Package] = append(tests[l.Package], l.Test)
	}
	tier := tier.Env + "=all"
	shuffled := append(slices.Clone(common), "-shuffle=on")
	jobs := []job{{env: []string{"CGO_ENABLED=0", rarely}, command: []string{"go", "vet", "./..."}, polite: true}}
	if len(raced) > 0 {
		flags := []string{"-race", "-p=2"}
		// SQLite in Go is generated code and not ours to check: with the detector, it takes
		// seven times the processor time. Each histogram belongs to one goroutine, and all
		// screens are drawn by one. NATS' server and gRPC stay, though they are not ours: what
		// they inline of sync would not be seen, and encoding/json would look like a race.
		for _, module := range []string{
			"modernc.org/sqlite/lib", "modernc.org/libc/...", "modernc.org/memory", "github.com/HdrHistogram/...",
			"charm.land/lipgloss/...", "github.com/charmbracelet/x/ansi/...", "github.com/clipperhouse/...",
		} {
			flags = append(flags, "-gcflags="+module+"=-race=false")
		}
		args := slices.Concat([]string{"go"}, shuffled, flags)
		if !raceAll {
			args = append(args, "-skip="+computed)
		}
		jobs = append(jobs, job{
			packages: len(raced), env: []string{"CGO_ENABLED=1", tier}, polite: true,
			command: append(args, paths(raced)...), compile: slices.Concat(compile, flags, paths(raced)),
		})
	}
	for _, p := range all {
		names := tests[p.ImportPath]
		if slices.ContainsFunc(raced, func(q pkg) bool { return q.ImportPath == p.ImportPath }) {
			// The detector's job has the others.
			names = slices.DeleteFunc(names, func(name string) bool { return raceAll || !figures.MatchString(name) })
		}
		if len(names) == 0 {
			continue
		}
		args := append(append([]string{"go"}, shuffled...), "-run="+only(names), p.ImportPath)
		jobs = append(jobs, job{packages: 1, env: []string{"CGO_ENABLED=0", rarely, tier}, command: args})
	}
	return jobs, nil
}

// only is a pattern for -run that these cases match, and no others beside them.
func only(names []string) string {
	var all []string
	for _, name := range names {
		var levels []string
		for level := range strings.SplitSeq(name, "/") {
			levels = append(levels, "^"+regexp.QuoteMeta(level)+"$")
		}
		all = append(all, strings.Join(levels, "/"))
	}
	return strings.Join(all, "|")
}

var (
	starts = regexp.MustCompile(`(^|\s)go [a-z][A-Za-z.]*\(|\.Go\(|AfterFunc`)
	shares = regexp.MustCompile(`sync\.|atomic\.`)
	// begins is what starts goroutines in a test.
	begins = regexp.MustCompile(`Parallel\(|synctest|httptest|labtest|profiletest`)
	// isTest is what benchmarks and TestMain are not.
	isTest = regexp.MustCompile(`(?m)^func (Test|Fuzz|Example)\w*\((t \*testing\.T|f \*testing\.F)?\)`)
)

// alone reports whether the race detector has nothing to find in a package, or too little
// for what it costs. With it, whole runs take three times the processor time, although the
// tests of the packages below them have checked their goroutines. In others the package's own files neither
// start a goroutine nor hold anything that goroutines share, or its tests start none.
func alone(p pkg) bool {
	if slices.Contains(whole, short(p.ImportPath)) || slices.Contains(p.Deps, sqlite) {
		return true
	}
	return !has(p.Dir, p.GoFiles, starts, shares) || !has(p.Dir, slices.Concat(p.GoFiles, p.tests()), starts, begins)
}

// has reports whether one of the files matches one of the patterns.
func has(dir string, files []string, patterns ...*regexp.Regexp) bool {
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join(dir, name))
		for _, p := range patterns {
			if err != nil || p.Match(text) { // what cannot be read may have anything
				return true
			}
		}
	}
	return false
}

// lacks reports whether a command is among what is missing.
func lacks(lines []string, command string) bool {
	return slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, command+" ") })
}
