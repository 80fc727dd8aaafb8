package ingestion

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// binding is the plan at work on one store.
type binding struct {
	records []store.Made // what setup wrote down
	s       *spec
	conn    store.Conn
	keep    store.Keeper
	w       writer
	read    reader
	loads   []*load
}

// bind connects a plan to a store. It changes nothing there.
func bind(_ context.Context, c store.Conn, p *workload.Plan) error {
	s, ok := p.Private.(*spec)
	if !ok {
		return errors.New("ingestion: the plan is of another profile")
	}
	b := &binding{s: s, conn: c}
	if err := b.capabilities(); err != nil {
		return fault.Store(fmt.Errorf("ingestion: %w", err), "use redis:// or embedded:")
	}
	for i := range s.maps {
		l := newLoad(s, &s.maps[i])
		b.loads = append(b.loads, l)
		p.Phases[0].Tracks[i].NewTask = func(worker int) (workload.Task, error) {
			return newTask(l, b.w, worker), nil
		}
	}
	p.Setup, p.Verify, p.Teardown = b.setup, b.verify, b.teardown
	p.Facts = func() any { return facts(s, b.loads) }
	return nil
}

// capabilities asks the connection for what the plan needs, and no more.
func (b *binding) capabilities() error {
	var err error
	need := func(e error) { err = errors.Join(err, e) }
	var e error
	b.keep, e = store.As[store.Keeper](b.conn)
	need(e)
	b.read.count, e = store.As[store.Counter](b.conn)
	need(e)
	if b.s.grouped {
		b.w.grouped, e = store.As[store.GroupPutter](b.conn)
		need(e)
		b.read.grouped = b.w.grouped
		return err
	}
	b.read.getAll, e = store.As[store.BatchGetter](b.conn)
	need(e)
	for _, m := range b.s.maps {
		if m.putAll {
			b.w.putAll, e = store.As[store.BatchPutter](b.conn)
		} else {
			b.w.put, e = store.As[store.Putter](b.conn)
		}
		need(e)
	}
	return err
}

// setup makes sure that the maps are ours to write into, and records that they
// are. Nothing is recorded unless all of them may be used.
func (b *binding) setup(ctx context.Context, progress func(done, total int64)) error {
	made, err := b.keep.Made(ctx, b.s.namespace)
	if err != nil {
		return b.explain(ctx, b.loads[0].space, err)
	}
	records := make([]store.Made, len(b.loads))
	total := int64(2 * len(b.loads))
	for i, l := range b.loads {
		if err := b.admit(ctx, l, made); err != nil {
			return err
		}
		if p, ok := b.conn.(store.Prober); ok {
			if err := p.Probe(ctx, l.space); err != nil {
				return fault.Code(err, fault.CodeStore)
			}
		}
		records[i] = b.record(l, made)
		if progress != nil {
			progress(int64(i+1), total)
		}
	}
	b.records = records
	for i, r := range records {
		if err := b.keep.Record(ctx, r); err != nil {
			return fault.Code(err, fault.CodeStore)
		}
		if progress != nil {
			progress(int64(len(b.loads)+i+1), total)
		}
	}
	return nil
}

// recordAgain writes down once more what we made when the record is gone: a store
// that lost everything in mid-run has since been written to. What cannot be
// recorded is found by the verification.
func (b *binding) recordAgain(ctx context.Context) {
	made, err := b.keep.Made(ctx, b.s.namespace)
	if err != nil {
		return
	}
	for _, r := range b.records {
		if _, ok := recordOf(made, r.Space); !ok {
			_ = b.keep.Record(ctx, r)
		}
	}
}

// explain says why the store could not be asked. A probe knows best.
func (b *binding) explain(ctx context.Context, s store.Space, err error) error {
	if p, ok := b.conn.(store.Prober); ok && ctx.Err() == nil {
		if why := p.Probe(ctx, s); why != nil {
			return fault.Code(why, fault.CodeStore)
		}
	}
	return fault.Code(fmt.Errorf("map %s: %w", s.Name, err), fault.CodeStore)
}

