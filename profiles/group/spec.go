package group

import (
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/objects"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Flavours of PadoGrid's perf_test.
const (
	flavourRedis     = values.FlavourRedis
	flavourCoherence = values.FlavourCoherence
)

// spec is what Design found out, for the binding. It is not changed afterwards.
type spec struct {
	steps     [][]*groupSpec
	groups    []*groupSpec // of all steps, in order
	ops       map[string]*opSpec
	order     []*opSpec // as they were first met
	namespace string
	driver    string
	flavour   string
	testCount int64
	interval  time.Duration
	compat    bool
	allow     bool
	wrap      bool
	exact     bool // --count: nothing is left out
	seed      int64
	load      string
	near      bool
	// pipelining says that callers share connections for calls on maps.
	pipelining bool
	mapper     string
	resume     bool
	database   bool
	subs       int
	colocate   string
	fill       string
	takeWait   time.Duration
	trim       int64
	today      time.Time
	model      *objects.Model // what the file defines
}

// runs is how often each share is done: without end when it wraps.
func (s *spec) runs() int64 {
	if s.wrap {
		return padogrid.Forever
	}
	return s.testCount
}

// groupSpec is one group of a step: a function that invokes its operations.
type groupSpec struct {
	// name is as in the file, track as in the run: a group that is listed twice is
	// two tracks.
	name, track string
	step        int
	together    string // the groups of the step, as documents print them
	comment     string
	operations  string // as the file lists them
	ops         []*opSpec
	// names are the operations of the track: the invocation, and each operation once;
	// index finds an operation among them.
	names []string
	index map[*opSpec]int
	total int64
	per   int64
	// shares are how many invocations each thread has, and first the number of those
	// before them.
	shares, first []int64
	start         workload.Settings
	where         string
}

// invocations is the number of invocations of one run.
func (g *groupSpec) invocations() int64 {
	var n int64
	for _, s := range g.shares {
		n += s
	}
	return n
}

// Words of load=.
const (
	loadAuto  = "auto"
	loadOnly  = "only"
	loadNever = "never"
)

// invocation is the name of a track's first operation: the group itself.
const invocation = "invocation"

// opSpec is one operation. Groups that list it share it, as in the original.
type opSpec struct {
	name   string
	kind   kind
	target string // the structure's name
	act    action
	word   string // as the file says
	where  string // file:line of its test case or of its first key

	payload, batch int
	total, start   int64
	prefix         string
	randomSeed     int64
	sequential     bool // reads go through the keys in order
	ttl, pause     time.Duration

	factory  *factory
	er       *relation
	startAdd bool // getall with a factory adds startNum: not so in the original
	shared   *javaRandom
	// parent is the operation that this one is a child of; nil when it is none.
	parent *opSpec
	space  store.Space
	// table says that its objects are rows of their entity's table.
	table bool
	// direct says that reads do not go through a near cache: those of verification.
	direct bool
}

// relation is one-to-many: an operation writes children after each entry.
type relation struct {
	child       *opSpec
	least, most int64
	spread      string // fixed, uniform, geometric, zipf
}

// Distributions of the number of children.
const (
	childrenFixed     = "fixed"
	childrenUniform   = "uniform"
	childrenGeometric = "geometric"
	childrenZipf      = "zipf"
)

// key appends the key of number n.
func (o *opSpec) key(dst []byte, n int64) []byte {
	if o.factory != nil {
		return o.factory.key(dst, n)
	}
	return strconv.AppendInt(append(dst, o.prefix...), n, 10)
}

// payloadOf returns the bytes of a value under some settings: the operation's own
// until the knob is turned, then the knob's.
func (o *opSpec) payloadOf(g *groupSpec, set *workload.Settings) int {
	if set.Payload == g.start.Payload {
		return o.payload
	}
	return set.Payload
}

// batchOf returns the entries of a batched call in the same way.
func (o *opSpec) batchOf(g *groupSpec, set *workload.Settings) int {
	if !o.act.bulk() {
		return 1
	}
	if set.Batch == g.start.Batch {
		return o.batch
	}
	return max(set.Batch, 1)
}

// family lists an operation with its children and theirs.
func (o *opSpec) family() []*opSpec {
	out := []*opSpec{o}
	if o.er != nil {
		out = append(out, o.er.child.family()...)
	}
	return out
}

// flow tells for each step which operations, children included, run in it.
func (s *spec) flow(step int) []*opSpec {
	var out []*opSpec
	for _, g := range s.steps[step] {
		for _, o := range g.ops {
			out = append(out, o.family()...)
		}
	}
	return out
}

// divide gives each thread its share of the invocations: an even one, or, when
// nothing may be left out, the first ones more.
func (g *groupSpec) divide(exact bool) {
	threads := g.start.Threads
	g.per = g.total / int64(threads)
	g.shares, g.first = make([]int64, threads), make([]int64, threads)
	var before int64
	for t := range g.shares {
		n := g.per
		if exact && int64(t) < g.total%int64(threads) {
			n++
		}
		g.shares[t], g.first[t] = n, before
		before += n
	}
}

// slice returns the offsets of the keys that the threads of one share write in
// bulk: total/threads, as in the original, and all of them when nothing is left
// out. A slice of nothing repeats its first offset.
func (o *opSpec) slice(g *groupSpec, share int) (from, n int64) {
	threads := int64(len(g.shares))
	n = o.total / threads
	from = int64(share) * n
	if n == 0 {
		return 0, 1
	}
	return from, n
}

// resumable says whether what a group did can be told from what is stored: when it
// writes rows of tables and nothing else.
func (g *groupSpec) resumable() bool {
	for _, o := range g.ops {
		for _, m := range o.family() {
			if m.act != actSleep && (!m.table || !m.act.writes() && m.parent == nil) {
				return false
			}
		}
	}
	return true
}

// numbers are those that an operation writes in one invocation of a share.
func (o *opSpec) numbers(g *groupSpec, share int, off int64) []int64 {
	if o.act == actSleep {
		return nil
	}
	if !o.act.bulk() {
		return []int64{o.start + g.first[share] + off}
	}
	from, n := o.slice(g, share)
	batch := min(int64(o.batch), n)
	out := make([]int64, batch)
	for j := range batch {
		out[j] = o.start + from + (off*batch+j)%n
	}
	return out
}
