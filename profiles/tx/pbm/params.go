package pbm

import (
	"math"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// The parameters that are not read into a field of the plan: those of a map are read
// for each map, and mapNames, prefix and compat before all others.
var (
	mapNames = padogrid.MapNames("pbm: maps to work on at the same time: eligibility, profile or both; summary too where flavour=coherence")
	testCase = workload.Param{
		Name: "testCase", Kind: workload.Choice, Choices: []string{caseGet, caseGetAll, caseTx}, Track: true,
		Help: "pbm: get one entry a call (profile only), getall a batch a call, or tx (eligibility only): read a group and write its summary",
	}
	totalEntryCount = padogrid.TotalEntryCount("pbm: operations on each map per run, divided among its threads; what is left over is not done")
	threadCount     = padogrid.ThreadCount("pbm: clients of each map; the live knob threads is the total over the maps")
	payloadSize     = padogrid.PayloadSize("pbm: size of the values that are loaded where they are missing")
	batchSize       = padogrid.BatchSize("pbm: entries of one getall")
	prefix          = padogrid.Prefix("pbm: put in front of group numbers, and at the end of the document's file name")
	compat          = padogrid.Compat("pbm: on treats values that are not integers as not set, does not trim, and leaves out the last partial batch of getall on profile, as the original does")
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
