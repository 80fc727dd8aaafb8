package request

import (
	"errors"
	"io/fs"
)

// Overlay presents the presets of own along with those that are built in; if both have
// one with the same name, the built-in one is used. Either may be nil.
func Overlay(builtIn, own fs.FS) fs.FS { return overlay{builtIn, own} }

type overlay struct{ first, second fs.FS }

// Open opens a file of either file system.
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

// Glob returns the matching names of both.
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
			if !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out, nil
}
