package saga

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Limits on what is read at once.
const (
	readAtOnce = 500
	readBytes  = 64 << 20
)

// atOnce returns how many transactions are read at once: fewer if payloads are large.
func (v *verification) atOnce() int {
	each := 3 * v.r.spec.Branches * v.r.sizes.Most() // two rows per branch, as base64
	return max(min(readAtOnce, readBytes/max(each, 1)), 1)
}

// verification compares what is stored with what clients were told, once they have ended.
type verification struct {
	r    *Run
	o    *opening
	conn store.Conn // where it is stored
	// whole means that the plan consists only of sagas, so that the store's counters are about
	// them.
	whole bool

	mu       sync.Mutex
	notes    findings
	atEnd    recovery
	balances int64 // accounts whose balance was compared
	left     int64 // sagas that are unfinished
	flying   int64 // what these have taken off the accounts (negative) or put on them
	readBack int64
	absent   int64           // requested, not found, and never acknowledged
	untold   int64           // those of which their clients were told nothing, of this run
	settled  int64           // of these, those that are there and final
	moved    map[int64]int64 // what the ledgers of this run add up to, by account
}

func newVerification(r *Run, o *opening, c store.Conn) *verification {
	return &verification{r: r, o: o, conn: c, moved: map[int64]int64{}}
}

// Verify compares what is stored with what was acknowledged.
func (v *verification) Verify(ctx context.Context) workload.Verification {
	defer func() { _ = v.r.log.close() }() // nothing more is written
	if store.Forgets(v.conn) {
		v.r.usage.end(ctx)
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	return v.verify(ctx)
}

// recordSaga records a saga that was taken up.
func (v *verification) recordSaga(s *model.Saga) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.atEnd.add(s)
}

// verify takes up what is unfinished, and then reads everything back.
func (v *verification) verify(ctx context.Context) workload.Verification {
	v.r.usage.end(ctx)
	cut := func(what string, err error) workload.Verification {
		return workload.Verification{State: workload.Incomplete, Summary: what + ": " + err.Error(), Checks: v.checks()}
	}
	if err := v.drain(ctx); err != nil {
		return cut("unfinished sagas could not be taken up", err)
	}
	if err := v.readOwn(ctx); err != nil {
		return cut("the sagas could not be read back", err)
	}
	if err := v.readEarlier(ctx); err != nil {
		return cut("the sagas of an earlier run could not be read back", err)
	}
	if v.r.spec.Accounts > 0 {
		if err := v.compareBalances(ctx); err != nil {
			return cut("the accounts could not be read back", err)
		}
	}
	f := v.facts()
	out := workload.Verification{State: workload.Passed, Checks: v.checks()}
	for _, c := range out.Checks {
		if !c.OK {
			out.State = workload.Failed
		}
	}
	out.Lose(f.LostAcked + f.EarlierLost)
	if !v.r.shared.Lost() { // of a worker that was lost, nobody knows
		out.Unsure(v.untold, v.settled, v.absent)
	}
	v.r.followed.check(ctx, &out)
	out.Summary = v.sum(f, out.State)
	if l := v.r.followed.found(); l != nil {
		out.Summary += "; " + l.Words()
	}
	out.Checks = append(out.Checks, f.Cost.Calls.checks()...)
	if v.r.usage.span().neighbour != "" {
		out.Summary += "; the calls that the store counted were not compared: " + f.Cost.Calls.Why
	}
	if f.Cost.Calls.State == differ {
		out.State, out.Summary = workload.Failed, f.Cost.Calls.Words()+"; "+out.Summary
	}
	return out
}

// longStall is how long nothing may complete before the summary mentions it.
const longStall = 500 * time.Millisecond

// sum says in one sentence how much was acknowledged, how much of that is lost, how
// much was recovered, and for how long nothing completed.
func (v *verification) sum(f *Facts, state string) string {
	some := v.r.spec.Kind.Some
	parts := []string{fmt.Sprintf("%s read back, %s", some(f.ReadBack-f.Absent), units.Choose(f.ReadBack-f.Absent, "whole", "all of them whole"))}
	if state == workload.Failed {
		parts[0] = fmt.Sprintf("what is stored is not what was acknowledged: of %s read back, %d that %s lost or changed", some(f.ReadBack), f.LostAcked, units.Choose(f.LostAcked, "was acknowledged is", "were acknowledged are"))
		if f.LostAcked+f.EarlierLost == 0 {
			parts[0] = fmt.Sprintf("what is stored is not whole: %s read back, none that was acknowledged is lost or changed", some(f.ReadBack))
		}
	}
	if f.EarlierAcked > 0 {
		parts = append(parts, fmt.Sprintf("of %d that earlier runs had acknowledged, %d are lost or changed", f.EarlierAcked, f.EarlierLost))
	}
	if f.Unknown > 0 {
		told := fmt.Sprintf("the client was told nothing about %d, so they may be either", f.Unknown)
		if f.Absent > 0 {
			told += fmt.Sprintf(": %d of them were never stored", f.Absent)
		}
		parts = append(parts, told)
	}
	for _, took := range []struct {
		r    recovery
		when string
	}{{f.AtStart, "at the start"}, {f.InRun, "mid-run"}, {f.AtEnd, "at the end"}} {
		if took.r.Found > 0 {
			parts = append(parts, fmt.Sprintf("%d unfinished ones taken up %s: %d done, %d undone, %d still undecided", took.r.Found, took.when, took.r.Done, took.r.Undone, took.r.Undecided))
		}
	}
	if f.Left > 0 {
		parts = append(parts, fmt.Sprintf("%d unfinished ones left alone that are not due yet, with %d of the money under way", f.Left, f.UnderWay))
	}
	if v.whole && f.StallS >= longStall.Seconds() {
		parts = append(parts, fmt.Sprintf("nothing completed for %.2f s, from %.2f s on", f.StallS, f.StallFromS))
	}
	return strings.Join(parts, "; ")
}

