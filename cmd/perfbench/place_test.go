package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// things are what somebody finds in a store who knows nothing of perfbench: the name
// of each key or table, with all that is in it.
type things map[string][]string

// ground is a store of a kind with something of others in it.
type ground interface {
	// target is its URL, a place of the test's own.
	target() string
	// dump returns all that is there, but for what the server keeps for itself.
	dump(t *testing.T) things
	// plant makes a thing of others, with something in it or, where there can be such,
	// empty; false: there cannot.
	plant(t *testing.T, name string, full bool) bool
	// hollow leaves a thing where it is and takes all out of it; false: then it is gone.
	hollow(t *testing.T, name string) bool
	remove(t *testing.T, names ...string)
	// neighbours are names like ours that are not ours, under namespace acme and bare.
	neighbours() []string
	// record says whether a name is where perfbench writes down what it made.
	record(name string) bool
	// most is for how many names of ours things of others are made one by one.
	most() int
	// tabular says that all names are tables, which our rows do not fit into when others
	// have made them otherwise.
	tabular() bool
	// keys says that all names are keys, so that others may have one amid ours.
	keys() bool
}

// TestNothingOfOthersIsLost drives every profile on every kind of store with things of
// others around: under names like ours, under our very names, empty and full; while
// another run is under way, and after one that was killed. Each thing of others is
// there afterwards, byte for byte, and what is ours goes when it is told to.
func TestNothingOfOthersIsLost(t *testing.T) {
	t.Parallel()
	for _, p := range places {
		for kind := range strings.FieldsSeq(p.on) {
			t.Run(p.name+" on "+kind, func(t *testing.T) {
				t.Parallel()
				if p.small == "" {
					tier.Full(t, "other profiles here, and profiletest's Drive, beside data of others, on each store")
				} else if kind != p.small {
					tier.Full(t, "it is done on "+p.small)
				}
				s := &story{placed: p, t: t, kind: kind, g: grounds[kind](t), dir: t.TempDir()}
				if p.file != "" {
					path := filepath.Join(s.dir, "group.yaml")
					require.NoError(t, os.WriteFile(path, []byte(p.file), 0o600))
					s.args += " --file " + path
				}
				for i, name := range s.g.neighbours() {
					if full := i%2 == 0; !s.g.plant(t, name, full) {
						s.g.plant(t, name, true)
					}
				}
				s.others = s.g.dump(t)
				s.killed()
				s.cleanup("")
				s.single()
				s.taken() // what it leaves goes with the store
			})
		}
	}
}

// story is a plan on a store with things of others in it.
type story struct {
	placed
	t    *testing.T
	kind string
	g    ground
	dir  string
	// others is all that is not ours, ours the names of what the plan makes.
	others things
	ours   []string
}

// command carries out a command line, with words between blanks.
func (s *story) command(line string, more ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	var out, err bytes.Buffer
	args := append(strings.Fields(line), more...)
	code = run(s.t.Context(), cli.Env{Args: args, Environ: s.environ(), Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err})
	return code, out.String(), err.String()
}

