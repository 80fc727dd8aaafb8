package authz

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// spec describes what a plan will do.
type spec struct {
	mode, folder, shape, membership, variant, strategy, load, json, permission, order string
	users, groups, runs, concurrent, sweepLimit, mixOps, probes, batch                int
	tests                                                                             []string
	weights                                                                           [6]float64
	zipf, updates                                                                     float64
	batches, viewer, password                                                         string
	invalidate, compat                                                                bool
	staleLimit, ttl                                                                   time.Duration
	seed                                                                              int64
	namespace, driver                                                                 string
	runID                                                                             string // once the run has begun
	count                                                                             int64
	duration, drain                                                                   time.Duration
	goesOn                                                                            string // the phase that goes on until the run is stopped, if any

	model *model.Model
	// rounds are the tests, one after the other; phase holds the tenants of all their
	// phases.
	rounds []round
	phase  [][]*tenant
	// knobs change the size of records' fillings, sizes are their initial values.
	knobs []workload.Knob
	sizes []int
	// stake is which of the requests within each tenant belong to this process; tells
	// means that it reports to another process what it does.
	stake workload.Stake
	tells bool
	// shared is what processes share of the plan; nil: it is not bound.
	shared *workload.Shared
}

// The operations of the mix, by index of the weights.
var mixNames = []string{"check", "list", "expand", "grant", "revoke", "update"}

// updateMix is the last of them, which the original does not have.
const updateMix = 5

// Read reads --file: the folder of a model loader, or YAML of ours.
func Read(files []workload.File) (workload.Values, []string, error) {
	folder := workload.Values{}
	var problems workload.Problems
	rest := slices.DeleteFunc(slices.Clone(files), func(f workload.File) bool {
		if old, ok := folder["folder"]; ok && f.Data == nil {
			problems.Add(fault.Input(fmt.Errorf("file %s: a second folder beside %s, and a run reads one", f.Path, old.Where), "give --file one folder; batches= picks among its batches"))
		} else if f.Data == nil {
			folder.Set(workload.Value{Name: "folder", Text: f.Path, Origin: workload.OriginFile, Where: f.Path})
		}
		return f.Data == nil
	})
	out, warnings, err := values.Files(rest, func(f workload.File) ([]workload.Value, []string, error) {
		if !values.IsYAML(f.Path) {
			return nil, nil, fault.Input(fmt.Errorf("file %s: neither a folder of a model loader nor YAML", f.Path), "name the folder scripts itself")
		}
		vs, err := values.OwnYAML(f, params(), "threads", "rate", knobPayload, knobPrincipal)
		return vs, nil, err
	})
	problems.Add(err)
	for _, v := range folder {
		out.Set(v)
	}
	return out, warnings, problems.Err()
}

// Design works out the plan. It reads the folder named by a value, and touches nothing
// else; all problems are returned joined, with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, error) {
	s := &spec{seed: in.Seed, namespace: in.Namespace, driver: in.Driver, count: in.Count, duration: in.Duration, drain: in.Drain}
	p := s.declare()
	r := values.New(in.Values)
	p.Read(r)
	s.folder, s.permission, s.batches = strings.TrimSpace(s.folder), strings.TrimSpace(s.permission), strings.TrimSpace(s.batches)
	_, err := BatchNumbers(s.batches)
	r.Problems.Add(err)
	if s.changes() && s.mode == report.ModeChecks && s.variant != "v1" {
		r.Problems.Add(fault.Input(fmt.Errorf("mix: update stores principals, and variant=%s has none", s.variant), "use variant=v1, or leave update out"))
	}
	start := r.Settings(1)
	if s.strategy == Server && !slices.Contains([]string{"", "redis", "mysql", "postgres", "sqlite", "embedded"}, s.driver) {
		r.Problems.Add(fault.Field("strategy", fault.Input(fmt.Errorf("strategy: server: %s cannot walk a graph by itself", s.driver), "use ancestry, level or memberships-cache")))
	}
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	if err := s.read(); err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	plan := s.plan(r, start, in) // this may find more problems
	return plan, r.Problems.Err()
}

// shownText picks and shows a value whose text has its own syntax.
func shownText(r *values.Reader, p workload.Param) workload.Value {
	v := r.Pick(p, p.Name)
	r.Show(p.Name, v.Text, v)
	return v
}

