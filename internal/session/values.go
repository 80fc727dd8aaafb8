package session

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/workload"
)

// names knows every value that a run may be given.
type names struct {
	plain []string // run parameters, parameters, knobs
	aimed []string // those that may be aimed at a track
	idle  []string // those of aimed, with their track, that turn nothing there
}

func namesOf(p *workload.Profile, plan *workload.Plan) names {
	var n names
	for _, r := range RunParams() {
		n.plain = append(n.plain, r.Name)
	}
	for _, q := range p.Params {
		n.plain = append(n.plain, q.Name)
		if q.Track {
			n.aimed = append(n.aimed, q.Name)
		}
	}
	knobs := []workload.Knob{workload.Threads(), workload.Rate(""), workload.Payload(), workload.Batch()}
	if plan != nil {
		knobs = plan.Knobs
		for _, v := range plan.Parameters { // those of a plan's own operations
			if !slices.Contains(n.plain, v.Name) {
				n.plain = append(n.plain, v.Name)
			}
		}
	}
	for _, k := range knobs {
		n.plain = append(n.plain, k.Name)
		n.aimed = append(n.aimed, k.Name)
	}
	if plan != nil {
		for _, t := range plan.Tracks() {
			for _, k := range t.Idle {
				n.idle = append(n.idle, t.Name+"."+k)
			}
		}
	}
	return n
}

// all lists every name, aimed ones for each of the tracks.
func (n names) all(tracks []string) []string {
	out := slices.Clone(n.plain)
	for _, t := range tracks {
		for _, a := range n.aimed {
			if aimed := t + "." + a; !slices.Contains(n.idle, aimed) {
				out = append(out, aimed)
			}
		}
	}
	return out
}

// variable is the environment variable of a value: PERFBENCH_PROFILE_TESTCASE
// for profile.testCase.
func variable(name string) string {
	return EnvPrefix + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return '_'
	}, name)
}

// environment returns the values given by environment variables. An empty one
// counts as not set.
func environment(environ, known []string) workload.Values {
	set := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(k, EnvPrefix) {
			set[k] = v
		}
	}
	out := workload.Values{}
	for _, n := range known {
		if v := set[variable(n)]; v != "" {
			out.Set(workload.Value{Name: n, Text: v, Origin: workload.OriginEnvironment, Where: variable(n)})
		}
	}
	return out
}

// reserved are variables that stand for flags which are no values.
var reserved = []string{
	"PROFILE", "PRESET", "FILE", "TARGET", "TARGET_PASSWORD", "PASSWORD_FILE", "OUT", "FORMAT", "AT",
	"THRESHOLD", "SET", "FACTS", "QUIET", "PLAIN", "ASCII", "THEME", "DRY_RUN", "YES", "JSON",
}

