package main

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/tier"
)

// most is how many functions of libraries a package of ours may compile.
const most = 400

// more are packages that compile more of them, because they make what is generic or wrap
// it, and how many. A number may go down, not up.
var more = map[string]int{
	ours + "internal/store/redis/link": 1800, // go-redis' clients
	ours + "internal/store/coherence":  1400, // maps of Coherence are generic
	ours + "internal/remote":           850,  // the NATS server
	ours + "internal/store/sqlstore":   470,  // pgx' pool
}

// A field or a method that names a type of a library leads each package that comes across
// it to that library's generics, which it compiles again.
func TestNoPackageCompilesALibraryAgain(t *testing.T) {
	tier.Full(t, "the build: nothing breaks, it only takes longer")
	// Go tests a package again when a file has changed that its test looked at; what go list
	// looks at below does not count.
	root := os.DirFS("../../..")
	require.NoError(t, fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if path == "bin" || path == "dist" {
			return fs.SkipDir // what builds and snapshots leave there comes and goes
		}
		if err == nil && strings.HasSuffix(path, ".go") {
			_, err = fs.Stat(root, path)
		}
		return err
	}))
	counts, err := foreign(1e6) // a smaller object file cannot hold that many
	require.NoError(t, err)
	require.Greater(t, len(counts), len(more), "object files have become smaller")
	for name, n := range counts {
		assert.LessOrEqual(t, n, max(most, more[name]), "%s compiles functions of libraries: hide what is generic behind a small interface. go list -export -f '{{.Export}}' %s names its object file, which go tool nm reads", name, name)
	}
}

func TestFunctionsOfLibraries(t *testing.T) {
	assert.Equal(t, 2, ofLibraries([]byte(`
  1a t sync/atomic.(*Pointer[go.shape.[]int]).Load
  2b T `+ours+`internal/workload.Share[int]
  3c T type:.eq.`+ours+`profiles/tx/pbm.counts
  4d T type:.eq.[2]int
  5e D runtime.data
  6f t main.main
     U runtime.newobject
  7a t go:interface { Error() string }.Error
`)))
}
