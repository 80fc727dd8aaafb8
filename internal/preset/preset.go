// Package preset lists and reads presets, built in and users' own. It knows no profile, and
// does not check which names exist.
package preset

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
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
			vs, err := yaml.Values(name, p.Data, nil)
			for j := range vs {
				vs[j].Origin, vs[j].Where = workload.OriginPreset, name
			}
			return vs, err
		}
		names[i] = p.Name
	}
	return nil, fault.Input(fmt.Errorf("unknown preset %q", name), suggest.Hint(name, names, suggest.Presets))
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
