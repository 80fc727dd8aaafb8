package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/remote"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// maker makes a Prepared, for a request or once more for a run that goes on. Each of its
// steps finds all that is wrong with what it is about.
type maker struct{ p *Prepared }

// newMaker begins with what is known of any run.
func newMaker(env Env, req Request, profile workload.Profile) *maker {
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	m := &maker{&Prepared{env: env, req: req, Out: req.Out, Profile: profile}}
	if m.p.Out == "" {
		m.p.Out = DefaultOut
	}
	return m
}

func (m *maker) warn(sentences ...string) { m.p.Warnings = append(m.p.Warnings, sentences...) }

// anew prepares a run for a request.
func anew(ctx context.Context, env Env, req Request) (*Prepared, error) {
	profile, err := findProfile(env.Profiles, req.Profile)
	var problems workload.Problems
	if err != nil {
		problems.Add(sourced(req, "profile", err))
		if profile, err = findProfile(env.Profiles, misspelt(env.Profiles, req.Profile)); err != nil {
			return nil, problems.Err()
		}
	}
	req, err = complete(env, req, profile)
	problems.Add(err)
	m := newMaker(env, req, profile)
	p := m.p
	problems.Add(fault.Field("target", sourced(req, "target", m.aim())))
	vs, err := m.values()
	problems.Add(err)
	p.Formats, err = m.formats(req.Formats)
	problems.Add(fault.Field("format", sourced(req, "format", err)))
	if vs != nil {
		problems.Add(m.design(vs))
	}
	if p.Plan != nil && len(req.Formats) == 0 && len(p.Plan.Documents) > 0 {
		p.Formats, err = m.formats(append([]string{"json", "csv", "hlog"}, p.Plan.Documents...))
		problems.Add(err)
	}
	if req.Facts != "" && len(p.Formats) > 0 {
		p.Given, err = request.ReadFacts(req.Facts, p.Formats, env.Formats)
		problems.Add(err)
	}
	plan := p.Plan
	if plan == nil {
		plan = m.likely()
	}
	problems.Add(m.accompany(plan))
	p.Tags, err = request.Tags(req.Tags)
	problems.Add(fault.Field("tag", sourced(req, "tag", err)))
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return p, ctx.Err()
}

// again prepares the run of an order once more, for a session that goes on with it: what
// was settled when it began is as it was then, and its warnings were told.
func again(env Env, req Request, order *remote.Order, k *kept) (*Prepared, error) {
	profile, plan, err := order.Remake(env.Profiles)
	if err != nil {
		return nil, err
	}
	req.Profile, req.Target, req.Timetable, req.Thresholds, req.MaxThreads = profile.Name, order.Target, k.Timetable, k.Thresholds, k.MaxThreads
	m := newMaker(env, req, profile)
	p := m.p
	p.Preset, p.Inputs, p.Plan, p.Cleanup, p.RequireValid = k.Preset, order.Inputs, plan, k.Cleanup, k.RequireValid
	if err := m.aim(); err != nil {
		return nil, err
	}
	if p.Formats, err = m.formats(k.Formats); err != nil {
		return nil, err
	}
	m.redact(plan)
	err = m.accompany(plan)
	p.Warnings = nil
	return p, err
}

// accompany reads what goes on beside the work: changes, conditions, and what ends it early.
// The plan may be nil.
func (m *maker) accompany(plan *workload.Plan) error {
	var problems workload.Problems
	problems.Add(m.schedule(plan))
	problems.Add(m.conditions(plan))
	problems.Add(fault.Field("until", m.until()))
	return problems.Err()
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
	if err == nil || req.From[name] == "" {
		return err
	}
	var problems workload.Problems
	for _, part := range fault.Parts(err) {
		problems.Add(fmt.Errorf("%w (%s)", part, req.Source(name, part.Error())))
	}
	return problems.Err()
}

// misspelt returns the name of the profile that a name is with a letter or two wrong: what else is wrong
// is found by that.
func misspelt(all []workload.Profile, name string) string {
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	return fault.Misspelt(name, names)
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
	return workload.Profile{}, fault.Input(fmt.Errorf("unknown profile %q", name), fault.Suggest(name, known, fault.SeeProfiles))
}

