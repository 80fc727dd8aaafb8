package saga

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Share gives process i of n its clients: those that follow the clients of the processes
// before it, with the numbers that their transactions have in one process, and as large a
// part of the transactions.
func (s Binding) Share(p *workload.Plan, i, n int) error {
	refuse := func(why, hint string) error { return fault.Hint(errors.New(why), hint) }
	all := s.Start.Threads
	switch {
	case s.AckLog != "":
		return refuse("ackLog is one file, which the clients of one process write", "leave ackLog or --workers out")
	case s.Driver == "dtm":
		return refuse("a dtm server calls participants, whose accounts are in the process of the clients", "leave --workers out, or use redis:// or a database")
	case s.Count > 0 && s.Count < int64(all):
		return refuse(fmt.Sprintf("there are %s for %s", units.Plural(int(s.Count), "transaction"), units.Plural(all, "client")), "use more transactions, or leave --workers out")
	}
	workload.Own(p)
	t := &p.Phases[0].Tracks[0]
	from, to, err := workload.Divide(t, "mode=saga", all, i, n, n)
	if err != nil {
		return err
	}
	t.Iterations = share(s.Count, from, to, all)
	t.Total = t.Iterations
	p.Binder = Binding{s.Spec, workload.Stake{Process: i, Of: n, From: from, To: to, All: all}}
	return nil
}

// adopt begins in a worker what setup has begun where the run is conducted. All workers
// together look after unfinished transactions as often as one process does.
func (r *Run) adopt([]byte) error {
	turn := func(every time.Duration) int64 {
		return time.Now().Add(every * time.Duration(r.stake.Process+1)).UnixNano()
	}
	r.nextPoll.Store(turn(r.spec.Cron))
	r.nextCheck.Store(turn(r.spec.Check))
	r.tells = true
	r.before.Client = r.conn.Client()
	return nil
}

// keptOf is how all stood when the run began.
type keptOf struct {
	AtStart recovery
	Base    map[int64]int64
	Foreign map[string]map[string]model.Entry
	Before  common.Usage
}

// kept is how all stood when the run began.
func (r *Run) kept() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return workload.Ledger(keptOf{r.atStart, r.base, r.foreign, r.before})
}

// resume takes how all stood from the process that had prepared the run.
func (r *Run) resume(_ context.Context, p workload.Restored) error {
	var k keptOf
	if err := workload.ReadLedger(p.Kept, &k); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.atStart, r.base, r.before, r.resumed = k.AtStart, k.Base, k.Before, true
	maps.Copy(r.foreign, k.Foreign)
	return nil
}

// processes is how many share the work.
func (r *Run) processes() int { return max(r.stake.Of, 1) }

// partTold is what a process tells of its part.
type partTold struct {
	Process, Of int
	Tallies     []tallyTold
	Beside      besideTold
}

// tallyTold is what one client has done: numbers as they stand, and the rest since it was
// told of the last time.
type tallyTold struct {
	Worker   int
	Counts   []int64
	Seq      int64
	From     int // of outcomes
	Outcomes []uint8
	Marks    []markTold
	Gaps     []gapTold
}

type (
	markTold struct {
		At  int64 `told:"time"`
		Seq int64
	}
	gapTold struct{ From, To int64 }
)

// besideTold is what a process did beside the transactions of its clients, as it stands.
type besideTold struct {
	Polls, Swept int64
	InRun        recovery
	Notes        notesTold
	Sizes        []int `told:"payload"`
	Saw          model.Noticed
	Client       float64 // CPU seconds
}

type notesTold struct {
	Bad, Asked      map[string]int64
	Examples        map[string][]string
	Sampled, Moneys int64
}

func (t *tally) list() []*atomic.Int64 {
	return []*atomic.Int64{
		&t.done, &t.undone, &t.undecided, &t.unknown, &t.Retries, &t.Ongoing, &t.Duplicates, &t.Nulls, &t.Refused, &t.TooLate, &t.Moved, &t.Taken,
		&t.LostSubmits, &t.Queries, &t.expected, &t.uncertain, &t.early, &t.late, &t.all, &t.last, &t.tried,
	}
}

