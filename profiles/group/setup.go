package group

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// admit looks at every structure before anything is written: it must be of the
// right type, and empty or ours where the plan writes.
func (b *binding) admit(ctx context.Context) error {
	made, err := b.keep.Made(ctx, b.s.namespace)
	if err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	var errs []error
	for _, st := range b.inOrder() {
		if k := st.op.kind; k == kindTopic || k == kindSTopic {
			continue
		}
		found, err := b.keep.Inspect(ctx, st.space)
		if err != nil {
			return fault.Code(fmt.Errorf("look at %s: %w", keyOf(st.space), err), fault.CodeStore)
		}
		if i := slices.IndexFunc(made, func(m store.Made) bool { return m.Name == st.space.Name && m.Grouped == st.space.Grouped }); i >= 0 {
			st.made, st.seed, st.half = true, made[i].Params["seed"], made[i].Params[loadingMark] != ""
		}
		if !found.Exists {
			continue
		}
		st.existed, st.before = true, max(found.Size, 0)
		name := keyOf(st.space)
		want := st.op.kind.redisType()
		switch {
		case isRedisType(found.Kind) && want != "" && found.Kind != want:
			errs = append(errs, fault.Input(fmt.Errorf("%s: operation %s: %s is a %s in the store and a %s is a %s", st.op.where, st.op.name, name, found.Kind, st.op.kind, want),
				"use another --namespace, or delete it yourself"))
		case !st.writes && !st.removes, st.made, b.s.allow, found.Size == 0:
		default:
			size := ""
			if found.Size > 0 {
				size = fmt.Sprintf(" with %d entries", found.Size)
			}
			errs = append(errs, fault.Input(fmt.Errorf("%s is there%s and was not made by perfbench", name, size),
				"use another --namespace, or --allow-existing to write into it"))
		}
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return fault.Code(errors.Join(errs...), fault.CodeInput)
}

func isRedisType(kind string) bool {
	return slices.Contains([]string{"string", "list", "set", "zset", "hash", "stream"}, kind)
}

// inOrder lists the structures as the operations first name them.
func (b *binding) inOrder() []*stock {
	var out []*stock
	for _, o := range b.s.order {
		if st := b.stocks[o.space]; o.kind != kindSleep && st != nil && !slices.Contains(out, st) {
			out = append(out, st)
		}
	}
	return out
}

// probed are the spaces in which a store tries whether it may write: those that
// are of its own kind of map.
func (b *binding) probed() []store.Space {
	var out []store.Space
	for _, st := range b.inOrder() {
		if st.writes && !st.op.table && (st.op.kind == kindMap || st.op.kind == kindCache || st.op.kind.many()) {
			out = append(out, st.space)
		}
	}
	if len(out) == 0 {
		out = append(out, store.Space{Namespace: b.s.namespace, Name: "_probe", Shape: store.Map})
	}
	return out
}

// setup loads what is read and not there, records what is ours, and has receivers
// listen.
func (b *binding) setup(ctx context.Context, progress func(done, total int64)) error {
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if r, ok := b.room.(interface {
		makeTables(ctx context.Context) error
	}); ok {
		if err := r.makeTables(ctx); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if r, ok := b.room.(interface{ sweep() }); ok {
		r.sweep()
	}
	if err := b.resume(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	for _, st := range b.inOrder() {
		if k := st.op.kind; k == kindTopic || k == kindSTopic || !st.writes && !b.loads(st) {
			continue
		}
		if err := b.record(ctx, st, b.loads(st)); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
	}
	if err := b.loadAll(ctx, progress); err != nil {
		return fault.Code(err, fault.CodeStore)
	}
	for i := range b.s.steps {
		for _, l := range b.s.topics(i) {
			if b.s.load == loadOnly {
				continue
			}
			if _, err := b.receiver(ctx, b.topic(l.op), b.s.subs-1); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		}
	}
	return nil
}

// loadingMark is the name under which a record says that a load is under way. What
// it is left in was not loaded to its end.
const loadingMark = "loading"

// record writes down that we made a structure, and the sorted set beside a cache.
func (b *binding) record(ctx context.Context, st *stock, loading bool) error {
	now := time.Now().UTC().Format(time.RFC3339)
	m := store.Made{Space: st.space, Profile: Name, Run: b.s.runID, Updated: now, Params: map[string]string{
		"structure": string(st.op.kind), "seed": strconv.FormatInt(b.s.seed, 10),
	}}
	if loading {
		m.Params[loadingMark] = "on"
	}
	if st.existed && !st.made {
		return nil // somebody else's, which we were allowed to use
	}
	if err := b.keep.Record(ctx, m); err != nil {
		return err
	}
	if b.sweeps(st) {
		m.Space = store.Space{Namespace: st.space.Namespace, Name: timeouts(st.space), Shape: "zset"}
		return b.keep.Record(ctx, m)
	}
	return nil
}

// teardown removes what this run made, and leaves what was there.
func (b *binding) teardown(ctx context.Context) error {
	if b.s.database && b.s.driver == "embedded" {
		return nil // the database is gone with its connection
	}
	var errs []error
	for _, st := range b.inOrder() {
		if k := st.op.kind; st.existed || k == kindTopic || k == kindSTopic || !st.writes && st.loaded == 0 {
			continue
		}
		spaces := []store.Space{st.space}
		if b.sweeps(st) {
			spaces = append(spaces, store.Space{Namespace: st.space.Namespace, Name: timeouts(st.space), Shape: "zset"})
		}
		for _, sp := range spaces {
			if _, err := b.keep.Drop(ctx, sp, nil); err != nil {
				errs = append(errs, fmt.Errorf("delete %s: %w", sp.Name, err))
			}
		}
	}
	return errors.Join(errs...)
}
