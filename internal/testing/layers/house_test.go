package layers

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

// The drawing of the house has every package, in the order of the floors: whoever reads
// down the page meets no package that imports one above it.
func TestTheHouseIsDrawnAsItStands(t *testing.T) {
	drawn := map[string]int{}
	last, above := len(layers), ""
	for i, line := range strings.Split(fences(t, "CONTRIBUTING.md")[0], "\n") {
		for _, name := range drawnIn(line, &above) {
			drawn[name] = i
			info, err := os.Stat(filepath.Join(root, name))
			if !assert.NoError(t, err, "drawn, and not there") || !info.IsDir() || forTests(name+"/") {
				continue
			}
			if strings.HasPrefix(line, " ") {
				continue // a part of what the line above it names
			}
			if floor := floorOf(name); floor >= 0 {
				assert.LessOrEqual(t, floor, last, "%s is drawn below a package of a lower floor", name)
				last = floor
			}
		}
	}
	for _, p := range ours(t) {
		known := slices.ContainsFunc(withParents(p.name), func(name string) bool { _, ok := drawn[name]; return ok })
		assert.True(t, known, "%s is not drawn, nor is a folder that it is in", p.name)
	}
}

// drawnIn returns the packages that a line of the drawing names: a path at its beginning,
// or, where it is indented, names of folders in the one above.
func drawnIn(line string, above *string) (names []string) {
	words, _, _ := strings.Cut(strings.TrimSpace(line), "  ")
	switch {
	case words == "":
	case strings.HasPrefix(line, " "):
		for name := range strings.FieldsSeq(words) {
			names = append(names, *above+"/"+name)
		}
	default:
		*above = words
		names = []string{words}
	}
	return names
}

// withParents returns a name and those of the folders that it is in, below the first two.
func withParents(name string) []string {
	out := []string{name}
	for {
		i := strings.LastIndex(name, "/")
		if i < 0 || name[:i] == "internal" || name[:i] == "cmd" {
			return out
		}
		name = name[:i]
		out = append(out, name)
	}
}

// Each step of the ways is a function or method that is there.
func TestTheWaysLeadThroughTheCode(t *testing.T) {
	steps := 0
	step := regexp.MustCompile(`^(\S+) +([A-Za-z.]+)  +\S`)
	for _, block := range fences(t, "CONTRIBUTING.md")[1:3] {
		for line := range strings.Lines(block) {
			m := step.FindStringSubmatch(line)
			if !assert.NotNil(t, m, line) {
				continue
			}
			assert.Contains(t, declared(t, m[1]), m[2], "package %s", m[1])
			steps++
		}
	}
	assert.Greater(t, steps, 15)
}

// Every file that the page names is there.
func TestFilesThatAreNamedAreThere(t *testing.T) {
	text, err := fs.ReadFile(os.DirFS(root), "CONTRIBUTING.md")
	require.NoError(t, err)
	named := regexp.MustCompile("`((?:internal|cmd|tui|profiles)/[a-z/]+\\.go)`").FindAllSubmatch(text, -1)
	assert.Greater(t, len(named), 10)
	for _, m := range named {
		_, err := os.Stat(filepath.Join(root, string(m[1])))
		assert.NoError(t, err)
	}
}

// declared returns the functions and methods of a package, those of interfaces included, as
// Name or Type.Name.
func declared(t *testing.T, name string) (out []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
	require.NoError(t, err)
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				out = append(out, receiver(n)+n.Name.Name)
			case *ast.TypeSpec:
				if i, ok := n.Type.(*ast.InterfaceType); ok {
					for _, m := range i.Methods.List {
						for _, id := range m.Names {
							out = append(out, n.Name.Name+"."+id.Name)
						}
					}
				}
			}
			return true
		})
	}
	return out
}

// receiver returns "Type." of a method, and "" of a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	e := f.Recv.List[0].Type
	if star, ok := e.(*ast.StarExpr); ok {
		e = star.X
	}
	if generic, ok := e.(*ast.IndexExpr); ok {
		e = generic.X
	}
	id, ok := e.(*ast.Ident)
	if !ok {
		return ""
	}
	return id.Name + "."
}

// fences returns what is between the fences of a page.
func fences(t *testing.T, page string) (blocks []string) {
	t.Helper()
	text, err := fs.ReadFile(os.DirFS(root), page)
	require.NoError(t, err)
	for i, part := range strings.Split(string(text), "```") {
		if i%2 == 1 {
			blocks = append(blocks, strings.Trim(part, "\n"))
		}
	}
	require.GreaterOrEqual(t, len(blocks), 3)
	return blocks
}

// A panic in a goroutine that nobody guards leaves the workbench's terminal broken: what may run
// while it is open begins goroutines through fault alone.
func TestGoroutinesAreGuarded(t *testing.T) {
	bare := regexp.MustCompile(`(?m)^\s*go [\w(]`)
	for _, dir := range []string{"internal", "profiles", "tui", "cmd/perfbench/workbench"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, e fs.DirEntry, err error) error {
			name, _ := filepath.Rel(root, path)
			switch {
			case err != nil:
				return err
			case e.IsDir() && (name == "internal/testing" || name == "internal/lab"): // of tests; and processes of their own
				return filepath.SkipDir
			case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"), name == "internal/fault/guard.go":
				return nil
			}
			text, err := os.ReadFile(path)
			assert.Empty(t, bare.FindAllString(string(text), -1), "%s: use fault.Go", name)
			return err
		}))
	}
}
