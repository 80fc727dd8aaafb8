package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
	Elapsed                                                float64
}

// results is what go test has told so far. Its methods may be called from any goroutine.
type results struct {
	all io.Writer            // gets the whole output, one package after the other
	say func(string, ...any) // tells a person what is going on

	mu       sync.Mutex
	running  map[string]time.Time // the packages under test, since when
	packages int                  // tested to their end
	known    int                  // packages of which go knew that they would pass again
	passed   int                  // cases
	skipped  map[string]int       // cases by the reason
	left     []left
	proofs   int    // cases left to make proofs
	took     []took // cases that were carried out
	failures []failure
}

// left is a case that the small tier leaves to the large one.
type left struct{ Package, Test string }

// took is how long a case took, while others ran beside it.
type took struct {
	what    string
	seconds float64
}

// failure is a case that failed, or a package that did outside its cases.
type failure struct{ what, output string }

func newResults(all io.Writer, say func(string, ...any)) *results {
	return &results{all: all, say: say, running: map[string]time.Time{}, skipped: map[string]int{}}
}

// tested is a package under test.
type tested struct {
	name  string
	cases map[string]*testCase
	order []string
	out   bytes.Buffer // what belongs to no case
	whole bytes.Buffer
}

// testCase is a test or a subtest.
type testCase struct {
	out    bytes.Buffer
	parent bool // of others, which count in its place
	broken bool // one of those failed
	ended  bool
}

// read takes in the output of one go test -json until its end.
func (r *results) read(from io.Reader) {
	lines := bufio.NewReader(from)
	packages, builds := map[string]*tested{}, map[string]*bytes.Buffer{}
	for {
		line, err := lines.ReadBytes('\n')
		var e event
		switch {
		case len(line) == 0:
		case json.Unmarshal(line, &e) != nil || e.Action == "":
			r.write(line) // go itself has something to say
		case e.Action == "build-output":
			if builds[e.ImportPath] == nil {
				builds[e.ImportPath] = &bytes.Buffer{}
			}
			builds[e.ImportPath].WriteString(e.Output)
		case e.Package != "":
			p := packages[e.Package]
			if p == nil {
				p = &tested{name: short(e.Package), cases: map[string]*testCase{}}
				packages[e.Package] = p
			}
			r.take(p, e, builds[e.FailedBuild])
		}
		if err != nil {
			return
		}
	}
}

// short is a package within its module.
func short(path string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(path, "github.com/"), "/")
	_, rest, _ = strings.Cut(rest, "/")
	return rest
}

func (r *results) write(text []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, _ = r.all.Write(text)
}

// take takes in what go test says of a package; build is what its compiler said.
func (r *results) take(p *tested, e event, build *bytes.Buffer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p.whole.WriteString(e.Output)
	if e.Test == "" {
		r.takePackage(p, e, build)
		return
	}
	c := p.cases[e.Test]
	if c == nil {
		c = &testCase{}
		p.cases[e.Test] = c
		p.order = append(p.order, e.Test)
		for above := e.Test; strings.Contains(above, "/"); {
			above = above[:strings.LastIndexByte(above, '/')]
			if a := p.cases[above]; a != nil {
				a.parent = true
			}
		}
	}
	switch e.Action {
	case "output":
		c.out.WriteString(e.Output)
		return
	case "pass":
		if !c.parent {
			r.passed++
			r.took = append(r.took, took{p.name + " " + e.Test, e.Elapsed})
		}
	case "skip":
		why := reason(c.out.String())
		switch {
		case strings.HasPrefix(why, tier.LeftTo):
			r.left = append(r.left, left{e.Package, e.Test})
		case strings.HasPrefix(why, tier.LeftToProofs):
			r.proofs++
		default:
			r.skipped[why]++
		}
	case "fail":
		r.fail(p, e.Test, e.Elapsed)
	default:
		return
	}
	c.ended = true
	c.out = bytes.Buffer{}
}

// fail records a case that failed, unless one below it did.
func (r *results) fail(p *tested, name string, took float64) {
	c := p.cases[name]
	if !c.broken {
		r.failed(fmt.Sprintf("%s %s (%.1f s)", p.name, name, took), c.out.String())
	}
	for above := name; strings.Contains(above, "/"); {
		above = above[:strings.LastIndexByte(above, '/')]
		if a := p.cases[above]; a != nil {
			a.broken = true
		}
	}
}

func (r *results) failed(what, output string) {
	r.failures = append(r.failures, failure{what, output})
	r.say("FAILED: %s", what)
}

