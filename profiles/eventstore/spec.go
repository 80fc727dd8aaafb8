package eventstore

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// spec is what a plan is to do.
type spec struct {
	generate.Shape
	book, scope string
	load        load
	route       route
	// stage are the options of the store stage, whose codec is called codecName; with compat it
	// looks at messageOver.
	stage       stage.Options
	codecName   string
	messageOver int
	onFailure   string
	layout      layout
	query       query
	search      seek
	watch       sights

	verify                   bool
	drain, crash             time.Duration
	namespace, runID, driver string
	page                     string
	config                   map[string]string
}

// load is how the generators work, and for how long.
type load struct {
	start      workload.Settings
	pacing     string
	tickRate   int
	randomBody int
	duration   time.Duration  // 0: until the events are generated
	events     int64          // 0: until time is up
	stake      workload.Stake // of this process
}

// route is how batches come to the store stage.
type route struct {
	via, publish string
	quorum       bool
	prefetch     int
}

// layout is how events are kept in a store.
type layout struct {
	schema   string
	bucket   time.Duration
	shards   int
	pageSize int
	gorm     bool
}

// query is what is asked of the store, and when.
type query struct {
	when           string
	count, threads int
	rate           float64
	width          time.Duration // of a time range
	limit          int
}

// seek is a search for the highest rate, beginning with one.
type seek struct {
	on    bool
	rate  float64
	trial time.Duration
}

// sights are the processes to watch: those named, and where the store's are.
type sights struct {
	processes, nodetool string
	hosts               []string // of the target
	agent               string   // of the store's JVM, if the lab started it
}

// defaultDrain is how long the drain goes on without progress by default.
const defaultDrain = 10 * time.Second

// readSpec reads everything from which a plan is made.
func readSpec(in workload.Inputs) (*spec, *values.Reader) {
	s := &spec{
		namespace: in.Namespace, driver: in.Driver, drain: cmp.Or(in.Drain, defaultDrain),
		load: load{duration: in.Duration}, watch: sights{hosts: in.Hosts, agent: in.Agent},
	}
	p := s.declare()
	r := values.New(in.Values)
	p.Read(r)
	s.Seed, s.Book, s.Scope, s.Group = in.Seed, []byte(s.book), []byte(s.scope), []byte("raw-group_1")
	for i := range max(s.Attached, 1) {
		s.Aliases = append(s.Aliases, fmt.Appendf(nil, "raw-session-alias_%d", i+1))
	}
	s.stage.Codec = wire.Codecs[s.codecName]
	_, err := readWatch(s.watch.processes)
	r.Problems.Add(err)
	s.readSettings(r)
	if s.Compat {
		s.asOriginal(r)
	}
	s.config = map[string]string{}
	for _, v := range r.Shown {
		s.config[v.Name] = v.Text
		if t, err := store.ParseTarget(v.Text); v.Name == "via" && err == nil {
			s.config[v.Name] = t.Redacted()
		}
	}
	s.check(r, in)
	return s, r
}

// readSettings reads the initial values of the knobs.
func (s *spec) readSettings(r *values.Reader) {
	s.load.start = workload.Settings{Threads: 2, Batch: 300, Payload: generate.DocumentedBody}
	if s.Kind == generate.BodyRandom {
		s.load.start.Payload = s.load.randomBody
	}
	p := r.Values
	if s.Kind == generate.BodyTable && p["bodyDataLength"].Origin == workload.OriginFile {
		s.load.start.Payload = min(max(s.load.randomBody*generate.DocumentedBody/documentedRandom, 2), maxBody)
	}
	if v, ok := p.Pick("threads"); ok {
		n, err := v.Int(1, workload.MaxThreads)
		r.Problems.Add(err)
		s.load.start.Threads = int(n)
	}
	if v, ok := p.Pick("rate"); ok {
		rate, err := v.Rate()
		r.Problems.Add(err)
		s.load.start.Rate = rate
	}
	if v, ok := p.Pick("batch"); ok {
		n, err := v.Int(1, maxBatchEvents)
		r.Problems.Add(err)
		s.load.start.Batch = int(n)
	}
	if v, ok := p.Pick("payload"); ok {
		n, err := v.Size(2, maxBody)
		r.Problems.Add(err)
		s.load.start.Payload = int(n)
	}
}

// documentedRandom is the bodyDataLength of the published test, whose bodies had
// generate.DocumentedBody bytes.
const documentedRandom = 200

// Limits on the events of a batch and the bytes of a body.
const (
	maxBatchEvents = 100_000
	maxBody        = 64 << 20
)

// asOriginal sets what compat implies, except where a value was given explicitly.
func (s *spec) asOriginal(r *values.Reader) {
	byHand := func(name string) bool {
		v, ok := r.Values.Pick(name)
		return ok && v.Origin > workload.OriginPreset
	}
	set := func(name, text string, f func()) {
		if !byHand(name) {
			f()
			s.shown(r, name, text)
		}
	}
	set("onFailure", failDrop, func() { s.onFailure = failDrop })
	set("batchId", "random", func() { s.stage.RandomID = true })
	set("publish", publishForget, func() { s.route.publish = publishForget })
	set("schema", schemaCradle, func() { s.layout.schema = schemaCradle })
	// The original uses the threshold for message batches, whatever the box says about
	// events.
	if v, ok := r.Values.Pick("compressOver"); !ok || v.Origin <= workload.OriginFile {
		s.stage.CompressOver = s.messageOver
		s.shown(r, "compressOver", fmt.Sprint(s.messageOver))
	}
	set("maxRetryCount", "3", func() { s.stage.Retries = 3 })
	set("retryDelayBase", "5s", func() { s.stage.RetryBase = 5 * time.Second })
	if s.load.start.Rate > 0 {
		set("pacing", pacingTicked, func() { s.load.pacing = pacingTicked })
	}
}

