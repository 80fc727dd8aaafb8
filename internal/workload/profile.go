// Package workload is the vocabulary that profiles, engine and screens share:
// profile, plan, phase, track, task, settings, knob, parameter. It has no
// behaviour beyond small pure functions.
package workload

import (
	"io/fs"
	"time"
)

// Profile describes one application-shaped workload: plain data plus a few
// functions, so that profiles can be listed without building any.
type Profile struct {
	// Name is the id in flags, files and reports: "ingestion".
	Name string
	// Title names it on screens, Summary says in one sentence which application
	// it imitates.
	Title, Summary string
	// Modes lists the values of the parameter "mode", the default first; empty
	// when the profile has none.
	Modes []string
	// Unit is what --rate, --count and throughput count.
	Unit string
	// Reads and Writes name the documents it reads and writes.
	Reads, Writes string
	// Thread says what a thread is.
	Thread string
	// Formats lists the ids of the profile's own documents, the default first.
	Formats []string
	// Presets holds *.yaml files; DefaultPreset names the one used without flags.
	Presets       fs.FS
	DefaultPreset string
	// LivePreset is used in its place where a run without duration or count goes on until
	// it is stopped; empty: the default.
	LivePreset string
	// Params lists the parameters in the order to show them.
	Params []Param
	// Stores lists the drivers that it runs on, or refuses with a reason.
	Stores []Binding
	// Read turns the files of --file (a system's own, unchanged, or our YAML)
	// into values of origin OriginFile. Nil: the profile reads no files of others.
	Read func(files []File) (Values, []string, error)
	// Design works out the plan from parameters alone. It touches nothing and
	// returns errors of code fault.CodeInput, all of them joined.
	Design func(in Inputs) (*Plan, error)
}

// File is a file or folder named by --file.
type File struct {
	Path string
	// Data is the content of a file; nil for a folder.
	Data []byte
}

// Inputs is what Design works from.
type Inputs struct {
	// Values holds every value given by default, preset, file, environment and
	// flag, by its name; threads, rate, payload and batch among them.
	Values Values
	Seed   int64
	// Duration and Count end the run, whichever comes first; 0: not given.
	Duration time.Duration
	Count    int64
	// Endless: nothing of it was given, and the run goes on until it is stopped.
	Endless bool
	Warmup  time.Duration
	// Drain is how long what is under way at the end may go on without any of it
	// ending; 0: not given.
	Drain time.Duration
	// Namespace is the prefix of everything made; may be empty.
	Namespace string
	// Driver is the name of the driver that the run is aimed at, for what differs
	// by store; empty when none was chosen yet.
	Driver string
	// Hosts are those of the target as written, with or without a port; empty of a
	// store within this process.
	Hosts []string
	// Agent is where the JVM of the target's server tells what it measures: the URL
	// of its Jolokia agent. Empty unless the server is one of the lab that has one.
	Agent string
	// AllowExisting permits writing into a space that is not empty and not ours.
	AllowExisting bool
}

// Words for the duration of a run: until it is stopped, and its work once.
const (
	Forever = "forever"
	Once    = "once"
)

// Wraps says that only time or whoever watches ends the run: what has an end begins anew.
func (in *Inputs) Wraps() bool { return in.Count == 0 && (in.Duration > 0 || in.Endless) }

// GoesOn says that the run ends only when it is stopped.
func (in *Inputs) GoesOn() bool { return in.Count == 0 && in.Endless }

// Binding says whether and how a profile runs on one driver's stores. The plan's
// Binder connects it to them.
type Binding struct {
	Driver string
	// Target, when set, is opened in place of the user's: of the embedded store,
	// which has another kind for some profiles.
	Target string
	// Refuse, when set, is the reason why the profile does not run there and the
	// nearest thing that works.
	Refuse string
	// Note says in a few words what runs there, when not everything does.
	Note string
}

// Binding returns the binding for a driver.
func (p *Profile) Binding(driver string) (Binding, bool) {
	for _, b := range p.Stores {
		if b.Driver == driver {
			return b, true
		}
	}
	return Binding{}, false
}
