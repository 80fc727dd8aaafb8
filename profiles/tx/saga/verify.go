package saga

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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
func (r *Run) atOnce() int {
	each := 3 * r.spec.Branches * r.sizes.Most() // two rows per branch, as base64
	return max(min(readAtOnce, readBytes/max(each, 1)), 1)
}

// verify takes up what is unfinished, and then reads everything back.
func (r *Run) verify(ctx context.Context) workload.Verification {
	r.measureEnd(ctx)
	cut := func(what string, err error) workload.Verification {
		return workload.Verification{State: workload.Incomplete, Summary: what + ": " + err.Error(), Checks: r.checks()}
	}
	if err := r.drain(ctx); err != nil {
		return cut("unfinished sagas could not be taken up", err)
	}
	if err := r.readOwn(ctx); err != nil {
		return cut("the sagas could not be read back", err)
	}
	if err := r.readEarlier(ctx); err != nil {
		return cut("the sagas of an earlier run could not be read back", err)
	}
	if r.spec.Accounts > 0 {
		if err := r.compareBalances(ctx); err != nil {
			return cut("the accounts could not be read back", err)
		}
	}
	r.mu.Lock()
	r.verified = true
	r.mu.Unlock()
	f := r.facts()
	v := workload.Verification{State: workload.Passed, Checks: r.checks()}
	for _, c := range v.Checks {
		if !c.OK {
			v.State = workload.Failed
		}
	}
	v.Summary = r.sum(f, v.State)
	v.Checks = append(v.Checks, f.Cost.Calls.checks()...)
	r.mu.Lock()
	shared := r.neighbour != ""
	r.mu.Unlock()
	if shared {
		v.Summary += "; the calls that the store counted were not compared: " + f.Cost.Calls.Why
	}
	if f.Cost.Calls.State == differ {
		v.State, v.Summary = workload.Failed, f.Cost.Calls.Words()+"; "+v.Summary
	}
	return v
}

// longStall is how long nothing may complete before the summary mentions it.
const longStall = 500 * time.Millisecond

// sum says in one sentence how much was acknowledged, how much of that is lost, how
// much was recovered, and for how long nothing completed.
func (r *Run) sum(f *Facts, state string) string {
	some := r.spec.Kind.Some
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
	if r.whole && f.StallS >= longStall.Seconds() {
		parts = append(parts, fmt.Sprintf("nothing completed for %.2f s, from %.2f s on", f.StallS, f.StallFromS))
	}
	return strings.Join(parts, "; ")
}

func (r *Run) checks() []workload.Check {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, notes := r.together()
	var out []workload.Check
	for _, name := range []string{checkAcked, checkSampled, checkEarlier, checkPayload, checkWhole, checkOrder, checkStates, checkMoney, checkLedger, checkFrozen, checkIndex} {
		if n, ok := notes.asked[name]; ok {
			bad := notes.bad[name]
			out = append(out, workload.Check{Name: r.spec.Kind.Words(name), OK: bad == 0, Want: strconv.FormatInt(n, 10), Got: strconv.FormatInt(max(n-bad, 0), 10), Examples: notes.examples[name]})
		}
	}
	return out
}

// drain takes up every unfinished saga of this run, and those of others that are due.
func (r *Run) drain(ctx context.Context) error {
	began := time.Now()
	c := coordinator.Recovery(r.spec, r.layer.Open())
	f := &findings{}
	for shard := range r.spec.Shards {
		list, err := r.store.Unfinished(ctx, shard)
		if err != nil {
			return err
		}
		for _, p := range list {
			_, _, own := model.SplitGid(p.Gid, r.spec.Stamp)
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
			r.took(&r.atEnd, s)
			f.ask(checkIndex, 1)
			if err != nil {
				f.offend(checkIndex, "%s: %v", p.Gid, err)
			}
		}
	}
	f.ask(checkIndex, 0)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.atEnd.Seconds = time.Since(began).Seconds()
	r.notes.merge(f)
	return nil
}

func (f *findings) merge(g *findings) {
	for name, n := range g.asked {
		f.ask(name, n)
		f.bad[name] += g.bad[name]
		f.examples[name] = append(f.examples[name], g.examples[name]...)
		f.examples[name] = f.examples[name][:min(len(f.examples[name]), maxExamples)]
	}
}

