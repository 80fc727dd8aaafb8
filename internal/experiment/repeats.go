package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	// usualRepeats is how many runs a side are compared unless --repeat says.
	usualRepeats = 5
	// usualAA is how many repeats are compared with each other.
	usualAA     = 10
	mostRepeats = 1000
)

// Repeats are several runs of the same, or of two sides that take turns and are compared, and
// have been checked. They belong to one goroutine.
type Repeats struct {
	// Asked is what was asked for, Sides the run as given and, where it is to be compared,
	// the other. Times is how many runs there are of each; 0: the one is no experiment.
	Asked request.Repeat
	Sides []*Side
	Times int
	// Find is what each run searches for; nil if none does.
	Find *find.Asked

	driver    *Driver
	tolerance float64
	// unsure is what to do where it cannot be told; empty unless it was asked for.
	unsure compare.Policy
}

// Side is one of those that take turns.
type Side struct {
	Name     string
	Prepared *session.Prepared
	// Search is what each of its runs searches for, if they are searches.
	Search find.Options

	request session.Request
	dirs    []string // of its runs that came to their end
	answers []answers
}

// answers is what a run of a replay found when it compared its answers.
type answers struct {
	differ int64
	words  string
}

// Repeats checks whether the runs of a request are possible that is done as often, and in
// turn with such another, as was asked. Errors have the code of bad input, all of them
// joined; with them comes what could be understood. With search each run is a search.
func (d *Driver) Repeats(ctx context.Context, r session.Request, asked request.Repeat, search *find.Asked) (*Repeats, error) {
	out := &Repeats{Asked: asked, Find: search, driver: d}
	var problems workload.Problems
	problems.Add(out.read())
	out.Sides = out.sides(r)
	for i, s := range out.Sides {
		var err error
		s.Prepared, err = d.Prepare(ctx, s.request)
		problems.Add(err)
		if err == nil && search != nil {
			s.Search, err = PrepareSearch(*search, s.Prepared, 0)
			problems.Add(err)
		}
		if i > 0 && asked.Against != "" && err == nil { // without what is secret in it
			s.Name = strings.TrimSuffix("on "+s.Prepared.Target.Redacted()+", "+s.Name, ", ")
		}
	}
	return out, problems.Err()
}

// paired says whether runs are to be compared with others.
func (r *Repeats) paired() bool { return r.Asked.Against != "" || len(r.Asked.Sets) > 0 }

// read takes in what was asked for.
func (r *Repeats) read() error {
	var problems workload.Problems
	asked := &r.Asked
	if asked.Times == "" && r.paired() {
		r.Times = usualRepeats
	}
	if asked.AA && r.paired() {
		problems.Add(fault.Input(errors.New("aa: the repeats of one run are compared with each other, and there is another"), "leave --against and --against-set out"))
	}
	if asked.Times == "" && asked.AA {
		r.Times = usualAA
	}
	if asked.Times != "" {
		n, err := strconv.Atoi(asked.Times)
		if err != nil || n < 1 || n > mostRepeats {
			problems.Add(fault.Field("repeat", fault.Input(fmt.Errorf("repeat: %q is not in 1..%d", asked.Times, mostRepeats), "write it like --repeat 5")))
		}
		r.Times = n
	}
	if asked.Tolerance != "" {
		var err error
		r.tolerance, err = compare.ParseTolerance(asked.Tolerance)
		problems.Add(fault.Field("tolerance", err))
		problems.Add(r.compares("tolerance"))
	}
	if asked.Unsure != "" {
		var err error
		r.unsure, err = compare.ParsePolicy(asked.Unsure)
		problems.Add(fault.Field("unsure", err))
		problems.Add(r.compares("unsure"))
	}
	for _, s := range asked.Sets {
		if name, _, ok := strings.Cut(s, "="); !ok || strings.TrimSpace(name) == "" {
			problems.Add(fault.Field("against-set", fault.Input(fmt.Errorf("against-set: %q is not NAME=VALUE", s), "write it like --against-set threads=32")))
		}
	}
	return problems.Err()
}