// ledger tells what became of the part since the last call.
func (r *Run) ledger() []byte {
	r.mu.Lock()
	tallies := maps.Clone(r.tallies)
	n := &r.notes
	out := partTold{Process: r.stake.Voice(), Of: r.stake.Of, Beside: besideTold{
		Polls: r.polls.Load(), Swept: r.swept, InRun: r.inRun, Sizes: r.sizes.All(), Saw: r.layer.Saw(), Client: r.conn.Client() - r.before.Client,
		Notes: notesTold{maps.Clone(n.bad), maps.Clone(n.asked), cloned(n.examples), n.sampled, n.moneys},
	}}
	r.mu.Unlock()
	for worker, t := range tallies {
		out.Tallies = append(out.Tallies, t.export(worker))
	}
	return workload.Ledger(out)
}

func cloned(in map[string][]string) map[string][]string {
	out := make(map[string][]string, len(in))
	for k, v := range in {
		out[k] = slices.Clone(v)
	}
	return out
}

func (t *tally) export(worker int) tallyTold {
	out := tallyTold{Worker: worker}
	for _, n := range t.list() {
		out.Counts = append(out.Counts, n.Load())
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	// Of the last transaction the outcome may not have been known.
	out.From = min(int(max(t.told.seq-1, 0)/4), len(t.outcomes))
	out.Seq, out.Outcomes = t.seq, slices.Clone(t.outcomes[out.From:])
	for _, m := range t.marks[t.told.marks:] {
		out.Marks = append(out.Marks, markTold{m.at.UnixNano(), m.seq})
	}
	for _, g := range t.gaps[t.told.gaps:] {
		out.Gaps = append(out.Gaps, gapTold{g.from, g.to})
	}
	t.told = tellings{t.seq, len(t.marks), len(t.gaps)}
	return out
}

// tellings is how far what a client did has been told.
type tellings struct {
	seq         int64
	marks, gaps int
}

// What other processes may tell at most: clients, transactions of one client a second, and
// different things that were found wrong.
const (
	mostClients  = 8 * workload.MaxThreads
	mostASecond  = 1_000_000
	mostFindings = 100
)

// credit takes in what another process has told.
func (r *Run) credit(data []byte) error {
	var t partTold
	if err := workload.ReadTold(data, &t); err != nil {
		return err
	}
	if !workload.Voiced(t.Process, t.Of) || !t.Beside.sound() {
		return workload.ErrAnotherRun
	}
	most := r.most()
	for i := range t.Tallies {
		if one := &t.Tallies[i]; !one.sound(most) || !r.knows(one.Worker) || !r.tally(one.Worker).credit(one, most) {
			return workload.ErrAnotherRun
		}
	}
	if !r.sizes.Credit(t.Beside.Sizes) {
		return workload.ErrAnotherRun
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.others == nil {
		r.others = map[int]besideTold{}
	}
	if _, known := r.others[t.Process]; !known && len(r.others) >= 4*workload.MaxProcesses {
		return workload.ErrAnotherRun
	}
	r.others[t.Process] = t.Beside
	return nil
}

// most is for how many seconds the run can have gone on, by a clock that is a minute ahead.
func (r *Run) most() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return int64((workload.Elapsed(r.before.At) + time.Minute) / time.Second)
}

// knows reports whether a client can be one of this run: there are not too many of them.
func (r *Run) knows(worker int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tallies[worker] != nil || len(r.tallies) < mostClients
}

// sound reports whether a client can have done this in so many seconds.
func (o *tallyTold) sound(seconds int64) bool {
	if o.Worker > workload.MaxThreads*workload.MaxThreads || o.Seq/mostASecond > seconds || int64(len(o.Marks)) > seconds+1 {
		return false
	}
	if int64(o.From) > o.Seq/4 || int64(o.From+len(o.Outcomes)) > o.Seq/4+1 || len(o.Gaps) > maxGaps {
		return false
	}
	return !slices.ContainsFunc(o.Marks, func(m markTold) bool { return m.Seq > o.Seq })
}

// sound reports whether a process can have done this.
func (b *besideTold) sound() bool {
	n := &b.Notes
	if len(n.Bad) > mostFindings || len(n.Asked) > mostFindings || len(n.Examples) > mostFindings || len(b.InRun.Gids) > maxExamples {
		return false
	}
	for _, list := range n.Examples {
		if len(list) > maxExamples {
			return false
		}
	}
	return true
}

// credit takes in what a client has done, in a run that has gone on for so many seconds at most.
func (t *tally) credit(one *tallyTold, seconds int64) bool {
	counts := t.list()
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(one.Counts) != len(counts) || one.From > len(t.outcomes) || int64(len(t.marks)+len(one.Marks)) > seconds+1 || len(t.gaps)+len(one.Gaps) > maxGaps {
		return false
	}
	for i, n := range counts {
		n.Store(one.Counts[i])
	}
	t.seq = one.Seq
	t.outcomes = append(t.outcomes[:one.From], one.Outcomes...)
	for _, m := range one.Marks {
		t.marks = append(t.marks, mark{time.Unix(0, m.At), m.Seq})
	}
	for _, g := range one.Gaps {
		t.gaps = append(t.gaps, gap{g.From, g.To})
	}
	return true
}

// Passes says that any client can carry out what another has left.
func (s Binding) Passes() error { return nil }

// rest is what a process that was lost has left.
type rest struct {
	Again        int
	Transactions int64
}

// remains tells how many transactions process i of n has left: what it may have begun since it
// told is taken up by whoever finds it, and others are made in its place.
func (r *Run) remains(p *workload.Plan, i, n int, did []workload.Did) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.again == nil {
		r.again = map[int]int{}
	}
	r.again[i]++
	all := r.spec.Start.Threads
	from, to := workload.Stretch(all, n, i)
	d := p.Of(did, 0, int(model.OpSaga))
	return workload.Ledger(rest{r.again[i], max(share(r.spec.Count, from, to, all)-d.Units-d.Failed, 0)})
}

