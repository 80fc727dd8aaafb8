package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/preset"
	"github.com/perfbench/perfbench/internal/remote/crew"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session/settle"
	"github.com/perfbench/perfbench/internal/session/timetable"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/suggest"
	"github.com/perfbench/perfbench/internal/threshold"
	"github.com/perfbench/perfbench/internal/workload"
)

// Prepared is a run that has been checked and can be started; nothing has been touched
// yet. It is not modified after Prepare, so any goroutine may read it.
type Prepared struct {
	Profile workload.Profile
	Driver  store.Driver
	Target  store.Target
	// Plan is not bound to a store; Start binds a copy of it.
	Plan   *workload.Plan
	Inputs workload.Inputs
	// Preset is the preset used; empty if files replace it.
	Preset     string
	Timetable  []engine.At
	Thresholds []threshold.Expr
	Formats    []rundir.Format
	Out        string
	Cleanup    bool
	// Until is what ends the run early; nil if nothing does.
	Until *settle.Goal
	// RequireValid makes any other verdict than VALID an error.
	RequireValid bool
	// Warnings are sentences to show before the start.
	Warnings []string
	// Tags are kept with the run; nil if there are none.
	Tags map[string]string
	// Given is the content of the --facts file; nil if there is none.
	Given []byte

	env     Env
	req     Request
	binding workload.Binding
	// workers describes the other processes that are to do the work; nil: this one does
	// it.
	workers *crew.Ask
	// restored is the state of a run to be continued; nil for a new run.
	restored *restored
	// search means that whoever asked for the run changes its knobs as it goes.
	search bool
	// designed is how long designing the plan took.
	designed time.Duration
}

// Prepare merges the values of a request by precedence, designs the plan and checks all
// that can be checked without touching a store or a disk. All problems are reported
// together, with the code of bad input.
//
// An interrupt ends the wait for it: files are read, and a plan may be large.
func Prepare(ctx context.Context, env Env, req Request) (*Prepared, error) {
	return infile.While(ctx, func() (*Prepared, error) { return prepare(ctx, env, req) })
}

