// Package preset reads presets and other files of named values in YAML: flat names, or
// mappings whose names are joined with points, so that
//
//	profile:
//	  testCase: put
//
// is profile.testCase=put. It knows no profile, and does not check which names exist.
package preset

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Info is one preset of a profile.
type Info struct {
	// Name is the file's name without its extension.
	Name string
	// Description is the comment at the top of the file, in one line.
	Description string
	Data        []byte
}

// List returns the presets in the top folder of fsys, ordered by name.
func List(fsys fs.FS) ([]Info, error) {
	if fsys == nil {
		return nil, nil
	}
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list presets: %w", err)
	}
	slices.Sort(names)
	out := make([]Info, 0, len(names))
	for _, name := range names {
		data, err := infile.ReadFS(infile.Settings, fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read preset: %w", err)
		}
		out = append(out, Info{strings.TrimSuffix(path.Base(name), ".yaml"), description(data), data})
	}
	return out, nil
}

// Load returns the values of the preset with that name, of origin OriginPreset. An
// unknown name is an error of code fault.CodeInput that suggests the closest valid one.
func Load(fsys fs.FS, name string) ([]workload.Value, error) {
	all, err := List(fsys)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(all))
	for i, p := range all {
		if p.Name == name {
			vs, err := Read(name, p.Data)
			for j := range vs {
				vs[j].Origin, vs[j].Where = workload.OriginPreset, name
			}
			return vs, err
		}
		names[i] = p.Name
	}
	return nil, fault.Input(fmt.Errorf("unknown preset %q", name), suggest.Hint(name, names, suggest.Presets))
}

// Read parses a YAML file of named values, in order, as values of origin OriginFile
// with "name:line" as Where. A list becomes its items separated by commas. Errors name
// the line and have the code of bad input.
func Read(name string, data []byte) ([]workload.Value, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, fault.Input(fmt.Errorf("%s: not YAML: %w", name, YAMLError(err, data)), "a file of values has lines such as  threads: 16")
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return Values(name, doc.Content[0])
}

// Values parses a mapping of named values in the YAML file called name, as Read does
// for a whole file.
func Values(name string, n *yaml.Node) ([]workload.Value, error) {
	r := reader{name: name, lines: map[string]int{}}
	r.mapping("", n)
	return r.values, r.problems.Err()
}

type reader struct {
	name     string
	values   []workload.Value
	lines    map[string]int
	problems workload.Problems
	keys     int // seen so far
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.problems.Add(fault.Input(fmt.Errorf("%s:%d: %s", r.name, n.Line, fmt.Sprintf(format, args...)), ""))
}

func (r *reader) mapping(prefix string, n *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "expected lines of the form name: value")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, val := n.Content[i], n.Content[i+1]
		if r.keys++; r.keys > infile.MaxKeys {
			if r.keys == infile.MaxKeys+1 {
				r.fail(key, "more than %d keys", infile.MaxKeys)
			}
			return
		}
		if key.Kind != yaml.ScalarNode {
			r.fail(key, "a name must be plain text")
			continue
		}
		r.value(prefix+key.Value, key, val)
	}
}

func (r *reader) value(name string, key, n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		r.mapping(name+".", n)
	case yaml.ScalarNode:
		text := n.Value
		if n.Tag == "!!null" {
			text = ""
		}
		r.put(name, text, key)
	case yaml.SequenceNode:
		items := make([]string, 0, len(n.Content))
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode {
				r.fail(item, "%s: an item of a list must be a plain value", name)
				return
			}
			items = append(items, item.Value)
		}
		r.put(name, strings.Join(items, ","), key)
	default:
		r.fail(n, "%s: anchors and aliases are not supported here", name)
	}
}

func (r *reader) put(name, text string, at *yaml.Node) {
	if first, ok := r.lines[name]; ok {
		r.fail(at, "%s is already on line %d", name, first)
		return
	}
	r.lines[name] = at.Line
	r.values = append(r.values, workload.Value{
		Name: name, Text: text, Origin: workload.OriginFile, Where: fmt.Sprintf("%s:%d", r.name, at.Line), Order: len(r.values) + 1,
	})
}

// description returns the comment lines at the top as one line.
func description(data []byte) string {
	var words []string
	for l := range strings.Lines(string(data)) {
		l = strings.TrimSpace(l)
		if !strings.HasPrefix(l, "#") {
			break
		}
		words = append(words, strings.Fields(strings.TrimLeft(l, "#"))...)
	}
	return strings.Join(words, " ")
}
