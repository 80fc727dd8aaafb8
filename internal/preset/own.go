package preset

import (
	"errors"
	"io/fs"
	"path"
)

// Overlay shows the presets of own beside those that are built in; of two with
// one name the built-in one is seen. Either may be nil.
func Overlay(builtIn, own fs.FS) fs.FS { return overlay{builtIn, own} }

type overlay struct{ first, second fs.FS }

// Open opens a file of either.
func (o overlay) Open(name string) (fs.File, error) {
	err := fs.ErrNotExist
	for _, f := range []fs.FS{o.first, o.second} {
		if f == nil {
			continue
		}
		var file fs.File
		if file, err = f.Open(name); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return file, err
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

// Glob lists the names of both.
func (o overlay) Glob(pattern string) ([]string, error) {
	var out []string
	seen := map[string]bool{}
	for _, f := range []fs.FS{o.first, o.second} {
		if f == nil {
			continue
		}
		names, err := fs.Glob(f, pattern)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if !seen[path.Base(n)] {
				seen[path.Base(n)] = true
				out = append(out, n)
			}
		}
	}
	return out, nil
}
