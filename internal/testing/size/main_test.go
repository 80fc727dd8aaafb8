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
