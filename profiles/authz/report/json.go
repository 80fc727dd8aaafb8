package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Formats returns the profile's documents: OAE's JSON, which the run command also
// prints to stdout, and the baseline's HTML table.
func Formats() []rundir.Format {
	return []rundir.Format{
		{ID: FormatID, Title: "OAE's JSON document, one line", Profile: Name, Doc: jsonDoc, Encode: encodeJSON, Stdout: true, Names: []string{"authz-*.json"}},
		{ID: HTMLFormatID, Title: "OAE's baseline HTML table", Profile: Name, Doc: htmlDoc, Encode: encodeHTML, Join: joinHTML, Names: []string{"authz-*.html", "authz-*-published.md"}},
	}
}

const jsonDoc = `# oae: OAE's JSON document

` + "`authz-<mode>-<product>.json`" + `, one line. Each key ` + "`phase-0`" + `, ` + "`phase-1`" + ` … is a phase: ` + "`phase`" + ` names its tenants;
` + "`dataload`" + ` has users, groups and memberships (or profileSections), with num and time (ms) **of one tenant**, the
one that ended last; ` + "`performanceTest`" + ` has valid-permissions and all-permissions (or get-full-profile), with
duration (ms) and operations **of all tenants** of the phase. Rates are per second. A rate is null if the time was
0 or if the verification failed. With ` + "`--set json=seed`" + `, the document has only the keys of the original's README,
with ` + "`code`" + ` those of its code. The default, superset, has all of these with equal values, and totals, decisions,
statements, latencies and ` + "`meta`" + `.

A run of several tests (` + "`series`" + `) has one such document per test: ` + "`authz-<mode>-<product>-test1.json`" + ` and so on.
`

const htmlDoc = `# oae-html: the baseline's table

` + "`authz-<mode>-<product>.html`" + `: one row per phase, in the columns of the original's README. Users, groups and memberships
per second are of one tenant, checks per second of all tenants of the phase.

A run of several tests (` + "`series`" + `, the preset ` + "`baseline`" + `) has all of them in its table, and
` + "`authz-<mode>-<product>-published.md`" + ` beside it. If you give several runs to ` + "`perfbench report`" + `, they make one
table, ` + "`authz-<mode>-tests.html`" + `, with Test #1, #2, #3 in the order in which they began, and
` + "`authz-<mode>-tests-published.md`" + `, which sets the published tests beside their published rates.
`

// factsOf returns a run's facts.
func factsOf(r *rundir.Run) (*Facts, error) {
	var f Facts
	if _, err := r.DecodeFacts(&f); err != nil {
		return nil, fmt.Errorf("oae: %w", err)
	}
	return &f, nil
}

// perSecond returns a rate, nil if there is none.
func perSecond(num, ms int64) *float64 {
	v := float64(num) * 1000 / float64(ms)
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return nil
	}
	return &v
}

// object is a JSON object whose keys keep their order.
type object struct {
	b bytes.Buffer
	e error
}

func (o *object) put(key string, v any) {
	data, err := json.Marshal(v)
	if err != nil && o.e == nil {
		o.e = err
	}
	if raw, ok := v.(*object); ok {
		data = raw.bytes()
		if o.e == nil {
			o.e = raw.e
		}
	}
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.b.WriteString(strconv.Quote(key) + ":")
	o.b.Write(data)
}

func (o *object) bytes() []byte { return append(append([]byte{'{'}, o.b.Bytes()...), '}') }

// MarshalJSON writes the object.
func (o *object) MarshalJSON() ([]byte, error) { return o.bytes(), o.e }

// document is one encoding of a run.
type document struct {
	f      *rundir.Folder
	facts  *Facts
	failed bool
	// first is the number of its first phase in the run; part means that the run has
	// other tests too.
	first int
	part  bool
}

// documents returns the documents of each test of a run.
func documents(f *rundir.Folder) ([]*document, error) {
	facts, err := factsOf(&f.Run)
	if err != nil {
		return nil, err
	}
	var out []*document
	all, first := facts.tests()
	for i := range all {
		out = append(out, &document{f, &all[i], f.Run.Verification.State == workload.Failed, first[i], len(all) > 1})
	}
	return out, nil
}

func (d *document) rate(num, ms int64) *float64 {
	if d.failed {
		return nil
	}
	return perSecond(num, ms)
}

func encodeJSON(f *rundir.Folder) ([]rundir.File, error) {
	ds, err := documents(f)
	if err != nil {
		return nil, err
	}
	var out []rundir.File
	for i, d := range ds {
		name := fileName(f, ".json")
		if d.part {
			name = fileName(f, fmt.Sprintf("-test%d.json", i+1))
		}
		data, err := d.json()
		if err != nil {
			return nil, err
		}
		out = append(out, rundir.File{Name: name, Data: data})
	}
	return out, nil
}

// json returns the document of one test, on one line.
func (d *document) json() ([]byte, error) {
	f, facts, root := d.f, d.facts, &object{}
	for k := range facts.Phases {
		root.put(fmt.Sprintf("phase-%d", k), d.phase(k))
	}
	if facts.JSON != "seed" && facts.JSON != "code" {
		meta := &object{}
		meta.put("variant", facts.Variant)
		meta.put("membershipMode", facts.Membership)
		meta.put("strategy", facts.Strategy)
		meta.put("backend", f.Run.Store.Name)
		meta.put("consistency", f.Run.Store.Details["consistency"])
		meta.put("tenantsPerPhase", facts.Concurrent)
		meta.put("phases", len(facts.Phases))
		meta.put("passwordHash", cmp.Or(facts.PasswordHash, "none"))
		meta.put("cacheTTLMs", facts.CacheTTLMS)
		if facts.Mode == ModeProfiles {
			meta.put("viewer", facts.Viewer)
		}
		meta.put("dataset", facts.Dataset)
		meta.put("verification", f.Run.Verification.State)
		root.put("meta", meta)
	}
	if root.e != nil {
		return nil, root.e
	}
	return append(root.bytes(), '\n'), nil
}

