package main

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// most is how many functions of other packages one of ours may compile.
const most = 400

// more are packages that compile more of them, because they make what is generic or wrap
// it, and how many. A number may go down, not up.
var more = map[string]int{
	ours + "internal/store/redis/link": 2000, // go-redis' clients
	ours + "internal/store/coherence":  1500, // maps of Coherence are generic
	ours + "profiles/tx/pbm":           480,  // so are its layers
	ours + "internal/remote":           850,  // the NATS server
	ours + "internal/store/sqlstore":   480,  // pgx' pool
	ours + "profiles/authz":            420,
}

// A field or a method that names a type of a library leads each package that comes across
// it to that library's generics, which it compiles again.
func TestNoPackageCompilesALibraryAgain(t *testing.T) {
	// Go tests a package again when a file has changed that its test looked at; what go list
	// looks at below does not count.
	root := os.DirFS("../../..")
	require.NoError(t, fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = fs.Stat(root, path)
		}
		return err
	}))
	counts, err := foreign(1e6) // a smaller object file cannot hold that many
	require.NoError(t, err)
	require.Greater(t, len(counts), len(more), "object files have become smaller")
	for name, n := range counts {
		assert.LessOrEqual(t, n, max(most, more[name]), "%s compiles functions of other packages: hide what is generic behind a small interface. go list -export -f '{{.Export}}' %s names its object file, which go tool nm reads", name, name)
	}
}