// aim finds the store's driver and the profile's binding to it.
func (m *maker) aim() error {
	url := m.p.req.Target
	if url == "" {
		url = DefaultTarget
	}
	if m.p.env.Resolve != nil {
		resolved, err := m.p.env.Resolve(url)
		if err != nil {
			return err
		}
		url = resolved
	}
	t, d, err := m.p.env.Drivers.Parse(url)
	if err != nil {
		return err
	}
	if t.Password != "" && m.p.req.From["target"] == "" {
		m.warn("the password in the target can be seen by others on this machine; use --password-file or " + request.EnvPrefix + "TARGET_PASSWORD")
	}
	m.warn(t.Cautions("the connection to " + strings.Join(t.Hosts, ", "))...)
	switch {
	case m.p.req.Password != "":
		t.Password = m.p.req.Password
	case t.Password == "" && (len(t.Hosts) > 0 || t.Scheme == "unix"):
		t.Password = Password(m.p.env.Environ)
	}
	m.p.Target, m.p.Driver = t, d
	b, ok := m.p.Profile.Binding(d.Name)
	switch {
	case !ok:
		return fault.Code(fault.Hint(fmt.Errorf("profile %s does not run on %s", m.p.Profile.Name, d.Title), runsOn(m.p.Profile)), fault.CodeInput)
	case b.Refuse != "":
		return fault.Input(fmt.Errorf("profile %s does not run on %s: %s", m.p.Profile.Name, d.Title, b.Refuse), runsOn(m.p.Profile))
	}
	m.p.binding = b
	return nil
}

func runsOn(p workload.Profile) string {
	var ok []string
	for _, b := range p.Stores {
		if b.Refuse == "" {
			ok = append(ok, b.Driver)
		}
	}
	return "it runs on " + strings.Join(ok, ", ")
}

// resolve turns parameter values that are targets into URLs that a client can use.
func (m *maker) resolve(vs workload.Values) error {
	var problems workload.Problems
	for _, q := range m.p.Profile.Params {
		v := vs[q.Name]
		if q.Kind != workload.Target || !strings.Contains(v.Text, ":") {
			continue
		}
		if m.p.env.Resolve != nil {
			text, err := m.p.env.Resolve(v.Text)
			if err != nil {
				problems.Add(fault.Field(q.Name, fmt.Errorf("%s: %w", q.Name, err)))
				continue
			}
			v.Text = text
			vs[q.Name] = v
		}
		t, err := store.ParseTarget(v.Text)
		if err != nil {
			problems.Add(fault.Field(q.Name, fmt.Errorf("%s (%s): %w", q.Name, v.From(), err)))
			continue
		}
		m.warn(t.Cautions(fmt.Sprintf("the connection to %s (%s)", strings.Join(t.Hosts, ", "), q.Name))...)
		if t.Password != "" && v.Origin == workload.OriginFlag {
			m.warn(fmt.Sprintf("the password in %s can be seen by others on this machine; use %s", q.Name, request.Variable(q.Name)))
		}
	}
	return problems.Err()
}

// values merges the values of presets, files, environment and request.
func (m *maker) values() (workload.Values, error) {
	vs := request.Defaults(&m.p.Profile)
	var problems workload.Problems
	given := workload.Values{}
	request.Put(given, request.Environment(m.p.env.Environ, request.NamesOf(&m.p.Profile, nil).All(nil)))
	request.Put(given, m.p.req.Values)
	texts := request.Inline(&m.p.Profile, given)
	m.p.Preset = m.p.req.Preset
	if m.p.Preset == "" && len(m.p.req.Files)+len(texts) == 0 {
		m.p.Preset = m.p.Profile.DefaultPreset
	}
	switch {
	case m.p.Preset == "":
	case m.p.Profile.Presets == nil:
		problems.Add(fault.Field("preset", fault.Input(fmt.Errorf("preset %q: profile %s has no presets", m.p.Preset, m.p.Profile.Name), "")))
	default:
		from, err := request.LoadPreset(m.p.Profile.Presets, m.p.Preset)
		problems.Add(fault.Field("preset", err))
		for _, v := range from {
			vs.Set(v)
		}
	}
	from, found, err := request.ReadFiles(&m.p.Profile, m.p.req.Files, texts)
	field := "file"
	if len(m.p.req.Files) == 0 && len(texts) == 1 {
		field = strings.TrimPrefix(texts[0].Path, "--")
	}
	problems.Add(fault.Field(field, m.elsewhere(err)))
	m.warn(found.Warnings...)
	m.p.Keys = found.Keys
	request.Put(vs, from)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	request.Put(vs, given)
	if len(m.p.req.Timetable) > 0 {
		delete(vs, "at") // a timetable given by hand replaces any other
	}
	_, length := vs.Pick("duration", "count")
	if m.p.req.Endless && !length {
		vs.Set(workload.Value{Name: "duration", Text: workload.Forever, Origin: workload.OriginDefault})
	}
	return vs, m.resolve(vs)
}

