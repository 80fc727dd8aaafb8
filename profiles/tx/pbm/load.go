package pbm

import (
	"context"
	"math/rand/v2"

	"golang.org/x/sync/errgroup"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// Limits of one call of the load.
const (
	loadEntries = 200
	loadBytes   = 4 << 20
	loaders     = 4
)

// load writes a map. Until it is complete, there is a record that says so.
func (b *run) load(ctx context.Context, name string, progress func(done, total int64)) error {
	s := b.s
	size, total := s.flat[name].payload, s.flat[name].entries
	if name == padogrid.Eligibility {
		size, total = s.eligPayload, s.entries()
	}
	rnd := rand.NewChaCha8([32]byte{byte(s.seed), byte(s.seed >> 8), byte(len(name))})
	val := make([]byte, size)
	_, _ = rnd.Read(val) // never fails
	per := int64(max(min(loadEntries, loadBytes/max(size, 1)), 1))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(loaders)
	done := int64(0)
	flush := func(groups []store.Group) {
		n := int64(0)
		for _, x := range groups {
			n += int64(len(x.Entries))
		}
		g.Go(func() error { return b.write(ctx, s.space(name), groups) })
		done += n
		progress(done, total)
	}
	var pending []store.Group
	n := int64(0)
	s.everything(name, func(gr store.Group) bool {
		for i := range gr.Entries {
			gr.Entries[i].Val = val
		}
		pending = append(pending, gr)
		if n += int64(len(gr.Entries)); n >= per {
			flush(pending)
			pending, n = nil, 0
		}
		return ctx.Err() == nil
	})
	if len(pending) > 0 {
		flush(pending)
	}
	if err := g.Wait(); err != nil {
		return err
	}
	b.note(func(l *loadFacts) { l.Entries += total })
	return b.claim.Update(context.WithoutCancel(ctx), s.space(name), b.params(name, ""))
}

// everything calls f with each group of a map.
func (s *Spec) everything(name string, f func(store.Group) bool) {
	if name != padogrid.Eligibility {
		for i := int64(1); i <= s.flat[name].entries; i++ {
			g := padogrid.AppendGroup(nil, s.prefix, i)
			if !f(store.Group{Name: g, Entries: []store.Entry{{Key: g}}}) {
				return
			}
		}
		return
	}
	for t := range s.eligThreads {
		sh := s.share(t)
		for i := int64(0); i < sh.Entries; {
			g := store.Group{Name: padogrid.AppendGroup(nil, s.prefix, sh.EligibilityKey(i).Group)}
			for range sh.Size {
				e := sh.EligibilityKey(i)
				key := e.AppendMember(nil)
				if !s.grouped() {
					key = e.AppendText(nil, s.prefix)
				}
				g.Entries = append(g.Entries, store.Entry{Key: key})
				i++
			}
			if !f(g) {
				return
			}
		}
	}
}

// write stores groups in the layout of the plan.
func (b *run) write(ctx context.Context, sp store.Space, groups []store.Group) error {
	if sp.Grouped {
		w, err := store.As[store.GroupPutter](b.c)
		if err != nil {
			return err
		}
		return w.PutGroups(ctx, sp, groups)
	}
	w, err := store.As[store.BatchPutter](b.c)
	if err != nil {
		return err
	}
	var es []store.Entry
	for _, g := range groups {
		es = append(es, g.Entries...)
	}
	return w.PutAll(ctx, sp, es)
}
