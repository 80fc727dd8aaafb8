package request

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// EnvPrefix is how the names of the environment variables begin that are read.
const EnvPrefix = "PERFBENCH_"

// RunParams lists the parameters of every run, in addition to its profile's own
// parameters and its plan's knobs.
func RunParams() []workload.Param {
	var out []workload.Param
	for _, f := range Fields() {
		switch {
		case f.setHelp != "":
			out = append(out, workload.Param{Name: f.Name, Kind: workload.Text, Help: f.setHelp})
		case f.IsValue() && !f.isKnob && !f.ofProfile:
			out = append(out, f.Param)
		}
	}
	return out
}

// Names holds the name of every value that a run may be given.
type Names struct {
	profile string
	plain   []string // run parameters, parameters, knobs
	aimed   []string // those that can be aimed at a track
	idle    []string // those of aimed, with a track, that have no effect there
	lacks   map[string]string
	open    bool // a plan that is not known yet may have others, which its workload names
}

// NamesOf returns the names for a profile, and for its plan unless that is nil.
func NamesOf(p *workload.Profile, plan *workload.Plan) Names {
	n := Names{profile: p.Name, lacks: p.Lacks, open: plan == nil && len(p.Inline) > 0}
	for _, r := range RunParams() {
		n.plain = append(n.plain, r.Name)
	}
	for _, q := range p.Params {
		n.plain = append(n.plain, q.Name)
		if q.Track {
			n.aimed = append(n.aimed, q.Name)
		}
	}
	knobs := workload.Usual()
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
			for name := range t.Idle {
				if k, _ := plan.Knob(name); k.Param == "" { // else it is a parameter, too, which may be given for nothing
					n.idle = append(n.idle, t.Name+"."+name)
				}
			}
		}
	}
	return n
}

// All returns every name, the aimed ones once for each track.
func (n Names) All(tracks []string) []string {
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

// Variable returns the environment variable of a value: PERFBENCH_PROFILE_TESTCASE for
// profile.testCase.
func Variable(name string) string {
	return EnvPrefix + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToUpper(r)
		}
		return '_'
	}, name)
}

// Environment returns the values given by environment variables. An empty variable
// counts as unset.
func Environment(environ, known []string) workload.Values {
	set := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(k, EnvPrefix) {
			set[k] = v
		}
	}
	out := workload.Values{}
	for _, n := range known {
		if v := set[Variable(n)]; v != "" {
			out.Set(workload.Value{Name: n, Text: v, Origin: workload.OriginEnvironment, Where: Variable(n)})
		}
	}
	return out
}

