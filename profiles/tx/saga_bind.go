package tx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// bindSaga connects a saga plan to a store of transactions.
func bindSaga(c store.Conn, p *workload.Plan, sp *sagaSpec, st sagaStore, m meter) error {
	r := newSagaRun(sp, st, m)
	r.whole = true
	if err := bindSagaRun(c, p, sp, r); err != nil {
		return err
	}
	p.Facts = func() any { return r.facts() }
	p.Phases[0].Tracks[0].NewTask = func(worker int) (workload.Task, error) { return r.newTask(worker), nil }
	return nil
}

// bindSagaRun sets a plan's setup, verification and teardown.
func bindSagaRun(c store.Conn, p *workload.Plan, sp *sagaSpec, r *sagaRun) error {
	keep, err := store.As[store.Keeper](c)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	p.Setup = func(ctx context.Context, progress func(done, total int64)) error {
		if progress == nil {
			progress = func(int64, int64) {}
		}
		return r.setup(ctx, c, keep, progress)
	}
	p.Verify = func(ctx context.Context) workload.Verification {
		defer func() { _ = r.log.close() }() // nothing is written any more
		if f, ok := c.(store.Forgetful); ok && f.Forgets() {
			r.measureEnd(ctx)
			return workload.Verification{State: workload.Skipped, Summary: "the store keeps nothing, so there is nothing to verify"}
		}
		return r.verify(ctx)
	}
	p.Teardown = func(ctx context.Context) error {
		var err error
		if c, ok := r.store.(interface{ cleanup(context.Context) error }); ok {
			err = c.cleanup(ctx)
		}
		if r.existed {
			return err
		}
		return errors.Join(err, drop(ctx, keep, sp.space()), dropTables(ctx, keep, r.store))
	}
	return nil
}

