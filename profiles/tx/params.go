package tx

import (
	"math"
	"runtime"
	"strconv"

	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	maxEntries = 1_000_000_000_000
	maxCount   = 1e15
	// maxBranches is how many two digits can tell apart.
	maxBranches = 99
	// mostKey and mostValue are the longest key and value of a baseline row.
	mostKey, mostValue = 64, 1 << 20
)

func defaultThreads() int { return max(runtime.NumCPU()*3/2, 1) }

func params() []workload.Param {
	all := []workload.Param{
		{
			Name: "mode", Kind: workload.Choice, Choices: modes, Default: modePBM,
			Help: "pbm: look-ups and group summaries; saga: distributed transactions; baseline: the calls that they are made of, and the ceiling",
		},
		{
			Name: "zipf", Kind: workload.Number, Default: "0", Min: 0, Max: 5,
			Help: "contention: exponent of the distribution of groups (pbm: 0 visits them in turn) or accounts (saga: 0 all alike)",
		},
	}
	return append(append(append(all, pbmParams()...), sagaParams()...), baselineParams()...)
}

func sagaParams() []workload.Param {
	return []workload.Param{
		{
			Name: "transType", Kind: workload.Choice, Choices: transTypes, Default: transSaga,
			Help: "saga: kind of the transactions: saga: actions, and compensations in reverse order; tcc: try, then confirm or cancel; " +
				"xa: prepare, then commit or rollback; msg: a local transaction, and a message that sets the others off",
		},
		{
			Name: "transactions", Kind: workload.Integer, Default: "10000", Unit: "transactions", Min: 1, Max: 1 << 53,
			Help: "saga: transactions to run without --duration; another name of --count",
		},
		{
			Name: "accounts", Kind: workload.Switch, Default: "on",
			Help: "saga: on moves money between accounts, which is checked; off calls nobody: the coordinator's bookkeeping only",
		},
		{
			Name: "branches", Kind: workload.Integer, Default: "2", Unit: "branches", Min: 1, Max: maxBranches,
			Help: "saga: branches of a transaction: one takes the money, the others get it",
		},
		{Name: "accountCount", Kind: workload.Integer, Default: "10000", Unit: "accounts", Min: 1, Max: 100_000_000, Help: "saga: accounts"},
		{Name: "balance", Kind: workload.Integer, Default: "1000000", Min: 0, Max: 1e12, Help: "saga: what is on each account at first"},
		{Name: "amount", Kind: workload.Integer, Default: "100", Min: 1, Max: 1e12, Help: "saga: the most that one branch moves; 1 to that, all alike"},
		{
			Name: "prefixes", Kind: workload.Integer, Default: "1", Min: 1, Max: 1024,
			Help: "saga: how many indexes and sets of accounts there are; on a cluster each has one slot, so use several times the number of masters",
		},
		{
			Name: "script", Kind: workload.Choice, Choices: []string{link.BySHA, link.ByText, link.ByFunction}, Default: link.BySHA,
			Help: "saga on Redis: call scripts by their name, send their text each time as the original does, or call functions of the server (Redis 7)",
		},
		{
			Name: "pipelining", Kind: workload.Switch, Default: "on",
			Help: "saga on Redis: on has all clients share two connections to each server, and sends together what they have to send; off gives each client a connection of its own",
		},
		{Name: "failRate", Kind: workload.Number, Default: "0", Min: 0, Max: 1, Help: "saga: share of the transactions in which a branch refuses, so that they are compensated"},
		{Name: "failAt", Kind: workload.Integer, Default: "0", Min: 0, Max: 99, Help: "saga: which branch refuses; 0: any"},
		{Name: "ongoingRate", Kind: workload.Number, Default: "0", Min: 0, Max: 1, Help: "saga: share of the branch calls that are answered with: not finished yet"},
		{Name: "errorRate", Kind: workload.Number, Default: "0", Min: 0, Max: 1, Help: "saga: share of the branch calls that fail, half of them after having been carried out"},
		{Name: "duplicateRate", Kind: workload.Number, Default: "0", Min: 0, Max: 1, Help: "saga: share of the branch calls that arrive twice"},
		{
			Name: "lostSubmitRate", Kind: workload.Number, Default: "0", Min: 0, Max: 1,
			Help: "saga: share of the submits that never arrive, so that a message's local transaction is asked after, and tcc and xa are undone when their time is over",
		},
		{Name: "delay", Kind: workload.Duration, Default: "0s", Help: "saga: how long a participant takes to answer, beside the store"},
		{Name: "timeout", Kind: workload.Duration, Default: "0s", Help: "saga: a transaction that old is undone; 0s: never. Of tcc, xa and msg it is what is not submitted by then, and 0s is 35s, as with dtm"},
		{
			Name: "lockTimeout", Kind: workload.Duration, Default: "1s",
			Help: "saga, transType=xa: how long a branch waits for an account that another transaction has prepared, before it refuses; whole seconds on MariaDB and MySQL, where only the former knows 0",
		},
		{Name: "retryInterval", Kind: workload.Duration, Default: "10s", Help: "saga: how long an unfinished transaction is left alone; doubles with each failure; also the lease of a recovery"},
		{Name: "cronInterval", Kind: workload.Duration, Default: "3s", Help: "saga: how often to look for unfinished transactions"},
		{Name: "dataExpire", Kind: workload.Duration, Default: "168h", Help: "saga: how long an unfinished transaction is kept"},
		{Name: "finishedExpire", Kind: workload.Duration, Default: "24h", Help: "saga: how long a finished transaction is kept"},
		{Name: "checkInterval", Kind: workload.Duration, Default: "1s", Help: "saga: how often some finished transactions are read back in mid-run; 0s: never"},
		{
			Name: "countCalls", Kind: workload.Switch, Default: "on",
			Help: "saga: on calls the run invalid when the store has counted other calls than were predicted, by more than 0.1 %; off is for a server that others call too",
		},
		{
			Name: "endpoint", Kind: workload.Text, Default: "127.0.0.1:0",
			Help: "saga on a dtm server: the address at which it reaches the participants, which perfbench serves; port 0 takes a free one",
		},
		{
			Name: "keepAlive", Kind: workload.Switch, Default: "off",
			Help: "saga on dtm's benchmark server: on keeps the connection of each client; off makes one for each request, as the published ab does",
		},
		{
			Name: "ackLog", Kind: workload.Text, Outside: true,
			Help: "saga: a file that gets each acknowledged gid at once; if it is there already, what it holds is checked too: for runs that were killed",
		},
	}
}

