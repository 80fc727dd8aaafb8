package session

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Asked returns the request that leads to the same run again, whatever the defaults and
// the environment are by then: for a plan file, and for a command line. It holds no
// password.
func (p *Prepared) Asked() Request {
	r := p.req
	r.Preset, r.Out, r.Password, r.MaxThreads, r.Endless, r.Series, r.Round, r.Of = p.Preset, p.Out, "", 0, false, "", 0, ""
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
		Name: p.req.Name, Profile: p.Profile.Name, Mode: p.Plan.Mode, Unit: p.Plan.Unit, Units: p.Plan.OtherUnits(), Target: p.Target.Redacted(),
		Started: time.Now(), Seed: p.Inputs.Seed, WarmupS: p.Inputs.Warmup.Seconds(), DataBytes: p.Plan.Bytes, Sized: p.Plan.Sized,
		Settings: Settings(p.Plan), Parameters: map[string]string{}, Origins: p.Origins(),
		Files: p.req.Files, Timetable: p.changes(), Commands: p.Plan.Commands.All(), Environment: environmentFacts(p.env.Version), Tags: p.Tags, Of: p.req.Of,
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
	for _, k := range p.Plan.Knobs {
		if k.Param != "" {
			if run.SetBy == nil {
				run.SetBy = map[string]string{}
			}
			run.SetBy[k.Name] = k.Param
		}
	}
	for _, t := range p.Plan.Tracks() {
		if t.Pauses {
			run.Pauses = append(run.Pauses, t.Name)
		}
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

func origin(vs workload.Values, names ...string) string {
	if v, ok := vs.Pick(names...); ok {
		return v.From()
	}
	return workload.OriginDefault.String()
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
		if len(all) > 0 {
			out[k.Name] = strings.Join(dedupe(all), "; ")
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