func prepare(ctx context.Context, env Env, req Request) (*Prepared, error) {
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	profile, err := findProfile(env.Profiles, req.Profile)
	if err != nil {
		return nil, sourced(req, "profile", err)
	}
	var problems workload.Problems
	req, err = complete(env, req, profile)
	problems.Add(err)
	p := &Prepared{env: env, req: req, Out: req.Out, Profile: profile}
	if p.Out == "" {
		p.Out = DefaultOut
	}
	problems.Add(fault.Field("target", sourced(p.req, "target", p.aim())))
	vs, err := p.values()
	problems.Add(err)
	p.Formats, err = p.formats(req.Formats)
	problems.Add(fault.Field("format", sourced(p.req, "format", err)))
	if vs != nil {
		problems.Add(p.design(vs))
	}
	if p.Plan != nil && len(req.Formats) == 0 && len(p.Plan.Documents) > 0 {
		p.Formats, err = p.formats(append([]string{"json", "csv", "hlog"}, p.Plan.Documents...))
		problems.Add(err)
	}
	if req.Facts != "" && len(p.Formats) > 0 {
		p.Given, err = request.ReadFacts(req.Facts, p.Formats, env.Formats)
		problems.Add(err)
	}
	plan := p.Plan
	if plan == nil {
		plan = p.likely()
	}
	problems.Add(p.schedule(plan))
	problems.Add(p.conditions(plan))
	problems.Add(fault.Field("until", p.until()))
	p.Tags, err = request.Tags(req.Tags)
	problems.Add(sourced(p.req, "tag", err))
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// complete adds to a request what is in files: the password file, and a preset that is
// a plan file.
func complete(env Env, req Request, profile workload.Profile) (Request, error) {
	var problems workload.Problems
	out, err := request.Unfold(req, profile.Presets, env.Environ)
	problems.Add(fault.Field("preset", err))
	if err != nil {
		out.Preset = "" // one error is enough
	}
	if out.PasswordFile != "" && out.Password == "" {
		out.Password, err = ReadPassword(out.PasswordFile)
		problems.Add(fault.Field("password", err))
	}
	return out, problems.Err()
}

// sourced adds to an error about an input other than a value where that input came
// from, unless it was a flag.
func sourced(req Request, name string, err error) error {
	from := req.From[name]
	if err == nil || from == "" {
		return err
	}
	var problems workload.Problems
	for _, part := range fault.Parts(err) {
		problems.Add(fmt.Errorf("%w (%s)", part, from))
	}
	return problems.Err()
}

func findProfile(all []workload.Profile, name string) (workload.Profile, error) {
	var known []string
	for _, p := range all {
		if p.Name == name && p.Design == nil {
			return p, fault.Input(fmt.Errorf("profile %s is not built yet", name), "perfbench list profiles shows those that are")
		}
		if p.Name == name {
			return p, nil
		}
		if p.Design != nil {
			known = append(known, p.Name)
		}
	}
	if name == "" {
		return workload.Profile{}, fault.Input(errors.New("no profile was named"), "say --profile "+strings.Join(known, "|"))
	}
	return workload.Profile{}, fault.Input(fmt.Errorf("unknown profile %q", name), suggest.Hint(name, known, suggest.Profiles))
}

// values merges the values of presets, files, environment and request.
func (p *Prepared) values() (workload.Values, error) {
	vs := request.Defaults(&p.Profile)
	var problems workload.Problems
	p.Preset = p.req.Preset
	if p.Preset == "" && len(p.req.Files) == 0 {
		p.Preset = p.Profile.DefaultPreset
		if p.req.Endless {
			p.Preset = cmp.Or(p.Profile.LivePreset, p.Preset)
		}
	}
	switch {
	case p.Preset == "":
	case p.Profile.Presets == nil:
		problems.Add(fault.Field("preset", fault.Input(fmt.Errorf("preset %q: profile %s has no presets", p.Preset, p.Profile.Name), "")))
	default:
		from, err := preset.Load(p.Profile.Presets, p.Preset)
		problems.Add(fault.Field("preset", err))
		for _, v := range from {
			vs.Set(v)
		}
	}
	from, warnings, err := request.ReadFiles(&p.Profile, p.req.Files)
	problems.Add(fault.Field("file", err))
	p.Warnings = append(p.Warnings, warnings...)
	request.Put(vs, from)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	request.Put(vs, request.Environment(p.env.Environ, request.NamesOf(&p.Profile, nil).All(nil)))
	request.Put(vs, p.req.Values)
	if len(p.req.Timetable) > 0 {
		delete(vs, "at") // a timetable given by hand replaces any other
	}
	_, length := vs.Pick("duration", "count")
	if p.req.Endless && !length {
		vs.Set(workload.Value{Name: "duration", Text: workload.Forever, Origin: workload.OriginDefault})
	}
	return vs, p.resolve(vs)
}

// formats returns the requested formats or, if there are none, the default ones: json,
// csv, hlog and the profile's first document.
func (p *Prepared) formats(ids []string) ([]rundir.Format, error) {
	if len(ids) == 0 {
		ids = []string{"json", "csv", "hlog"}
		if len(p.Profile.Formats) > 0 {
			ids = append(ids, p.Profile.Formats[0])
		}
	}
	return rundir.Pick(p.env.Formats, ids, p.Profile.Name)
}

// design makes the plan, normally once. If environment variables are aimed at a track,
// it does so twice, as they can be read only once the tracks are known.
func (p *Prepared) design(vs workload.Values) error {
	var problems workload.Problems
	in, cleanup, requireValid := request.Inputs(vs, &problems)
	in.Driver = p.Driver.Name
	in.Hosts = p.Target.Hosts
	if p.env.Agent != nil {
		in.Agent = p.env.Agent(p.Target.Redacted())
	}
	p.Inputs, p.Cleanup, p.RequireValid = in, cleanup, requireValid
	bad := problems.Err() != nil
	began := time.Now()
	plan, err := p.Profile.Design(in)
	p.designed = time.Since(began)
	problems.Add(err)
	if err != nil || plan == nil {
		for _, e := range request.Unknown(vs, request.NamesOf(&p.Profile, nil), nil) {
			problems.Add(e)
		}
		return problems.Err()
	}
	known := request.NamesOf(&p.Profile, plan)
	tracks := trackNames(plan)
	for _, e := range request.Unknown(vs, known, tracks) {
		problems.Add(e)
	}
	all := known.All(tracks)
	p.Warnings = append(p.Warnings, request.Strangers(p.env.Environ, all)...)
	if aimed := request.Environment(p.env.Environ, all); len(aimed) > 0 && !bad {
		request.Put(vs, aimed)
		if plan, err = p.Profile.Design(in); err != nil {
			problems.Add(err)
			return problems.Err()
		}
	}
	problems.Add(checkNames(plan))
	p.Plan = plan
	p.redact(plan)
	p.Warnings = append(p.Warnings, plan.Warnings...)
	return problems.Err()
}

// checkNames rejects names, which may come from a file, with characters that are not
// safe in file names and terminals.
func checkNames(plan *workload.Plan) error {
	var problems workload.Problems
	check := func(what, name string) {
		if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			problems.Add(fault.Input(fmt.Errorf("%s %q: its name has a control character", what, name), "use letters, digits and punctuation"))
		}
	}
	for _, t := range plan.Tracks() {
		check("track", t.Name)
		for _, op := range t.Ops {
			check("operation", op)
		}
	}
	for _, s := range plan.Spaces {
		check("space", s.Name)
	}
	return problems.Err()
}

