package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What only a client needs goes with it; what something else needs too stays.
func TestReached(t *testing.T) {
	imports := map[string][]string{
		"ours/cmd/perfbench": {"ours/a", "ours/b"}, "ours/a": {"client/x", "shared"}, "ours/b": {"shared"},
		"client/x": {"client/x/y", "lent", "shared"}, "client/x/y": nil, "lent": nil, "shared": nil, "runtime": nil,
	}
	kept := reached(imports, []string{"client/"})
	assert.Equal(t, map[string]bool{"ours/cmd/perfbench": true, "ours/a": true, "ours/b": true, "shared": true, "runtime": true}, kept)
}

func TestOwner(t *testing.T) {
	imports := map[string][]string{"a.b/c": nil, "a.b/c/d": nil, "a.b/e.v1": nil}
	for symbol, want := range map[string]string{
		"a.b/c.F": "a.b/c", "a.b/c/d.(*T).M": "a.b/c/d", "a.b/e%2ev1.F": "a.b/e.v1", "a.b/c.F[go.shape.a.b/c/d.T]": "a.b/c",
		"a.b/c.T.func1": "a.b/c", "type:.eq.a.b/c.T": "", "go:func.*": "", "a.b/other.F": "",
	} {
		assert.Equal(t, want, owner(symbol, imports), symbol)
	}
}

// The chain is the one that takes longest, not the one with the most packages.
func TestLongest(t *testing.T) {
	steps := longest([]action{
		{ID: 0, Mode: "link", Package: "main", Deps: []int{1, 2}, CmdReal: 4},
		{ID: 1, Mode: "build", Package: "short", Deps: []int{3}, CmdReal: 1},
		{ID: 2, Mode: "build", Package: "slow", CmdReal: 9},
		{ID: 3, Mode: "build", Package: "base", CmdReal: 2},
	})
	var names []string
	for _, a := range steps {
		names = append(names, a.Package)
	}
	assert.Equal(t, []string{"slow", "main"}, names)
}
