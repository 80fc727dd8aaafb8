package ingestion

import (
	"math"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Limits of the parameters.
const (
	maxRuns     = math.MaxInt32
	maxMembers  = 1_000_000
	maxInterval = math.MaxInt32
)

// The parameters that are not read into a field of the plan: those of a map are read
// for each map, and mapNames, prefix and compat before all others.
var (
	mapNames = padogrid.MapNames("maps to load at the same time: eligibility, profile or both; summary too where flavour=coherence")
	testCase = workload.Param{
		Name: "testCase", Kind: workload.Choice, Choices: []string{casePutAll, casePut}, Default: casePutAll, Track: true,
		Help: "put one entry a call and get the old value back, or putall a batch a call",
	}
	totalEntryCount = padogrid.TotalEntryCount("entries to write into each map per run, divided among its threads; what is left over is not written")
	threadCount     = padogrid.ThreadCount("loaders of each map; the live knob threads is the total over the maps")
	payloadSize     = padogrid.PayloadSize("size of each value; another name of the live knob payload")
	batchSize       = padogrid.BatchSize("entries of one putall; another name of the live knob batch")
	prefix          = padogrid.Prefix("put in front of group numbers, and at the end of the document's file name")
	compat          = padogrid.Compat("on treats values that are not integers as not set, does not trim, and prints the test case as the original would")
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
