// Package sample has files in the formats of the systems that perfbench replaces, for tests.
package sample

import (
	"os"
	"path/filepath"
)

// Text returns the text of a file in the repository's testdata/samples: ours, in the
// format of one of the systems that perfbench replaces. The name has slashes. It panics
// when there is no such file, so that a variable of a test can hold it.
func Text(name string) string {
	text, err := os.ReadFile(filepath.Join(top(), "testdata", "samples", filepath.FromSlash(name)))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// top is the folder of the repository: the nearest one above that has a go.mod.
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
