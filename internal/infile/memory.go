package infile

import (
	"io/fs"
	"path"
	"strings"
	"time"
)

// Memory is a file system of files that are made up, by their paths.
type Memory map[string]string

// Open implements fs.FS, for files; a folder is not to be opened.
func (m Memory) Open(name string) (fs.File, error) {
	text, ok := m[name]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &made{strings.NewReader(text), name}, nil
}

// Glob implements fs.GlobFS.
func (m Memory) Glob(pattern string) ([]string, error) {
	var out []string
	for name := range m {
		if ok, err := path.Match(pattern, name); err != nil {
			return nil, err
		} else if ok {
			out = append(out, name)
		}
	}
	return out, nil
}

// made is an open file of Memory.
type made struct {
	*strings.Reader
	name string
}

func (f *made) Close() error               { return nil }
func (f *made) Stat() (fs.FileInfo, error) { return f, nil }
func (f *made) Name() string               { return path.Base(f.name) }
func (f *made) Size() int64                { return f.Reader.Size() }
func (f *made) Mode() fs.FileMode          { return 0o444 }
func (f *made) ModTime() time.Time         { return time.Time{} }
func (f *made) IsDir() bool                { return false }
func (f *made) Sys() any                   { return nil }
