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
	// Title names the profile on screens; Summary says in one sentence which
	// application it imitates.
	Title, Summary string
	// Modes lists the values of the parameter "mode", the default first; empty
	// when the profile has none.
	Modes []string
	// Unit is what --rate, --count and throughput count.
	Unit string
	// Reads and Writes name the documents that the profile reads and writes.
	Reads, Writes string
	// Thread says what a thread stands for in this profile.
	Thread string
	// Formats lists the ids of the profile's own documents, the default first.
	Formats []string
	// Presets holds *.yaml files; DefaultPreset names the one used where neither a preset nor a
	// file is named, on the command line and in the workbench.
	Presets       fs.FS
	DefaultPreset string
	// Params lists the parameters in display order.
	Params []Param
	// Lacks says, for parameters that other profiles have, why this one has none, in a sentence
	// that follows the name of the value; see NoUsers.
	Lacks map[string]string
	// Stores lists the drivers that the profile runs on, or refuses with a reason.
	Stores []Binding
	// Read turns the files of --file (a system's own, unchanged, or our YAML) into
	// values of origin OriginFile, and tells what it found. Nil if the profile reads no
	// such files.
	Read func(files []File) (Values, Found, error)
	// Inline names the parameters whose text is read as the content of a file would be: what
	// stands in a file of another tool may be on the command line as well.
	Inline []string
	// Replays means that it makes the calls of captures again: Read takes their files.
	Replays bool
	// Design works out the plan from parameters alone, without touching anything.
	// Its errors have code fault.CodeInput, all of them joined.
	Design func(in Inputs) (*Plan, error)
}

// Found is what a profile found in the files of --file, besides their values.
type Found struct {
	// Keys are the keys of all files, in order, as far as files have keys.
	Keys []FileKey
	// Warnings are sentences for the user.
	Warnings []string
}

// File is a file or folder named by --file, or the text of a parameter that stands for one.
type File struct {
	// Path of a parameter is its flag: "--memtier".
	Path string
	// Data is the content of a file; nil for a folder.
	Data []byte
	// Capture means that it is a capture, which is as large as it may be: whoever makes its
	// calls again reads it by its path. Data is nil.
	Capture bool
	// Run are the names of the values that every run has, which a file of ours may set.
	Run []string
}

// Inputs is what Design works from.
type Inputs struct {
	// Values holds every value by name, whether from a default, preset, file,
	// environment variable or flag; threads, rate, payload and batch are among
	// them.
	Values Values
	Seed   int64
	// Arrivals say how the due times of an open loop are spread; if the user does not, they are
	// decided after the plan is made.
	Arrivals Arrivals
	// Client is what callers do when the store is slow or fails.
	Client Client
	// Duration and Count end the run, whichever comes first; 0: not given.
	Duration time.Duration
	Count    int64
	// Endless means that neither was given, and the run goes on until it is
	// stopped.
	Endless bool
	Warmup  time.Duration
	// Drain is how long operations under way at the end may continue without any of
	// them finishing; 0 if not given.
	Drain time.Duration
	// Namespace is the prefix of everything that the run creates; may be empty.
	Namespace string
	// Driver is the name of the driver of the target, for what differs between
	// stores; empty if none has been chosen yet.
	Driver string
	// Hosts are the target's hosts as written, with or without a port; empty for a
	// store within this process.
	Hosts []string
	// Cluster means that the target is written for a cluster on whose nodes the store places
	// whole structures.
	Cluster bool
	// Agent is the URL of the Jolokia agent of the target server's JVM. It is empty
	// unless the server was started by the lab and has one.
	Agent string
	// AllowExisting permits writing into a space that is not empty and does not
	// belong to us.
	AllowExisting bool
	// Breakable has the connections lead through the proxy of the faults, even if the timetable has
	// none.
	Breakable bool
}

// Special values for the duration of a run: until it is stopped, and until its
// work has been done once.
const (
	Forever = "forever"
	Once    = "once"
)

// Wraps reports whether the run ends only by time or by hand, so that work which
// comes to its end starts again.
func (in *Inputs) Wraps() bool { return in.Count == 0 && (in.Duration > 0 || in.Endless) }

// GoesOn reports whether the run ends only when it is stopped.
func (in *Inputs) GoesOn() bool { return in.Count == 0 && in.Endless }

// Binding says whether and how a profile runs on one driver's stores. The plan's
// Binder connects it to them.
type Binding struct {
	Driver string
	// Target, when set, is opened in place of the user's target. It is used for the
	// embedded store, which is of another kind for some profiles.
	Target string
	// Refuse, when set, says why the profile does not run there, and names the
	// closest alternative that works.
	Refuse string
	// Note says in a few words what runs there, if not everything does.
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
