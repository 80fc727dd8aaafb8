package authz

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// spec is what a plan will do.
type spec struct {
	mode, folder, shape, membership, variant, strategy, load, json, permission, order string
	users, groups, phases, concurrent, sweepLimit, mixOps, probes, batch              int
	tests                                                                             []string
	weights                                                                           [5]float64
	zipf                                                                              float64
	invalidate, compat                                                                bool
	staleLimit                                                                        time.Duration
	seed                                                                              int64
	namespace, runID, driver                                                          string
	allow                                                                             bool
	count                                                                             int64

	model *model
	phase [][]*tenant
}

// The operations of the mix, by index of the weights.
var mixNames = []string{"check", "list", "expand", "grant", "revoke"}

// Read reads --file: a folder of a model loader, or YAML of ours.
func Read(files []workload.File) (workload.Values, []string, error) {
	out := workload.Values{}
	var problems workload.Problems
	for _, f := range files {
		if f.Data == nil {
			out.Set(workload.Value{Name: "folder", Text: f.Path, Origin: workload.OriginFile, Where: f.Path})
			continue
		}
		if ext := strings.ToLower(filepath.Ext(f.Path)); ext != ".yaml" && ext != ".yml" {
			problems.Add(fault.Input(fmt.Errorf("file %s: not a folder of a model loader, nor YAML", f.Path), "name the folder scripts itself"))
			continue
		}
		vs, err := preset.Read(f.Path, f.Data)
		problems.Add(err)
		for _, v := range vs {
			out[v.Name] = v
		}
	}
	return out, nil, problems.Err()
}

// reader reads values and keeps what is wrong with them.
type reader struct {
	vs       workload.Values
	problems workload.Problems
	shown    []workload.Value
}

func (r *reader) value(name string) (workload.Value, workload.Param) {
	all := params()
	p := all[slices.IndexFunc(all, func(p workload.Param) bool { return p.Name == name })]
	v, ok := r.vs.Pick(name)
	if !ok {
		v = workload.Value{Name: name, Text: p.Default, Origin: workload.OriginDefault}
	}
	r.shown = append(r.shown, v)
	return v, p
}

func (r *reader) text(name string) string { v, _ := r.value(name); return strings.TrimSpace(v.Text) }

func (r *reader) choice(name string) string {
	v, p := r.value(name)
	word, err := v.Choice(p.Choices...)
	r.problems.Add(err)
	return word
}

func (r *reader) whole(name string) int {
	v, p := r.value(name)
	n, err := v.Int(int64(p.Min), int64(p.Max))
	r.problems.Add(err)
	return int(n)
}

func (r *reader) on(name string) bool {
	v, _ := r.value(name)
	b, err := v.Bool()
	r.problems.Add(err)
	return b
}

// Design works out the plan. It reads the folder that a value names, and touches
// nothing else; all problems are returned joined, with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, error) {
	r := &reader{vs: in.Values}
	s := &spec{seed: in.Seed, namespace: in.Namespace, runID: in.RunID, driver: in.Driver, allow: in.AllowExisting, count: in.Count}
	s.mode, s.folder, s.shape = r.choice("mode"), r.text("folder"), r.choice("shape")
	s.users, s.groups = r.whole("users"), r.whole("groups")
	n, c := r.whole("runs"), r.whole("concurrent")
	s.membership, s.variant, s.strategy, s.load, s.json = r.choice("membership"), r.choice("variant"), r.choice("strategy"), r.choice("load"), r.choice("json")
	s.sweepLimit, s.order, s.permission = r.whole("sweepLimit"), r.choice("sweepOrder"), r.text("sweepPermission")
	s.mixOps, s.probes, s.batch = r.whole("mixOps"), r.whole("probes"), r.whole("loadBatch")
	s.invalidate, s.compat = r.on("invalidate"), r.on("compat")
	var err error
	v, _ := r.value("staleLimit")
	s.staleLimit, err = v.Duration()
	r.problems.Add(err)
	v, p := r.value("zipf")
	s.zipf, err = v.Float(p.Min, p.Max)
	r.problems.Add(err)
	s.readMix(r)
	s.readTests(r)
	start := r.settings()
	if s.strategy == strategyServer && !slices.Contains([]string{"", "redis", "mysql", "postgres", "sqlite", "embedded"}, s.driver) {
		r.problems.Add(fault.Input(fmt.Errorf("strategy: server: %s cannot walk a graph by itself", s.driver), "use ancestry, level or memberships-cache"))
	}
	if c > 0 {
		s.phases, s.concurrent = (n+c-1)/c, c
		if s.phases*c > 256 {
			r.problems.Add(fault.Input(fmt.Errorf("runs: %d phases of %d tenants are more than 256", s.phases, c), ""))
		}
	}
	if err := r.problems.Err(); err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	return s.plan(r, start, in), nil
}

