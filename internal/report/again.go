package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

// Asked returns the request that leads to the same run again: what was requested, with
// its files, values that came from the environment or a plan, live changes as a
// timetable, and the seed. What a search set is not part of it: nobody asked for that. It contains
// no secrets.
func Asked(r *rundir.Run) request.Request {
	q := request.Request{
		Profile: r.Profile, Target: r.Target, Preset: r.Parameters["preset"], Files: slices.Clone(r.Files), Values: workload.Values{},
		Timetable: slices.Clone(r.Timetable), Tags: r.TagWords(),
	}
	values := maps.Clone(r.Parameters)
	if values == nil {
		values = map[string]string{}
	}
	for k, v := range r.Settings {
		if _, ok := values[k]; !ok {
			values[k] = typed(k, v)
		}
	}
	values["seed"] = fmt.Sprint(r.Seed)
	if _, told := r.Parameters["arrivals"]; !told && rated(r) { // from before there was a choice
		q.Values["arrivals"] = workload.Value{Name: "arrivals", Text: workload.Even, Origin: workload.OriginFlag}
	}
	for k, v := range values {
		if said(r, k) && !follows(r, values, k) {
			where := "--set"
			if f, ok := request.FieldNamed(k); ok && f.IsValue() {
				where = "--" + k
			}
			q.Values[k] = workload.Value{Name: k, Text: v, Origin: workload.OriginFlag, Where: where}
		}
	}
	moves := r.Moves()
	for i, m := range moves {
		if m.By == measure.BySearch || m.By == measure.ByTimetable && len(r.Timetable) > 0 {
			continue
		}
		if kind, ok := workload.FaultSetting(m.Name); ok {
			if m.To != 0 {
				q.Timetable = append(q.Timetable, faultEntry(r, kind, moves[i:]))
			}
			continue
		}
		at := Number(round(m.At)) + "s"
		value := typed(m.Name, m.To)
		if m.Ramp > 0 && m.Until > m.At {
			at += ".." + Number(round(m.Until)) + "s"
			value = typed(m.Name, m.From) + ".." + value
		}
		q.Timetable = append(q.Timetable, at+":"+m.Name+"="+value)
	}
	for _, t := range r.Verdict.Thresholds {
		q.Thresholds = append(q.Thresholds, t.Expr)
	}
	return q
}

// faultEntry is the fault that begins with the first of some moves as --at has it.
func faultEntry(r *rundir.Run, kind int, moves []rundir.Move) string {
	m, k := moves[0], &workload.FaultKinds()[kind]
	at, what := Number(round(m.At))+"s", (&rundir.Fault{Kind: k.Name, Size: workload.FaultSize(k, m.To, r.Commands)}).Name()
	for _, end := range moves[1:] {
		if end.Name != m.Name {
			continue
		}
		at += ".." + Number(round(end.At)) + "s"
		if one, ok := workload.Numbered(r.Commands, m.To); ok && k.Means(m.To) == workload.OfCommand && len(one.Heal) > 0 {
			what += ",heal=" + workload.Exec + ":" + workload.JoinWords(one.Heal)
		}
		break
	}
	return at + ":fault=" + what
}

// typed writes a setting as users type it.
func typed(name string, v float64) string {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case workload.ComingKnob, workload.Think().Name:
		return rundir.SettingText(name, v)
	}
	return Number(v)
}

// said reports whether a value has to be said for the same run: the others follow from
// the rest of the request.
func said(r *rundir.Run, name string) bool {
	from, flag, _ := strings.Cut(r.Origins[name], " ")
	flag = strings.TrimPrefix(flag, "--")
	switch {
	case name == "seed":
		f, ok := request.FieldNamed(name)
		return !ok || fmt.Sprint(r.Seed) != f.Param.Default || from != "" && from != "default"
	case name == "preset", name == "at", strings.Contains(r.Origins[name], "; "): // a total: the tracks have their own
		return false
	case name == "duration" && from == "default": // of a run that goes on until it is stopped
		return true
	case from == "file":
		return len(r.Files) == 0 // of an older version
	case from == "flag":
		return saidBy(r, flag, name)
	}
	return from != "" && from != "default" && from != "preset"
}

