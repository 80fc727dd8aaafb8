package saga

import (
	"slices"
	"time"

	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Facts is the record of mode=saga in run.json. See docs/tx-saga.md.
type Facts struct {
	Schema int    `json:"schema"`
	Mode   string `json:"mode"`
	// Kind is dtm's word for the kind of the transactions.
	Kind     string `json:"trans_type"`
	Branches int    `json:"branches"`
	Accounts int64  `json:"accounts"`
	Balance  int64  `json:"balance"`
	Prefixes int    `json:"prefixes"`
	// These counts are of the measured part, by what the client was told.
	Done      int64 `json:"acknowledged_done"`
	Undone    int64 `json:"acknowledged_undone"`
	Undecided int64 `json:"undecided"`
	Unknown   int64 `json:"unknown"`
	// What happened along the way, warm-up included.
	Retries    int64 `json:"retries"`
	Ongoing    int64 `json:"ongoing"`
	Duplicates int64 `json:"barrier_duplicates"`
	Nulls      int64 `json:"barrier_nothing_to_undo"`
	// TooLate counts actions that arrived after their compensation.
	TooLate int64 `json:"barrier_too_late"`
	Refused int64 `json:"refused_by_participant"`
	// LostSubmits counts submits that never arrived, Queries how often it was asked
	// whether a local transaction was carried out.
	LostSubmits int64 `json:"lost_submits"`
	Queries     int64 `json:"queries"`
	// Rejected counts calls that a guard rejected because the saga already had another
	// status, Taken saves of a gid that already existed.
	Rejected int64 `json:"guard_rejections"`
	Taken    int64 `json:"gid_conflicts"`
	// Conflicts counts transactions that an SQL store rolled back because of others,
	// and that were repeated.
	Conflicts int64 `json:"conflicts"`
	// Waited counts xa branches that were refused because they waited too long for a
	// lock.
	Waited int64 `json:"lock_timeouts"`
	Swept  int64 `json:"removed_after_retention"`
	// Recoveries, by when they happened.
	AtStart recovery `json:"recovered_at_start"`
	InRun   recovery `json:"recovered_in_run"`
	AtEnd   recovery `json:"recovered_at_end"`
	// Stuck counts sagas that could not be finished even at the end.
	Stuck int64 `json:"stuck"`
	// Left counts sagas that were unfinished at the end, including those of other runs
	// that were not due; UnderWay is what they had taken off the accounts by then.
	Left     int64 `json:"left_unfinished"`
	UnderWay int64 `json:"money_under_way"`
	// Checks.
	Sampled    int64 `json:"sampled_in_run"`
	MoneyInRun int64 `json:"money_added_up_in_run"`
	ReadBack   int64 `json:"read_back"`
	LostAcked  int64 `json:"acknowledged_and_lost"`
	// Absent counts sagas that do not exist and about which the client was told
	// nothing: they never arrived, or were lost before anybody was told.
	Absent       int64 `json:"unacknowledged_and_absent"`
	EarlierAcked int64 `json:"earlier_acknowledged"`
	EarlierLost  int64 `json:"earlier_acknowledged_and_lost"`
	AccountsRead int64 `json:"accounts_read_back"`
	// The stall is the longest period of the measured part in which nothing completed.
	StallFromS float64 `json:"stall_from_s"`
	StallS     float64 `json:"stall_s"`
	Rates      Rates   `json:"rates"`
	Cost       Cost    `json:"cost"`
	// Linearizable is what became of --check linearizable; absent without, and until the end.
	Linearizable *histories.Outcome `json:"linearizable,omitempty"`
	// Bench is for runs against dtm's benchmark server.
	Bench *BenchFacts `json:"bench,omitempty"`
}

// BenchFacts are the facts of a run against dtm's benchmark server. See docs/tx-saga.md.
type BenchFacts struct {
	Path      string `json:"path"`
	KeepAlive bool   `json:"keep_alive"`
	// Length is the length of the body of the reply before the run, in bytes.
	Length int `json:"document_bytes"`
	// Connections is how many were made in the measured part.
	Connections int64 `json:"connections"`
	// Requests without a connection, without a complete reply, and with an unsuccessful
	// reply, the latter by status.
	NoConnection int64            `json:"failed_to_connect"`
	NoReply      int64            `json:"failed_to_receive"`
	Statuses     map[string]int64 `json:"failed_by_status"`
	Non2xx       int64            `json:"non_2xx"`
	// Bytes is the size of all replies, Body without their heads.
	Bytes int64 `json:"bytes"`
	Body  int64 `json:"body_bytes"`
}

// Failed returns how many replies were unsuccessful.
func (f *BenchFacts) Failed() (n int64) {
	for _, v := range f.Statuses {
		n += v
	}
	return n
}

// Rates distinguishes the rate before the first finished transaction expired from the
// one that can be sustained.
type Rates struct {
	// Sagas per second of the measured part, by what the client was told.
	Done       float64 `json:"done_per_s"`
	Undone     float64 `json:"undone_per_s"`
	Undecided  float64 `json:"undecided_per_s"`
	Unknown    float64 `json:"unknown_per_s"`
	RetentionS float64 `json:"retention_s"`
	// Burst is transactions per second before the first expiry, Sustained after it; 0
	// if the run was not long enough.
	Burst     float64 `json:"burst_per_s"`
	Sustained float64 `json:"sustained_per_s"`
	// BytesPer is what one transaction leaves in the store; -1 if unknown.
	BytesPer float64 `json:"bytes_per_transaction"`
	// MemoryAtBurst is the memory, in bytes, that would fill up within the retention
	// time at the burst rate.
	MemoryAtBurst float64 `json:"memory_for_burst_bytes"`
}

// Cost is what one transaction costs; -1: unknown.
type Cost struct {
	ClientUS float64 `json:"client_cpu_us"`
	ServerUS float64 `json:"server_cpu_us"`
	// Counted is the calls per transaction as counted by the server, Predicted as
	// computed from the outcomes of the transactions, and Mean as computed from the
	// parameters without failures along the way. The first two include calls outside
	// transactions.
	Counted   float64 `json:"calls_counted"`
	Predicted float64 `json:"calls_predicted"`
	Mean      float64 `json:"scripts_by_formula"`
	// Received and Sent are bytes per transaction over the network, as counted by the
	// server.
	Received float64 `json:"bytes_received"`
	Sent     float64 `json:"bytes_sent"`
	// Calls says whether Counted and Predicted agree.
	Calls Agreement `json:"calls"`
}

// Facts returns the record of what has been done so far.
func (v *verification) Facts(*measure.Result) any { return v.facts() }

func (v *verification) facts() *Facts {
	r, sp := v.r, v.r.spec
	used := r.usage.span()
	v.mu.Lock()
	defer v.mu.Unlock()
	beside, notes := r.beside.together(&v.notes)
	v.o.mu.Lock()
	atStart, earlier := v.o.atStart, int64(len(v.o.earlier))
	v.o.mu.Unlock()
	f := &Facts{
		Schema: 1, Mode: Mode, Kind: sp.Kind.Name, Branches: sp.Branches, Accounts: sp.Accounts, Balance: sp.Balance, Prefixes: sp.Shards,
		Swept: beside.Swept, AtStart: atStart, InRun: beside.InRun, AtEnd: v.atEnd,
		Sampled: notes.sampled, MoneyInRun: notes.moneys, ReadBack: v.readBack, Absent: v.absent, LostAcked: notes.bad[checkAcked],
		EarlierAcked: earlier, EarlierLost: notes.bad[checkEarlier], AccountsRead: v.balances, Linearizable: r.followed.found(),
	}
	f.Conflicts, f.Waited = beside.Saw.Conflicts, beside.Saw.Waited
	f.Stuck, f.Left, f.UnderWay = v.atEnd.Undecided, v.left, -v.flying
	var early, late, all int64
	var gaps [][]gap
	var end int64
	for _, t := range r.clients.all() {
		end = max(end, t.tried.Load())
	}
	for _, t := range r.clients.all() {
		f.add(t)
		early, late, all = early+t.early.Load(), late+t.late.Load(), all+t.all.Load()
		t.mu.Lock()
		gaps = append(gaps, append(slices.Clone(t.gaps), gap{t.last.Load(), end}))
		t.mu.Unlock()
	}
	g := longest(gaps)
	f.StallFromS, f.StallS = float64(g.from)/1e9, float64(g.to-g.from)/1e9
	until := used.after.At
	if until.IsZero() {
		until = time.Now()
	}
	elapsed := until.Sub(used.before.At).Seconds()
	if len(r.beside.others.Told()) > 0 { // the others have been waited for already
		elapsed = float64(end) / 1e9
	}
	f.Rates = rates(sp, early, late, elapsed)
	if s := float64(end) / 1e9; s > 0 {
		f.Rates.Done, f.Rates.Undone, f.Rates.Undecided, f.Rates.Unknown = float64(f.Done)/s, float64(f.Undone)/s, float64(f.Undecided)/s, float64(f.Unknown)/s
	}
	f.Rates.BytesPer = -1
	f.Cost = v.cost(all, used, &beside)
	if u := used.after; !u.At.IsZero() && all > 0 && same(used.before, u) {
		f.Rates.BytesPer = float64(u.Memory-used.before.Memory) / float64(all)
		f.Rates.MemoryAtBurst = max(f.Rates.BytesPer, 0) * f.Rates.Burst * f.Rates.RetentionS
	}
	return f
}

// add adds what one client did.
func (f *Facts) add(t *tally) {
	f.Done += t.done.Load()
	f.Undone += t.undone.Load()
	f.Undecided += t.undecided.Load()
	f.Unknown += t.unknown.Load()
	f.Retries += t.Retries.Load()
	f.Ongoing += t.Ongoing.Load()
	f.Duplicates += t.Duplicates.Load()
	f.Nulls += t.Nulls.Load()
	f.Refused += t.Refused.Load()
	f.TooLate += t.TooLate.Load()
	f.LostSubmits += t.LostSubmits.Load()
	f.Queries += t.Queries.Load()
	f.Rejected += t.Moved.Load()
	f.Taken += t.Taken.Load()
}

func rates(sp *model.Spec, early, late int64, elapsed float64) Rates {
	keep := sp.FinishedExpire.Seconds()
	out := Rates{RetentionS: keep}
	if first := min(elapsed, keep); first > 0 {
		out.Burst = float64(early) / first
	}
	if elapsed > keep {
		out.Sustained = float64(late) / (elapsed - keep)
	}
	return out
}

// predicted returns the expected number of scripts of a transaction whose failing step
// is drawn uniformly.
func predicted(sp *model.Spec) float64 {
	n, p := float64(sp.Branches), sp.FailRate
	if sp.Kind != model.KindSaga {
		return sp.Formula()
	}
	step := (n + 1) / 2
	if sp.FailAt > 0 {
		step = float64(sp.FailAt)
	}
	calls := (1-p)*(n+2) + p*(2*step+3)
	if sp.Accounts > 0 {
		calls += (1-p)*n + p*(2*step-1) // the refused action is not carried out
	}
	return calls
}

// same reports whether both are from the same run of a server, one that reports what it
// does.
func same(u, v common.Usage) bool { return u.CPU >= 0 && v.CPU >= u.CPU }

// cost returns the cost of a transaction; all is how many were begun. The caller
// holds v.mu.
func (v *verification) cost(all int64, used span, beside *besideDelta) Cost {
	r, before, after := v.r, used.before, used.after
	var foreseen, uncertain, lost int64
	slack := int64(agreeCalls)
	for _, t := range r.clients.all() {
		foreseen += t.expected.Load()
		uncertain += t.uncertain.Load()
	}
	foreseen += beside.Polls*r.layer.Price.Lock() + used.extra
	if beside.Saw.Repeats {
		lost, slack = beside.Saw.Conflicts, slack+int64(len(r.clients.all()))
	}
	c := Cost{ClientUS: -1, ServerUS: -1, Counted: -1, Predicted: -1, Received: -1, Sent: -1, Mean: predicted(r.spec)}
	c.Calls = agreement(before, after, foreseen, uncertain, lost, slack)
	if !r.spec.CountCalls || !v.whole {
		c.Calls.State, c.Calls.Why = NotCompared, "the server is not ours alone"
	} else if used.neighbour != "" {
		c.Calls.State, c.Calls.Why = NotCompared, "another perfbench used the same server, and its calls are counted too: "+used.neighbour
	}
	switch {
	case v.o.resumed:
		c.Calls.State, c.Calls.Why = NotCompared, "the coordinator was resumed, and the additional calls of the previous one are unknown"
	case r.shared.Lost():
		c.Calls.State, c.Calls.Why = NotCompared, "it is not known what a worker that was lost called"
	case len(r.beside.others.Told()) > 0 && beside.Saw.Repeats: // databases also count the queries of workers as they join
		c.Calls.State, c.Calls.Why = NotCompared, "workers ask the database for more than transactions"
	}
	n := float64(all)
	if after.At.IsZero() || n == 0 {
		return c
	}
	c.ClientUS = beside.Client / n * 1e6
	if same(before, after) {
		c.ServerUS = (after.CPU - before.CPU) / n * 1e6
	}
	if c.Calls.Counted >= 0 {
		c.Counted, c.Predicted = float64(c.Calls.Counted)/n, float64(c.Calls.Predicted)/n
	}
	if before.Received >= 0 && after.Received >= before.Received && after.Sent >= before.Sent {
		c.Received, c.Sent = float64(after.Received-before.Received)/n, float64(after.Sent-before.Sent)/n
	}
	return c
}

// longest returns the longest period in which no worker completed anything. Each
// worker's gaps are in order of time.
func longest(workers [][]gap) gap {
	if len(workers) == 0 {
		return gap{}
	}
	common := workers[0]
	for _, w := range workers[1:] {
		var next []gap
		for i, j := 0, 0; i < len(common) && j < len(w); {
			if from, to := max(common[i].from, w[j].from), min(common[i].to, w[j].to); from < to {
				next = append(next, gap{from, to})
			}
			if common[i].to < w[j].to {
				i++
			} else {
				j++
			}
		}
		common = next
	}
	var best gap
	for _, g := range common {
		if g.to-g.from > best.to-best.from {
			best = g
		}
	}
	return best
}