// share is how many of a number those from one of all on, before another, have.
func share(count int64, from, to, all int) int64 {
	return count*int64(to)/int64(all) - count*int64(from)/int64(all)
}

// takeOver goes on with the transactions that another process has left.
func (r *Run) takeOver(p *workload.Plan, data []byte) error {
	var left rest
	if err := workload.ReadLedger(data, &left); err != nil {
		return err
	}
	r.stake.Again = left.Again
	t := &p.Phases[0].Tracks[0]
	t.Iterations, t.Total = left.Transactions, left.Transactions
	if left.Transactions == 0 {
		t.NewTask = func(int) (workload.Task, error) {
			return workload.TaskFunc(func(context.Context, *workload.Iteration) error { return workload.ErrDone }), nil
		}
	}
	return nil
}

// gone says that a process did more than it has told.
func (r *Run) gone(int, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lost = true
}

// beside adds up what was done beside transactions, by this process and the others. The
// caller holds r.mu.
func (r *Run) beside() (all besideTold, notes findings) {
	all = besideTold{Polls: r.polls.Load(), Swept: r.swept, InRun: r.inRun, Saw: r.layer.Saw(), Client: r.after.Client - r.before.Client}
	notes.merge(&r.notes)
	notes.sampled, notes.moneys = r.notes.sampled, r.notes.moneys
	if len(r.others) > 0 {
		all.Client = 0 // this one conducts, and does nothing of it
	}
	for _, o := range r.others {
		all.Polls += o.Polls
		all.Swept += o.Swept
		all.InRun.join(&o.InRun)
		all.Saw.Beside += o.Saw.Beside
		all.Saw.Conflicts += o.Saw.Conflicts
		all.Saw.Waited += o.Saw.Waited
		all.Client += o.Client
		n := &o.Notes
		notes.merge(&findings{bad: n.Bad, asked: n.Asked, examples: n.Examples})
		notes.sampled += n.Sampled
		notes.moneys += n.Moneys
	}
	return all, notes
}

func (r *recovery) join(o *recovery) {
	r.Found += o.Found
	r.Done += o.Done
	r.Undone += o.Undone
	r.Undecided += o.Undecided
	r.Seconds += o.Seconds
	r.Gids = append(slices.Clone(r.Gids), o.Gids...)
	r.Gids = r.Gids[:min(len(r.Gids), maxExamples)]
}