// saidBy reports whether a value that a flag set, such as "threads" or "warmup, its default", belongs to the
// run. That of a sweep, a comparison or the search for the knee, which may set any value, does as its own flag
// does. Not so the flag of another value, nor what a search or a comparison of answers needs for itself.
func saidBy(r *rundir.Run, flag, name string) bool {
	own, _, _ := strings.Cut(flag, ",")
	switch f, known := request.FieldNamed(own); {
	case own == "against", name == "duration" && r.Searched() && flag != "" && flag != "set" && flag != name:
		return false
	case known && f.IsValue():
		_, base := rundir.TrackOf(name)
		return own == name || own == base && strings.Contains(r.Origins[base], "; ") // one track of several
	}
	return true
}

// follows reports whether a value is said with another of the same origin: a parameter with the knob that it
// sets, and a value of one track with that of all, if it is the same or, of what is divided among the tracks,
// an even part.
func follows(r *rundir.Run, values map[string]string, name string) bool {
	_, base := rundir.TrackOf(name)
	for knob, param := range r.SetBy {
		of := strings.TrimSuffix(name, base) + knob
		if _, ok := values[of]; !ok { // of a run with one track
			of = knob
		}
		if param == base && r.Origins[of] == r.Origins[name] && values[of] == values[name] {
			return true
		}
	}
	if base == name || r.Origins[name] != r.Origins[base] || !said(r, base) {
		return false
	}
	all, ok := r.Settings[base]
	if base != "rate" && base != "threads" || !ok {
		return values[base] == values[name]
	}
	n := 0.0
	for k := range r.Settings {
		if _, b := rundir.TrackOf(k); b == base && k != base {
			n++
		}
	}
	return math.Abs(r.Settings[name]-all/n) < 1
}

// rated reports whether calls were sent at a rate at any time.
func rated(r *rundir.Run) bool {
	isRate := func(name string) bool {
		_, base := rundir.TrackOf(name)
		return base == "rate"
	}
	for name, v := range r.Settings {
		if v > 0 && isRate(name) {
			return true
		}
	}
	return slices.ContainsFunc(r.Changes, func(c rundir.Change) bool { return c.To > 0 && isRate(c.Name) })
}

// repeated returns the request that repeats a run. One that went on until it was stopped is repeated for
// as long as it was measured.
func repeated(r *rundir.Run) request.Request {
	q := Asked(r)
	if v, ok := q.Values["duration"]; ok && v.Text == workload.Forever && r.MeasuredS > 0 {
		v.Text = Number(math.Ceil(r.MeasuredS)) + "s"
		q.Values["duration"] = v
	}
	return q
}

// Command returns the command line that repeats a run.
func Command(r *rundir.Run) string {
	q := repeated(r)
	words := q.Words()
	for i, w := range words {
		words[i] = Plain(w)
	}
	return request.Shell(words)
}

// round rounds a time to a hundredth of a second.
func round(s float64) float64 { return float64(int64(s*100+0.5)) / 100 }

// again says how to repeat the run.
func again(r *rundir.Run) Section {
	text := fmt.Sprintf("Seed %d", r.Seed)
	if v := r.Environment["perfbench"]; v != nil {
		text += fmt.Sprintf(", perfbench %v", v)
	}
	if v := strings.TrimSpace(r.Store.Product + " " + r.Store.Version); v != "" {
		text += ", " + v
	}
	if v := r.Environment["go"]; v != nil {
		text += fmt.Sprintf(", %v on %v/%v", v, r.Environment["os"], r.Environment["arch"])
	}
	text += "."
	if r.Searched() {
		text += " What the search set is left out: perfbench find searches again."
	}
	return Section{Heading: "Do it again", Weight: Answer, Code: Command(r), Text: []string{text}}
}