func (r *reader) settings() workload.Settings {
	start := workload.Settings{Threads: 1}
	if v, ok := r.vs.Pick("threads"); ok {
		n, err := v.Int(1, workload.MaxThreads)
		r.problems.Add(err)
		start.Threads = int(n)
	}
	if v, ok := r.vs.Pick("rate"); ok {
		rate, err := v.Float(0, workload.MaxRate)
		r.problems.Add(err)
		start.Rate = rate
	}
	return start
}

func (s *spec) readMix(r *reader) {
	v, _ := r.value("mix")
	total := 0.0
	for part := range strings.SplitSeq(v.Text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		i := slices.Index(mixNames, strings.TrimSpace(name))
		w, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if i < 0 || err != nil || w < 0 || math.IsInf(w, 0) || math.IsNaN(w) {
			r.problems.Add(fault.Input(fmt.Errorf("mix: %q (%s) is not a weight of %s", part, v.From(), strings.Join(mixNames, ", ")), "for example check=99,grant=1"))
			continue
		}
		s.weights[i] = w
		total += w
	}
	if total == 0 && r.problems.Err() == nil {
		r.problems.Add(fault.Input(errors.New("mix: all weights are 0"), "for example check=99,grant=1"))
	}
}

func (s *spec) readTests(r *reader) {
	v, _ := r.value("tests")
	for part := range strings.SplitSeq(v.Text, ",") {
		word := strings.TrimSpace(part)
		if word == "" || slices.Contains(s.tests, word) {
			continue
		}
		if !slices.Contains([]string{"valid", "sweep", "mix", "staleness"}, word) {
			r.problems.Add(fault.Input(fmt.Errorf("tests: %q (%s) is not one of valid, sweep, mix, staleness", word, v.From()), ""))
		}
		s.tests = append(s.tests, word)
	}
	if len(s.tests) == 0 {
		r.problems.Add(fault.Input(errors.New("tests: none is named"), "valid, sweep, mix or staleness"))
	}
}

// read makes the model.
func (s *spec) read() error {
	d := &dataset{}
	var err error
	if s.folder != "" {
		d, err = readFolder(s.folder, s.mode == modeChecks)
	} else {
		groups := s.groups
		if s.mode == modeProfiles {
			groups = 0
		}
		d = generate(s.shape, s.users, groups, s.seed)
	}
	if err != nil {
		return err
	}
	if s.model, err = newModel(d, s.membership, s.variant == "v1"); err != nil {
		return fault.Input(fmt.Errorf("authz: %w", err), "")
	}
	s.model.role(s.permission)
	return nil
}

// sweep is how many checks the sweep of one tenant has.
func (s *spec) sweep() int {
	all := s.model.users * s.model.top
	limit := s.sweepLimit
	if limit > 0 && s.compat {
		limit++ // the original compares with "at most"
	}
	if limit > 0 {
		all = min(all, limit)
	}
	return all
}

// space is the record under which everything of the profile is kept.
func (s *spec) space() store.Space {
	return store.Space{Namespace: s.namespace, Name: "authz", Shape: store.Keys, Grouped: true}
}