// compares refuses what only says something of a comparison where there is none.
func (r *Repeats) compares(name string) error {
	if r.paired() || r.Asked.AA && name == "tolerance" {
		return nil
	}
	return fault.Field(name, fault.Input(errors.New(name+": there is nothing to compare with"), "name it with --against or --against-set"))
}

// sides are the run as given, and the other when there is one.
func (r *Repeats) sides(req session.Request) []*Side {
	out := []*Side{{Name: "as given", request: req}}
	if !r.paired() {
		return out
	}
	other := req
	other.Values = maps.Clone(req.Values)
	other.Target = cmp.Or(r.Asked.Against, req.Target)
	for _, s := range r.Asked.Sets {
		name, text, _ := strings.Cut(s, "=")
		other.Values.Set(workload.Value{Name: strings.TrimSpace(name), Text: text, Origin: workload.OriginFlag, Where: "--against-set"})
	}
	return append(out, &Side{Name: strings.Join(r.Asked.Sets, ", "), request: other})
}

// Do does one run after the other, the sides in turn. What ends them early leaves the runs
// that are complete. The error is that of the worst failure.
func (r *Repeats) Do(ctx context.Context, perform Perform) error {
	folder := ""
	if r.comparesAnswers() {
		var err error
		if folder, err = os.MkdirTemp("", "perfbench-answers-"); err != nil {
			return err
		}
		defer os.RemoveAll(folder) //nolint:errcheck // the system clears it, too
	}
	return worst(r.driver.turns(ctx, r.all(), func(ctx context.Context, t Turn) (*session.Concluded, error) {
		if folder != "" {
			t.compareAnswers(filepath.Join(folder, "answers"))
		}
		o, err := perform(ctx, t)
		if err != nil {
			return nil, err
		}
		if !failed(o) {
			s := r.Sides[t.Member]
			s.dirs = append(s.dirs, o.Dir)
			if v := o.Run.Verification; v.Differ != nil {
				s.answers = append(s.answers, answers{*v.Differ, v.Summary})
			}
		}
		if o.Err != nil {
			err = fmt.Errorf("run %s: %w", o.Run.ID, o.Err)
		}
		return o, err
	}))
}

// Names of the parameters of a replay that are about answers.
const (
	keepAnswers   = "keep-answers"
	expectAnswers = "expect-answers"
)

// comparesAnswers reports whether the runs are replays that keep the order of the calls of each
// key, or of all, which decides the answers, and nobody has said what becomes of these.
func (r *Repeats) comparesAnswers() bool {
	for _, s := range r.Sides {
		given := s.Prepared.Inputs.Values
		if !s.Prepared.Plan.Replays || given["order"].Text != "key" && given["order"].Text != "all" || given[keepAnswers].Text != "" || given[expectAnswers].Text != "" {
			return false
		}
	}
	return r.paired()
}

// compareAnswers has the first run keep its answers, and later ones compare theirs with them.
func (t *Turn) compareAnswers(file string) {
	name := keepAnswers
	if _, err := os.Stat(file); err == nil {
		name = expectAnswers
	}
	t.Request.Values = maps.Clone(t.Request.Values)
	t.Request.Values.Set(workload.Value{Name: name, Text: file, Origin: workload.OriginFlag, Where: "--against"})
}

// answered says what came of comparing answers, or why replays did not; "" of other runs.
func (r *Repeats) answered() string {
	var out strings.Builder
	for i, s := range r.Sides {
		differ, words := int64(0), ""
		for _, a := range s.answers {
			if differ += a.differ; words == "" || a.differ > 0 {
				words = a.words
			}
		}
		if len(s.answers) > 0 {
			fmt.Fprintf(&out, "%c: %s that compared answers, %s; %s\n", 'A'+i, units.Plural(len(s.answers), "run"), differing(differ), words)
		}
	}
	switch given := r.Sides[0].Prepared.Inputs.Values; {
	case out.Len() > 0:
	case r.paired() && r.Sides[0].Prepared.Plan.Replays && given[keepAnswers].Text == "" && given[expectAnswers].Text == "":
		out.WriteString("Not compared: they follow from the order of the calls of each key, which --order key keeps, or of all statements, --order all.\n")
	default:
		return ""
	}
	return "\nAnswers\n-------\n" + out.String()
}

