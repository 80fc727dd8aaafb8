package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Preview describes what Start would do. It touches nothing.
func (p *Prepared) Preview() request.Preview {
	o := outline{p}
	v := request.Preview{
		Plan: p.Plan,
		Run:  o.runLines(), Settings: o.settingLines(), Tracks: tracksInWords(p.Plan),
		Length: o.length() + o.warming(),
		Writes: p.Plan.Writes, Bytes: p.Plan.Bytes, Connections: p.Threads(), Shared: p.Shares(), Warnings: p.Warnings, Keys: o.keys(),
	}
	for _, q := range p.Plan.Parameters {
		v.Parameters = append(v.Parameters, line(q.Name, q.Text, q.From()))
	}
	v.Timetable = TimetableInWords(p.Timetable, p.Plan)
	for _, t := range p.Thresholds {
		v.Thresholds = append(v.Thresholds, t.Text)
	}
	v.Fresh = p.Driver.Fresh && p.Target.Path == "" // whatever the profile opens in its place
	v.Deletes = slices.Clone(p.Plan.Deletes)
	switch {
	case v.Fresh && p.Plan.Via == "":
		v.Deletes = nil
	case !p.Cleanup:
	case len(p.Plan.Cleanup) > 0:
		v.Deletes = append(v.Deletes, p.Plan.Cleanup...)
	default:
		v.Deletes = append(v.Deletes, "at the end what this run makes (--cleanup)")
	}
	for _, f := range p.Formats {
		v.Documents = append(v.Documents, f.ID)
	}
	return v
}

// outline is a prepared run as a preview tells of it, line by line.
type outline struct{ p *Prepared }

// length says how long the run lasts.
func (o outline) length() string {
	in := &o.p.Inputs
	count := fmt.Sprintf("%d %s", in.Count, o.p.Plan.Unit)
	switch {
	case in.Duration > 0 && in.Count > 0:
		return fmt.Sprintf("%s or %s, whichever comes first", units.Length(in.Duration), count)
	case in.Duration > 0 && o.p.Until != nil:
		return fmt.Sprintf("at most %s", units.Length(in.Duration))
	case in.Duration > 0 && len(o.p.Plan.Phases) > 1:
		return phasesInWords(o.p.Plan)
	case in.Duration > 0:
		return units.Length(in.Duration)
	case in.Count > 0:
		return count
	case !in.Endless:
		return "until its work is done"
	case o.p.Plan.Ends != "":
		return "until its work is done: " + o.p.Plan.Ends
	case o.p.Until != nil:
		return "until " + o.p.Until.Text + " is known, or you stop it"
	case len(o.p.Plan.Phases) > 1:
		return "its last phase lasts until you stop it"
	}
	return "no end: until you stop it"
}

// warming says how long its warm-up lasts; "" if it has none.
func (o outline) warming() string {
	upTo, in := "", &o.p.Inputs
	if in.Warmup == 0 {
		return ""
	}
	if o.p.WarmsItself() {
		upTo = "up to "
	}
	return "; " + upTo + units.Length(in.Warmup) + " of warm-up first"
}

// mostPhases is how many phases are told one by one.
const mostPhases = 5

// phasesInWords says how long the phases of a plan last, one after the other.
func phasesInWords(plan *workload.Plan) string {
	var each []string
	timed := map[time.Duration]int{}
	for _, ph := range plan.Phases {
		timed[ph.Duration]++
		if ph.Duration > 0 {
			each = append(each, ph.Name+" for "+units.Length(ph.Duration))
		} else {
			each = append(each, ph.Name+" until it is done")
		}
	}
	if len(each) <= mostPhases {
		return strings.Join(each, ", then ")
	}
	var parts []string
	for _, d := range slices.Backward(slices.Sorted(maps.Keys(timed))) {
		text := units.Plural(timed[d], "phase") + " until the work is done"
		if d > 0 {
			text = units.Plural(timed[d], "phase") + " of " + units.Length(d)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " and ")
}

func line(name, text, from string) request.Line {
	return request.Line{Name: name, Text: text, From: from}
}

func (o outline) from(what, fallback string) string {
	if f := o.p.req.From[what]; f != "" {
		return f
	}
	return fallback
}

func (o outline) runLines() []request.Line {
	flag := func(given bool, name string) string {
		if !given {
			return "default"
		}
		return o.from(name, "flag --"+name)
	}
	lines := []request.Line{line("profile", o.p.Profile.Name, o.from("profile", "flag --profile"))}
	if o.p.Plan.Mode != "" {
		lines = append(lines, line("mode", o.p.Plan.Mode, origin(o.p.Inputs.Values, "mode")))
	}
	lines = append(lines, line("target", o.p.Target.Redacted(), flag(o.p.req.Target != "", "target")), line("store", o.p.Driver.Title, "target"))
	if o.p.Preset != "" {
		lines = append(lines, line("preset", o.p.Preset, flag(o.p.req.Preset != "", "preset")))
	}
	for _, f := range o.p.req.Files {
		lines = append(lines, line("file", f, o.from("file", "flag --file")))
	}
	if o.p.req.Facts != "" {
		lines = append(lines, line("facts", o.p.req.Facts, o.from("facts", "flag --facts")))
	}
	if len(o.p.req.Tags) > 0 {
		lines = append(lines, line("tag", strings.Join(o.p.req.Tags, ", "), o.from("tag", "flag --tag")))
	}
	for _, r := range request.RunParams() {
		val, ok := o.p.Inputs.Values[r.Name]
		switch {
		case ok && val.Text == "":
			lines = append(lines, line(r.Name, `""`, val.From()))
		case ok:
			lines = append(lines, line(r.Name, val.Text, val.From()))
		case r.Name == "duration" || r.Name == "count":
			lines = append(lines, line(r.Name, "–", "not given"))
		}
	}
	return append(lines, line("out", o.p.Out, flag(o.p.req.Out != "", "out")))
}

// settingLines lists the knobs' values at the start: totals and, if there are several
// tracks, values per track.
func (o outline) settingLines() []request.Line {
	var lines []request.Line
	start := Settings(o.p.Plan)
	tracks := o.p.Plan.Tracks()
	for _, k := range o.p.Plan.Knobs {
		if v, ok := start[k.Name]; ok {
			lines = append(lines, line(k.Name, k.Format(v), o.p.Origins()[k.Name]))
		}
		for _, t := range tracks {
			if len(tracks) > 1 && t.Turns(k) {
				n := t.Name + "." + k.Name
				lines = append(lines, line(n, k.Format(start[n]), o.p.Origins()[n]))
			}
		}
	}
	return lines
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