func (s *spec) plan(r *reader, start workload.Settings, in workload.Inputs) *workload.Plan {
	threads, rate := workload.Threads(), workload.Rate("checks")
	// Of each tenant: phases come and go, and a sum over all of them says nothing.
	threads.Sum, threads.Help = false, "concurrent requests within each tenant"
	rate.Sum = false
	m := s.model
	p := &workload.Plan{
		Mode: s.mode, Unit: "checks", Knobs: []workload.Knob{threads, rate}, Parameters: r.shown, Private: s,
		Writes: []string{fmt.Sprintf("%d tenants of %d users, %d groups and %d memberships, as authz under the namespace %q",
			s.phases*s.concurrent, m.users, m.groups(), len(m.edges), s.namespace)},
		Bytes: int64(s.phases*s.concurrent) * int64(m.users+m.groups()+2*len(m.edges)) * 120,
	}
	if s.folder == "" && m.data.source == "classic" && s.membership == modeNested {
		p.Warnings = append(p.Warnings, "classic groups nested in each other form one component: most users are in nearly every group")
	}
	epoch := "perf-test-" + strconv.FormatInt(epochOf(s.runID).UnixMilli(), 10)
	for k := range s.phases {
		var ts []*tenant
		for i := range s.concurrent {
			ts = append(ts, &tenant{s: s, name: fmt.Sprintf("%s-%d-%d", epoch, s.phases-1-k, i), phase: k, number: i})
		}
		s.phase = append(s.phase, ts)
		s.addPhase(p, k, start, in)
	}
	return p
}

// epochOf is the time in a run's id, or now.
func epochOf(id string) time.Time {
	if len(id) >= 13 {
		if t, err := time.ParseInLocation("060102-150405", id[:13], time.Local); err == nil {
			return t
		}
	}
	return time.Now()
}

// addPhase adds the load and the tests of one phase: the load waits for the load
// before it, the tests for the load of their own phase only.
func (s *spec) addPhase(p *workload.Plan, k int, start workload.Settings, in workload.Inputs) {
	add := func(what string, ops []string, total int64, duration time.Duration, after ...string) string {
		name := fmt.Sprintf("%s-%d", what, k)
		ph := workload.Phase{Name: name, After: after, Duration: duration}
		for i := range s.concurrent {
			from := start
			if what == "load" || what == "users" {
				from.Rate = 0
			}
			ph.Tracks = append(ph.Tracks, workload.Track{Name: fmt.Sprintf("%s-%d", name, i), Ops: ops, Start: from, Total: total})
		}
		p.Phases = append(p.Phases, ph)
		return name
	}
	var before []string
	if k > 0 && s.load != "never" {
		before = []string{fmt.Sprintf("load-%d", k-1)}
	}
	m := s.model
	if s.mode == modeProfiles {
		if s.load != "never" {
			users := add("users", []string{"user"}, int64(m.users), 0, before...)
			before = []string{add("load", []string{"section"}, int64(2*m.users), 0, users)}
		}
		if s.load != "only" {
			add("profile", []string{"profile"}, int64(m.users), in.Duration, before...)
		}
		return
	}
	if s.load != "never" {
		before = []string{add("load", []string{"user", "group", "membership"}, s.loadItems(), 0, before...)}
	}
	if s.load == "only" {
		return
	}
	for _, t := range s.tests {
		switch t {
		case "valid":
			before = []string{add("valid", []string{"valid"}, int64(len(m.edges)), in.Duration, before...)}
		case "sweep":
			before = []string{add("sweep", []string{"allow", "deny"}, int64(s.sweep()), in.Duration, before...)}
		case "mix":
			before = []string{add("mix", []string{"direct", "near", "deep", "deny", "list", "expand", "grant", "revoke"}, int64(s.mixOps), in.Duration, before...)}
		case "staleness":
			before = []string{add("staleness", []string{"revoke", "stale"}, int64(s.probes), in.Duration, before...)}
		}
	}
}

// loadItems is how many items a tenant's load has.
func (s *spec) loadItems() int64 {
	n := len(s.model.edges)
	if s.variant == "v1" {
		n += s.model.users + s.model.groups()
	}
	return int64(n)
}