func (v *verification) checks() []workload.Check {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, notes := v.r.beside.together(&v.notes)
	var out []workload.Check
	for _, name := range []string{checkAcked, checkSampled, checkEarlier, checkPayload, checkWhole, checkOrder, checkStates, checkMoney, checkLedger, checkFrozen, checkIndex} {
		if n, ok := notes.asked[name]; ok {
			bad := notes.bad[name]
			out = append(out, workload.Check{Name: v.r.spec.Kind.Words(name), OK: bad == 0, Want: strconv.FormatInt(n, 10), Got: strconv.FormatInt(max(n-bad, 0), 10), Examples: notes.examples[name]})
		}
	}
	return out
}

// drain takes up every unfinished saga of this run, and those of others that are due.
func (v *verification) drain(ctx context.Context) error {
	began := time.Now()
	c := coordinator.Recovery(v.r.spec, v.r.layer.Open())
	f := &findings{}
	for shard := range v.r.spec.Shards {
		list, err := v.o.store.Unfinished(ctx, shard)
		if err != nil {
			return err
		}
		for _, p := range list {
			_, _, own := model.SplitGid(p.Gid, v.r.spec.Stamp)
			if !own && p.Due.After(time.Now()) {
				continue // belongs to another run, which may be working on it
			}
			c.Over = own
			s, err := c.Resume(ctx, shard, p.Gid)
			if errors.Is(err, coordinator.ErrWaiting) {
				continue
			}
			if ctx.Err() != nil {
				return err
			}
			v.recordSaga(s)
			f.ask(checkIndex, 1)
			if err != nil {
				f.offend(checkIndex, "%s: %v", p.Gid, err)
			}
		}
	}
	f.ask(checkIndex, 0)
	v.mu.Lock()
	defer v.mu.Unlock()
	v.atEnd.Seconds = time.Since(began).Seconds()
	v.notes.merge(f)
	return nil
}

// readOwn reads back every saga of this run that is still kept.
func (v *verification) readOwn(ctx context.Context) error {
	type want struct {
		gids []string
		told []outcome
	}
	lists := make([]want, v.r.spec.Shards)
	most := v.atOnce()
	flush := func(shard int) error {
		w := &lists[shard]
		got, err := v.o.store.Read(ctx, shard, w.gids)
		if err != nil {
			return err
		}
		v.mu.Lock()
		defer v.mu.Unlock()
		for i := range got {
			switch {
			case w.told[i] != unknown:
			case got[i].Status == "":
				v.absent++
			case model.Final(got[i].Status):
				v.settled++
			}
			v.r.comparison().judge(&v.notes, &got[i], w.told[i], checkAcked)
			for _, e := range got[i].Ledger {
				if !e.Null {
					v.moved[e.Account] += e.Amount
				}
			}
		}
		v.readBack += int64(len(got))
		*w = want{w.gids[:0], w.told[:0]}
		return nil
	}
	v.mu.Lock()
	tallies := v.r.clients.all()
	v.notes.ask(checkAcked, 0)
	v.mu.Unlock()
	for worker, t := range tallies {
		kept := t.kept(time.Now(), v.r.spec.FinishedExpire)
		for seq := range t.seq {
			if t.get(seq) == unknown {
				v.untold++
			}
		}
		for seq := kept; seq < t.seq; seq++ {
			shard := int(seq+int64(worker)) % v.r.spec.Shards
			w := &lists[shard]
			w.gids = append(w.gids, string(model.AppendGid(nil, v.r.spec.Stamp, worker, seq)))
			w.told = append(w.told, t.get(seq))
			if len(w.gids) == most {
				if err := flush(shard); err != nil {
					return err
				}
			}
		}
	}
	for shard := range lists {
		if len(lists[shard].gids) > 0 {
			if err := flush(shard); err != nil {
				return err
			}
		}
	}
	return nil
}

