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
	packages := ours(t)
	for _, p := range packages {
		if forTests(p.name) {
			continue
		}
		for _, wrong := range breaches(p) {
			assert.Fail(t, wrong)
		}
	}
}

// A folder of the platform that stands in no row could import what it likes.
func TestEveryFolderHasARow(t *testing.T) {
	for _, p := range ours(t) {
		if forTests(p.name) || slices.Contains(lists, p.name) || !strings.HasPrefix(p.name, "internal/") && !strings.HasPrefix(p.name, "tui") {
			continue
		}
		known := slices.ContainsFunc(may, func(r struct{ from, to string }) bool { return r.from == p.name })
		assert.True(t, known, "%s has no row among those that say what each may import", p.name)
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

func TestSidewaysIsForListsOnly(t *testing.T) {
	for _, p := range ours(t) {
		if forTests(p.name) || slices.Contains(lists, p.name) || strings.HasPrefix(p.name, "cmd/") {
			continue
		}
		for _, to := range p.imports {
			assert.False(t, sideways(p.name, to), "%s imports its neighbour %s", p.name, to)
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
		{"measure importing anything of ours", pkg{name: "internal/measure", imports: []string{"internal/units"}}, 1},
		{"the engine importing a driver", pkg{name: "internal/engine", imports: []string{"internal/store/redis"}}, 1},
		{"a screen reaching the engine through another package", pkg{name: "tui", deps: []string{"internal/engine"}}, 1},
		{"a chart reaching a profile", pkg{name: "tui/chart", deps: []string{"profiles/ingestion"}}, 1},
		{"a screen opening another", pkg{name: "tui/picker", imports: []string{"tui/results"}}, 1},
		{"a widget that knows screens", pkg{name: "tui/widget", imports: []string{"tui/screen"}}, 1},
		{"a profile using a store's package is fine", pkg{name: "profiles/ingestion", deps: []string{"internal/store/redis"}}, 0},
		{"a screen using the shapes is fine", pkg{name: "tui", deps: []string{"internal/store"}}, 0},
		{"a package that ties it all together", pkg{name: "internal/app", deps: []string{"internal/engine", "profiles"}}, 1},
		{"the command ties it all together", pkg{name: "cmd/perfbench", deps: []string{"internal/engine", "profiles", "tui"}}, 0},
		{"a record that knows its store", pkg{name: "profiles/tx/saga/model", imports: []string{"internal/store/redis"}}, 1},
		{"a layer that knows its coordinator", pkg{name: "profiles/tx/saga/onsql", imports: []string{"profiles/tx/saga"}}, 1},
		{"sagas reaching another mode through their store", pkg{name: "profiles/tx/saga/onredis", deps: []string{"profiles/tx/baseline"}}, 1},
		{"baseline using sagas is fine", pkg{name: "profiles/tx/baseline", deps: []string{"profiles/tx/saga", "profiles/tx/saga/model"}}, 0},
		{"a run that picks its layer", pkg{name: "profiles/group/run", deps: []string{"profiles/group/onredis"}}, 1},
		{"a design that touches a store", pkg{name: "profiles/group/design", imports: []string{"internal/store"}}, 1},
		{"a package without rules is fine", pkg{name: "profiles/none", imports: []string{"internal/engine"}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Len(t, breaches(tt.p), tt.want)
		})
	}
	assert.True(t, sideways("profiles/tx", "profiles/authz"))
	assert.True(t, sideways("internal/store/redis", "internal/store/cassandra"))
	assert.True(t, sideways("profiles/padogrid", "profiles/tx"))
	assert.False(t, sideways("profiles/tx/pbm", "profiles/padogrid"))
	assert.False(t, sideways("profiles/tx", "internal/store/redis"))
	assert.False(t, sideways("internal/store/redis", "internal/store"))
}

// pkg is one of our packages; names are relative to the module, and packages of
// others are left out.
type pkg struct {
	name          string
	imports, deps []string // direct; direct and indirect
}

// breaches says, a line each, which arrows of p point up.
func breaches(p pkg) (wrong []string) {
	for _, rule := range may {
		if rule.from != p.name {
			continue
		}
		for _, to := range p.imports {
			if !slices.Contains(strings.Fields(rule.to), to) {
				wrong = append(wrong, fmt.Sprintf("%s imports %s; of ours it may import only: %s", p.name, to, rule.to))
			}
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
	if reaches(p, "internal/engine") && (reaches(p, "tui/...") || reaches(p, "profiles/...")) && !matches("cmd/...", p.name) {
		wrong = append(wrong, fmt.Sprintf("%s depends on the engine and on what runs on it: only cmd does", p.name))
	}
	return wrong
}

func reaches(p pkg, pattern string) bool {
	return slices.ContainsFunc(p.deps, func(to string) bool { return matches(pattern, to) })
}

// sideways tells whether two packages are neighbours of whom neither may know the
// other: two profiles, or two stores.
func sideways(from, to string) bool {
	for _, folder := range []string{"profiles", "internal/store"} {
		if child(folder, from) != "" && child(folder, to) != "" && child(folder, from) != child(folder, to) {
			return !slices.Contains(shared, to)
		}
	}
	return false
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

// forTests tells whether a package exists only for the tests of others: storetest,
// profiletest, and the command that runs them. Those may import whatever they try out.
func forTests(name string) bool {
	return strings.HasSuffix(name, "test") || name == "internal/lab/testlab"
}

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
