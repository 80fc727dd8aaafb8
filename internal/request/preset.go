package request

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// Preset is one preset of a profile.
type Preset struct {
	// Name is the file's path without its extension: "small", "ycsb/a".
	Name string
	// Description is the comment at the top of the file, in one line.
	Description string
	Data        []byte
}

// What the names of a preset's file, and of one that says why there is no preset, end in.
const (
	presetFile = ".yaml"
	absentFile = ".absent"
)

// Presets returns the presets in the top folder of fsys and the folders in it, in the order
// of their names, in which numbers count as such.
func Presets(fsys fs.FS) ([]Preset, error) { return presets(fsys, presetFile) }

// Absent returns names of presets that one might expect, and that are not there. Description
// and Data say why.
func Absent(fsys fs.FS) ([]Preset, error) { return presets(fsys, absentFile) }

func presets(fsys fs.FS, ending string) ([]Preset, error) {
	if fsys == nil {
		return nil, nil
	}
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		some, err := fs.Glob(fsys, pattern+ending)
		if err != nil {
			return nil, fmt.Errorf("list presets: %w", err)
		}
		names = append(names, some...)
	}
	out := make([]Preset, 0, len(names))
	for _, name := range names {
		data, err := infile.ReadFS(infile.Settings, fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read preset: %w", err)
		}
		out = append(out, Preset{strings.TrimSuffix(name, ending), description(data), data})
	}
	slices.SortFunc(out, func(a, b Preset) int { return cmp.Compare(sortable(a.Name), sortable(b.Name)) })
	return out, nil
}

// sortable returns a name whose numbers are sorted as such.
func sortable(name string) string {
	end := strings.TrimRight(name, "0123456789")
	return fmt.Sprintf("%s%12s", end, name[len(end):])
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
	absent, err := Absent(fsys)
	if err != nil {
		return nil, err
	}
	for _, p := range absent {
		if p.Name == name {
			return nil, fault.Input(fmt.Errorf("there is no preset %q: %s", name, p.Description), fault.SeePresets)
		}
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