// elsewhere adds to an error of reading files which profiles read them. YAML of ours is
// written for one profile, whose own words say more.
func (m *maker) elsewhere(err error) error {
	files := m.p.req.Files
	if err == nil || slices.ContainsFunc(files, values.IsYAML) {
		return err
	}
	names := request.Readers(m.p.env.Profiles, files)
	if len(names) == 0 {
		return err
	}
	which := "this file"
	if len(files) > 1 {
		which = "these files"
	}
	return fault.Hint(err, "--profile "+strings.Join(names, " or ")+" reads "+which)
}

// formats returns the requested formats or, if there are none, the default ones: json,
// csv, hlog and the profile's first document.
func (m *maker) formats(ids []string) ([]rundir.Format, error) {
	if len(ids) == 0 {
		ids = []string{"json", "csv", "hlog"}
		if len(m.p.Profile.Formats) > 0 {
			ids = append(ids, m.p.Profile.Formats[0])
		}
	}
	return rundir.Pick(m.p.env.Formats, ids, m.p.Profile.Name)
}

// design makes the plan, normally once. If environment variables are aimed at a track,
// it does so twice, as they can be read only once the tracks are known.
func (m *maker) design(vs workload.Values) error {
	var problems workload.Problems
	in, cleanup, requireValid := request.Inputs(vs, &problems)
	in.Driver = m.p.Driver.Name
	in.Hosts = m.p.Target.Hosts
	in.Cluster = strings.HasSuffix(m.p.Target.Scheme, "+cluster")
	if m.p.env.Agent != nil {
		in.Agent = m.p.env.Agent(m.p.Target.Redacted())
	}
	m.p.Inputs, m.p.Cleanup, m.p.RequireValid = in, cleanup, requireValid
	bad := problems.Err() != nil
	began := time.Now()
	plan, err := m.p.Profile.Design(in)
	m.p.designed = time.Since(began)
	problems.Add(err)
	if err != nil || plan == nil {
		for _, e := range request.Unknown(vs, request.NamesOf(&m.p.Profile, nil), nil) {
			problems.Add(e)
		}
		return problems.Err()
	}
	known := request.NamesOf(&m.p.Profile, plan)
	tracks := plan.TrackNames()
	for _, e := range request.Unknown(vs, known, tracks) {
		problems.Add(e)
	}
	all := known.All(tracks)
	m.warn(request.Strangers(m.p.env.Environ, all)...)
	if aimed := request.Environment(m.p.env.Environ, all); len(aimed) > 0 && !bad {
		request.Put(vs, aimed)
		if plan, err = m.p.Profile.Design(in); err != nil {
			problems.Add(err)
			return problems.Err()
		}
	}
	problems.Add(checkNames(plan))
	m.p.Plan = plan
	m.redact(plan)
	m.warn(plan.Warnings...)
	m.idle(plan, vs)
	m.arrivals(plan)
	return problems.Err()
}

// idle warns of knobs that somebody set for this run, and that it makes no use of.
func (m *maker) idle(plan *workload.Plan, vs workload.Values) {
	for _, k := range plan.Knobs {
		v, given := vs.Pick(k.Name, cmp.Or(k.Param, k.Name))
		why := plan.Idle(workload.AllTracks, k)
		if given && v.Origin >= workload.OriginPlan && why != "" && k.Fixed == "" {
			m.warn(fmt.Sprintf("%s=%s (%s) has no effect in this run: %s", v.Name, v.Text, v.From(), why))
		}
	}
}

