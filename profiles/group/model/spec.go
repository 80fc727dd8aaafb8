// Package model is the result of a design: groups, their operations, and the structures that these
// work on; and what the operations need of a store, the interface of the adapters.
package model

import (
	"regexp"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/northwind"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Flavours of PadoGrid's perf_test.
const (
	FlavourRedis     = values.FlavourRedis
	FlavourCoherence = values.FlavourCoherence
)

// Spec is what Design worked out, for the binding. It is not modified afterwards.
type Spec struct {
	Steps     [][]*Group
	Groups    []*Group // of all steps, in order
	Ops       map[string]*Op
	Order     []*Op // in the order in which they were first met
	Namespace string
	Driver    string
	Flavour   string
	TestCount int64
	Interval  time.Duration
	Compat    bool
	Allow     bool
	Wrap      bool
	GoesOn    bool // the last step, until the run is stopped
	Exact     bool // --count: nothing is left out
	Seed      int64
	Load      string
	Near      bool
	// Pipelining means that callers share connections for calls on maps.
	Pipelining  bool
	Mapper      string
	Resume      bool
	Database    bool
	Subscribers int
	Colocate    string
	Fill        string
	TakeWait    time.Duration
	Trim        int64
	Today       time.Time
	Model       *datagen.Model // what the file defines
}

// Wraps reports whether a group starts over when it has done its invocations.
func (s *Spec) Wraps(g *Group) bool { return s.Wrap || s.GoesOn && g.Step == len(s.Steps)-1 }

// Runs returns how often each share of a group is done: endlessly if it wraps.
func (s *Spec) Runs(g *Group) int64 {
	if s.Wraps(g) {
		return padogrid.Forever
	}
	return s.TestCount
}

// Group is one group of a step: a function that invokes its operations.
type Group struct {
	// Name is the name in the file, Track the name in the run: a group that is listed
	// twice has two tracks.
	Name, Track string
	Step        int
	Together    string // the groups of the step, as documents print them
	Comment     string
	Operations  string // as the file lists them
	Ops         []*Op
	// Names are the operations of the track: the invocation, and each operation once;
	// index maps an operation to its position there.
	Names []string
	Index map[*Op]int
	Total int64
	Per   int64
	// Shares are how many invocations each thread has, First how many come before
	// those.
	Shares, First []int64
	// From and To give this process's range of shares, with To excluded, if others have
	// the rest; both 0: all of them.
	From, To int
	Start    workload.Settings
	Where    string
}

// Invocations returns the number of invocations of one run.
func (g *Group) Invocations() int64 {
	var n int64
	for _, s := range g.Shares {
		n += s
	}
	return n
}

// Values of load=.
const (
	LoadAuto  = "auto"
	LoadOnly  = "only"
	LoadNever = "never"
)

// Invocation is the name of a track's first operation: the group itself.
const Invocation = "invocation"

// Op is one operation. Groups that list it share it, as in the original.
type Op struct {
	Name   string
	Kind   Kind
	Target string // the structure's name
	Action Action
	Word   string // as the file says
	Where  string // file:line of its test case or of its first key

	Payload, Batch int
	Total, Start   int64
	Prefix         string
	RandomSeed     int64
	Sequential     bool // reads go through the keys in order
	TTL, Pause     time.Duration

	Factory  *northwind.Factory
	Children *Relation
	StartAdd bool // a getall with a factory adds startNum, which the original does not
	Shared   *Random
	// Parent is the operation of which this is a child; nil if there is none.
	Parent *Op
	Space  store.Space
	// Table means that its objects are rows of their entity's table.
	Table bool
	// Direct means that reads bypass the near cache, as those of verification do.
	Direct bool
}

// Relation is one-to-many: an operation writes children after each entry.
type Relation struct {
	Child       *Op
	Least, Most int64
	Spread      string // fixed, uniform, geometric, zipf
}

// Distributions of the number of children.
const (
	ChildrenFixed     = "fixed"
	ChildrenUniform   = "uniform"
	ChildrenGeometric = "geometric"
	ChildrenZipf      = "zipf"
)

// Key appends the key of number n.
func (o *Op) Key(dst []byte, n int64) []byte {
	if o.Factory != nil {
		return o.Factory.Key(dst, n)
	}
	return strconv.AppendInt(append(dst, o.Prefix...), n, 10)
}

// KeyPattern is a regular expression that each key of the operation has.
func (o *Op) KeyPattern() string {
	if o.Factory != nil {
		return o.Factory.KeyPattern()
	}
	return regexp.QuoteMeta(o.Prefix) + `-?[0-9]+`
}

// PayloadOf returns the size in bytes of a value under some settings: the operation's
// own until the knob is changed, then the knob's.
func (o *Op) PayloadOf(g *Group, set *workload.Settings) int {
	if set.Payload == g.Start.Payload {
		return o.Payload
	}
	return set.Payload
}

// BatchOf returns the number of entries in a batched call, in the same way.
func (o *Op) BatchOf(g *Group, set *workload.Settings) int {
	if !o.Action.Bulk() {
		return 1
	}
	if set.Batch == g.Start.Batch {
		return o.Batch
	}
	return max(set.Batch, 1)
}

// Family returns an operation with all its descendants.
func (o *Op) Family() []*Op {
	out := []*Op{o}
	if o.Children != nil {
		out = append(out, o.Children.Child.Family()...)
	}
	return out
}

// flow returns the operations, children included, that run in a step.
func (s *Spec) flow(step int) []*Op {
	var out []*Op
	for _, g := range s.Steps[step] {
		for _, o := range g.Ops {
			out = append(out, o.Family()...)
		}
	}
	return out
}

// Divide gives each thread its share of the invocations: an equal one or, if nothing
// may be left out, one more for the first threads.
func (g *Group) Divide(exact bool) {
	threads := g.Start.Threads
	g.Per = g.Total / int64(threads)
	g.Shares, g.First = make([]int64, threads), make([]int64, threads)
	var before int64
	for t := range g.Shares {
		n := g.Per
		if exact && int64(t) < g.Total%int64(threads) {
			n++
		}
		g.Shares[t], g.First[t] = n, before
		before += n
	}
}

// Slice returns the range of the keys that the threads of one share write in bulk:
// total/threads, as in the original, or all of them if nothing is left out. An empty
// slice repeats its first offset.
func (o *Op) Slice(g *Group, share int) (from, n int64) {
	threads := int64(len(g.Shares))
	n = o.Total / threads
	from = int64(share) * n
	if n == 0 {
		return 0, 1
	}
	return from, n
}

// Resumable reports whether what a group did can be determined from what is stored,
// which is the case if it writes only rows of tables.
func (g *Group) Resumable() bool {
	for _, o := range g.Ops {
		for _, m := range o.Family() {
			if m.Action != ActSleep && (!m.Table || !m.Action.Writes() && m.Parent == nil) {
				return false
			}
		}
	}
	return true
}

// Numbers returns the numbers that an operation writes in one invocation of a share.
func (o *Op) Numbers(g *Group, share int, off int64) []int64 {
	if o.Action == ActSleep {
		return nil
	}
	if !o.Action.Bulk() {
		return []int64{o.Start + g.First[share] + off}
	}
	from, n := o.Slice(g, share)
	batch := min(int64(o.Batch), n)
	out := make([]int64, batch)
	for j := range batch {
		out[j] = o.Start + from + (off*batch+j)%n
	}
	return out
}
