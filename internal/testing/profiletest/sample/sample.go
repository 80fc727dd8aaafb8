// Package sample provides files in the formats of the systems that perfbench replaces,
// for tests.
package sample

import (
	"os"
	"path/filepath"
)

// Text returns a file in the repository's testdata/samples: written by us, in the
// format of one of the systems that perfbench replaces. The name has slashes. Text
// panics if there is no such file, so that it can initialize a test's variable.
func Text(name string) string {
	text, err := os.ReadFile(filepath.Join(top(), "testdata", "samples", filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// top returns the folder of the repository: the nearest one above with a go.mod.
func top() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
