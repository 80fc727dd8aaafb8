package saga

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/common"
	"github.com/perfbench/perfbench/profiles/tx/saga/coordinator"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// bindSaga connects a saga plan to a store of transactions.
func bindSaga(c store.Conn, p *workload.Plan, s Binding, l *model.Adapter, m common.Meter) error {
	r := NewRun(s.Spec, l, m)
	r.whole, r.stake = true, s.stake
	p.Claims, p.Parts = r.Parts(c)
	r.share(p)
	p.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) { return r.NewTask(r.stake.Number(worker)), nil }
	return nil
}

// Parts are the claims of a run, and what prepares and verifies it.
func (r *Run) Parts(c store.Conn) ([]ownership.Space, workload.Parts) {
	r.db = c
	return r.claims(), workload.Parts{r}
}

// Verify compares what is stored with what was acknowledged.
func (r *Run) Verify(ctx context.Context) workload.Verification {
	defer func() { _ = r.log.close() }() // nothing more is written
	if store.Forgets(r.db) {
		r.measureEnd(ctx)
		return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
	}
	return r.verify(ctx)
}

// Teardown removes what the layer has made.
func (r *Run) Teardown(ctx context.Context) error {
	if r.layer.Cleanup == nil {
		return nil
	}
	return r.layer.Cleanup(ctx)
}

// Setup makes tables and accounts, and takes up what an earlier run has left
// unfinished.
func (r *Run) Setup(ctx context.Context, progress func(done, total int64)) error {
	sp := r.spec
	if sp.AckLog != "" {
		log, earlier, err := openAckLog(sp.AckLog)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.log, r.earlier = log, earlier
		r.mu.Unlock()
	}
	if at := r.layer.Places; at != nil {
		if err := at.Create(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if err := r.store.Prepare(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := r.takeUp(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	r.nextPoll.Store(time.Now().Add(sp.Cron).UnixNano())
	r.nextCheck.Store(time.Now().Add(sp.Check).UnixNano())
	r.measureStart(ctx)
	return nil
}

// KeyForms are the forms of the keys of sagas, by prefix: accounts and index and, for
// each transaction, its record, rows, status and ledger.
var KeyForms = []string{
	store.FormOf("hash", `\{[0-9]+\}:a`), store.FormOf("zset", `\{[0-9]+\}:u`),
	store.FormOf("string", `\{[0-9]+\}:[gs]:`+gidForm), store.FormOf("list", `\{[0-9]+\}:b:`+gidForm),
	store.FormOf("hash", `\{[0-9]+\}:l:`+gidForm),
}

var gidForm = fmt.Sprintf("[0-9a-z]{%d}", model.GidLength)

// claims returns where sagas are kept: in tables of their own, or in keys.
func (r *Run) claims() []ownership.Space {
	if at := r.layer.Places; at != nil {
		return at.Spaces(r.params())
	}
	return []ownership.Space{{Space: r.spec.Space(), Parts: KeyForms, Params: r.params()}}
}

// Admit refuses what was made with other accounts.
func (r *Run) Admit(ctx context.Context, c *ownership.Claim) error {
	sp, want := r.spec, r.params()
	r.existed = false
	for _, wanted := range r.claims() {
		spot := c.Spot(wanted.Space)
		if spot.State == ownership.Fresh {
			continue
		}
		r.existed = true
		old := spot.Earlier.Params
		if len(old) == 0 { // with tables, older versions recorded them separately
			all, _ := c.Earlier(sp.Space())
			old = all.Params
		}
		if len(old) > 0 && !maps.Equal(old, want) {
			return fault.Input(fmt.Errorf("%s already exists, made with %s, and this run has %s", ownership.Name(wanted.Space), words(old), words(want)),
				"use the same values, another --namespace, or delete it with  "+ownership.DeleteCommand(sp.Namespace))
		}
	}
	if at := r.layer.Places; at != nil {
		return at.Check(ctx, c)
	}
	return nil
}

func (r *Run) params() map[string]string {
	sp := r.spec
	return map[string]string{
		"accounts": strconv.FormatInt(sp.Accounts, 10), "balance": strconv.FormatInt(sp.Balance, 10), "prefixes": strconv.Itoa(sp.Shards),
	}
}

func words(params map[string]string) string {
	names := make([]string, 0, len(params))
	for k := range params {
		names = append(names, k)
	}
	sort.Strings(names)
	for i, k := range names {
		names[i] = k + "=" + params[k]
	}
	return strings.Join(names, " ")
}

// takeUp continues what is due of an earlier run, and notes the state of the rest.
func (r *Run) takeUp(ctx context.Context) error {
	began := time.Now()
	c := coordinator.Recovery(r.spec, r.layer.Open())
	for shard := range r.spec.Shards {
		list, err := r.store.Unfinished(ctx, shard)
		if err != nil {
			return fmt.Errorf("look for unfinished transactions: %w", err)
		}
		for _, p := range list {
			if p.Due.After(began) {
				if err := r.leave(ctx, shard, p.Gid); err != nil {
					return err
				}
				continue
			}
			s, err := c.Resume(ctx, shard, p.Gid)
			if errors.Is(err, coordinator.ErrWaiting) {
				if err := r.leave(ctx, shard, p.Gid); err != nil {
					return err
				}
				continue
			}
			if err != nil && !errors.Is(err, model.ErrNone) && !errors.Is(err, coordinator.ErrUndecided) && !errors.Is(err, model.ErrMoved) {
				return err
			}
			r.took(&r.atStart, s)
			if err != nil { // somebody else continues it, or this run will later
				if err := r.leave(ctx, shard, p.Gid); err != nil {
					return err
				}
			}
		}
	}
	r.mu.Lock()
	r.atStart.Seconds = time.Since(began).Seconds()
	r.mu.Unlock()
	if r.spec.Accounts == 0 {
		return nil
	}
	r.base = map[int64]int64{}
	return r.store.Balances(ctx, func(a, balance, frozen int64) { r.base[a] = balance + frozen })
}

// leave notes the state of a saga that is not finished before the run.
func (r *Run) leave(ctx context.Context, shard int, gid string) error {
	got, err := r.store.Read(ctx, shard, []string{gid})
	if err == nil {
		r.foreign[gid] = got[0].Ledger
	}
	return err
}

func (r *Run) measureStart(ctx context.Context) {
	company, u := r.company(ctx), r.conn.Usage(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before, r.neighbour = u, company
	r.extra = r.layer.Saw().Beside
}

func (r *Run) measureEnd(ctx context.Context) {
	u, company := r.conn.Usage(ctx), r.company(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.after, r.neighbour = u, cmp.Or(r.neighbour, company)
	r.extra = r.layer.Saw().Beside - r.extra
}

// company says who else of perfbench uses the server whose calls are compared; empty if
// they are not.
func (r *Run) company(ctx context.Context) string {
	if !r.spec.CountCalls {
		return ""
	}
	return r.conn.Company(ctx)
}
