package session

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session/timetable"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Preview describes what Start would do. It touches nothing.
func (p *Prepared) Preview() request.Preview {
	v := request.Preview{
		Plan: p.Plan,
		Run:  p.runLines(), Settings: p.settingLines(), Tracks: tracksInWords(p.Plan),
		Length: p.length(),
		Writes: p.Plan.Writes, Bytes: p.Plan.Bytes, Connections: p.Threads(), Warnings: p.Warnings,
	}
	for _, q := range p.Plan.Parameters {
		v.Parameters = append(v.Parameters, line(q.Name, q.Text, q.From()))
	}
	v.Timetable = timetable.Words(p.Timetable, p.Plan)
	for _, t := range p.Thresholds {
		v.Thresholds = append(v.Thresholds, t.Text)
	}
	if p.Cleanup {
		v.Deletes = p.Plan.Deletes
		if len(v.Deletes) == 0 {
			v.Deletes = []string{"what this run makes, at its end (--cleanup)"}
		}
	}
	for _, f := range p.Formats {
		v.Documents = append(v.Documents, f.ID)
	}
	return v
}

// Asked returns the request that leads to the same run again, whatever the defaults and
// the environment are by then: for a plan file, and for a command line. It holds no
// password.
func (p *Prepared) Asked() Request {
	r := p.req
	r.Preset, r.Out, r.Password, r.MaxThreads, r.Endless, r.Series, r.Round = p.Preset, p.Out, "", 0, false, "", 0
	if r.Target == "" {
		r.Target = DefaultTarget
	}
	r.Values = workload.Values{}
	for name, v := range p.Inputs.Values {
		if own, ok := p.req.Values[name]; ok && own.Origin == v.Origin {
			v = own // as it was before lab: was resolved
		}
		if v.Origin >= workload.OriginPlan && name != "at" {
			r.Values[name] = v
		}
	}
	if v := p.Inputs.Values["duration"]; v.Origin == workload.OriginDefault {
		v.Origin = workload.OriginPlan // with another origin the run would end with its work
		r.Values[v.Name] = v
	}
	if p.Inputs.Values["at"].Origin >= workload.OriginPlan {
		r.Timetable = p.changes()
	}
	return r
}

// Model returns the run as far as it is known before a store is opened.
func (p *Prepared) Model() rundir.Run {
	run := rundir.Run{
		Profile: p.Profile.Name, Mode: p.Plan.Mode, Unit: p.Plan.Unit, Units: p.Plan.OtherUnits(), Target: p.Target.Redacted(),
		Started: time.Now(), Seed: p.Inputs.Seed, WarmupS: p.Inputs.Warmup.Seconds(), DataBytes: p.Plan.Bytes,
		Settings: Settings(p.Plan), Parameters: map[string]string{}, Origins: p.Origins(),
		Files: p.req.Files, Timetable: p.changes(), Environment: environmentFacts(p.env.Version), Tags: p.Tags,
	}
	if p.req.Series != "" {
		run.Turn = &rundir.Turn{Series: p.req.Series, Round: p.req.Round}
	}
	for _, r := range request.RunParams() {
		if v, ok := p.Inputs.Values[r.Name]; ok {
			run.Parameters[r.Name] = v.Text
			if n, err := units.ParseWhole(v.Text); err == nil && r.Kind == workload.Integer {
				run.Parameters[r.Name] = strconv.FormatInt(n, 10) // 10k becomes 10000, so that runs can be compared
			}
		}
	}
	for _, t := range p.Plan.Tracks() {
		for i, op := range t.Ops {
			if !t.Whole(i) {
				run.Parts = append(run.Parts, t.Name+"."+op)
			}
		}
	}
	if p.Preset != "" {
		run.Parameters["preset"] = p.Preset
	}
	for _, v := range p.Plan.Parameters {
		run.Parameters[v.Name] = v.Text
	}
	return run
}

// length says how long the run lasts.
func (p *Prepared) length() string {
	in := &p.Inputs
	count := fmt.Sprintf("%d %s", in.Count, p.Plan.Unit)
	switch {
	case in.Duration > 0 && in.Count > 0:
		return fmt.Sprintf("%s or %s, whichever comes first", units.Duration(in.Duration), count)
	case in.Duration > 0 && p.Until != nil:
		return fmt.Sprintf("at most %s", units.Duration(in.Duration))
	case in.Duration > 0:
		return units.Duration(in.Duration)
	case in.Count > 0:
		return count
	case !in.Endless:
		return "until its work is done"
	case p.Plan.Ends != "":
		return "until its work is done: " + p.Plan.Ends
	case p.Until != nil:
		return "until " + p.Until.Text + " is known, or you stop it"
	case len(p.Plan.Phases) > 1:
		return "until you stop it; every phase but the last is done once"
	}
	return "until you stop it"
}