// planted returns how many events each generator makes as trees, before all others.
func (s *spec) planted() int64 {
	if s.Compat {
		return 0 // they are part of the first batch
	}
	return int64(s.Trees() * generate.TreeSize(s.Depth, s.Children))
}

// shown shows a parameter as set by compat.
func (s *spec) shown(r *values.Reader, name, text string) {
	for i := range r.Shown {
		if r.Shown[i].Name == name {
			r.Shown[i].Text, r.Shown[i].Where = text, "compat=on"
		}
	}
}

// check finds settings that are each possible, but not together.
func (s *spec) check(r *values.Reader, in workload.Inputs) {
	bad := r.Fail
	if len(s.Book) == 0 || len(s.Scope) == 0 {
		bad("name both; estore_perf_test_01 and qa_session_01 are the documented ones", "bookName and scope: neither may be empty")
	}
	if s.load.pacing == pacingTicked {
		switch per := s.load.start.Rate / float64(s.load.start.Threads); {
		case s.load.start.Rate == 0:
			bad("give the rate: --rate 100000, or leave pacing=paced", "pacing=ticked cuts a rate into ticks, and there is none (rate=0)")
		case per < float64(s.load.tickRate):
			bad("raise --rate, or lower tickRate or --threads", "rate: %g events/s over %d generators are fewer than the %d ticks a second of each", s.load.start.Rate, s.load.start.Threads, s.load.tickRate)
		}
	}
	if n := s.Trees() * generate.TreeSize(s.Depth, s.Children); n > generate.TreeLimit {
		bad("lower treeDepth, childCount or roots", "treeDepth=%d and childCount=%d make trees of more than %d events", s.Depth, s.Children, generate.TreeLimit)
	} else if s.Compat && s.Children != 1 && n > s.load.start.Batch { // the original does not look at a single child
		bad("raise --batch, or lower treeDepth and childCount", "compat=on: the first batch holds the tree, and %d events are more than a batch of %d", n, s.load.start.Batch)
	}
	if s.Compat && s.Mode != generate.SingleRoot {
		bad("compat=off gives them a meaning", "generationMode=%s: the original has implemented SINGLE_ROOT only", s.Mode)
	}
	for name, d := range map[string]time.Duration{"bucket": s.layout.bucket, "timeout": s.stage.Timeout, "retryDelayBase": s.stage.RetryBase, "queryRange": s.query.width} {
		if d < time.Millisecond && r.Problems.Err() == nil {
			bad("for example 1s", "%s: %v is less than 1ms", name, d)
		}
	}
	if s.layout.schema == schemaCradle && !s.Compat && s.driver != "" && s.driver != "cassandra" && s.driver != "null" && s.driver != "memory" {
		bad("use schema=lean", "schema=cradle is a layout of Cassandra's tables, and the target is %s", s.driver)
	}
	if s.Compat && s.layout.schema == schemaCradle && s.driver != "" && s.driver != "cassandra" {
		s.layout.schema = schemaLean
	}
	if s.layout.schema == schemaCradle && s.stage.Codec == wire.Zstd {
		bad("use compression=lz4, zlib or none", "compression=zstd: schema=cradle knows LZ4 and ZLIB")
	}
	if v := s.route.via; v != report.ViaDirect && parses(v) && !strings.HasPrefix(v, "lab:") && !strings.HasPrefix(v, "amqp://") && !strings.HasPrefix(v, "amqps://") {
		bad("for example amqp://guest:guest@localhost:5672/", "via: %q is neither direct nor a URL of RabbitMQ", redactVia(v))
	}
	if s.route.quorum && s.route.publish != publishConfirm {
		bad("leave publish out, or use queueType=classic", "queueType=quorum: its queues keep everything on disk, which publish=%s is there to avoid", s.route.publish)
	}
	if s.search.on && s.load.start.Rate == 0 {
		r.Problems.Add(fault.Field("search", fault.Input(errors.New("search: there is no rate to begin with (rate=0)"), "give the rate to begin with: --rate 50000")))
	}
	if s.search.on {
		if s.load.pacing == pacingTicked {
			bad("use pacing=paced", "search=on looks for a rate with batches spread evenly, and pacing=ticked does not spread them")
		}
		if s.search.trial < time.Second {
			bad("for example 10s", "searchTrial: %v is less than 1s", s.search.trial)
		}
		s.search.rate, s.load.start.Rate, s.load.events = s.load.start.Rate, 0, 0 // the search paces the generators
	}
	if in.Count > 0 {
		s.load.events = in.Count
	} else if v, ok := r.Values.Pick("events"); in.Wraps() && (!ok || v.Origin <= workload.OriginPreset) {
		s.load.events = 0
	}
}

// parses reports whether a text is a valid target; invalid ones are reported elsewhere.
func parses(v string) bool {
	_, err := store.ParseTarget(v)
	return err == nil
}

// redactVia hides what may be a password.
func redactVia(v string) string {
	if at := strings.LastIndexByte(v, '@'); at >= 0 {
		return "…" + v[at:]
	}
	return v
}