// arrivals decides how calls come at a rate if nobody has said: independently, as from many
// users, unless the plan imitates another pacing. A run without a rate has none; it warns of
// those that were asked for, unless something may set a rate as it goes.
func (m *maker) arrivals(plan *workload.Plan) {
	in := &m.p.Inputs
	asked, given := in.Values["arrivals"]
	given = given && strings.TrimSpace(asked.Text) != ""
	if plan.Replays {
		if given {
			m.warn(fmt.Sprintf("arrivals %s mean nothing in a replay: calls come when they were made", in.Arrivals))
		}
		in.Arrivals = workload.Arrivals{Recorded: true}
		in.Values["arrivals"] = workload.Value{Name: "arrivals", Text: workload.AsRecorded, Origin: workload.OriginDefault}
		return
	}
	rated := slices.ContainsFunc(plan.Tracks(), func(t *workload.Track) bool { return t.Start.Rate > 0 })
	goes := rated || m.p.req.MaxThreads > 0 || len(m.p.changes()) > 0
	if given {
		if in.Arrivals.Poisson && !goes {
			m.warn(fmt.Sprintf("arrivals %s mean nothing without a rate: each thread makes its next call when it has the answer to the last", in.Arrivals))
		}
		return
	}
	in.Arrivals = plan.UsualArrivals()
	usual := workload.Value{Name: "arrivals", Text: in.Arrivals.String(), Origin: workload.OriginDefault}
	if plan.Evenly != "" {
		usual.Where = "with " + plan.Evenly
		if rated {
			m.warn(plan.Evenly + ": calls come evenly, as in what it imitates; with --arrivals poisson they come independently, as from many users")
		}
	}
	if goes {
		in.Values["arrivals"] = usual
	}
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

// redact removes secrets from what will be shown and kept.
func (m *maker) redact(plan *workload.Plan) {
	for i, v := range plan.Parameters {
		if !slices.ContainsFunc(m.p.Profile.Params, func(q workload.Param) bool { return q.Name == v.Name && q.Kind == workload.Target }) {
			continue
		}
		if t, err := store.ParseTarget(v.Text); err == nil {
			plan.Parameters[i].Text = t.Redacted()
		}
	}
}

// likely returns the plan of the defaults, to check the rest of a request whose own
// plan has problems; nil if there is none.
func (m *maker) likely() *workload.Plan {
	plan, err := m.p.Profile.Design(workload.Inputs{Values: request.Defaults(&m.p.Profile), Driver: m.p.Driver.Name})
	if err != nil {
		return nil
	}
	return plan
}

// schedule reads the timetable.
func (m *maker) schedule(plan *workload.Plan) error {
	if plan == nil {
		return nil
	}
	plan.Commands = &workload.Commands{}
	table, warnings, err := ParseTimetable(m.p.changes(), plan, m.p.Inputs.Duration)
	m.p.Timetable = table
	if err == nil {
		err = m.breakable(table, plan)
	}
	m.warn(warnings...)
	return fault.Field("at", sourced(m.p.req, "at", err))
}

// breakable refuses faults that there cannot be.
func (m *maker) breakable(table []engine.At, plan *workload.Plan) error {
	a, err := m.p.allowed()
	if err != nil {
		return err
	}
	if m.p.Inputs.Breakable && a.driver.Breaks == store.BreaksNothing && plan.Via == "" {
		return fault.Field("breakable", fault.Input(fmt.Errorf("breakable: %s has no connection that could be broken", a.driver.Title), "name a server with --target, or leave it out"))
	}
	a.plan, a.proxied = plan, func(bool) bool { return true } // what needs the proxy gets it
	return a.table(table)
}

// until parses what ends the run early.
func (m *maker) until() error {
	text := m.p.Inputs.Values["until"].Text
	if text == "" {
		return nil
	}
	goal, err := condition.ParseGoal(text)
	if err == nil && m.p.Inputs.Duration == 0 && !m.p.Inputs.Endless {
		err = fault.Input(fmt.Errorf("until: %s may never be reached, so it needs a duration", goal.Text), "add --duration, the longest that the run may take")
	}
	m.p.Until = &goal
	return err
}

// conditions parses the thresholds and, if there is a plan, checks what they refer to.
func (m *maker) conditions(plan *workload.Plan) error {
	var problems workload.Problems
	for _, text := range m.p.req.Thresholds {
		e, err := condition.ParseThreshold(text)
		if err == nil && plan != nil {
			err = e.Check(plan.Operations())
		}
		if err == nil && plan != nil && e.Recovery() && !HasFaults(m.p.Timetable) {
			err = fault.Input(fmt.Errorf("threshold %q: the timetable has no fault from which to recover", e.Text), "add one, such as --at 20s..22s:fault=pause")
		}
		problems.Add(fault.Field("threshold", sourced(m.p.req, "threshold", err)))
		m.p.Thresholds = append(m.p.Thresholds, e)
	}
	return problems.Err()
}