func line(name, text, from string) request.Line {
	return request.Line{Name: name, Text: text, From: from}
}

func (p *Prepared) from(what, fallback string) string {
	if f := p.req.From[what]; f != "" {
		return f
	}
	return fallback
}

func (p *Prepared) runLines() []request.Line {
	flag := func(given bool, name string) string {
		if !given {
			return "default"
		}
		return p.from(name, "flag --"+name)
	}
	lines := []request.Line{line("profile", p.Profile.Name, p.from("profile", "flag --profile"))}
	if p.Plan.Mode != "" {
		lines = append(lines, line("mode", p.Plan.Mode, origin(p.Inputs.Values, "mode")))
	}
	lines = append(lines, line("target", p.Target.Redacted(), flag(p.req.Target != "", "target")), line("store", p.Driver.Title, "target"))
	if p.Preset != "" {
		lines = append(lines, line("preset", p.Preset, flag(p.req.Preset != "", "preset")))
	}
	for _, f := range p.req.Files {
		lines = append(lines, line("file", f, p.from("file", "flag --file")))
	}
	if p.req.Facts != "" {
		lines = append(lines, line("facts", p.req.Facts, p.from("facts", "flag --facts")))
	}
	if len(p.req.Tags) > 0 {
		lines = append(lines, line("tag", strings.Join(p.req.Tags, ", "), p.from("tag", "flag --tag")))
	}
	for _, r := range request.RunParams() {
		val, ok := p.Inputs.Values[r.Name]
		switch {
		case ok && val.Text == "":
			lines = append(lines, line(r.Name, `""`, val.From()))
		case ok:
			lines = append(lines, line(r.Name, val.Text, val.From()))
		case r.Name == "duration" || r.Name == "count":
			lines = append(lines, line(r.Name, "–", "not given"))
		}
	}
	return append(lines, line("out", p.Out, flag(p.req.Out != "", "out")))
}

func origin(vs workload.Values, names ...string) string {
	if v, ok := vs.Pick(names...); ok {
		return v.From()
	}
	return workload.OriginDefault.String()
}

// settingLines lists the knobs' values at the start: totals and, if there are several
// tracks, values per track.
func (p *Prepared) settingLines() []request.Line {
	var lines []request.Line
	start := Settings(p.Plan)
	tracks := p.Plan.Tracks()
	for _, k := range p.Plan.Knobs {
		if v, ok := start[k.Name]; ok {
			lines = append(lines, line(k.Name, k.Format(v), p.Origins()[k.Name]))
		}
		for _, t := range tracks {
			if len(tracks) > 1 && t.Turns(k) {
				n := t.Name + "." + k.Name
				lines = append(lines, line(n, k.Format(start[n]), p.Origins()[n]))
			}
		}
	}
	return lines
}

// Settings returns the live settings at the start of a plan under the names that users
// type: totals, or the common value, under the knob's name and, with several tracks,
// each track's under TRACK.KNOB.
func Settings(plan *workload.Plan) map[string]float64 {
	tracks := plan.Tracks()
	return workload.ByName(plan.Knobs, tracks, workload.Starts(tracks))
}

// Origins returns where each parameter and each setting came from.
func (p *Prepared) Origins() map[string]string {
	out := map[string]string{}
	for _, v := range p.Inputs.Values {
		out[v.Name] = v.From()
	}
	for _, v := range p.Plan.Parameters {
		out[v.Name] = v.From()
	}
	for _, k := range p.Plan.Knobs {
		var all []string
		for _, t := range p.Plan.Tracks() {
			if !t.Turns(k) {
				continue
			}
			from := origin(p.Inputs.Values, t.Name+"."+k.Name, k.Name)
			if v, ok := out[t.Name+"."+k.Param]; ok && k.Param != "" {
				from = v
			}
			out[t.Name+"."+k.Name] = from
			all = append(all, from)
		}
		out[k.Name] = strings.Join(dedupe(all), "; ")
	}
	return out
}

func tracksInWords(plan *workload.Plan) []string {
	var out []string
	for _, ph := range plan.Phases {
		for _, t := range ph.Tracks {
			s := fmt.Sprintf("%s: %s with %s", t.Name, strings.Join(t.Ops, ", "), units.Plural(t.Start.Threads, "thread"))
			if t.Total > 0 {
				s += fmt.Sprintf(", %d %s", t.Total, plan.Unit)
			}
			if len(plan.Phases) > 1 {
				s = "phase " + ph.Name + ", " + s
				if len(ph.After) > 0 {
					s += ", after " + strings.Join(ph.After, ", ")
				}
			}
			out = append(out, s)
		}
	}
	return out
}

// dedupe removes repeated sentences.
func dedupe(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
