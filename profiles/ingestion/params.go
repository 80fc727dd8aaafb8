package ingestion

import (
	"math"
	"strconv"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Limits of the parameters.
const (
	maxEntries  = 1_000_000_000_000 // above what any store holds, and keys stay in range
	maxRuns     = math.MaxInt32
	maxMembers  = 1_000_000
	maxInterval = math.MaxInt32
)

// The parameters that are not read into a field of the plan: those of a map are read
// for each map, and mapNames, prefix and compat before all others.
var (
	mapNames = workload.Param{
		Name: "mapNames", Kind: workload.List, Default: padogrid.Eligibility,
		Help: "maps to load at the same time: eligibility, profile or both; summary too where flavour=coherence",
	}
	testCase = workload.Param{
		Name: "testCase", Kind: workload.Choice, Choices: []string{casePutAll, casePut}, Default: casePutAll, Track: true,
		Help: "put one entry a call and get the old value back, or putall a batch a call",
	}
	totalEntryCount = workload.Param{
		Name: "totalEntryCount", Alias: "count", Kind: workload.Integer, Default: "100000", Unit: "entries", Min: 1, Max: maxEntries, Track: true,
		Help: "entries to write into each map per run, divided among its threads; what is left over is not written",
	}
	threadCount = workload.Param{
		Name: "threadCount", Alias: "threads", Kind: workload.Integer, Default: strconv.Itoa(padogrid.Threads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true,
		Help: "loaders of each map; the live knob threads is the total over the maps",
	}
	payloadSize = workload.Param{
		Name: "payloadSize", Alias: "payload", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload, Track: true,
		Help: "size of each value; another name of the live knob payload",
	}
	batchSize = workload.Param{
		Name: "batchSize", Alias: "batch", Kind: workload.Integer, Default: "1000", Unit: "entries", Min: 1, Max: workload.MaxBatch, Track: true,
		Help: "entries of one putall; another name of the live knob batch",
	}
	prefix = workload.Param{
		Name: "prefix", Kind: workload.Text, Default: "x", Help: "put in front of group numbers, and at the end of the document's file name",
	}
	compat = workload.Param{
		Name: "compat", Kind: workload.Switch, Default: "off",
		Help: "on treats values that are not integers as not set, does not trim, and prints the test case as the original would",
	}
)

// params returns the parameters.
func params() []workload.Param { return new(spec).declare().Params() }

// declare declares the parameters, and the fields into which they are read.
func (s *spec) declare() *values.Fields {
	p := &values.Fields{}
	for _, q := range []workload.Param{mapNames, testCase, totalEntryCount, threadCount, payloadSize, batchSize} {
		p.Own(q, nil)
	}
	p.Int64(&s.members, "memberSetSize", 10, 1, maxMembers, "members", "eligibility entries that share a group number")
	p.Own(prefix, nil)
	p.Int64(&s.testCount, "testCount", 1, 1, maxRuns, "runs", "how often each loader repeats its whole share")
	p.Millis(&s.interval, "testIntervalInMsec", 0, maxInterval, "pause of each loader after every run, including the last; not part of the thread times")
	p.Is(&s.grouped, layoutGroup, "layout", []string{layoutMap, layoutGroup}, "map keeps each map in one structure, as the original does; group keeps one structure for each client group, co-located by hash tag")
	p.Own(compat, nil)
	p.Own(values.FlavourParam(), nil)
	p.Status("read and kept for the record; a headless run prints a line a second")
	p.ResultsDir("read and kept for the record; --out says where documents go")
	return p
}