// readOwn reads back every saga of this run that is still kept.
func (r *Run) readOwn(ctx context.Context) error {
	type want struct {
		gids []string
		told []outcome
	}
	lists := make([]want, r.spec.Shards)
	most := r.atOnce()
	flush := func(shard int) error {
		w := &lists[shard]
		got, err := r.store.Read(ctx, shard, w.gids)
		if err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for i := range got {
			if w.told[i] == unknown && got[i].Status == "" {
				r.absent++
			}
			r.judge(&r.notes, &got[i], w.told[i], checkAcked)
			for _, e := range got[i].Ledger {
				if !e.Null {
					r.moved[e.Account] += e.Amount
				}
			}
		}
		r.readBack += int64(len(got))
		*w = want{w.gids[:0], w.told[:0]}
		return nil
	}
	r.mu.Lock()
	tallies := r.clients.all()
	r.notes.ask(checkAcked, 0)
	r.mu.Unlock()
	for worker, t := range tallies {
		for seq := t.kept(time.Now(), r.spec.FinishedExpire); seq < t.seq; seq++ {
			shard := int(seq+int64(worker)) % r.spec.Shards
			w := &lists[shard]
			w.gids = append(w.gids, string(model.AppendGid(nil, r.spec.Stamp, worker, seq)))
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
func (r *Run) readEarlier(ctx context.Context) error {
	gids := make([]string, 0, len(r.earlier))
	for gid := range r.earlier {
		gids = append(gids, gid)
	}
	slices.Sort(gids)
	for part := range slices.Chunk(gids, r.atOnce()) {
		for shard := range r.spec.Shards {
			var mine []string
			for _, g := range part {
				if shardOfGid(g, r.spec.Shards) == shard {
					mine = append(mine, g)
				}
			}
			if len(mine) == 0 {
				continue
			}
			got, err := r.store.Read(ctx, shard, mine)
			if err != nil {
				return err
			}
			r.mu.Lock()
			for i := range got {
				r.judge(&r.notes, &got[i], r.earlier[got[i].Gid], checkEarlier)
			}
			r.mu.Unlock()
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
func (r *Run) compareBalances(ctx context.Context) error {
	deltas, complete, err := r.deltas(ctx)
	if err != nil {
		return err
	}
	left, flying, ice, err := r.underWay(ctx)
	if err != nil {
		return err
	}
	var sum, n int64
	f := &findings{}
	err = r.store.Balances(ctx, func(a, balance, frozen int64) {
		balance += frozen
		sum += balance
		n++
		if frozen != 0 || ice[a] != 0 || r.spec.Kind == model.KindTCC {
			f.ask(checkFrozen, 1)
			if frozen != ice[a] {
				f.offend(checkFrozen, "account %d: %d is frozen, and what is under way has frozen %d", a, frozen, ice[a])
			}
		}
		if !complete {
			return
		}
		f.ask(checkLedger, 1)
		if want := r.base[a] + deltas[a]; balance != want {
			f.offend(checkLedger, "account %d: holds %d, and its ledgers say %d", a, balance, want)
		}
	})
	if err != nil {
		return err
	}
	f.ask(checkMoney, 1)
	if want := r.spec.Accounts * r.spec.Balance; sum-flying != want {
		f.offend(checkMoney, "%d accounts hold %d together, with %d under way in %d unfinished sagas, instead of %d", n, sum, -flying, left, want)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.balances, r.left, r.flying = n, left, flying
	r.notes.merge(f)
	return nil
}

// underWay counts the sagas that are unfinished after the drain, and adds up what they
// have taken off the accounts (negative) or put on them, and which amounts they have
// frozen on which account.
func (r *Run) underWay(ctx context.Context) (left, flying int64, ice map[int64]int64, err error) {
	ice = map[int64]int64{}
	for shard := range r.spec.Shards {
		list, err := r.store.Unfinished(ctx, shard)
		if err != nil {
			return 0, 0, nil, err
		}
		for part := range slices.Chunk(list, r.atOnce()) {
			gids := make([]string, len(part))
			for i, p := range part {
				gids[i] = p.Gid
			}
			got, err := r.store.Read(ctx, shard, gids)
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
func (r *Run) deltas(ctx context.Context) (deltas map[int64]int64, complete bool, err error) {
	deltas, complete = r.moved, !r.shared.Lost()
	add := func(s *model.Stored, sign int64) {
		for _, e := range s.Ledger {
			if !e.Null {
				deltas[e.Account] += sign * e.Amount
			}
		}
	}
	for gid, old := range r.foreign {
		add(&model.Stored{Ledger: old}, -1)
		got, err := r.store.Read(ctx, shardOfGid(gid, r.spec.Shards), []string{gid})
		if err != nil {
			return nil, false, err
		}
		add(&got[0], 1)
	}
	for _, t := range r.clients.all() {
		complete = complete && t.kept(time.Now(), r.spec.FinishedExpire) == 0
	}
	return deltas, complete, nil
}
