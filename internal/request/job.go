package request

import (
	"cmp"
	"maps"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Request is what a user asked for. Empty fields mean the defaults.
type Request struct {
	Profile, Preset string
	// Files are paths of files or folders of a system that the profile reads.
	Files []string
	// Target is the URL. Password comes from elsewhere; it is never shown, kept or
	// logged.
	Target, Password string
	// PasswordFile has the password in its first line; it is read if Password is empty.
	PasswordFile string
	// Values are settings, parameters and what every run has (duration, count, warmup,
	// seed, namespace, …), by name, of origin OriginFlag or lower.
	Values workload.Values
	// Timetable holds live changes in the form of --at, Thresholds conditions in the
	// form of --threshold.
	Timetable, Thresholds []string
	// Out is the folder for run directories, Formats what to write.
	Out     string
	Formats []string
	// Tags are in the form NAME=VALUE, and kept with the run.
	Tags []string
	// Name is that of the run in a plan of several, and kept with the run; empty for others.
	Name string
	// Facts is the path of the --facts file.
	Facts string
	// From says where target, preset, files, out and formats came from, if not from a
	// flag, and each item of a list (Source).
	From map[string]string
	// Spelled holds, by name, the text in a plan file of values that mention
	// environment variables: it is written back in place of a secret.
	Spelled map[string]string
	// Endless means that without a duration or a count the run goes on until it is
	// stopped.
	Endless bool
	// Series and Round are those of rundir.Turn; empty and 0 for a run that does not
	// take turns with others.
	Series string
	Round  int
	// Of is that of rundir.Run.
	Of string
	// MaxThreads is the highest number of threads that live changes may request, for
	// sizing the connection pool; 0: that of the timetable.
	MaxThreads int
	// Form is what a form was set to as this was asked for, which is kept for the next time once a run
	// of it has begun; nil: there was no form.
	Form *Request `json:"-"`
}

// Over returns r with empty fields taken from below. Of two values with the same name
// the one of the higher origin wins, and on a tie the one in r.
func (r Request) Over(below Request) Request {
	from, spelled, values := maps.Clone(below.From), maps.Clone(below.Spelled), maps.Clone(below.Values)
	mine, under := Run{Request: r}, Run{Request: below}
	for _, name := range mine.overlay(&under) {
		forget(from, name)
		delete(spelled, name)
	}
	r = mine.Request
	r.Password = cmp.Or(r.Password, below.Password)
	if values == nil {
		values = workload.Values{}
	}
	for _, name := range r.Values.Names() {
		values.Set(r.Values[name])
		if values[name].Origin > workload.OriginPlan {
			delete(spelled, name)
		}
	}
	r.Values, r.From, r.Spelled = values, merged(from, r.From), merged(spelled, r.Spelled)
	r.MaxThreads, r.Endless = max(r.MaxThreads, below.MaxThreads), r.Endless || below.Endless
	return r
}

// Typed returns r as if all that no plan gives were set by hand, as in a form that begins with it.
func (r Request) Typed() Request {
	from := map[string]string{}
	for name, where := range r.From {
		if strings.HasPrefix(where, workload.OriginPlan.String()+" ") {
			from[name] = where
		}
	}
	if r.From = from; len(from) == 0 {
		r.From = nil
	}
	return r
}

// OfPlan reports whether anything of r was given by a plan file.
func (r *Request) OfPlan() bool {
	for _, v := range r.Values {
		if v.Origin == workload.OriginPlan {
			return true
		}
	}
	for _, where := range r.From {
		if strings.HasPrefix(where, workload.OriginPlan.String()+" ") {
			return true
		}
	}
	return false
}

// At returns r with each knob of its plan that has been changed since the start set to
// its current value; now returns the current settings of a track by its index.
func (r Request) At(plan *workload.Plan, now func(track int) workload.Settings) Request {
	tracks := plan.Tracks()
	r.Values = maps.Clone(r.Values)
	if r.Values == nil {
		r.Values = workload.Values{}
	}
	started, is := workload.ByName(plan.Knobs, tracks, workload.Starts(tracks)), workload.ByName(plan.Knobs, tracks, now)
	for _, k := range plan.Knobs {
		aimed, moved := map[string]float64{}, is[k.Name] != started[k.Name]
		for _, t := range tracks {
			if v, ok := is[t.Name+"."+k.Name]; ok {
				aimed[t.Name+"."+k.Name] = v
				moved = moved || v != started[t.Name+"."+k.Name]
			}
		}
		if !moved {
			continue
		}
		for _, name := range []string{k.Name, k.Param} {
			delete(r.Values, name)
			for _, t := range tracks {
				delete(r.Values, t.Name+"."+name)
			}
		}
		if v, ok := is[k.Name]; ok && (len(aimed) == 0 || !k.Sum) {
			aimed = map[string]float64{k.Name: v}
		}
		for name, v := range aimed {
			r.Values[name] = workload.Value{Name: name, Text: strconv.FormatFloat(v, 'f', -1, 64), Origin: workload.OriginFlag}
		}
	}
	if len(tracks) > 0 {
		if c := now(0).Coming; c != workload.AsBegun {
			began, _ := workload.ParseArrivals(r.Values[workload.ComingKnob].Text) // which the run took
			r.Values[workload.ComingKnob] = workload.Value{Name: workload.ComingKnob, Text: began.As(c).String(), Origin: workload.OriginFlag}
		}
	}
	return r
}

// merged returns the entries of both maps; for keys in both, over wins.
func merged(under, over map[string]string) map[string]string {
	if under == nil {
		under = map[string]string{}
	}
	maps.Copy(under, over)
	return under
}

// Line is one value of a preview: its name, its text, and where it came from ("preset
// small", "flag").
type Line struct{ Name, Text, From string }

// Preview describes what a run would do, for --dry-run and the picker.
type Preview struct {
	// Plan has the knobs, phases and tracks. It is not bound to a store.
	Plan *workload.Plan
	// Run holds what every run has: profile, target, duration …
	Run []Line
	// Settings are the initial values of live knobs, Parameters the fixed values.
	Settings, Parameters []Line
	// Length says how long the run lasts: "no end: until you stop it".
	Length string
	// Tracks describes phases and tracks in words.
	Tracks []string
	// Timetable and Thresholds are as they were understood.
	Timetable, Thresholds []string
	// Writes and Deletes say what happens to the store, Documents to the disk.
	Writes, Deletes []string
	// Fresh means that the store is within this process, begins empty and ends with the run.
	Fresh     bool
	Documents []string
	// Bytes is the total size of the values to be stored; 0: unknown. Connections is
	// how many may be open at once.
	Bytes       int64
	Connections int
	// Shared means that calls may share these connections.
	Shared   bool
	Warnings []string
	// Keys says what became of each key of the files.
	Keys []workload.FileKey
}

// Sharing says of connections that a call need not wait until another has been answered.
const Sharing = "calls may share them (pipelining)"

// Over says how many connections a run has, and whether its calls share them.
func (v Preview) Over() string {
	text := "up to " + units.Plural(v.Connections, "connection")
	if v.Shared {
		text += "; " + Sharing
	}
	return text
}

// SizeOf says how much a run stores, or that this is unknown.
func (v Preview) SizeOf() string {
	if v.Bytes <= 0 {
		return "unknown"
	}
	return units.Size(v.Bytes)
}
