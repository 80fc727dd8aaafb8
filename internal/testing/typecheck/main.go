// Command typecheck checks that every package of this module compiles for other
// systems, given as OS/ARCH, without generating code: all files that a build for such a
// system would use are parsed, and all of ours are fully type-checked. It does not
// link. With build tags after it, OS/ARCH+TAG,TAG, tests are checked as well.
//
//	go run ./internal/testing/typecheck linux/amd64+peers,trust linux/arm64 windows/amd64
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	for _, system := range os.Args[1:] {
		if err := check(system, "./..."); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// check returns what a compiler for system would report about those of our packages
// that match pattern, relative to the working directory.
func check(system, pattern string) error {
	platform, tags, tagged := strings.Cut(system, "+")
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("system %q: it must be OS/ARCH, such as linux/arm64", system)
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	found, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesSizes,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
		Tests: tagged, BuildFlags: []string{"-tags=" + tags},
		ParseFile: func(set *token.FileSet, name string, text []byte) (*ast.File, error) {
			f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if f != nil && !within(here, name) {
				withoutBodies(f)
			}
			return f, err
		},
	}, pattern)
	if err != nil {
		return fmt.Errorf("%s: %w", system, err)
	}
	if len(found) == 0 {
		return fmt.Errorf("%s: no package matches %s", system, pattern)
	}
	// Only matching packages are ours: those of others have had their function bodies
	// removed, which causes errors.
	var errs []error
	for _, p := range found {
		if strings.HasSuffix(p.ID, ".test") { // which go makes of the tests: it is not ours, either
			continue
		}
		for _, e := range p.Errors {
			errs = append(errs, fmt.Errorf("%s: %w", system, e))
		}
	}
	return errors.Join(errs...)
}

// within reports whether a file is below a folder.
func within(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// withoutBodies removes function bodies, which other packages do not see.
func withoutBodies(f *ast.File) {
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
}