func (s *spec) readMix(r *values.Reader, p workload.Param) {
	v := shownText(r, p)
	total := 0.0
	for part := range strings.SplitSeq(v.Text, ",") {
		name, number, _ := strings.Cut(strings.TrimSpace(part), "=")
		i := slices.Index(mixNames, strings.TrimSpace(name))
		w, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if i < 0 || err != nil || w < 0 || math.IsInf(w, 0) || math.IsNaN(w) {
			r.Problems.Add(fault.Field("mix", fault.Input(fmt.Errorf("mix: %q (%s) is not a weight of %s", part, v.From(), strings.Join(mixNames, ", ")), "for example check=99,grant=1")))
			continue
		}
		s.weights[i] = w
		total += w
	}
	if total == 0 && r.Problems.Err() == nil {
		r.Problems.Add(fault.Field("mix", fault.Input(errors.New("mix: all weights are 0"), "for example check=99,grant=1")))
	}
}

func (s *spec) readTests(r *values.Reader, p workload.Param) {
	v := shownText(r, p)
	for part := range strings.SplitSeq(v.Text, ",") {
		word := strings.TrimSpace(part)
		if word == "" || slices.Contains(s.tests, word) {
			continue
		}
		if !slices.Contains([]string{"valid", "sweep", "mix", "staleness"}, word) {
			r.Problems.Add(fault.Field("tests", fault.Input(fmt.Errorf("tests: %q (%s) is not one of valid, sweep, mix, staleness", word, v.From()), "")))
		}
		s.tests = append(s.tests, word)
	}
	if len(s.tests) == 0 {
		r.Problems.Add(fault.Field("tests", fault.Input(errors.New("tests: none is named"), "valid, sweep, mix or staleness")))
	}
}

// sweep returns how many checks the sweep of one tenant has.
func (s *spec) sweep() int {
	all := s.model.Users * s.model.Top
	limit := s.sweepLimit
	if limit > 0 && s.compat {
		limit++ // the original's limit is inclusive
	}
	if limit > 0 {
		all = min(all, limit)
	}
	return all
}

// bytes returns the approximate size of a tenant: ids of about 50 bytes each, and what
// is stored with them.
func (s *spec) bytes() int64 {
	m := s.model
	n := int64(m.Users+m.Groups()+2*len(m.Edges)) * 120
	if s.mode == report.ModeProfiles {
		n += int64(m.Users) * 1500 // the sections
	}
	return n
}

func (s *spec) plan(r *values.Reader, start workload.Settings, in workload.Inputs) *workload.Plan {
	unit := "checks"
	switch {
	case s.load == "only":
		unit = "items"
	case s.mode == report.ModeProfiles:
		unit = "profiles"
	}
	threads, rate := workload.Threads(), workload.Rate(unit)
	// Per tenant: phases come and go, so a sum over all of them would be meaningless.
	threads.Sum, threads.Help = false, "concurrent requests within each tenant"
	rate.Sum = false
	m := s.model
	s.knobs = s.fillings()
	for _, k := range s.knobs {
		s.sizes = append(s.sizes, r.Payload(k, 0, k.Name))
	}
	p := &workload.Plan{
		Documents: []string{report.FormatID, report.HTMLFormatID},
		Mode:      s.mode, Unit: unit, Knobs: append([]workload.Knob{threads, rate}, s.knobs...), Parameters: r.Shown, Warnings: r.Warnings, Binder: s,
	}
	if s.folder == "" && m.Data.Source == "classic" && s.membership == model.Nested {
		p.Warnings = append(p.Warnings, "classic groups nested in each other form one component: most users are in nearly every group")
	}
	var ended []string // the last phases of the previous test
	for _, rd := range s.rounds {
		var ends []string
		for k := rd.first; k < rd.first+rd.phases; k++ {
			var ts []*tenant
			for i := range rd.concurrent {
				ts = append(ts, &tenant{s: s, phase: k, number: i})
			}
			s.phase = append(s.phase, ts)
			before := ended
			if k > rd.first && s.load != "never" {
				before = []string{fmt.Sprintf("load-%d", k-1)}
			}
			ends = append(ends, s.addPhase(r, p, k, start, in, before))
		}
		ended = ends
	}
	s.goOn(p, in)
	beside, text := s.extra(p)
	p.Writes = []string{fmt.Sprintf("%d tenants of %d users, %d groups and %d memberships, as authz under the namespace %q%s",
		s.tenants(), m.Users, m.Groups(), len(m.Edges), s.namespace, text)}
	p.Bytes = int64(s.tenants()) * (s.bytes() + beside)
	return p
}

// goOn makes the last phase go on if nothing else ends the run.
func (s *spec) goOn(p *workload.Plan, in workload.Inputs) {
	if s.load == "only" {
		p.Ends = "load=only ends with the load"
	} else if in.GoesOn() {
		last := &p.Phases[len(p.Phases)-1]
		s.goesOn = last.Name
		for i := range last.Tracks {
			last.Tracks[i].Total = 0
		}
	}
}