// strangers names the variables that look like ours and mean nothing.
func strangers(environ, known []string) []string {
	ours := []string{}
	for _, r := range reserved {
		ours = append(ours, EnvPrefix+r)
	}
	for _, n := range known {
		ours = append(ours, variable(n))
	}
	var out []string
	for _, kv := range environ {
		k, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(k, EnvPrefix) || slices.Contains(ours, k) {
			continue
		}
		s := "environment variable " + k + " means nothing here"
		if near := suggest.Nearest(k, ours); near != "" {
			s += "; did you mean " + near + "?"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// defaults returns the values that hold when nobody says otherwise.
func defaults(p *workload.Profile) workload.Values {
	out := workload.Values{}
	for _, q := range slices.Concat(RunParams(), p.Params) {
		if q.Default != "" {
			out.Set(workload.Value{Name: q.Name, Text: q.Default, Origin: workload.OriginDefault})
		}
	}
	return out
}

// readFiles has the profile read the files and folders of --file.
func readFiles(p *workload.Profile, paths []string) (workload.Values, []string, error) {
	if len(paths) == 0 {
		return nil, nil, nil
	}
	if p.Read == nil {
		return nil, nil, fault.Input(fmt.Errorf("file %s: profile %s reads no files", paths[0], p.Name), "use --preset and --set")
	}
	var problems workload.Problems
	var files []workload.File
	for _, path := range paths {
		st, err := os.Stat(path)
		if err == nil && st.IsDir() {
			files = append(files, workload.File{Path: path})
			continue
		}
		data, err := readFile("file", path, err)
		problems.Add(err)
		files = append(files, workload.File{Path: path, Data: data})
	}
	if err := problems.Err(); err != nil {
		return nil, nil, err
	}
	return p.Read(files)
}

// maxFile is the size of the largest file of values, in bytes.
const maxFile = 16 << 20

func readFile(what, path string, err error) ([]byte, error) {
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		hint := ""
		dir, _ := os.ReadDir(filepath.Dir(path))
		var near []string
		for _, d := range dir {
			near = append(near, filepath.Join(filepath.Dir(path), d.Name()))
		}
		if n := suggest.Nearest(path, near); n != "" && n != path {
			hint = "did you mean " + n + "?"
		}
		return nil, fault.Input(fmt.Errorf("%s: %w", what, err), hint)
	}
	if len(data) > maxFile {
		return nil, fault.Input(fmt.Errorf("%s %s: %d bytes are more than a file of settings can have", what, path, len(data)), "")
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// unknown returns an error for each value whose name is none of the run's.
// Values of files are left out: the reader of the file has judged those.
func unknown(vs workload.Values, n names, tracks []string) []error {
	all := n.all(tracks)
	var errs []error
	for _, name := range vs.Names() {
		v := vs[name]
		if v.Origin == workload.OriginFile || slices.Contains(all, name) {
			continue
		}
		if _, leaf, ok := strings.Cut(name, "."); ok && v.Origin == workload.OriginPreset && slices.Contains(n.aimed, leaf) {
			continue // of a track that this run leaves out
		}
		if tracks == nil && strings.Contains(name, ".") {
			continue // which tracks there are is not known: the design has failed
		}
		errs = append(errs, fault.Field(name, fault.Input(fmt.Errorf("there is no knob or parameter %q (%s)", name, v.From()), suggest.Hint(name, all))))
	}
	return errs
}

// inputs reads the values that every run has; those that are no business of a
// profile come beside.
func inputs(vs workload.Values, problems *workload.Problems) (in workload.Inputs, cleanup, requireValid bool) {
	in = workload.Inputs{Values: vs, Namespace: vs["namespace"].Text}
	var err error
	if v, ok := vs["duration"]; ok {
		in.Duration, err = v.Duration()
		problems.Add(err)
		if err == nil && in.Duration < time.Millisecond {
			problems.Add(fault.Field("duration", fault.Input(fmt.Errorf("duration: %q (%s) is not a duration of 1ms or more", v.Text, v.From()), "leave it out to run until the work is done")))
		}
	}
	in.Warmup, err = vs["warmup"].Duration()
	problems.Add(err)
	in.Drain, err = vs["drain"].Duration()
	problems.Add(err)
	if err == nil && in.Drain < time.Millisecond {
		problems.Add(fault.Field("drain", fault.Input(fmt.Errorf("drain: %q (%s) is not a duration of 1ms or more", vs["drain"].Text, vs["drain"].From()), "for example 10s")))
	}
	if v, ok := vs["count"]; ok {
		in.Count, err = v.Int(1, 1<<53)
		problems.Add(err)
	}
	in.Seed, err = vs["seed"].Int(-1<<62, 1<<62)
	problems.Add(err)
	in.AllowExisting, err = vs["allow-existing"].Bool()
	problems.Add(err)
	cleanup, err = vs["cleanup"].Bool()
	problems.Add(err)
	requireValid, err = vs["require-valid"].Bool()
	problems.Add(err)
	problems.Add(checkNamespace(vs["namespace"]))
	return in, cleanup, requireValid
}

const maxNamespace = 64

func checkNamespace(v workload.Value) error {
	if len(v.Text) > maxNamespace {
		return fault.Field("namespace", fault.Input(fmt.Errorf("namespace: %q (%s) has more than %d bytes", v.Text, v.From(), maxNamespace), ""))
	}
	for _, r := range v.Text {
		if !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r))) {
			return fault.Field("namespace", fault.Input(fmt.Errorf("namespace: %q (%s) has other characters than letters, digits, ., _ and -", v.Text, v.From()), ""))
		}
	}
	return nil
}

// put adds all of from to vs by the rules of precedence.
func put(vs, from workload.Values) {
	for _, n := range slices.Sorted(maps.Keys(from)) {
		vs.Set(from[n])
	}
}
