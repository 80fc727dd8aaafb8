package tx

import (
	"slices"
	"time"
)

// SagaFacts is the record of mode=saga in run.json. docs/tx.md describes it.
type SagaFacts struct {
	Schema   int    `json:"schema"`
	Mode     string `json:"mode"`
	Branches int    `json:"branches"`
	Accounts int64  `json:"accounts"`
	Balance  int64  `json:"balance"`
	Prefixes int    `json:"prefixes"`
	// Counts are of the measured part, by what the client was told.
	Done      int64 `json:"acknowledged_done"`
	Undone    int64 `json:"acknowledged_undone"`
	Undecided int64 `json:"undecided"`
	Unknown   int64 `json:"unknown"`
	// What happened on the way, warm-up included.
	Retries    int64 `json:"retries"`
	Ongoing    int64 `json:"ongoing"`
	Duplicates int64 `json:"barrier_duplicates"`
	Nulls      int64 `json:"barrier_nothing_to_undo"`
	Refused    int64 `json:"refused_by_participant"`
	// Conflicts is transactions of a SQL store that it undid for the sake of others,
	// and that were repeated.
	Conflicts int64 `json:"conflicts"`
	Swept     int64 `json:"removed_after_retention"`
	// Recoveries, by when.
	AtStart recovery `json:"recovered_at_start"`
	InRun   recovery `json:"recovered_in_run"`
	AtEnd   recovery `json:"recovered_at_end"`
	// Checks.
	Sampled    int64 `json:"sampled_in_run"`
	MoneyInRun int64 `json:"money_added_up_in_run"`
	ReadBack   int64 `json:"read_back"`
	LostAcked  int64 `json:"acknowledged_and_lost"`
	// Absent is sagas that are not there and of which the client was told nothing:
	// they never arrived, or were lost before anybody was told.
	Absent       int64 `json:"unacknowledged_and_absent"`
	EarlierAcked int64 `json:"earlier_acknowledged"`
	EarlierLost  int64 `json:"earlier_acknowledged_and_lost"`
	AccountsRead int64 `json:"accounts_read_back"`
	// Stall is the longest stretch of the measured part in which nothing completed.
	StallFromS float64 `json:"stall_from_s"`
	StallS     float64 `json:"stall_s"`
	Rates      Rates   `json:"rates"`
	Cost       Cost    `json:"cost"`
}

// Rates tells the rate before the first finished transaction expired from the one
// that can be kept up.
type Rates struct {
	RetentionS float64 `json:"retention_s"`
	// Burst is transactions a second before, Sustained after the first expiry; 0
	// when the run was not that long.
	Burst     float64 `json:"burst_per_s"`
	Sustained float64 `json:"sustained_per_s"`
	// BytesPer is what one transaction leaves in the store; -1 when not told.
	BytesPer float64 `json:"bytes_per_transaction"`
	// MemoryAtBurst is the memory that would fill up in a retention at the burst's
	// rate, in bytes.
	MemoryAtBurst float64 `json:"memory_for_burst_bytes"`
}

// Cost is what one transaction takes; -1: not told.
type Cost struct {
	ClientUS float64 `json:"client_cpu_us"`
	ServerUS float64 `json:"server_cpu_us"`
	// Scripts is the script calls of a transaction as the server counted them,
	// Predicted as they should be without failures on the way.
	Scripts   float64 `json:"scripts_counted"`
	Predicted float64 `json:"scripts_predicted"`
}

// facts makes the record of what has been done so far.
func (r *sagaRun) facts() *SagaFacts {
	sp := r.spec
	r.mu.Lock()
	defer r.mu.Unlock()
	f := &SagaFacts{
		Schema: 1, Mode: modeSaga, Branches: sp.branches, Accounts: sp.accounts, Balance: sp.balance, Prefixes: sp.shards,
		Swept: r.swept, AtStart: r.atStart, InRun: r.inRun, AtEnd: r.atEnd,
		Sampled: r.notes.sampled, MoneyInRun: r.notes.moneys, ReadBack: r.readBack, Absent: r.absent, LostAcked: r.notes.bad[checkAcked],
		EarlierAcked: int64(len(r.earlier)), EarlierLost: r.notes.bad[checkEarlier], AccountsRead: r.balances,
	}
	if d, ok := r.store.(*sqlSagas); ok {
		f.Conflicts = d.conflicts.Load()
	}
	var early, late, all int64
	var gaps [][]gap
	var end int64
	for _, t := range r.tallies {
		end = max(end, t.tried.Load())
	}
	for _, t := range r.tallies {
		f.Done += t.done.Load()
		f.Undone += t.undone.Load()
		f.Undecided += t.undecided.Load()
		f.Unknown += t.unknown.Load()
		f.Retries += t.retries.Load()
		f.Ongoing += t.ongoing.Load()
		f.Duplicates += t.duplicates.Load()
		f.Nulls += t.nulls.Load()
		f.Refused += t.refused.Load()
		early, late, all = early+t.early.Load(), late+t.late.Load(), all+t.all.Load()
		t.mu.Lock()
		gaps = append(gaps, append(slices.Clone(t.gaps), gap{t.last.Load(), end}))
		t.mu.Unlock()
	}
	g := longest(gaps)
	f.StallFromS, f.StallS = float64(g.from)/1e9, float64(g.to-g.from)/1e9
	until := r.after.at
	if until.IsZero() {
		until = time.Now()
	}
	f.Rates = r.rates(early, late, until.Sub(r.before.at).Seconds())
	f.Cost = Cost{ClientUS: -1, ServerUS: -1, Scripts: -1, Predicted: r.predicted()}
	f.Rates.BytesPer = -1
	if !r.after.at.IsZero() && all > 0 {
		f.Cost, f.Rates.BytesPer = r.cost(all)
		f.Rates.MemoryAtBurst = max(f.Rates.BytesPer, 0) * f.Rates.Burst * f.Rates.RetentionS
	}
	return f
}

func (r *sagaRun) rates(early, late int64, elapsed float64) Rates {
	keep := r.spec.finishedExpire.Seconds()
	out := Rates{RetentionS: keep}
	if first := min(elapsed, keep); first > 0 {
		out.Burst = float64(early) / first
	}
	if elapsed > keep {
		out.Sustained = float64(late) / (elapsed - keep)
	}
	return out
}

// predicted is the expected number of scripts of a transaction whose failing step
// is drawn evenly.
func (r *sagaRun) predicted() float64 {
	n, p := float64(r.spec.branches), r.spec.failRate
	step := (n + 1) / 2
	if r.spec.failAt > 0 {
		step = float64(r.spec.failAt)
	}
	calls := (1-p)*(n+2) + p*(2*step+3)
	if r.spec.accounts > 0 {
		calls += (1-p)*n + p*(2*step-1) // the refusing action is not carried out
	}
	return calls
}

func (r *sagaRun) cost(all int64) (Cost, float64) {
	c := Cost{ClientUS: -1, ServerUS: -1, Scripts: -1, Predicted: r.predicted()}
	bytes := -1.0
	n := float64(all)
	if r.after.client >= 0 {
		c.ClientUS = (r.after.client - r.before.client) / n * 1e6
	}
	if r.after.server >= 0 && r.before.server >= 0 && r.after.server >= r.before.server {
		c.ServerUS = (r.after.server - r.before.server) / n * 1e6
		c.Scripts = float64(r.after.calls-r.before.calls) / n
		bytes = float64(r.after.memory-r.before.memory) / n
	}
	return c, bytes
}

// longest returns the longest stretch in which no worker completed anything. Each
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
