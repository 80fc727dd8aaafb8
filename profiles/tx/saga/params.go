package saga

import (
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Params are the parameters of mode=saga.
func Params() []workload.Param {
	return []workload.Param{
		{
			Name: "transType", Kind: workload.Choice, Choices: model.TransTypes, Default: model.TransSaga,
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
			Name: "branches", Kind: workload.Integer, Default: "2", Unit: "branches", Min: 1, Max: model.MaxBranches,
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
