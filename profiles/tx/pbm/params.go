package pbm

import (
	"math"
	"strconv"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

const maxEntries = 1_000_000_000_000

// The parameters that are not read into a field of the plan: those of a map are read
// for each map, and mapNames, prefix and compat before all others.
var (
	mapNames = workload.Param{
		Name: "mapNames", Kind: workload.List, Default: padogrid.Eligibility,
		Help: "pbm: maps to work on at the same time: eligibility, profile or both; summary too where flavour=coherence",
	}
	testCase = workload.Param{
		Name: "testCase", Kind: workload.Choice, Choices: []string{caseGet, caseGetAll, caseTx}, Track: true,
		Help: "pbm: get one entry a call (profile only), getall a batch a call, or tx (eligibility only): read a group and write its summary",
	}
	totalEntryCount = workload.Param{
		Name: "totalEntryCount", Alias: "count", Kind: workload.Integer, Default: "100000", Unit: "entries", Min: 1, Max: maxEntries, Track: true,
		Help: "pbm: operations on each map per run, divided among its threads; what is left over is not done",
	}
	threadCount = workload.Param{
		Name: "threadCount", Alias: "threads", Kind: workload.Integer, Default: strconv.Itoa(padogrid.Threads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true,
		Help: "pbm: clients of each map; the live knob threads is the total over the maps",
	}
	payloadSize = workload.Param{
		Name: "payloadSize", Alias: "payload", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload, Track: true,
		Help: "pbm: size of the values that are loaded where they are missing",
	}
	batchSize = workload.Param{
		Name: "batchSize", Alias: "batch", Kind: workload.Integer, Default: "1000", Unit: "entries", Min: 1, Max: workload.MaxBatch, Track: true,
		Help: "pbm: entries of one getall",
	}
	prefix = workload.Param{Name: "prefix", Kind: workload.Text, Default: "x", Help: "pbm: put in front of group numbers, and at the end of the document's file name"}
	compat = workload.Param{
		Name: "compat", Kind: workload.Switch, Default: "off",
		Help: "pbm: on treats values that are not integers as not set, does not trim, and leaves out the last partial batch of getall on profile, as the original does",
	}
)

// Params returns the parameters of the mode.
func Params() []workload.Param { return new(Spec).declare().Params() }

// declare declares the parameters, and the fields into which they are read.
func (s *Spec) declare() *values.Fields {
	p := &values.Fields{}
	for _, q := range []workload.Param{mapNames, values.FlavourParam(), testCase, totalEntryCount, threadCount, payloadSize, batchSize} {
		p.Own(q, nil)
	}
	p.Int64(&s.members, "memberSetSize", 10, 1, 1_000_000, "members", "pbm: eligibility entries of a group")
	p.Own(prefix, nil)
	p.Int64(&s.testCount, "testCount", 1, 1, math.MaxInt32, "runs", "pbm: how often each client repeats its whole share")
	p.Millis(&s.interval, "testIntervalInMsec", 0, math.MaxInt32, "pbm: pause of each client after every run; not part of the thread times")
	p.Choice(&s.load, "load", loadAuto, []string{loadAuto, loadOnly, loadNever}, "pbm: auto writes the data first where it is missing; only does nothing else; never refuses when it is missing")
	p.Choice(&s.layout, "layout", layoutAuto, []string{layoutAuto, layoutMap, layoutGroup}, "pbm: how the data is kept; tx needs group. auto keeps what is there, else group with tx and map without")
	p.Choice(&s.atomic, "atomic", atomicScript, []string{atomicScript, atomicFunction, atomicWatch, atomicNone},
		"pbm: how tx is one step on Redis: a script, a function of the server, WATCH and MULTI; none: in several steps, for comparison")
	p.Int(&s.attempts, "attempts", 100, 1, 1_000_000, "", "pbm: how often a transaction that conflicts with another is tried")
	p.Own(compat, nil)
	p.Status("pbm: read and kept for the record")
	p.ResultsDir("pbm: read and kept for the record; --out says where documents go")
	return p
}