// setup makes sure that the space is ours, makes the accounts, and takes up what
// an earlier run has left unfinished.
func (r *sagaRun) setup(ctx context.Context, c store.Conn, keep store.Keeper, progress func(done, total int64)) error {
	sp := r.spec
	if err := r.admit(ctx, keep); err != nil {
		return err
	}
	if p, ok := c.(store.Prober); ok {
		if err := p.Probe(ctx, sp.space()); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if sp.ackLog != "" {
		log, earlier, err := openAckLog(sp.ackLog)
		if err != nil {
			return err
		}
		r.mu.Lock()
		r.log, r.earlier = log, earlier
		r.mu.Unlock()
	}
	if _, err := record(ctx, keep, r.record()); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := makeTables(ctx, keep, r.store, sp.runID, sp.allow); err != nil {
		return err
	}
	if err := r.store.Prepare(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	if err := r.takeUp(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	r.nextPoll.Store(time.Now().Add(sp.cron).UnixNano())
	r.nextCheck.Store(time.Now().Add(sp.check).UnixNano())
	r.measureStart(ctx)
	return nil
}

// admit decides whether the space may be written to: it is empty, or ours with
// the same accounts, or --allow-existing was given.
func (r *sagaRun) admit(ctx context.Context, keep store.Keeper) error {
	sp, name := r.spec, prefixed(r.spec.namespace, sagaSpace)
	made, err := keep.Made(ctx, sp.namespace)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	for _, m := range made {
		if m.Name != sagaSpace {
			continue
		}
		r.existed = true
		want := r.record().Params
		if !maps.Equal(m.Params, want) {
			return fault.Input(fmt.Errorf("%s is there, made with %s, and this run has %s", name, words(m.Params), words(want)),
				"use the same values, another --namespace, or delete it with  "+deleteCommand(sp.namespace))
		}
		return nil
	}
	found, err := keep.Inspect(ctx, sp.space())
	if err != nil {
		return fault.Code(fmt.Errorf("look at %s: %w", name, err), fault.CodeStore)
	}
	if !found.Exists {
		return nil
	}
	if !sp.allow {
		return fault.Input(fmt.Errorf("%s is there and was not made by perfbench", name), "use another --namespace, or --allow-existing to write into it")
	}
	r.existed = true
	return nil
}

func (r *sagaRun) record() store.Made {
	sp := r.spec
	return store.Made{
		Space: sp.space(), Profile: Name, Run: sp.runID, Updated: time.Now().UTC().Format(time.RFC3339),
		Params: map[string]string{
			"accounts": strconv.FormatInt(sp.accounts, 10), "balance": strconv.FormatInt(sp.balance, 10), "prefixes": strconv.Itoa(sp.shards),
		},
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

func deleteCommand(namespace string) string {
	cmd := "perfbench data delete --target URL"
	switch namespace {
	case "perfbench":
	case "":
		cmd += ` --namespace ""`
	default:
		cmd += " --namespace " + namespace
	}
	return cmd
}

// takeUp carries on what is due of an earlier run, and notes how the rest stands.
func (r *sagaRun) takeUp(ctx context.Context) error {
	began := time.Now()
	c := coordinator{spec: r.spec, store: r.store, calm: true, tally: &sagaTally{}}
	for shard := range r.spec.shards {
		list, err := r.store.Unfinished(ctx, shard)
		if err != nil {
			return fmt.Errorf("look for unfinished transactions: %w", err)
		}
		for _, p := range list {
			if p.due.After(began) {
				if err := r.leave(ctx, shard, p.gid); err != nil {
					return err
				}
				continue
			}
			s, err := c.resume(ctx, shard, p.gid)
			if err != nil && !errors.Is(err, errNone) && !errors.Is(err, errUndecided) && !errors.Is(err, errMoved) {
				return err
			}
			r.took(&r.atStart, s)
			if err != nil { // somebody else carries it on, or this run does later
				if err := r.leave(ctx, shard, p.gid); err != nil {
					return err
				}
			}
		}
	}
	r.mu.Lock()
	r.atStart.Seconds = time.Since(began).Seconds()
	r.mu.Unlock()
	if r.spec.accounts == 0 {
		return nil
	}
	r.base = map[int64]int64{}
	return r.store.Balances(ctx, func(a, balance int64) { r.base[a] = balance })
}

// leave notes how a saga stands that is not finished before the run.
func (r *sagaRun) leave(ctx context.Context, shard int, gid string) error {
	got, err := r.store.Read(ctx, shard, []string{gid})
	if err == nil {
		r.foreign[gid] = got[0].ledger
	}
	return err
}

func (r *sagaRun) measureStart(ctx context.Context) {
	u := r.conn.usage(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.before = u
	r.extra = r.beside()
}

func (r *sagaRun) measureEnd(ctx context.Context) {
	u := r.conn.usage(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.after = u
	r.extra = r.beside() - r.extra
}

// beside is how many statements beside those of sagas a SQL store has been sent.
func (r *sagaRun) beside() int64 {
	if d, ok := r.store.(*sqlSagas); ok {
		return d.extra.Load()
	}
	return 0
}

// tabled is implemented by what has tables of its own, which are spaces beside the
// main one.
type tabled interface {
	spaces() []store.Space
	create(ctx context.Context) error
}

// makeTables makes the tables of what has some, unless others have such.
func makeTables(ctx context.Context, keep store.Keeper, of any, run string, allow bool) error {
	t, ok := of.(tabled)
	if !ok {
		return nil
	}
	spaces := t.spaces()
	made, err := keep.Made(ctx, spaces[0].Namespace)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	ours := map[string]bool{}
	for _, m := range made {
		ours[m.Name] = true
	}
	for _, sp := range spaces {
		found, err := keep.Inspect(ctx, sp)
		if err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		if found.Exists && !ours[sp.Name] && !allow {
			return fault.Input(fmt.Errorf("the table %s_%s is there and was not made by perfbench", sp.Namespace, sp.Name), "use another --namespace, or --allow-existing to write into it")
		}
	}
	if err := t.create(ctx); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	for _, sp := range spaces {
		if _, err := record(ctx, keep, store.Made{Space: sp, Profile: Name, Run: run, Updated: time.Now().UTC().Format(time.RFC3339)}); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	return nil
}

func dropTables(ctx context.Context, keep store.Keeper, of any) error {
	t, ok := of.(tabled)
	if !ok {
		return nil
	}
	var errs []error
	for _, sp := range t.spaces() {
		err := drop(ctx, keep, sp)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