// epochOf returns the beginning of the names of a run's tenants: the time in the run's
// id, or the current time.
func epochOf(id string) string {
	at := time.Now()
	if len(id) >= 13 {
		if t, err := time.ParseInLocation("060102-150405", id[:13], time.Local); err == nil {
			at = t
		}
	}
	return "perf-test-" + strconv.FormatInt(at.UnixMilli(), 10)
}

// begin names what the run with that id will create.
func (s *spec) begin(runID string) {
	s.runID = runID
	s.name(epochOf(runID))
}

// addPhase adds the load and the tests of one phase: the load waits for what precedes
// it, the tests only for the load of their own phase. It returns the name of the last
// one.
func (s *spec) addPhase(r *values.Reader, p *workload.Plan, k int, start workload.Settings, in workload.Inputs, before []string) string {
	concurrent := len(s.phase[k])
	add := func(what string, ops []string, total int64, duration time.Duration, after ...string) string {
		if in.Wraps() {
			total = 0 // the work is repeated
		}
		name := fmt.Sprintf("%s-%d", what, k)
		ph := workload.Phase{Name: name, Kind: fmt.Sprintf("%s of %d", what, concurrent), After: after, Duration: duration, NoCeiling: what == "staleness"}
		for i := range concurrent {
			from := start
			if what == "load" || what == "users" {
				from.Rate = 0
			}
			counted := 0
			if what == "staleness" {
				counted = 1 // how long it remained granted is not a whole piece of work
			}
			t := workload.Track{Name: fmt.Sprintf("%s-%d", name, i), Ops: ops, OpUnits: s.unitsOf(what), Counted: counted, Start: from, Total: total}
			s.fit(r, &t, what)
			ph.Tracks = append(ph.Tracks, t)
		}
		p.Phases = append(p.Phases, ph)
		return name
	}
	m := s.model
	if s.mode == report.ModeProfiles {
		if s.load != "never" {
			users := add("users", []string{"user"}, int64(m.Users), 0, before...)
			before = []string{add("load", []string{"section"}, int64(2*m.Users), 0, users)}
		}
		if s.load != "only" {
			ops := []string{"profile"}
			if s.updates > 0 {
				ops = append(ops, "update")
			}
			before = []string{add("profile", ops, int64(m.Users), in.Duration, before...)}
		}
		return before[0]
	}
	if s.load != "never" {
		before = []string{add("load", []string{"user", "group", "membership"}, s.loadItems(), 0, before...)}
	}
	if s.load == "only" {
		return before[0]
	}
	for _, t := range s.tests {
		switch t {
		case "valid":
			before = []string{add("valid", []string{"valid"}, int64(len(m.Edges)), in.Duration, before...)}
		case "sweep":
			before = []string{add("sweep", []string{"allow", "deny"}, int64(s.sweep()), in.Duration, before...)}
		case "mix":
			ops := []string{"direct", "near", "deep", "deny", "list", "expand", "grant", "revoke"}
			if s.weights[updateMix] > 0 {
				ops = append(ops, "update")
			}
			before = []string{add("mix", ops, int64(s.mixOps), in.Duration, before...)}
		case "staleness":
			before = []string{add("staleness", []string{"revoke", "stale"}, int64(s.probes), in.Duration, before...)}
		}
	}
	return before[0]
}

// unitsOf returns the units of a phase's operations that differ from the unit of the
// plan.
func (s *spec) unitsOf(what string) []string {
	switch {
	case s.load == "only":
		return nil // everything is in the plan's unit
	case what == "users":
		return []string{"users"}
	case what == "load" && s.mode == report.ModeProfiles:
		return []string{"sections"}
	case what == "load":
		return []string{"users", "groups", "memberships"}
	case what == "mix":
		return []string{"", "", "", "", "lists", "expansions", "grants", "revocations", "updates"}
	case what == "profile":
		return []string{"", "updates"}
	case what == "staleness":
		return []string{"revocations", "probes"}
	}
	return nil
}

// loadPhases returns the phases that load.
func (s *spec) loadPhases() []string {
	if s.mode == report.ModeProfiles {
		return []string{"users", "load"}
	}
	return []string{"load"}
}

// loadItems returns how many items a tenant's load for checks has.
func (s *spec) loadItems() int64 {
	n := len(s.model.Edges)
	if s.variant == "v1" {
		n += s.model.Users + s.model.Groups()
	}
	return int64(n)
}
