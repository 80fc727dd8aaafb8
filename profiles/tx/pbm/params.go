package pbm

import (
	"math"
	"runtime"
	"strconv"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

const maxEntries = 1_000_000_000_000

func defaultThreads() int { return max(runtime.NumCPU()*3/2, 1) }

// Params are the parameters of the mode.
func Params() []workload.Param {
	return []workload.Param{
		{Name: "mapNames", Kind: workload.List, Default: padogrid.Eligibility, Help: "pbm: maps to work on at the same time: eligibility, profile or both; summary too where flavour=coherence"},
		values.FlavourParam(),
		{
			Name: "testCase", Kind: workload.Choice, Choices: []string{caseGet, caseGetAll, caseTx}, Track: true,
			Help: "pbm: get one entry a call (profile only), getall a batch a call, or tx (eligibility only): read a group and write its summary",
		},
		{
			Name: "totalEntryCount", Kind: workload.Integer, Default: "100000", Unit: "entries", Min: 1, Max: maxEntries, Track: true,
			Help: "pbm: operations on each map per run, divided among its threads; what is left over is not done",
		},
		{
			Name: "threadCount", Kind: workload.Integer, Default: strconv.Itoa(defaultThreads()), Unit: "threads", Min: 1, Max: workload.MaxThreads, Track: true,
			Help: "pbm: clients of each map; the live knob threads is the total over the maps",
		},
		{
			Name: "payloadSize", Kind: workload.Size, Default: "1024", Unit: "bytes", Min: 0, Max: workload.MaxPayload, Track: true,
			Help: "pbm: size of the values that are loaded where they are missing",
		},
		{
			Name: "batchSize", Kind: workload.Integer, Default: "1000", Unit: "entries", Min: 1, Max: workload.MaxBatch, Track: true,
			Help: "pbm: entries of one getall",
		},
		{Name: "memberSetSize", Kind: workload.Integer, Default: "10", Unit: "members", Min: 1, Max: 1_000_000, Help: "pbm: eligibility entries of a group"},
		{Name: "prefix", Kind: workload.Text, Default: "x", Help: "pbm: put in front of group numbers, and at the end of the document's file name"},
		{Name: "testCount", Kind: workload.Integer, Default: "1", Unit: "runs", Min: 1, Max: math.MaxInt32, Help: "pbm: how often each client repeats its whole share"},
		{
			Name: "testIntervalInMsec", Kind: workload.Integer, Default: "0", Unit: "ms", Min: 0, Max: math.MaxInt32,
			Help: "pbm: pause of each client after every run; not part of the thread times",
		},
		{
			Name: "load", Kind: workload.Choice, Choices: []string{loadAuto, loadOnly, loadNever}, Default: loadAuto,
			Help: "pbm: auto writes the data first where it is missing; only does nothing else; never refuses when it is missing",
		},
		{
			Name: "layout", Kind: workload.Choice, Choices: []string{layoutAuto, layoutMap, layoutGroup}, Default: layoutAuto,
			Help: "pbm: how the data is kept; tx needs group. auto takes what is there, else group for tx and map without",
		},
		{
			Name: "atomic", Kind: workload.Choice, Choices: []string{atomicScript, atomicFunction, atomicWatch, atomicNone}, Default: atomicScript,
			Help: "pbm: how tx is one step on Redis: a script, a function of the server, WATCH and MULTI; none does it without, for comparison",
		},
		{Name: "attempts", Kind: workload.Integer, Default: "100", Min: 1, Max: 1_000_000, Help: "pbm: how often a transaction that met another one is tried"},
		{
			Name: "compat", Kind: workload.Switch, Default: "off",
			Help: "pbm: on takes values that are no integers for not set, does not trim, and leaves out the last partial batch of getall on profile, as the original does",
		},
		{Name: "printStatusIntervalInSec", Kind: workload.Integer, Default: "1000", Unit: "s", Min: 0, Max: math.MaxInt32, Help: "pbm: read and kept for the record"},
		{Name: "results.dir", Kind: workload.Text, Help: "pbm: read and kept for the record; --out says where documents go"},
	}
}