func trackNames(plan *workload.Plan) []string {
	out := []string{}
	for _, t := range plan.Tracks() {
		out = append(out, t.Name)
	}
	return out
}

// likely returns the plan of the defaults, to check the rest of a request whose own
// plan has problems; nil if there is none.
func (p *Prepared) likely() *workload.Plan {
	plan, err := p.Profile.Design(workload.Inputs{Values: request.Defaults(&p.Profile), Driver: p.Driver.Name})
	if err != nil {
		return nil
	}
	return plan
}

// schedule reads the timetable.
func (p *Prepared) schedule(plan *workload.Plan) error {
	if plan == nil {
		return nil
	}
	table, warnings, err := timetable.Parse(p.changes(), plan, p.Inputs.Duration)
	p.Timetable = table
	p.Warnings = append(p.Warnings, warnings...)
	return fault.Field("at", sourced(p.req, "at", err))
}

// until parses what ends the run early.
func (p *Prepared) until() error {
	text := p.Inputs.Values["until"].Text
	if text == "" {
		return nil
	}
	goal, err := settle.Parse(text)
	if err == nil && p.Inputs.Duration == 0 && !p.Inputs.Endless {
		err = fault.Input(fmt.Errorf("until: %s may never be reached, so it needs a duration", goal.Text), "add --duration, the longest that the run may take")
	}
	p.Until = &goal
	return err
}

// changes returns the entries of the timetable: those given by hand, or else those that
// a preset or file has as the value "at".
func (p *Prepared) changes() []string {
	if len(p.req.Timetable) > 0 {
		return p.req.Timetable
	}
	var out []string
	for entry := range strings.SplitSeq(p.Inputs.Values["at"].Text, ";") {
		if entry = strings.TrimSpace(entry); entry != "" {
			out = append(out, entry)
		}
	}
	return out
}

// conditions parses the thresholds and, if there is a plan, checks what they refer to.
func (p *Prepared) conditions(plan *workload.Plan) error {
	var problems workload.Problems
	for _, text := range p.req.Thresholds {
		e, err := threshold.Parse(text)
		if err == nil && plan != nil {
			err = e.Check(plan.Operations())
		}
		problems.Add(fault.Field("threshold", sourced(p.req, "threshold", err)))
		p.Thresholds = append(p.Thresholds, e)
	}
	return problems.Err()
}

// Threads returns the highest number of threads that the run may reach, for sizing the
// connection pool.
func (p *Prepared) Threads() int {
	now := map[string]int{}
	sum := func() int {
		n := 0
		for _, v := range now {
			n += v
		}
		return n
	}
	for _, t := range p.Plan.Tracks() {
		now[t.Name] = t.Start.Threads
	}
	most := sum()
	for _, at := range p.Timetable {
		switch {
		case at.Knob.Name != "threads":
		case at.Track == workload.AllTracks:
			n := int(at.Value)
			if !at.Knob.Sum { // each track gets that many
				n *= len(now)
			}
			most = max(most, n, len(now))
		default:
			now[p.Plan.Tracks()[at.Track].Name] = int(at.Value)
			most = max(most, sum())
		}
	}
	return max(most, p.req.MaxThreads, p.Plan.Connections)
}
