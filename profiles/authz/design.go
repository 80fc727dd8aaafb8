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
	"github.com/perfbench/perfbench/profiles/authz/dataset"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// spec is what was asked for, and the data set that it is about.
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
	count                                                                             int64
	duration, drain                                                                   time.Duration
	goesOn                                                                            string // the phase that goes on until the run is stopped, if any

	model *model.Model
	// rounds are the tests, one after the other.
	rounds rounds
}

// The operations of the mix, by index of the weights.
var mixNames = []string{"check", "list", "expand", "grant", "revoke", "update"}

// updateMix is the last of them, which the original does not have.
const updateMix = 5

// Read reads --file: the folder of a model loader, or YAML of ours.
func Read(files []workload.File) (workload.Values, workload.Found, error) {
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
	out, warnings, err := values.Files(rest, func(f workload.File) ([]workload.Value, workload.Found, error) {
		if !values.IsYAML(f.Path) {
			return nil, workload.Found{}, fault.Input(fmt.Errorf("file %s: neither a folder of a model loader nor YAML", f.Path), "name the folder scripts itself")
		}
		vs, err := values.OwnYAML(f, params(), "threads", "rate", knobPayload, knobPrincipal)
		return vs, workload.Found{}, err
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
	_, err := dataset.BatchNumbers(s.batches)
	r.Problems.Add(err)
	if s.changes() && s.mode == report.ModeChecks && s.variant != "v1" {
		r.Problems.Add(fault.Input(fmt.Errorf("mix: update stores principals, and variant=%s has none", s.variant), "use variant=v1, or leave update out"))
	}
	start := r.Settings(1)
	if s.strategy == Server && !slices.Contains([]string{"", "redis", "mysql", "postgres", "sqlite", "embedded"}, s.driver) {
		r.Problems.Add(fault.Field("strategy", fault.Input(fmt.Errorf("strategy: server: %s cannot walk a graph by itself", s.driver), "use ancestry, level or memberships-cache")))
	}
	unless := ""
	if s.compat {
		unless = "with compat=on, each check follows the last at once, as in the original"
	}
	users := r.Users(unless, "leave it out, or use compat=off")
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	if s.model, err = modelOf(s); err != nil {
		return nil, fault.Code(err, fault.CodeInput)
	}
	d := &designer{s: s, r: r, in: in, start: start, site: &site{s: s, threads: start.Threads}}
	plan := d.plan() // this may find more problems
	return plan, users.In(plan, func(t *workload.Track) bool {
		what, _, _ := strings.Cut(t.Name, "-")
		return what != "users" && what != "load" && what != "staleness" // a load has no users, and the probe of staleness polls
	})
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
