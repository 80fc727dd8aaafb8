package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/perfbench/perfbench/"

func TestImportsPointDown(t *testing.T) {
	for _, p := range ours(t) {
		if forTests(p.name) {
			continue
		}
		for _, wrong := range breaches(p) {
			assert.Fail(t, wrong)
		}
	}
}

// A package on no floor could import what it likes.
func TestEveryPackageHasAFloor(t *testing.T) {
	for _, p := range ours(t) {
		assert.True(t, forTests(p.name) || floorOf(p.name) >= 0, "%s fits no row of the table of layers", p.name)
	}
}

func TestOnlyTestsUseTestSupport(t *testing.T) {
	for _, p := range ours(t) {
		if forTests(p.name) {
			continue
		}
		for _, to := range p.imports {
			assert.False(t, forTests(to), "%s imports %s, which is there for tests", p.name, to)
		}
	}
}

// The rules themselves have to be able to fail.
func TestBreachesAreFound(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    pkg
		want int
	}{
		{"measure importing what a store is", pkg{name: "internal/measure", imports: []string{"internal/store"}}, 1},
		{"the engine importing a driver", pkg{name: "internal/engine", imports: []string{"internal/store/redis"}}, 1},
		{"a screen reaching the engine through another package", pkg{name: "tui", deps: []string{"internal/engine"}}, 1},
		{"a chart reaching a profile", pkg{name: "tui/chart", deps: []string{"profiles/ingestion"}}, 1},
		{"a screen opening another", pkg{name: "tui/picker", imports: []string{"tui/results"}}, 1},
		{"a profile that uses another", pkg{name: "profiles/tx", imports: []string{"profiles/authz"}}, 1},
		{"a store that uses another", pkg{name: "internal/store/redis", imports: []string{"internal/store/cassandra"}}, 1},
		{"a run that picks its adapter", pkg{name: "profiles/group/run", deps: []string{"profiles/group/onredis"}}, 1},
		{"a package on a floor of its own", pkg{name: "internal/somewhere", imports: []string{"internal/fault"}}, 1},
		{"the vocabulary importing the engine", pkg{name: "internal/workload", imports: []string{"internal/engine"}}, 1},
		{"a profile using a store's package is fine", pkg{name: "profiles/ingestion", imports: []string{"internal/store/redis"}}, 0},
		{"a mode using what they share is fine", pkg{name: "profiles/tx/pbm", imports: []string{"profiles/padogrid"}}, 0},
		{"the parts of a store among themselves are fine", pkg{name: "internal/store/redis", imports: []string{"internal/store/redis/link"}}, 0},
		{"the command ties it all together", pkg{name: "cmd/perfbench", imports: []string{"internal/engine", "profiles", "tui"}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Len(t, breaches(tt.p), tt.want)
		})
	}
}

// pkg is one of our packages; names are relative to the module, and packages of
// others are left out.
type pkg struct {
	name          string
	imports, deps []string // direct; direct and indirect
}

// breaches says, a line each, which arrows of p point up or sideways.
func breaches(p pkg) (wrong []string) {
	own := floorOf(p.name)
	for _, to := range p.imports {
		switch floor := floorOf(to); {
		case own < 0 || floor > own:
			wrong = append(wrong, fmt.Sprintf("%s imports %s, which is on a higher floor", p.name, to))
		case floor == own && house(to) != house(p.name), strangers(p.name, to):
			wrong = append(wrong, fmt.Sprintf("%s imports its neighbour %s", p.name, to))
		}
	}
	for _, rule := range never {
		if !matches(rule.from, p.name) {
			continue
		}
		for _, to := range p.deps {
			if matches(rule.to, to) {
				wrong = append(wrong, fmt.Sprintf("%s depends on %s: %s", p.name, to, rule.why))
			}
		}
	}
	return wrong
}

// floorOf returns the floor of a package, counted from the ground; -1: it has none. A
// pattern without dots goes before one with them.
func floorOf(name string) int {
	found := -1
	for i, l := range layers {
		for pattern := range strings.FieldsSeq(l.packages) {
			if pattern == name {
				return i
			}
			if matches(pattern, name) {
				found = i
			}
		}
	}
	return found
}

// strangers tells whether two packages stand below different neighbours, of whom neither
// may know the other.
func strangers(from, to string) bool {
	for _, folder := range neighbours {
		a, b := child(folder, from), child(folder, to)
		if a != "" && b != "" && a != b {
			return !slices.Contains(shared, to) && !slices.Contains(lists, from)
		}
	}
	return false
}

// house is the folder that a package shares with those it may import on its own floor.
func house(name string) string {
	top, rest, _ := strings.Cut(name, "/")
	if top == "internal" {
		first, _, _ := strings.Cut(rest, "/")
		return top + "/" + first
	}
	return top
}

// child is the first name below folder on the way to name, or "".
func child(folder, name string) string {
	rest, below := strings.CutPrefix(name, folder+"/")
	if !below {
		return ""
	}
	first, _, _ := strings.Cut(rest, "/")
	return first
}

func matches(pattern, name string) bool {
	if folder, deep := strings.CutSuffix(pattern, "/..."); deep {
		return name == folder || strings.HasPrefix(name, folder+"/")
	}
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// forTests tells whether a package exists only for the tests of others; such packages may
// import whatever they try out.
func forTests(name string) bool { return strings.HasPrefix(name, "internal/testing/") }

// ours lists the module's packages without their tests, as the go command sees them.
func ours(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps", module+"...")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go list: %s", &stderr)
	var all []pkg
	for in := json.NewDecoder(bytes.NewReader(out)); ; {
		var listed struct {
			ImportPath    string
			Imports, Deps []string
		}
		err := in.Decode(&listed)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		all = append(all, pkg{strings.TrimPrefix(listed.ImportPath, module), local(listed.Imports), local(listed.Deps)})
	}
	require.NotEmpty(t, all)
	return all
}

func local(paths []string) (names []string) {
	for _, p := range paths {
		if name, mine := strings.CutPrefix(p, module); mine {
			names = append(names, name)
		}
	}
	return names
}