func (s *story) environ() []string { return []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH")} }

// begin carries out a run of the plan, with more arguments, in namespace acme.
func (s *story) begin(more ...string) (code int, stderr string) {
	s.t.Helper()
	return s.beginIn("acme", s.args, more...)
}

func (s *story) beginIn(namespace, args string, more ...string) (code int, stderr string) {
	s.t.Helper()
	code, _, stderr = s.command("run --quiet --format json "+args, append(s.here(namespace), more...)...)
	return code, stderr
}

func (s *story) here(namespace string) []string {
	return []string{"--target", s.g.target(), "--namespace", namespace, "--out", filepath.Join(s.dir, "results")}
}

// works wants a run to come to its end.
func (s *story) works(when string, more ...string) {
	s.t.Helper()
	code, stderr := s.begin(more...)
	assert.Zero(s.t, code, "%s: %s", when, stderr)
}

// refused wants a run to be refused as bad input, and to have changed nothing.
func (s *story) refused(when string, more ...string) {
	s.t.Helper()
	before := s.g.dump(s.t)
	code, stderr := s.begin(more...)
	assert.Equal(s.t, fault.CodeInput, code, "%s: %s", when, stderr)
	assert.Empty(s.t, s.changes(before, true), "%s: exit code %d, and this has changed", when, code)
}

// deleted deletes all that is listed in namespace acme.
func (s *story) deleted(when string) {
	s.t.Helper()
	code, _, stderr := s.command("data delete --yes --namespace acme --target", s.g.target())
	assert.Zero(s.t, code, "%s: %s", when, stderr)
}

// clean wants nothing to be there but what is of others.
func (s *story) clean(when string) {
	s.t.Helper()
	if !assert.Empty(s.t, s.changes(s.others, true), when) {
		s.wipe()
	}
}

// intact wants all that was in a store to be there still, beside what else there is.
func (s *story) intact(when string, want things) {
	s.t.Helper()
	assert.Empty(s.t, s.changes(want, false), when)
}

// changes says what is different now from what was, a line each. What has come is not
// told of unless all is wanted.
func (s *story) changes(was things, all bool) (lines []string) {
	s.t.Helper()
	now := s.g.dump(s.t)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		got, there := now[name]
		if !there {
			lines = append(lines, name+" is gone")
			continue
		}
		lost := missingFrom(got, was[name])
		if !all && s.mayUpdate(name) && len(got) >= len(was[name]) {
			lost = nil
		}
		come := missingFrom(was[name], got)
		if len(lost) > 0 || all && len(come) > 0 {
			lines = append(lines, fmt.Sprintf("%s has lost %d entries %.200q and got %d", name, len(lost), lost, len(come)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if _, there := was[name]; all && !there {
			lines = append(lines, fmt.Sprintf("%s has come, with %d entries", name, len(now[name])))
		}
	}
	return lines
}

func (s *story) mayUpdate(name string) bool {
	for end := range strings.FieldsSeq(s.updates) {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// missingFrom lists what of want is not in got.
func missingFrom(got, want []string) (missing []string) {
	for _, line := range want {
		if !slices.Contains(got, line) {
			missing = append(missing, line)
		}
	}
	return missing
}

// wipe removes by hand all that is not of others, for the next chapter.
func (s *story) wipe() {
	s.t.Helper()
	now := s.g.dump(s.t)
	for name := range now {
		if _, ok := s.others[name]; ok {
			delete(now, name)
		}
	}
	s.g.remove(s.t, slices.Collect(maps.Keys(now))...)
}

// made is what a run in namespace acme has made, its records apart.
func (s *story) made(all things) (names, records []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, theirs := s.others[name]
		switch {
		case theirs:
		case strings.HasPrefix(name, "acme_probe_"): // there for a moment, before a run makes anything
		case s.g.record(name):
			records = append(records, name)
		default:
			names = append(names, name)
		}
	}
	return names, records
}

// holder is a run of the real program under way.
func (s *story) holder() *exec.Cmd {
	s.t.Helper()
	lasting := cmp.Or(s.lasting, "--duration 10m --rate 20")
	args := append([]string{"run", "--quiet"}, strings.Fields(s.args+" "+lasting)...)
	c := exec.Command(binary(s.t), append(args, s.here("acme")...)...)
	var stderr bytes.Buffer
	c.Dir, c.Env, c.Stderr = s.dir, s.environ(), &stderr
	s.t.Cleanup(func() {
		if s.t.Failed() {
			s.t.Logf("the run that was killed said: %s", stderr.String())
		}
	})
	require.NoError(s.t, c.Start())
	s.t.Cleanup(func() { _ = c.Process.Kill() }) // long gone, unless the test has failed
	writes := eventually(3*time.Minute, func() bool {
		names, _ := s.made(s.g.dump(s.t))
		return len(names) > 0
	})
	if !writes {
		_ = c.Process.Kill()
		_ = c.Wait() // it was killed
		require.FailNow(s.t, "the run writes nothing", stderr.String())
	}
	if s.lasting == "" {
		// A server that is slow carries out what a dead client has asked for after its lock has
		// gone; so it dies when it has made all of its places.
		require.NoError(s.t, measured(filepath.Join(s.dir, "results"), 1))
	}
	return c
}

// killed tells of a run that holds its places, is killed, and of the next one.
func (s *story) killed() {
	c := s.holder()
	all, err := os.ReadDir(filepath.Join(s.dir, "results"))
	require.NoError(s.t, err)
	require.Len(s.t, all, 1)
	id := all[0].Name()
	held := func(code int, stderr string) bool {
		return code == fault.CodeInput && strings.Contains(stderr, id) && strings.Contains(stderr, "since")
	}
	code, stderr := s.begin()
	assert.True(s.t, held(code, stderr) || s.reads && code == 0, "a second run: exit code %d: %s", code, stderr)
	code, stdout, stderr := s.command("data delete --yes --namespace acme --target", s.g.target())
	assert.True(s.t, held(code, stderr), "data delete mid-run: exit code %d: %s%s", code, stdout, stderr)
	require.NoError(s.t, c.Process.Kill())
	err = c.Wait()
	exit, ok := errors.AsType[*exec.ExitError](err)
	require.True(s.t, ok && !exit.Exited(), "the run had ended before it was killed: %v", err)
	require.True(s.t, eventually(time.Minute, func() bool {
		code, stderr = s.begin()
		return !held(code, stderr)
	}), "the lease of a dead run does not lapse")
	assert.Zero(s.t, code, "the run after one that was killed: %s", stderr)
	s.ours, _ = s.made(s.g.dump(s.t))
	s.listed("after a killed run and the next")
}

// listed wants what was made to be listed, and to go when it is deleted.
func (s *story) listed(when string) {
	s.intact(when, s.others)
	if slices.Contains(strings.Fields(s.alsoOn), s.kind) {
		code, stderr := s.beginIn("acme", s.also)
		assert.Zero(s.t, code, "%s: %s", s.also, stderr)
	}
	code, stdout, stderr := s.command("data list --json --namespace acme --target", s.g.target())
	var listed []any
	assert.Zero(s.t, code, stderr)
	require.NoError(s.t, json.Unmarshal([]byte(stdout), &listed))
	assert.NotEmpty(s.t, listed, "nothing is listed")
	s.deleted(when)
	s.clean("data delete " + when)
}

// cleanup tells of a run that takes away what it made.
func (s *story) cleanup(namespace string) {
	code, stderr := s.beginIn(namespace, s.args, "--cleanup")
	assert.Zero(s.t, code, "--cleanup in namespace %q: %s", namespace, stderr)
	s.clean("--cleanup in namespace \"" + namespace + "\"")
}

// taken tells of places that others have filled with what looks like ours, and of the
// same places when they are empty.
func (s *story) taken() {
	s.works("the first run", strings.Fields(s.theirs)...)
	ours, records := s.made(s.g.dump(s.t))
	s.g.remove(s.t, records...) // now it is of others
	s.shared("our names are taken")

	_, records = s.made(s.g.dump(s.t))
	s.g.remove(s.t, records...)
	left := false
	for _, name := range ours {
		left = s.g.hollow(s.t, name) || left
	}
	if left {
		s.shared("our names are taken by what is empty")
	}
}

// shared tells of a run that is refused what others have made, and of one that may
// write there.
func (s *story) shared(when string) {
	theirs := s.g.dump(s.t)
	s.refused(when)
	s.works(when+", --allow-existing", "--allow-existing")
	s.intact(when+", --allow-existing", theirs)
	again := []string{"--cleanup"}
	if s.apart && s.g.keys() {
		again = append(again, "--allow-existing")
	}
	s.works(when+", --cleanup", again...)
	s.intact(when+", --cleanup", theirs)
	s.deleted(when)
	s.intact(when+", data delete", theirs)
}

// single tells of one thing of others under each of the names that the plan makes.
func (s *story) single() {
	names := s.ours
	if n := s.g.most(); len(names) > n {
		names = append([]string{names[0]}, names[len(names)-n+1:]...)
	}
	if s.under != "" && s.g.keys() {
		names = append(names, s.under)
	}
	for i, name := range names {
		full := i%2 == 0
		if !s.g.plant(s.t, name, full) {
			full = s.g.plant(s.t, name, true)
		}
		when := "a thing of others named " + name
		if !full {
			when = "an empty thing of others named " + name
		}
		planted := s.g.dump(s.t)
		s.refused(when)
		code, stderr := s.begin("--allow-existing")
		if s.g.tabular() {
			assert.Equal(s.t, fault.CodeInput, code, "%s, --allow-existing: %s", when, stderr)
			assert.Contains(s.t, stderr, name+" already exists and was not made by perfbench, and it has no column ", when)
		}
		s.intact(when+", --allow-existing: "+stderr, planted)
		s.deleted(when)
		s.intact(when+", data delete", planted)
		s.wipe()
	}
}