func baselineParams() []workload.Param {
	return []workload.Param{
		{Name: "rows", Kind: workload.List, Default: "all", Help: "baseline: rows to measure: all, or some of set, set-remote, eval-literal, eval-args, set-p50, eval-loop10, …"},
		{
			Name: "edition", Kind: workload.Choice, Choices: []string{editionReport, editionScript}, Default: editionReport,
			Help: "baseline: whose lengths of keys and values the rows have: those of dtm's published report, or of the script of its benchmark",
		},
		{
			Name: "keyLength", Kind: workload.Integer, Default: "0", Unit: "bytes", Min: 0, Max: mostKey, Track: true,
			Help: "baseline: length of a row's key, behind what the namespace puts before it; 0: as published",
		},
		{
			Name: "valueLength", Kind: workload.Size, Default: "0", Unit: "bytes", Min: 0, Max: mostValue, Track: true,
			Help: "baseline: length of a row's value; 0: as published",
		},
		{
			Name: "requests", Kind: workload.Integer, Default: "20000", Unit: "calls", Min: 1, Max: maxCount, Track: true,
			Help: "baseline: calls of each row without --duration",
		},
		{Name: "ceiling", Kind: workload.Switch, Default: "on", Help: "baseline: run sagas without accounts too, and work out how fast they could be"},
	}
}

func pbmParams() []workload.Param {
	return []workload.Param{
		{Name: "mapNames", Kind: workload.List, Default: mapElig, Help: "pbm: maps to work on at the same time: eligibility, profile or both; summary too where flavour=coherence"},
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
