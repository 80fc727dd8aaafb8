package preset

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/workload"
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

// Write returns a preset file with a description and values, which Read reads
// back.
func Write(description string, values []workload.Value) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(description) {
		fmt.Fprintf(&b, "# %s\n", strings.TrimSpace(line))
	}
	doc := yaml.Node{Kind: yaml.MappingNode}
	for _, v := range values {
		key, val := &yaml.Node{}, &yaml.Node{}
		key.SetString(v.Name)
		val.SetString(v.Text)
		doc.Content = append(doc.Content, key, val)
	}
	if len(values) > 0 {
		text, err := yaml.Marshal(&doc)
		if err == nil { // plain strings always can be written
			b.Write(text)
		}
	}
	return b.Bytes()
}
