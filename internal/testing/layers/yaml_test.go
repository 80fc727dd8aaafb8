package layers

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// YAML is read in one place, so that every error names its place in the file.
func TestOnlyOnePackageUsesTheLibraryForYAML(t *testing.T) {
	files := 0
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range f.Imports {
			if strings.Contains(i.Path.Value, "yaml.in/") {
				assert.Equal(t, "internal/yaml", filepath.ToSlash(filepath.Dir(strings.TrimPrefix(path, root+"/"))))
				files++
			}
		}
		return nil
	}))
	assert.Positive(t, files, "the tree was walked")
}