// readEarlier reads the sagas in the log of a killed run.
func (v *verification) readEarlier(ctx context.Context) error {
	gids := make([]string, 0, len(v.o.earlier))
	for gid := range v.o.earlier {
		gids = append(gids, gid)
	}
	slices.Sort(gids)
	for part := range slices.Chunk(gids, v.atOnce()) {
		for shard := range v.r.spec.Shards {
			var mine []string
			for _, g := range part {
				if shardOfGid(g, v.r.spec.Shards) == shard {
					mine = append(mine, g)
				}
			}
			if len(mine) == 0 {
				continue
			}
			got, err := v.o.store.Read(ctx, shard, mine)
			if err != nil {
				return err
			}
			v.mu.Lock()
			for i := range got {
				v.r.comparison().judge(&v.notes, &got[i], v.o.earlier[got[i].Gid], checkEarlier)
			}
			v.mu.Unlock()
		}
	}
	return nil
}

func shardOfGid(gid string, shards int) int {
	worker, seq, _ := model.SplitGid(gid, gid[:model.GidRun])
	return int(seq+int64(worker)) % shards
}

// compareBalances adds up all accounts, including what is in progress in sagas that
// were left alone, and compares each account with its ledgers if all of these are still
// kept.
func (v *verification) compareBalances(ctx context.Context) error {
	deltas, complete, err := v.deltas(ctx)
	if err != nil {
		return err
	}
	left, flying, ice, err := v.underWay(ctx)
	if err != nil {
		return err
	}
	var sum, n int64
	f := &findings{}
	err = v.o.store.Balances(ctx, func(a, balance, frozen int64) {
		balance += frozen
		sum += balance
		n++
		if frozen != 0 || ice[a] != 0 || v.r.spec.Kind == model.KindTCC {
			f.ask(checkFrozen, 1)
			if frozen != ice[a] {
				f.offend(checkFrozen, "account %d: %d is frozen, and what is under way has frozen %d", a, frozen, ice[a])
			}
		}
		if !complete {
			return
		}
		f.ask(checkLedger, 1)
		if want := v.o.base[a] + deltas[a]; balance != want {
			f.offend(checkLedger, "account %d: holds %d, and its ledgers say %d", a, balance, want)
		}
	})
	if err != nil {
		return err
	}
	f.ask(checkMoney, 1)
	if want := v.r.spec.Accounts * v.r.spec.Balance; sum-flying != want {
		f.offend(checkMoney, "%d accounts hold %d together, with %d under way in %d unfinished sagas, instead of %d", n, sum, -flying, left, want)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.balances, v.left, v.flying = n, left, flying
	v.notes.merge(f)
	return nil
}

// underWay counts the sagas that are unfinished after the drain, and adds up what they
// have taken off the accounts (negative) or put on them, and which amounts they have
// frozen on which account.
func (v *verification) underWay(ctx context.Context) (left, flying int64, ice map[int64]int64, err error) {
	ice = map[int64]int64{}
	for shard := range v.r.spec.Shards {
		list, err := v.o.store.Unfinished(ctx, shard)
		if err != nil {
			return 0, 0, nil, err
		}
		for part := range slices.Chunk(list, v.atOnce()) {
			gids := make([]string, len(part))
			for i, p := range part {
				gids[i] = p.Gid
			}
			got, err := v.o.store.Read(ctx, shard, gids)
			if err != nil {
				return 0, 0, nil, err
			}
			for i := range got {
				if got[i].Status == "" || model.Final(got[i].Status) {
					continue // its ledger is final
				}
				left++
				for _, e := range got[i].Ledger {
					flying += e.Amount // zero if nothing was done
					ice[e.Account] += e.Frozen
				}
			}
		}
	}
	return left, flying, ice, nil
}

// deltas adds up, for each account, the ledgers of this run, and those of others' sagas
// that were unfinished when it began. complete is false if some ledgers have expired.
func (v *verification) deltas(ctx context.Context) (deltas map[int64]int64, complete bool, err error) {
	deltas, complete = v.moved, !v.r.shared.Lost()
	add := func(s *model.Stored, sign int64) {
		for _, e := range s.Ledger {
			if !e.Null {
				deltas[e.Account] += sign * e.Amount
			}
		}
	}
	for gid, old := range v.o.foreign {
		add(&model.Stored{Ledger: old}, -1)
		got, err := v.o.store.Read(ctx, shardOfGid(gid, v.r.spec.Shards), []string{gid})
		if err != nil {
			return nil, false, err
		}
		add(&got[0], 1)
	}
	for _, t := range v.r.clients.all() {
		complete = complete && t.kept(time.Now(), v.r.spec.FinishedExpire) == 0
	}
	return deltas, complete, nil
}
