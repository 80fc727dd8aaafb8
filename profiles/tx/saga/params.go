package saga

import (
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// The parameters that are read separately, because mode=baseline does not have them.
var (
	transactions = workload.Param{
		Name: "transactions", Kind: workload.Integer, Default: "10000", Unit: "transactions", Min: 1, Max: 1 << 53,
		Help: "saga: transactions to run without --duration; another name of --count",
	}
	// KeepAlive is a parameter for dtm's benchmark server.
	KeepAlive = workload.Param{
		Name: "keepAlive", Kind: workload.Switch, Default: "off",
		Help: "saga on dtm's benchmark server: on keeps the connection of each client; off makes one for each request, as the published ab does",
	}
)

// parameters holds the values of the mode's parameters.
type parameters struct {
	*model.Spec
	transType string
	accounts  bool
}

// Params returns the parameters of mode=saga.
func Params() []workload.Param { return (&parameters{Spec: &model.Spec{}}).declare().Params() }

// declare declares the parameters, and the fields into which they are read.
func (s *parameters) declare() *values.Fields {
	p := &values.Fields{}
	p.Choice(&s.transType, "transType", model.TransSaga, model.TransTypes,
		"saga: kind of the transactions: saga: actions, and compensations in reverse order; tcc: try, then confirm or cancel; "+
			"xa: prepare, then commit or rollback; msg: a local transaction, and a message that sets the others off")
	p.Own(transactions, nil)
	p.Switch(&s.accounts, "accounts", true, "saga: on moves money between accounts, which is checked; off calls nobody: the coordinator's bookkeeping only")
	p.Int(&s.Branches, "branches", 2, 1, model.MaxBranches, "branches", "saga: branches of a transaction: one takes the money, the others get it")
	p.Int64(&s.Accounts, "accountCount", 10_000, 1, 100_000_000, "accounts", "saga: accounts")
	p.Int64(&s.Balance, "balance", 1_000_000, 0, 1e12, "", "saga: initial balance of each account")
	p.Int64(&s.Amount, "amount", 100, 1, 1e12, "", "saga: the most that one branch moves; all amounts from 1 to that are equally likely")
	p.Int(&s.Shards, "prefixes", 1, 1, 1024, "", "saga: how many indexes and sets of accounts there are; on a cluster each has one slot, so use several times the number of masters")
	p.Choice(&s.Script, "script", link.BySHA, []string{link.BySHA, link.ByText, link.ByFunction},
		"saga on Redis: call scripts by their name, send their text each time as the original does, or call functions of the server (Redis 7)")
	p.Switch(&s.Pipelining, "pipelining", true,
		"saga on Redis: on lets all clients share two connections to each server, and sends their calls together; off gives each client a connection of its own")
	s.declareTrouble(p)
	s.declareTimes(p)
	p.Switch(&s.CountCalls, "countCalls", true,
		"saga: on makes the run invalid when the calls that the store counted differ from those predicted by more than 0.1 %; off is for a server that others use too")
	p.Text(&s.Endpoint, "endpoint", "127.0.0.1:0", "saga on a dtm server: the address at which it reaches the participants, which perfbench serves; port 0 takes a free one")
	p.Own(KeepAlive, nil)
	p.Own(workload.Param{
		Name: "ackLog", Kind: workload.Text, Outside: true,
		Help: "saga: a file to which each acknowledged gid is written at once; if it exists already, the gids in it are checked too: for runs that were killed",
	}, func(r *values.Reader, q workload.Param) { s.AckLog = r.Text(q) })
	return p
}

// declareTrouble declares the parameters for injected failures.
func (s *parameters) declareTrouble(p *values.Fields) {
	p.Float(&s.FailRate, "failRate", 0, 0, 1, "", "saga: share of the transactions in which a branch refuses, and which are compensated")
	p.Int(&s.FailAt, "failAt", 0, 0, 99, "", "saga: which branch refuses; 0: any")
	p.Float(&s.OngoingRate, "ongoingRate", 0, 0, 1, "", "saga: share of the branch calls whose answer is that they are not finished yet")
	p.Float(&s.ErrorRate, "errorRate", 0, 0, 1, "", "saga: share of the branch calls that fail, half of them after having been carried out")
	p.Float(&s.DuplicateRate, "duplicateRate", 0, 0, 1, "", "saga: share of the branch calls that arrive twice")
	p.Float(&s.LostRate, "lostSubmitRate", 0, 0, 1, "",
		"saga: share of the submits that never arrive: the coordinator then asks what became of a message's local transaction, and tcc and xa are undone when their time is up")
	p.Duration(&s.Delay, "delay", "0s", "saga: how long a participant takes to answer, in addition to the store")
}

// declareTimes declares the parameters for retries, timeouts and retention.
func (s *parameters) declareTimes(p *values.Fields) {
	p.Duration(&s.Timeout, "timeout", "0s", "saga: a transaction of this age is undone; 0s: never. For tcc, xa and msg only what has not been submitted by then is undone, and 0s means 35s, as with dtm")
	p.Duration(&s.LockTimeout, "lockTimeout", "1s",
		"saga, transType=xa: how long a branch waits for an account that another transaction has prepared, before it refuses; whole seconds on MariaDB and MySQL; 0 works on MariaDB only")
	p.Period(&s.Retry, "retryInterval", "10s", "saga: how long an unfinished transaction is left alone; doubles with each failure; also the lease of a recovery")
	p.Period(&s.Cron, "cronInterval", "3s", "saga: how often to look for unfinished transactions")
	p.Period(&s.DataExpire, "dataExpire", "168h", "saga: how long an unfinished transaction is kept")
	p.Period(&s.FinishedExpire, "finishedExpire", "24h", "saga: how long a finished transaction is kept")
	p.Duration(&s.Check, "checkInterval", "1s", "saga: how often some finished transactions are read back during the run; 0s: never")
}
