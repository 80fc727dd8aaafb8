package values

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"
)

// Files reads the files of --file with read, which returns values and what it found
// besides. If several files give a value, the last one counts. All errors are joined, with
// the code of bad input.
func Files(files []workload.File, read func(workload.File) ([]workload.Value, workload.Found, error)) (workload.Values, workload.Found, error) {
	out := workload.Values{}
	var all workload.Found
	var problems workload.Problems
	for _, f := range files {
		if f.Data == nil && !f.Capture {
			problems.Add(fault.Input(fmt.Errorf("file %s: is a folder", f.Path), "name the properties file in it"))
			continue
		}
		vs, found, err := read(f)
		problems.Add(err)
		if found.Keys == nil {
			found.Keys = keysOf(vs)
		}
		all.Warnings = append(all.Warnings, found.Warnings...)
		for _, v := range vs {
			if old, ok := out[v.Name]; ok && (v.Name != flavour || old.Text != v.Text) {
				again := fmt.Sprintf("is set again in %s, which wins", v.Where)
				all.Warnings = append(all.Warnings, fmt.Sprintf("%s: %s %s", old.Where, v.Name, again))
				for i, k := range all.Keys {
					if k.Key == v.Name && k.Where == old.Where {
						all.Keys[i].State, all.Keys[i].Text = workload.KeyIgnored, again
					}
				}
			}
			out[v.Name] = v
		}
		all.Keys = append(all.Keys, found.Keys...)
	}
	return out, all, problems.Err()
}

// keysOf are the keys of a file in which each sets the value of its name.
func keysOf(vs []workload.Value) (out []workload.FileKey) {
	for _, v := range vs {
		k := workload.FileKey{Key: v.Name, Where: v.Where, State: workload.KeyRead}
		if !strings.Contains(v.Text, "\n") {
			k.Value = v.Text
		}
		out = append(out, k)
	}
	return out
}

// Properties reads the values of a properties file, and tells what became of each key.
// Values for which ignored gives a reason why they have no effect are left out, and the
// user is told so, as well as if nothing is left. If the file reveals PadoGrid's flavour,
// that becomes a value too, of the parameter of that name.
func Properties(f workload.File, ignored func(name string) string) ([]workload.Value, workload.Found, error) {
	file, err := ReadProperties(f.Path, f.Data)
	if err != nil {
		return nil, workload.Found{}, err
	}
	var found workload.Found
	vs := make([]workload.Value, 0, len(file.Entries))
	var sign workload.Value
	for _, e := range file.InOrder() {
		k := workload.FileKey{Key: e.Key, Value: e.Value, Where: fmt.Sprintf("%s:%d", f.Path, e.Line), State: workload.KeyRead}
		v := workload.Value{Name: e.Key, Text: e.Value, Origin: workload.OriginFile, Where: k.Where}
		if now, _ := file.Lookup(e.Key); now.Line != e.Line {
			k.Text = fmt.Sprintf("is set again on line %d, which wins", now.Line)
		} else {
			k.Text = ignored(e.Key)
			if s := signOf(e.Key, e.Value); s != "" && sign.Name == "" {
				sign = workload.Value{Name: flavour, Text: s, Origin: v.Origin, Where: v.Where}
			}
		}
		if k.Text == "" {
			vs = append(vs, v)
		} else {
			k.State = workload.KeyIgnored
			found.Warnings = append(found.Warnings, fmt.Sprintf("%s: %s %s", k.Where, k.Key, k.Text))
		}
		found.Keys = append(found.Keys, k)
	}
	if len(vs) == 0 {
		found.Warnings = append(found.Warnings, fmt.Sprintf("%s: sets nothing that is read here, so the defaults apply", f.Path))
	}
	if sign.Name != "" {
		vs = append(vs, sign)
	}
	return vs, found, nil
}

// YAML reads a file of ours, in which an unknown name is an error; if known is empty,
// all names are accepted.
func YAML(f workload.File, known []string) ([]workload.Value, error) {
	return readYAML(f, known, nil)
}

// OwnYAML is YAML for a profile with these parameters and knobs. Knobs may be aimed at a
// track.
func OwnYAML(f workload.File, params []workload.Param, knobs ...string) ([]workload.Value, error) {
	known := slices.Concat(f.Run, knobs)
	for _, p := range params {
		known = append(known, p.Name)
	}
	return readYAML(f, known, knobs)
}

func readYAML(f workload.File, known, aimed []string) ([]workload.Value, error) {
	if known == nil {
		return yaml.Values(f.Path, f.Data, nil)
	}
	return yaml.Values(f.Path, f.Data, func(name string) string {
		knob := name[strings.LastIndexByte(name, '.')+1:]
		if slices.Contains(known, name) || knob != name && slices.Contains(aimed, knob) {
			return ""
		}
		return fault.Suggest(name, known, fault.SeeKnobs)
	})
}

// Unread returns why a key of PadoGrid's files has no effect although it is not a
// mistake, or "".
func Unread(name string) string {
	if strings.HasSuffix(name, ".logging.type") || name == "executable.name" {
		return "has no effect here; PadoGrid's test does not read it either"
	}
	return ""
}

// Ignored returns why a key in a properties file of PadoGrid's tests of the maps
// eligibility and profile has no effect, or "" if it is one of known.
func Ignored(name string, known []string) string {
	if slices.Contains(known, name) {
		return ""
	}
	if s := Unread(name); s != "" {
		return s
	}
	s := "is unknown and has no effect"
	if near := fault.Nearest(name, known); near != "" {
		s += "; did you mean " + near + "?"
	}
	return s
}

// MapNames reads and shows the parameter mapNames: the maps to work on, without
// repetition, in the order given, out of those available.
func (r *Reader) MapNames(p workload.Param, there []string) []string {
	v := r.Pick(p, "mapNames")
	asJava := FromProperties(v) && r.Compat
	var out []string
	for item := range strings.SplitSeq(v.Text, ",") {
		word := strings.TrimSpace(item)
		name := strings.ToLower(word)
		known := slices.Contains(there, name)
		switch {
		case word == "" && !asJava:
		case asJava && (!known || item != word):
			r.Warn("%s: mapNames: %q is not a map and is left out, as PadoGrid does (compat=on)", v.Where, item)
		case !known:
			hint := fault.Meant(word, there)
			if name == summary {
				hint = "PadoGrid for Coherence has such a map: is the file of that flavour? --set flavour=coherence"
			}
			r.Blame("mapNames", hint, "mapNames: %q (%s) is not one of %s", word, v.From(), strings.Join(there, ", "))
		case !slices.Contains(out, name):
			if item != word && FromProperties(v) {
				r.Warn("%s: mapNames: blanks around %q are dropped; PadoGrid would leave the map out", v.Where, word)
			}
			out = append(out, name)
		}
	}
	if len(out) == 0 && r.Problems.Err() == nil {
		r.Blame("mapNames", "name eligibility, profile or both", "mapNames: %q (%s) names no map", v.Text, v.From())
	}
	r.Show("mapNames", strings.Join(out, ","), v)
	for _, name := range r.Values.Names() {
		if v := r.Values[name]; v.Origin == workload.OriginFile && strings.HasPrefix(name, summary+".") && !slices.Contains(there, summary) {
			r.Warn("%s: %s has no effect: the map summary is written by transactions only", v.Where, name)
		}
	}
	return out
}

// summary is a map that only PadoGrid for Coherence accepts in mapNames.
const summary = "summary"