// admit decides whether a map may be written to: it is empty, or ours in the same
// layout, or --allow-existing was given.
func (b *binding) admit(ctx context.Context, l *load, made []store.Made) error {
	other := l.space
	other.Grouped = !other.Grouped
	if _, ok := recordOf(made, other); ok {
		found, err := b.keep.Inspect(ctx, other)
		if err != nil {
			return b.explain(ctx, other, err)
		}
		if found.Exists {
			return fault.Input(fmt.Errorf("map %s is there in the other layout: an earlier run made it with layout=%s", l.m.name, layoutWord(other)),
				fmt.Sprintf("delete it with  %s,  keep that layout, or use another --namespace", b.deleteCommand()))
		}
	}
	found, err := b.keep.Inspect(ctx, l.space)
	if err != nil {
		return b.explain(ctx, l.space, err)
	}
	if !found.Exists {
		return nil
	}
	_, ours := recordOf(made, l.space)
	name := b.placeName(l.space)
	switch {
	case !fits(found):
		return fault.Input(fmt.Errorf("%s is there and is a %s, not a map", name, found.Kind), "use another --namespace, or delete it yourself")
	case ours:
		l.found(true, 0)
	case found.Size == 0:
	case !b.s.allow:
		size := ""
		if found.Size > 0 {
			size = fmt.Sprintf(" with %d entries", found.Size)
		}
		return fault.Input(fmt.Errorf("%s is there%s and was not made by perfbench", name, size),
			"use another --namespace, or --allow-existing to write into it")
	default:
		l.found(true, max(found.Size, 0))
	}
	return nil
}

// found notes that a map was there before, with so many entries of others.
func (l *load) found(existed bool, others int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.existed, l.before = existed, others
}

// fits says whether what is there is a map, in the words of the stores.
func fits(f store.Found) bool {
	switch f.Kind {
	case "string", "list", "set", "zset", "stream":
		return false
	}
	return f.Size >= 0 || f.Kind != "hash"
}

// placeName names a space as its user knows it.
func (b *binding) placeName(s store.Space) string {
	if s.Namespace == "" {
		return s.Name
	}
	return s.Namespace + ":" + s.Name
}

func (b *binding) deleteCommand() string {
	cmd := "perfbench data delete --target URL"
	switch b.s.namespace {
	case "perfbench":
	case "":
		cmd += ` --namespace ""`
	default:
		cmd += " --namespace " + b.s.namespace
	}
	return cmd
}

func layoutWord(s store.Space) string {
	if s.Grouped {
		return layoutGroup
	}
	return layoutMap
}

func recordOf(made []store.Made, s store.Space) (store.Made, bool) {
	for _, m := range made {
		if m.Name == s.Name && m.Grouped == s.Grouped && m.Namespace == s.Namespace {
			return m, true
		}
	}
	return store.Made{}, false
}

// record makes the record of a map: what a later run must know to read it, and
// which sets of keys have been written, so that a later verification knows how
// many there may be.
func (b *binding) record(l *load, made []store.Made) store.Made {
	s, m := b.s, l.m
	sets, shared := &keySets{}, false
	if old, ok := recordOf(made, l.space); ok && l.existed {
		sets, shared = parseKeySets(old.Params["keysets"]), old.Shared
	} else if l.before > 0 {
		sets.add("others", l.before)
		shared = true
	}
	sets.add(m.keySet(s), m.entries())
	l.before = sets.total()
	return store.Made{
		Space: l.space, Profile: Name, Run: s.runID, Updated: time.Now().UTC().Format(time.RFC3339), Shared: shared,
		Params: map[string]string{
			"layout":        s.layout(),
			"prefix":        s.prefix,
			"memberSetSize": strconv.FormatInt(s.members, 10),
			"totalEntries":  strconv.FormatInt(m.entries(), 10),
			"threads":       strconv.Itoa(m.start.Threads),
			"perThread":     strconv.FormatInt(m.per, 10),
			"payload":       strconv.Itoa(m.start.Payload),
			"baseDateMs":    strconv.FormatInt(s.base, 10),
			"seed":          strconv.FormatInt(s.seed, 10),
			"keysets":       sets.String(),
		},
	}
}

// teardown removes the maps that this run made, and leaves those that were there.
func (b *binding) teardown(ctx context.Context) error {
	var errs []error
	for _, l := range b.loads {
		if l.existed {
			continue
		}
		if _, err := b.keep.Drop(ctx, l.space, nil); err != nil {
			errs = append(errs, fmt.Errorf("delete map %s: %w", l.m.name, err))
		}
	}
	return errors.Join(errs...)
}
