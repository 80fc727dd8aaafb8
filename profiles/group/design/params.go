package design

import (
	"math"
	"runtime"
	"strconv"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// Limits of the parameters.
const (
	maxEntries = 1_000_000_000_000
	maxRuns    = math.MaxInt32
)

func defaultThreads() int { return max(runtime.NumCPU()*3/2, 1) }

// Params are the parameters of the profile.
func Params() []workload.Param {
	return []workload.Param{
		{Name: "groupNames", Kind: workload.Text, Help: "groups in sequence (,) and side by side (&): g1&g2,g3"},
		{
			Name: "threadCount", Kind: workload.Integer, Default: strconv.Itoa(defaultThreads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true,
			Help: "callers of each group; another name of the live knob threads",
		},
		{
			Name: "totalInvocationCount", Kind: workload.Integer, Default: "10000", Unit: "invocations", Min: 1, Max: maxEntries, Track: true,
			Help: "invocations of each group per run, divided among its threads; what is left over is not done",
		},
		{Name: "testCount", Kind: workload.Integer, Default: "1", Unit: "runs", Min: 1, Max: maxRuns, Help: "how often each thread repeats its whole share"},
		{
			Name: "testIntervalInMsec", Kind: workload.Integer, Default: "0", Unit: "ms", Min: 0, Max: math.MaxInt32,
			Help: "pause of each thread after every run, the last one too; not part of the thread times",
		},
		{Name: "testCase", Kind: workload.Text, Help: "test case of every operation; OPERATION.testCase is that of one"},
		{
			Name: "payloadSize", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload,
			Help: "size of each value that no factory makes; another name of the live knob payload",
		},
		{
			Name: "batchSize", Kind: workload.Integer, Default: "100", Unit: "entries", Min: 1, Max: workload.MaxBatch,
			Help: "entries of one putall, getall, addall or publishall; another name of the live knob batch",
		},
		{
			Name: "totalEntryCount", Kind: workload.Integer, Default: "10000", Unit: "entries", Min: 1, Max: maxEntries,
			Help: "upper bound of the keys that putall writes, range of the keys that get reads",
		},
		{Name: "key.startNum", Kind: workload.Integer, Default: "1", Min: -maxEntries, Max: maxEntries, Help: "number of the first key"},
		{Name: "randomSeed", Kind: workload.Integer, Default: "1", Min: -1 << 53, Max: 1 << 53, Help: "seed of an operation's random keys, beside --seed"},
		{Name: "ttl", Kind: workload.Integer, Default: "0", Unit: "ms", Min: 0, Max: math.MaxInt32, Help: "time to live of entries of mcache, bucket and hash; 0: for ever"},
		{Name: "subscribers", Kind: workload.Integer, Default: "1", Unit: "subscribers", Min: 0, Max: 256, Help: "receivers of each topic, each of every message; 0: nobody listens"},
		{
			Name: "children", Kind: workload.Choice, Choices: []string{"file", model.ChildrenFixed, model.ChildrenUniform, model.ChildrenGeometric, model.ChildrenZipf}, Default: "file",
			Help: "how the number of children of a parent is spread over 1..maxKeys; file: as factory.er.isRandom says",
		},
		{
			Name: "colocate", Kind: workload.Choice, Choices: []string{"auto", "on", "off"}, Default: "auto",
			Help: "keep parents and children under a common hash tag; auto: on a cluster",
		},
		{Name: "nearCache", Kind: workload.Switch, Default: "off", Help: "get and getall of maps and buckets through Redis client-side caching"},
		{
			Name: "pipelining", Kind: workload.Switch, Default: "on",
			Help: "on Redis, the calls on maps of all callers share two connections to each server; off: a connection a caller",
		},
		{
			Name: "load", Kind: workload.Choice, Choices: []string{model.LoadAuto, model.LoadOnly, model.LoadNever}, Default: model.LoadAuto,
			Help: "write beforehand what the groups read and nobody writes: when it is not there, and then end, or never",
		},
		{Name: "takeTimeout", Kind: workload.Duration, Default: "1s", Help: "how long a take waits for an element before it is a miss"},
		{Name: "trim", Kind: workload.Integer, Default: "0", Unit: "entries", Min: 0, Max: maxEntries, Help: "length to which streams of rtopic are trimmed about; 0: never"},
		{Name: "fill", Kind: workload.Choice, Choices: []string{"zeros", "random"}, Default: "zeros", Help: "what values without factory hold"},
		{
			Name: "database", Kind: workload.Choice, Choices: []string{"auto", "on", "off"}, Default: "auto",
			Help: "write entities into tables, one column a field: on SQL stores, always (embedded: uses SQLite), or never",
		},
		{Name: "mapper", Kind: workload.Choice, Choices: []string{"gorm", "raw"}, Default: "gorm", Help: "what writes the SQL of entities"},
		{Name: "resume", Kind: workload.Switch, Default: "off", Help: "go on with a load of tables that was cut short: invocations whose rows are all there are left out"},
		values.FlavourParam(),
		{Name: "today", Kind: workload.Text, Default: "2026-01-01", Help: "date around which orders are made up, so that the same seed gives the same orders"},
		{Name: "compat", Kind: workload.Switch, Default: "off", Help: "on does what PadoGrid 1.0.2 does with a file, its errors included"},
		{
			Name: "printStatusIntervalInSec", Kind: workload.Integer, Default: "1000", Unit: "s", Min: 0, Max: math.MaxInt32,
			Help: "read and kept for the record; a headless run prints a line a second",
		},
		{Name: "results.dir", Kind: workload.Text, Help: "read and kept for the record; --out says where documents go"},
	}
}