// Strangers returns the variables that look like ours but mean nothing.
func Strangers(environ, known []string) []string {
	ours := []string{EnvPrefix + "TARGET_PASSWORD", EnvPrefix + "YES"} // of commands that delete
	for _, f := range Fields() {
		if f.Flag.Group != "" {
			ours = append(ours, Variable(f.Name))
		}
	}
	for _, n := range known {
		ours = append(ours, Variable(n))
	}
	var out []string
	for _, kv := range environ {
		k, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(k, EnvPrefix) || slices.Contains(ours, k) {
			continue
		}
		s := "environment variable " + k + " has no effect"
		if near := fault.Nearest(k, ours); near != "" {
			s += "; did you mean " + near + "?"
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// Defaults returns the values in effect unless something else is given.
func Defaults(p *workload.Profile) workload.Values {
	out := workload.Values{}
	for _, q := range slices.Concat(RunParams(), p.Params) {
		if q.Default != "" {
			out.Set(workload.Value{Name: q.Name, Text: q.Default, Origin: workload.OriginDefault})
		}
	}
	return out
}

// Inline returns the texts that stand for files of a profile, as far as they are given.
func Inline(p *workload.Profile, given workload.Values) (out []workload.File) {
	for _, name := range p.Inline {
		if v, ok := given[name]; ok && v.Text != "" {
			out = append(out, workload.File{Path: "--" + name, Data: []byte(v.Text)})
		}
	}
	return out
}

// ReadFiles has the profile read the files and folders of --file, and then texts that stand
// for files.
func ReadFiles(p *workload.Profile, paths []string, texts []workload.File) (workload.Values, workload.Found, error) {
	if len(paths)+len(texts) == 0 {
		return nil, workload.Found{}, nil
	}
	if p.Read == nil {
		return nil, workload.Found{}, fault.Input(fmt.Errorf("file %s: profile %s reads no files", paths[0], p.Name), "use --preset and --set")
	}
	files, err := openFiles(paths, texts)
	if err != nil {
		return nil, workload.Found{}, err
	}
	for _, f := range files {
		if f.Capture && !p.Replays {
			return nil, workload.Found{}, fault.Input(fmt.Errorf("file: %s is a capture, and profile %s makes no recorded calls again", f.Path, p.Name), "perfbench run mix --file "+f.Path)
		}
	}
	return p.Read(files)
}

// openFiles returns the files and folders of --file, and then texts that stand for files.
func openFiles(paths []string, texts []workload.File) ([]workload.File, error) {
	var problems workload.Problems
	var files []workload.File
	var run []string
	for _, q := range RunParams() {
		run = append(run, q.Name)
	}
	for _, path := range paths {
		st, err := os.Stat(path)
		if err == nil && st.IsDir() {
			files = append(files, workload.File{Path: path, Run: run})
			continue
		}
		if err == nil && isCapture(path) {
			files = append(files, workload.File{Path: path, Capture: true, Run: run})
			continue
		}
		data, err := readFile("file", path, err)
		if err == nil && IsName(path) && Is(data) {
			err = fault.Input(fmt.Errorf("file: %s is a plan, which says itself what to run", path), "perfbench run "+path+" does it, perfbench tui "+path+" opens it")
		}
		problems.Add(err)
		files = append(files, workload.File{Path: path, Data: data, Run: run})
	}
	for _, t := range texts {
		t.Run = run
		files = append(files, t)
	}
	return files, problems.Err()
}

// Readers returns the names of the profiles that read files without an error and find values in
// them.
func Readers(all []workload.Profile, paths []string) []string {
	var out []string
	for i := range all {
		if all[i].Read == nil || all[i].Design == nil {
			continue
		}
		if vs, _, err := ReadFiles(&all[i], paths, nil); err == nil && len(vs) > 0 {
			out = append(out, all[i].Name)
		}
	}
	return out
}

// NearPath returns a hint at the file that was probably meant by a path that does not
// exist, or "".
func NearPath(path string) string {
	dir, _ := os.ReadDir(filepath.Dir(path))
	var near []string
	for _, d := range dir {
		near = append(near, filepath.Join(filepath.Dir(path), d.Name()))
	}
	if n := fault.Nearest(path, near); n != "" && n != path {
		return "did you mean " + n + "?"
	}
	return ""
}

// isCapture reports whether a file is a capture, of whatever size.
func isCapture(path string) bool {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false // and a pipe is opened once
	}
	f, err := infile.Open(infile.Recorded, path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it was only read
	begin, err := io.ReadAll(io.LimitReader(f, 4))
	return err == nil && capture.Is(begin)
}

func readFile(what, path string, err error) ([]byte, error) {
	var data []byte
	if err == nil && isCapture(path) {
		return nil, fault.Input(fmt.Errorf("%s: %s is a capture, which --file has mix make again", what, path), "perfbench run mix --file "+path)
	}
	if err == nil {
		data, err = infile.Read(infile.Settings, path)
	}
	if err != nil {
		return nil, fault.Input(fmt.Errorf("%s: %w", what, infile.Plain(err)), NearPath(path))
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// Unknown returns an error for each value whose name the run does not know. Values from
// files are left out, since the reader of the file has checked them.
func Unknown(vs workload.Values, n Names, tracks []string) []error {
	all := n.All(tracks)
	var errs []error
	for _, name := range vs.Names() {
		v := vs[name]
		if v.Origin == workload.OriginFile || slices.Contains(all, name) {
			continue
		}
		if strings.Contains(name, ".") && v.Origin == workload.OriginPreset && !aimed(name, tracks) {
			continue // of a track that this run does not have
		}
		if tracks == nil && strings.Contains(name, ".") {
			continue // the tracks are not known, because the design has failed
		}
		if why := n.lacks[name[strings.LastIndexByte(name, '.')+1:]]; why != "" {
			errs = append(errs, fault.Field(name, fault.Input(fmt.Errorf("%s (%s): %s", name, v.From(), why), "leave it out; perfbench help run says which profiles have it")))
			continue
		}
		if n.open && fault.Nearest(name, all) == "" && Meant(name, all) == "" {
			continue
		}
		hint := fault.Suggest(name, all, fault.SeeKnobs)
		if key := Meant(name, all); key != "" {
			hint = "did you mean " + key + "? " + fault.SeeKnobs
		}
		errs = append(errs, fault.Field(name, fault.Input(fmt.Errorf("there is no knob or parameter %q in profile %s (%s)", name, n.profile, v.From()), hint)))
	}
	return errs
}

// aimed reports whether a value is of one of the tracks.
func aimed(name string, tracks []string) bool {
	return slices.ContainsFunc(tracks, func(t string) bool { return strings.HasPrefix(name, t+".") })
}

// Inputs reads the values that every run has; those that do not concern profiles are
// returned separately.
func Inputs(vs workload.Values, problems *workload.Problems) (in workload.Inputs, cleanup, requireValid bool) {
	in = workload.Inputs{Values: vs, Namespace: vs["namespace"].Text}
	var err error
	if v, ok := vs["duration"]; ok {
		in.Duration, in.Endless, err = length(v)
		problems.Add(err)
	}
	in.Warmup, err = warmup(vs["warmup"], in.Duration)
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
	if v, ok := vs["arrivals"]; ok {
		in.Arrivals, err = workload.ParseArrivals(v.Text)
		if err != nil {
			err = fault.Field("arrivals", fault.Input(fmt.Errorf("arrivals (%s): %w", v.From(), err), ""))
		}
		problems.Add(err)
	}
	if v, ok := vs["client"]; ok {
		in.Client, err = workload.ParseClient(v.Text)
		if err != nil {
			err = fault.Field("client", fault.Input(fmt.Errorf("client (%s): %w", v.From(), err), ""))
		}
		problems.Add(err)
	}
	in.Seed, err = vs["seed"].Int(-1<<62, 1<<62)
	problems.Add(err)
	in.AllowExisting, err = vs["allow-existing"].Bool()
	problems.Add(err)
	in.Breakable, err = vs["breakable"].Bool()
	problems.Add(err)
	cleanup, err = vs["cleanup"].Bool()
	problems.Add(err)
	requireValid, err = vs["require-valid"].Bool()
	problems.Add(err)
	problems.Add(checkNamespace(vs["namespace"]))
	return in, cleanup, requireValid
}

// length returns how long a run lasts; 0: until its work is done or, if endless, until
// it is stopped.
func length(v workload.Value) (d time.Duration, endless bool, err error) {
	switch strings.TrimSpace(v.Text) {
	case workload.Forever:
		return 0, true, nil
	case workload.Once:
		return 0, false, nil
	}
	d, err = v.Duration()
	if err == nil && d < time.Millisecond {
		err = fault.Field("duration", fault.Input(fmt.Errorf("duration: %q (%s) is not a duration of 1ms or more", v.Text, v.From()), ""))
	}
	lead := "for example 30s; "
	if meant := units.Lacking(v.Text, "s"); meant != "" {
		lead = "did you mean " + meant + "? Or "
	}
	return d, false, fault.Hint(err, lead+workload.Once+" to end with the work, "+workload.Forever+" to go on until it is stopped")
}

// warmup returns the length of the warm-up, or the longest length of one that ends
// itself.
func warmup(v workload.Value, duration time.Duration) (time.Duration, error) {
	if v.Text == condition.Auto {
		return condition.LongestWarmup(duration), nil
	}
	d, err := v.Duration()
	if err != nil {
		lead := "or"
		if meant := units.Lacking(v.Text, "s"); meant != "" {
			lead = "did you mean " + meant + "? Or"
		}
		err = fault.Hint(err, lead+" auto, to warm up until throughput and p99 have settled")
	}
	return d, err
}

const maxNamespace = 64

func checkNamespace(v workload.Value) error {
	if len(v.Text) > maxNamespace {
		return fault.Field("namespace", fault.Input(fmt.Errorf("namespace: %q (%s) has more than %d bytes", v.Text, v.From(), maxNamespace), ""))
	}
	for _, r := range v.Text {
		if !(r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("_-.", r))) {
			return fault.Field("namespace", fault.Input(fmt.Errorf("namespace: %q (%s) has characters other than letters, digits, ., _ and -", v.Text, v.From()), ""))
		}
	}
	return nil
}

// Put adds all of from to vs, by the rules of precedence.
func Put(vs, from workload.Values) {
	for _, n := range slices.Sorted(maps.Keys(from)) {
		vs.Set(from[n])
	}
}
