package request

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// Preset is one preset of a profile.
type Preset struct {
	// Name is the file's name without its extension.
	Name string
	// Description is the comment at the top of the file, in one line.
	Description string
	Data        []byte
}

// Presets returns the presets in the top folder of fsys, ordered by name.
func Presets(fsys fs.FS) ([]Preset, error) {
	if fsys == nil {
		return nil, nil
	}
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list presets: %w", err)
	}
	slices.Sort(names)
	out := make([]Preset, 0, len(names))
	for _, name := range names {
		data, err := infile.ReadFS(infile.Settings, fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read preset: %w", err)
		}
		out = append(out, Preset{strings.TrimSuffix(path.Base(name), ".yaml"), description(data), data})
	}
	return out, nil
}

// LoadPreset returns the values of the preset with that name, of origin OriginPreset. An
// unknown name is an error of code fault.CodeInput that suggests the closest valid one.
func LoadPreset(fsys fs.FS, name string) ([]workload.Value, error) {
	all, err := Presets(fsys)
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
	return nil, fault.Input(fmt.Errorf("unknown preset %q", name), fault.Suggest(name, names, fault.SeePresets))
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
