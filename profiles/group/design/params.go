package design

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

const maxEntries = 1_000_000_000_000

// The parameters that are not read into a field of the plan: those of each group or
// operation, and compat, which decides how the others are read.
var (
	groupNames  = workload.Param{Name: "groupNames", Kind: workload.Text, Help: "groups in sequence (,) and side by side (&): g1&g2,g3"}
	threadCount = workload.Param{
		Name: "threadCount", Alias: "threads", Kind: workload.Integer, Default: strconv.Itoa(padogrid.Threads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true,
		Help: "callers of each group; another name of the live knob threads",
	}
	totalInvocationCount = workload.Param{
		Name: "totalInvocationCount", Kind: workload.Integer, Default: "10000", Unit: "invocations", Min: 1, Max: maxEntries, Track: true,
		Help: "invocations of each group per run, divided among its threads; what is left over is not done",
	}
	testCase    = workload.Param{Name: "testCase", Kind: workload.Text, Help: "test case of every operation; OPERATION.testCase is that of one"}
	payloadSize = workload.Param{
		Name: "payloadSize", Alias: "payload", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload,
		Help: "size of each value that no factory makes; another name of the live knob payload",
	}
	batchSize = workload.Param{
		Name: "batchSize", Alias: "batch", Kind: workload.Integer, Default: "100", Unit: "entries", Min: 1, Max: workload.MaxBatch,
		Help: "entries of one putall, getall, addall or publishall; another name of the live knob batch",
	}
	totalEntryCount = workload.Param{
		Name: "totalEntryCount", Kind: workload.Integer, Default: "10000", Unit: "entries", Min: 1, Max: maxEntries,
		Help: "upper bound of the keys that putall writes, range of the keys that get reads",
	}
	startNum   = workload.Param{Name: "key.startNum", Kind: workload.Integer, Default: "1", Min: -maxEntries, Max: maxEntries, Help: "number of the first key"}
	randomSeed = workload.Param{Name: "randomSeed", Kind: workload.Integer, Default: "1", Min: -1 << 53, Max: 1 << 53, Help: "seed of an operation's random keys, in addition to --seed"}
	ttl        = workload.Param{Name: "ttl", Kind: workload.Integer, Default: "0", Unit: "ms", Min: 0, Max: math.MaxInt32, Help: "time to live of entries of mcache, bucket and hash; 0: forever"}
	children   = workload.Param{
		Name: "children", Kind: workload.Choice, Choices: []string{"file", model.ChildrenFixed, model.ChildrenUniform, model.ChildrenGeometric, model.ChildrenZipf}, Default: "file",
		Help: "how the number of children of a parent is spread over 1..maxKeys; file: as factory.er.isRandom says",
	}
	compat = workload.Param{Name: "compat", Kind: workload.Switch, Default: "off", Help: "on does what PadoGrid 1.0.2 does with a file, including its errors"}
)

// Params returns the parameters of the profile.
func Params() []workload.Param { return declare(&model.Spec{}).Params() }

// declare declares the parameters, and the fields into which they are read.
func declare(s *model.Spec) *values.Fields {
	p := &values.Fields{}
	p.Own(groupNames, nil)
	p.Own(threadCount, nil)
	p.Own(totalInvocationCount, nil)
	p.Users()
	p.Int64(&s.TestCount, "testCount", 1, 1, math.MaxInt32, "runs", "how often each thread repeats its whole share")
	p.Millis(&s.Interval, "testIntervalInMsec", 0, math.MaxInt32, "pause of each thread after every run, including the last; not part of the thread times")
	for _, q := range []workload.Param{testCase, payloadSize, batchSize, totalEntryCount, startNum, randomSeed, ttl} {
		p.Own(q, nil)
	}
	p.Int(&s.Subscribers, "subscribers", 1, 0, 256, "subscribers", "receivers of each topic, each of every message; 0: nobody listens")
	p.Own(children, func(r *values.Reader, q workload.Param) { r.Choice(q) }) // relation asks who said it
	p.Choice(&s.Colocate, "colocate", "auto", []string{"auto", "on", "off"}, "keep parents and children under a common hash tag; auto: on a cluster")
	p.Switch(&s.Near, "nearCache", false, "get and getall of maps and buckets through Redis client-side caching")
	p.Switch(&s.Pipelining, "pipelining", true, "on Redis, all callers share two connections to each server for their calls on maps; off: a connection for each caller")
	p.Choice(&s.Load, "load", model.LoadAuto, []string{model.LoadAuto, model.LoadOnly, model.LoadNever},
		"write in advance what the groups only read: auto where it is missing; only, and then end; or never")
	p.Own(workload.Param{Name: "takeTimeout", Kind: workload.Duration, Default: "1s", Help: "how long a take waits for an element before it is a miss"}, readTakeTimeout(s))
	p.Int64(&s.Trim, "trim", 0, 0, maxEntries, "entries", "approximate length to which streams of rtopic are trimmed; 0: never")
	p.Choice(&s.Fill, "fill", "zeros", []string{"zeros", "random"}, "what values that no factory makes contain")
	p.Own(workload.Param{
		Name: "database", Kind: workload.Choice, Choices: []string{"auto", "on", "off"}, Default: "auto",
		Help: "write entities into tables, one column for each field: auto on SQL stores; on always (embedded: uses SQLite); or off",
	}, chooseDatabase(s))
	p.Choice(&s.Mapper, "mapper", "gorm", []string{"gorm", "raw"}, "what writes the SQL of entities")
	p.Switch(&s.Resume, "resume", false, "continue an interrupted load of tables: invocations whose rows are all there are skipped")
	p.Own(values.FlavourParam(), recognize(s))
	p.Own(workload.Param{Name: "today", Kind: workload.Text, Default: "2026-01-01", Help: "date around which orders are generated, so that the same seed gives the same orders"}, readToday(s))
	p.Own(compat, nil)
	p.Status("read and kept for the record; a headless run prints a line a second")
	p.Own(workload.Param{Name: "results.dir", Kind: workload.Text, Help: "read and kept for the record; --out says where documents go"}, resultsDir)
	return p
}

func readTakeTimeout(s *model.Spec) func(*values.Reader, workload.Param) {
	return func(r *values.Reader, p workload.Param) {
		v := r.Pick(p, p.Name)
		wait, err := v.Duration()
		r.Problems.Add(err)
		s.TakeWait = max(wait, time.Millisecond)
		r.Show(p.Name, v.Text, v)
	}
}

func chooseDatabase(s *model.Spec) func(*values.Reader, workload.Param) {
	return func(r *values.Reader, p workload.Param) {
		word := r.Choice(p)
		s.Database = word == "on" || word == "auto" && slices.Contains([]string{"mysql", "postgres", "sqlite"}, s.Driver)
	}
}

// recognize finds out for which flavour of PadoGrid the file was written. Structures that
// the Coherence flavour does not have make it one of Redis's.
func recognize(s *model.Spec) func(*values.Reader, workload.Param) {
	return func(r *values.Reader, _ workload.Param) {
		driver := s.Driver
		for n, v := range r.Values {
			if _, key, ok := cutOwner(n); ok && values.FromProperties(v) && slices.Contains(model.OriginalKinds[1:], model.Kind(key)) {
				driver = ""
			}
		}
		s.Flavour = r.Flavour(driver)
	}
}

func readToday(s *model.Spec) func(*values.Reader, workload.Param) {
	return func(r *values.Reader, p workload.Param) {
		v := r.Pick(p, p.Name)
		var err error
		if s.Today, err = time.Parse(time.DateOnly, v.Text); err != nil {
			r.Blame(p.Name, "for example 2026-01-01", "today: %q (%s) is not a date", v.Text, v.From())
		}
		r.Show(p.Name, v.Text, v)
	}
}

// resultsDir is not shown: only for a file that has it is there a message.
func resultsDir(r *values.Reader, p workload.Param) {
	if v := r.Pick(p, p.Name); v.Text != "" {
		r.Warn("results.dir=%s has no effect: --out says where documents go", v.Text)
	}
}
