package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mayDrop are the folders whose code may name a keeper's Drop, or write a statement
// that removes what is in a store: place, which decides, and the stores, which do it.
var mayDrop = []string{"internal/ownership", "internal/store", "internal/broker", "internal/lab", "internal/testing"}

// removal is text that removes more than an entry.
var removal = regexp.MustCompile(`(?i)\b(drop\s+(table|keyspace|database|index|schema)|truncate\s+table|flushall|flushdb)\b`)

// Data is dropped in one place. Whatever is called Drop counts, however it is come by:
// there is no other method of that name; and so does the deletion of a broker's queue.
func TestOnlyPlaceDrops(t *testing.T) {
	files := 0
	require.NoError(t, filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel("../../..", path)
		require.NoError(t, err)
		name = filepath.ToSlash(name)
		if allowedToDrop(name) {
			return nil
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, wrong := range drops(f) {
			assert.Fail(t, wrong, name)
		}
		return nil
	}))
	assert.Greater(t, files, 200, "the tree was walked")
}

func allowedToDrop(name string) bool {
	for _, folder := range mayDrop {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// drops says what of a file drops data.
func drops(f *ast.File) (wrong []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if slices.Contains([]string{"Drop", "QueueDelete", "ExchangeDelete"}, n.Sel.Name) {
				wrong = append(wrong, "only internal/ownership drops what is in a store")
			}
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && removal.MatchString(text) {
				wrong = append(wrong, "only stores remove tables: "+text)
			}
		}
		return true
	})
	return wrong
}

func TestDropsAreFound(t *testing.T) {
	for text, want := range map[string]int{
		`func f(k keeper) { k.Drop() }`:         1,
		`func f(k keeper) { g := k.Drop; g() }`: 1,
		`func f(c channel) { c.QueueDelete() }`: 1,
		`var text = "drop  table x"`:            1,
		"var text = `DROP KEYSPACE x`":          1,
		`var text = "FLUSHALL"`:                 1,
		`var text = "drops of water"`:           0,
		`func Drop() {}`:                        0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text, parser.SkipObjectResolution)
		require.NoError(t, err)
		assert.Len(t, drops(f), want, text)
	}
}