func differing(n int64) string {
	if n == 0 {
		return "and none differ"
	}
	return units.Plural(n, "answer") + " differ in all"
}

// all are the turns of all runs.
func (r *Repeats) all() []Turn {
	series := time.Now().UTC().Format(time.RFC3339Nano) // no other begins in the same moment
	out := Rounds(r.Times, len(r.Sides), r.Sides[len(r.Sides)-1].Prepared.Inputs.Seed)
	for i := range out {
		t := &out[i]
		s := r.Sides[t.Member]
		t.What = fmt.Sprintf("run %d of %d", i+1, len(out))
		if r.paired() {
			t.What += fmt.Sprintf(" (%s: %s)", string(rune('A'+t.Member)), s.Name)
		}
		t.Request = s.request
		t.Find = r.Find
		t.Request.Series, t.Request.Round = series, t.Round+1
	}
	return out
}

// Came is what repeats came to: as text, with what casts doubt on it, and the folder beside
// those of the runs in which it is kept.
type Came struct {
	Text     string
	Warnings []string
	Dir      string
}

// Conclude says what the complete runs come to, and keeps that; nil where there are too few
// to say anything. With it may come the error of a comparison that the user set a limit.
func (r *Repeats) Conclude() (*Came, error) {
	var sets []compare.Set
	for _, s := range r.Sides {
		if len(s.dirs) == 0 {
			if r.paired() {
				return nil, nil // what went wrong has been told
			}
			continue
		}
		set, err := compare.ReadRuns(s.Name, s.dirs)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	if len(sets) == 0 {
		return nil, nil
	}
	var files []rundir.File
	for i, set := range sets {
		data, err := compare.Baseline(set.Runs)
		if err != nil {
			return nil, err
		}
		files = append(files, rundir.File{Name: string(rune('a'+i)) + ".json", Data: data})
	}
	if len(sets) == 1 {
		files[0].Name = kept.RepeatsFile
		if r.Asked.AA {
			return r.concludeAA(sets[0], files)
		}
		return r.keep(&Came{Text: report.Repeats(sets[0])}, kept.RepeatsEnd, files)
	}
	c := compare.Sets(sets[0], sets[1], compare.Options{Tolerance: r.tolerance, Unsure: r.unsure, Earlier: compare.Earlier(r.out(), sets[0], sets[1])})
	found, err := report.SearchesOf(c)
	if err != nil {
		return nil, err
	}
	for _, id := range report.ComparisonFormats() {
		file, err := report.Comparison(c, found, id)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	text, err := report.Comparison(c, found, "text")
	if err != nil {
		return nil, err
	}
	came, err := r.keep(&Came{Text: string(text.Data) + r.answered(), Warnings: c.Warnings()}, kept.ComparedEnd, files)
	if r.Asked.Tolerance != "" || r.unsure == compare.Fail {
		err = errors.Join(err, c.Err())
	}
	return came, err
}

// concludeAA says how much the repeats differ, and keeps that for later comparisons.
func (r *Repeats) concludeAA(s compare.Set, files []rundir.File) (*Came, error) {
	n, err := compare.AA(s, r.tolerance)
	if err != nil {
		return nil, err
	}
	if _, err := compare.KeepNoise(r.out(), s); err != nil {
		return nil, err
	}
	for _, id := range report.NoiseFormats() {
		file, err := report.Noise(n, id)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	text, err := report.Noise(n, "text")
	if err != nil {
		return nil, err
	}
	return r.keep(&Came{Text: string(text.Data)}, kept.RepeatsEnd, files)
}

// out is the folder of the runs.
func (r *Repeats) out() string { return cmp.Or(r.Sides[0].request.Out, session.DefaultOut) }

// keep writes what the runs came to into a folder beside theirs, which has the name of the
// first of them and what it is. Where that fails, the folder is not named.
func (r *Repeats) keep(c *Came, end string, files []rundir.File) (*Came, error) {
	dir := filepath.Join(r.out(), filepath.Base(r.Sides[0].dirs[0])+end)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return c, fmt.Errorf("keep the comparison: %w", err)
	}
	if err := rundir.WriteFiles(dir, files); err != nil {
		return c, err
	}
	c.Dir = dir
	return c, nil
}
