package authz

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
	"github.com/perfbench/perfbench/profiles/authz/report"
)

// designer works out a plan: the phases of each test, and the tenants that they are about.
type designer struct {
	s     *spec
	r     *values.Reader
	in    workload.Inputs
	start workload.Settings

	fillings fillings
	site     *site
	p        *workload.Plan
}

// plan works out the plan.
func (d *designer) plan() *workload.Plan {
	s, r := d.s, d.r
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
	d.fillings = fillingsOf(s, r)
	d.p = &workload.Plan{
		Documents: []string{report.FormatID, report.HTMLFormatID},
		Mode:      s.mode, Unit: unit, Knobs: append([]workload.Knob{threads, rate}, d.fillings.knobs...), Parameters: r.Shown, Warnings: r.Warnings, Binder: d.site,
	}
	if s.folder == "" && m.Data.Source == "classic" && s.membership == model.Nested {
		d.p.Warnings = append(d.p.Warnings, "classic groups nested in each other form one component: most users are in nearly every group")
	}
	var ended []string // the last phases of the previous test
	for _, rd := range s.rounds {
		var ends []string
		for k := rd.first; k < rd.first+rd.phases; k++ {
			var ts []*tenant
			for i := range rd.concurrent {
				ts = append(ts, &tenant{s: s, site: d.site, phase: k, number: i})
			}
			d.site.tenants = append(d.site.tenants, ts)
			before := ended
			if k > rd.first && s.load != "never" {
				before = []string{fmt.Sprintf("load-%d", k-1)}
			}
			ends = append(ends, d.addPhase(k, before))
		}
		ended = ends
	}
	d.goOn()
	beside, text := d.extra()
	d.p.Writes = []string{fmt.Sprintf("%s of %s, %s and %s, as authz under the namespace %q%s",
		units.Plural(s.rounds.tenants(), "tenant"), units.Plural(m.Users, "user"), units.Plural(m.Groups(), "group"), units.Plural(len(m.Edges), "membership"), s.namespace, text)}
	d.p.Bytes = int64(s.rounds.tenants()) * (bytesOf(s) + beside)
	return d.p
}

// goOn makes the last phase go on if nothing else ends the run.
func (d *designer) goOn() {
	s, p := d.s, d.p
	if s.load == "only" {
		p.Ends = "load=only ends with the load"
	} else if d.in.GoesOn() {
		last := &p.Phases[len(p.Phases)-1]
		s.goesOn = last.Name
		for i := range last.Tracks {
			last.Tracks[i].Total = 0
		}
	}
}

// addPhase adds the load and the tests of one phase: the load waits for what precedes
// it, the tests only for the load of their own phase. It returns the name of the last
// one.
func (d *designer) addPhase(k int, before []string) string {
	s, in := d.s, d.in
	concurrent := len(d.site.tenants[k])
	add := func(what string, ops []string, total int64, duration time.Duration, after ...string) string {
		if in.Wraps() {
			total = 0 // the work is repeated
		}
		name := fmt.Sprintf("%s-%d", what, k)
		ph := workload.Phase{Name: name, Kind: fmt.Sprintf("%s of %d", what, concurrent), After: after, Duration: duration, NoCeiling: what == "staleness"}
		for i := range concurrent {
			from := d.start
			if what == "load" || what == "users" {
				from.Rate = 0
			}
			counted := 0
			if what == "staleness" {
				counted = 1 // how long it remained granted is not a whole piece of work
			}
			t := workload.Track{Name: fmt.Sprintf("%s-%d", name, i), Ops: ops, OpUnits: s.unitsOf(what), Counted: counted, Start: from, Total: total}
			d.fillings.fit(d, &t, what)
			ph.Tracks = append(ph.Tracks, t)
		}
		d.p.Phases = append(d.p.Phases, ph)
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

// extra returns the total size of a tenant's fillings at the start, as a number and in
// words.
func (d *designer) extra() (bytes int64, text string) {
	s, m := d.s, d.s.model
	for _, t := range d.p.Tracks() {
		what, _, _ := strings.Cut(t.Name, "-")
		n := t.Start.Payload
		switch {
		case !strings.HasSuffix(t.Name, "-0-0"): // all tenants are the same
			continue
		case what == "users":
			bytes += int64(m.Users) * int64(t.Start.Extra[extraPrincipal])
			if n := int64(t.Start.Extra[extraPrincipal]); n > 0 {
				text += ", each principal with " + units.Size(n) + " beside"
			}
			continue
		case what == "load" && s.mode == report.ModeProfiles:
			bytes += int64(2*m.Users) * int64(n)
		case what == "load" && s.variant == "v1":
			bytes += int64(m.Users+m.Groups()) * int64(n)
		}
		if what == "load" && n > 0 {
			text += ", each " + map[bool]string{true: "section", false: "principal"}[s.mode == report.ModeProfiles] + " with " + units.Size(int64(n)) + " beside"
		}
	}
	return bytes, text
}

// bytesOf returns the approximate size of a tenant: ids of about 50 bytes each, and what
// is stored with them.
func bytesOf(s *spec) int64 {
	m := s.model
	n := int64(m.Users+m.Groups()+2*len(m.Edges)) * 120
	if s.mode == report.ModeProfiles {
		n += int64(m.Users) * 1500 // the sections
	}
	return n
}