func fileName(f *rundir.Folder, ending string) string {
	mode := f.Run.Mode
	if mode == "" {
		mode = ModeChecks
	}
	return "authz-" + mode + "-" + f.Run.Store.Name + ending
}

func (d *document) phase(k int) *object {
	p := &d.facts.Phases[k]
	out, load, tests := &object{}, &object{}, &object{}
	out.put("phase", p.Tenants)
	for _, st := range p.Load {
		if d.facts.Mode == ModeProfiles && st.Name == "users" {
			continue // stored first, and not part of the figure
		}
		load.put(st.Name, d.loadStep(st))
	}
	for _, st := range p.Tests {
		switch {
		case st.Name == "profile":
			tests.put("get-full-profile", d.profileStep(k, st))
		case st.Name == "valid":
			tests.put("valid-permissions", d.checkStep(k, st, "duration"))
		case st.Name == "sweep":
			tests.put("all-permissions", d.checkStep(k, st, "durationMs"))
		case d.facts.JSON == "superset":
			tests.put(st.Name, d.checkStep(k, st, "duration"))
		}
	}
	out.put("dataload", load)
	out.put("performanceTest", tests)
	return out
}

func (d *document) loadStep(st Step) *object {
	o, rate := &object{}, d.rate(st.Num, st.TimeMS)
	o.put("num", st.Num)
	o.put("time", st.TimeMS)
	if d.facts.JSON == "superset" {
		o.put("duration", st.TimeMS)
		o.put("durationMs", st.TimeMS)
	}
	o.put("perSecond", rate)
	if d.facts.JSON == "superset" {
		o.put("perSec", rate)
		o.put("total", totals(st, d.rate(st.Total, st.TotalMS)))
	}
	return o
}

func totals(st Step, rate *float64) *object {
	o := &object{}
	o.put("num", st.Total)
	o.put("durationMs", st.TotalMS)
	o.put("perSecond", rate)
	o.put("errors", st.Errors)
	o.put("storeOps", st.Statements)
	return o
}

// checkStep returns a test of checks; the original's README names its time differently
// for each test.
func (d *document) checkStep(k int, st Step, duration string) *object {
	o, rate := &object{}, d.rate(st.Total, st.TotalMS)
	switch d.facts.JSON {
	case "seed":
		o.put(duration, st.TotalMS)
		o.put("operations", st.Total)
		o.put("perSec", rate)
		return o
	case "code":
		o.put("duration", st.TotalMS)
		o.put("checks", st.Total)
		o.put("checksPerSecond", rate)
		return o
	}
	o.put("duration", st.TotalMS)
	o.put("durationMs", st.TotalMS)
	o.put("operations", st.Total)
	o.put("checks", st.Total)
	for _, name := range []string{"perSec", "checksPerSecond", "perSecond"} {
		o.put(name, rate)
	}
	o.put("allowed", st.Allowed)
	o.put("denied", st.Denied)
	o.put("errors", st.Errors)
	o.put("storeOps", st.Statements)
	if st.Lookups > 0 {
		o.put("cacheLookups", st.Lookups)
		o.put("cacheHits", st.Hits)
	}
	if st.Name == "staleness" {
		o.put("stale", st.Stale)
		o.put("stillGranted", st.Stuck)
		o.put("staleMs", d.latency(k, st.Name, true))
	}
	o.put("latencyMs", d.latency(k, st.Name, false))
	return o
}

func (d *document) profileStep(k int, st Step) *object {
	o := &object{}
	// The original divides one tenant's profiles by the time of all tenants.
	rate, total := d.rate(st.Num, st.TotalMS), d.rate(st.Total, st.TotalMS)
	o.put("duration", st.TotalMS)
	o.put("profiles", st.Num)
	o.put("profilesPerSecond", rate)
	o.put("msg", "Each profile consists out of a basic profile (in Principals) and 2 profile sections")
	if d.facts.JSON != "superset" {
		return o
	}
	o.put("durationMs", st.TotalMS)
	o.put("profilesTotal", st.Total)
	o.put("profilesPerSecondTotal", total)
	o.put("operations", st.Total)
	o.put("perSec", total)
	o.put("sectionsShown", st.Allowed)
	o.put("sectionsHidden", st.Denied)
	o.put("errors", st.Errors)
	o.put("storeOps", st.Statements)
	o.put("latencyMs", d.latency(k, st.Name, false))
	return o
}

// latency summarizes the response times of one test over the tenants of a phase. stale
// is for how long revoked permissions remained granted, which is not a response time.
func (d *document) latency(k int, test string, stale bool) *object {
	all := measure.NewHistogram()
	for tag, h := range d.f.Histograms {
		if h != nil && strings.HasSuffix(tag, ".stale.response") == stale && strings.HasPrefix(tag, fmt.Sprintf("%s-%d-", test, d.first+k)) && strings.HasSuffix(tag, ".response") {
			all.Merge(h)
		}
	}
	o := &object{}
	ms := func(ns int64) float64 { return math.Round(float64(ns)/1e3) / 1e3 }
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 50}, {"p95", 95}, {"p99", 99}, {"p999", 99.9}} {
		o.put(q.name, ms(valueAt(all, q.at)))
	}
	o.put("max", ms(all.Max()))
	return o
}

func valueAt(h *hdrhistogram.Histogram, q float64) int64 {
	if h.TotalCount() == 0 {
		return 0
	}
	return measure.Percentile(h, q)
}