// takePackage takes in what go test says of a package as a whole.
func (r *results) takePackage(p *tested, e event, build *bytes.Buffer) {
	switch e.Action {
	case "start":
		r.running[p.name] = time.Now()
		return
	case "output":
		p.out.WriteString(e.Output)
		if strings.HasSuffix(e.Output, "\t(cached)\n") {
			r.known++
		}
		return
	case "pass", "fail":
	default: // it has no tests
		delete(r.running, p.name)
		return
	}
	delete(r.running, p.name)
	r.packages++
	fmt.Fprintf(r.all, "=== %s\n%s", p.name, p.whole.Bytes())
	if e.Action == "pass" {
		return
	}
	known := len(r.failures)
	for _, name := range slices.Backward(p.order) { // those below others first
		if c := p.cases[name]; !c.ended && !c.parent {
			r.failed(p.name+" "+name+" (did not end)", c.out.String()+p.out.String())
		}
	}
	switch {
	case build != nil:
		r.failed(p.name+" does not compile", build.String())
		_, _ = r.all.Write(build.Bytes())
	case len(r.failures) == known && !slices.ContainsFunc(r.failures, func(f failure) bool { return strings.HasPrefix(f.what, p.name+" ") }):
		r.failed(p.name+" outside its tests", p.out.String())
	}
}

var said = regexp.MustCompile(`(?m)^\s*(\S+\.go):\d+: (.*)$`)

// reason returns why a test was skipped: what it said last, but for testscript, which goes
// on to tell its own.
func reason(output string) string {
	why := "no reason"
	for _, line := range said.FindAllStringSubmatch(output, -1) {
		if line[1] != "testscript.go" {
			why = line[2]
		}
	}
	return why
}

// progress tells how far the tests are, of so many packages.
func (r *results) progress(of int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for name := range r.running {
		names = append(names, name)
	}
	// Those that have run for the longest; go starts a package before it compiles it.
	slices.SortFunc(names, func(a, b string) int { return r.running[a].Compare(r.running[b]) })
	text := fmt.Sprintf("%d of %d packages", r.packages, of)
	if len(names) > 3 {
		names = names[:3]
	}
	if len(names) > 0 {
		text += "; at work: " + strings.Join(names, ", ")
	}
	return text
}

// most is how many lines are shown of a failure, the file with the whole output has all; and of
// the longest cases.
const most = 40

// details shows the failures.
func (r *results) details(w io.Writer) {
	for _, f := range r.failures {
		fmt.Fprintf(w, "\nFAILED: %s\n", f.what)
		var lines []string
		for line := range strings.Lines(f.output) {
			if text := strings.TrimSpace(line); !strings.HasPrefix(text, "===") && !strings.HasPrefix(text, "--- ") && text != "" {
				lines = append(lines, strings.TrimRight(line, "\n"))
			}
		}
		first := whatFailed(lines)
		shown := lines[first:min(len(lines), first+most)]
		for _, line := range shown {
			fmt.Fprintln(w, "   ", line)
		}
		if more := len(lines) - len(shown); more > 0 {
			fmt.Fprintf(w, "    … and %d more lines\n", more)
		}
	}
}

// whatFailed returns the line that says it: a story of testscript tells all that it has done
// before.
func whatFailed(lines []string) int {
	return max(slices.IndexFunc(lines, func(line string) bool {
		return strings.HasPrefix(strings.TrimSpace(line), "FAIL: ")
	}), 0)
}

// longest tells which cases took longest, in the file with the whole output: by it one sees
// what is worth being made shorter.
func (r *results) longest() {
	slices.SortStableFunc(r.took, func(a, b took) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintln(r.all, "=== the longest cases, in seconds")
	for _, t := range r.took[:min(len(r.took), most)] {
		fmt.Fprintf(r.all, "%7.1f %s\n", t.seconds, t.what)
	}
}

// summary is one line for everything.
func (r *results) summary() string {
	text := fmt.Sprintf("%d packages", r.packages)
	if r.known > 0 {
		text += fmt.Sprintf(" (%d as they were when they last passed)", r.known)
	}
	text += fmt.Sprintf(", %d cases passed, %d failed", r.passed, len(r.failures))
	all, reasons := 0, []string{}
	for why, n := range r.skipped {
		all += n
		reasons = append(reasons, fmt.Sprintf("%d: %s", n, why))
	}
	slices.Sort(reasons)
	text += fmt.Sprintf(", %d skipped", all)
	if all > 0 {
		text += " (" + strings.Join(reasons, "; ") + ")"
	}
	if len(r.left) > 0 {
		text += fmt.Sprintf(", %d left to make test-all", len(r.left))
	}
	if r.proofs > 0 {
		text += fmt.Sprintf(", %d left to make proofs", r.proofs)
	}
	return text
}
