package tx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
)

// pbm is a pbm plan at work on one store.
type pbm struct {
	s     *pbmSpec
	c     store.Conn
	keep  store.Keeper
	store pbmStore
	works []*pbmWork
	// made are the spaces that this run made.
	made []store.Space
	mu   sync.Mutex
	// loaded tells what was loaded and how long it took; guarded by mu.
	loaded loadFacts
}

func (b *pbm) note(f func(l *loadFacts)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f(&b.loaded)
}

type loadFacts struct {
	Entries int64   `json:"entries"`
	Seconds float64 `json:"seconds"`
	// Found says who left what was there already: profile and run.
	Found string `json:"found,omitempty"`
}

// bindPBM connects a plan to a store.
func bindPBM(c store.Conn, p *workload.Plan, s *pbmSpec, st pbmStore) error {
	keep, err := store.As[store.Keeper](c)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	b := &pbm{s: s, c: c, keep: keep, store: st}
	for i := range s.maps {
		w := newPBMWork(s, &s.maps[i], st)
		b.works = append(b.works, w)
		p.Phases[0].Tracks[i].NewTask = func(worker int) (workload.Task, error) { return w.newTask(worker), nil }
	}
	p.Setup = func(ctx context.Context, progress func(done, total int64)) error {
		if progress == nil {
			progress = func(int64, int64) {}
		}
		return fault.Code(b.setup(ctx, progress), fault.CodeStore)
	}
	p.Verify, p.Teardown = b.verify, b.teardown
	p.Facts = func() any { return b.facts() }
	return nil
}

// preparer is implemented by stores that must be made ready for transactions.
type preparer interface {
	prepare(ctx context.Context) error
	cleanup(ctx context.Context) error
}

func (b *pbm) setup(ctx context.Context, progress func(done, total int64)) error {
	made, err := b.keep.Made(ctx, b.s.namespace)
	if err != nil {
		return err
	}
	if err := b.settle(made); err != nil {
		return err
	}
	if f, ok := b.c.(store.Forgetful); !ok || !f.Forgets() {
		if err := b.data(ctx, made, progress); err != nil {
			return err
		}
	}
	if b.s.tx() {
		if err := b.summaries(ctx, made); err != nil {
			return err
		}
	}
	if p, ok := b.store.(preparer); ok {
		return p.prepare(ctx)
	}
	return nil
}

// needs lists the maps that the plan reads.
func (b *pbm) needs() []string {
	if b.s.tx() {
		return mapsOf(values.FlavourRedis)
	}
	var out []string
	for _, m := range b.s.maps {
		out = append(out, m.name)
	}
	return out
}

// data makes sure that what the plan reads is there.
func (b *pbm) data(ctx context.Context, made []store.Made, progress func(done, total int64)) error {
	began := time.Now()
	for _, name := range b.needs() {
		there, err := b.recognise(ctx, name, made)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		if b.s.load == loadNever {
			return fault.Input(fmt.Errorf("map %s is not there, and load=never", name), "load it with  "+b.reload())
		}
		if err := b.load(ctx, name, progress); err != nil {
			return fmt.Errorf("load map %s: %w", name, err)
		}
		b.note(func(l *loadFacts) { l.Seconds = time.Since(began).Seconds() })
	}
	return nil
}

// recognise says whether a map is there as the plan needs it. What is there in
// another form is refused, with the commands that load it anew.
func (b *pbm) recognise(ctx context.Context, name string, made []store.Made) (bool, error) {
	s := b.s
	for _, m := range made {
		if m.Name != name {
			continue
		}
		where := fmt.Sprintf("map %s, left by profile %s (run %s),", name, m.Profile, m.Run)
		again := fmt.Sprintf("delete it with  %s  and load it with  %s,  or use another --namespace", deleteCommand(s.namespace), b.reload())
		if s.tx() && !m.Grouped && !b.inOneStep() {
			return false, fault.Input(fmt.Errorf("%s is one structure on one node of the cluster, and a transaction needs a group's entries of both maps together", where), b.elsewhere())
		}
		if m.Grouped != s.grouped() {
			return false, fault.Input(fmt.Errorf("%s is kept with layout=%s, and this plan needs layout=%s", where, layoutOf(m.Space), s.layout), again)
		}
		if name == mapSummary && m.Params["totalEntries"] == "" {
			return false, fault.Input(fmt.Errorf("%s holds what transactions wrote", where), again)
		}
		if m.Params["state"] == "loading" {
			return false, nil // a load that was cut short is done again
		}
		for key, want := range b.wanted(name) {
			if got := m.Params[key]; got != want {
				return false, fault.Input(fmt.Errorf("%s has %s=%s, and this plan needs %s", where, key, got, want), again)
			}
		}
		if err := b.complete(ctx, m, where, again); err != nil {
			return false, err
		}
		if n, err := strconv.Atoi(m.Params["payload"]); err == nil {
			if name == mapElig {
				s.eligPayload = n
			} else {
				s.flat[name] = flatMap{s.flat[name].entries, n}
			}
		}
		b.note(func(l *loadFacts) { l.Found = m.Profile + " " + m.Run })
		return true, nil
	}
	found, err := b.keep.Inspect(ctx, s.space(name))
	if err != nil || !found.Exists || s.allow {
		return false, err
	}
	return false, fault.Input(fmt.Errorf("%s is there and was not made by perfbench", prefixed(s.namespace, name)), "use another --namespace, or --allow-existing to write into it")
}

// complete checks that as many entries are there as were to be written.
func (b *pbm) complete(ctx context.Context, m store.Made, where, again string) error {
	counter, err := store.As[store.Counter](b.c)
	if err != nil {
		return err
	}
	got, err := counter.Count(ctx, m.Space)
	if err != nil {
		return err
	}
	if want, err := strconv.ParseInt(m.Params["totalEntries"], 10, 64); err == nil && got < want {
		return fault.Input(fmt.Errorf("%s has %d of %d entries", where, got, want), again)
	}
	return nil
}

// wanted is what the record of a map must say. Transactions find a group's members
// by its name alone; look-ups need the very same keys.
func (b *pbm) wanted(name string) map[string]string {
	s := b.s
	want := map[string]string{"prefix": s.prefix}
	if name != mapElig {
		return want
	}
	want["memberSetSize"] = strconv.FormatInt(s.members, 10)
	for _, m := range s.maps {
		if m.elig && m.op == caseGetAll {
			want["baseDateMs"] = strconv.FormatInt(s.base, 10)
			want["perThread"] = strconv.FormatInt(s.eligPer, 10)
			want["threads"] = strconv.Itoa(s.eligThreads)
		}
	}
	return want
}

func layoutOf(s store.Space) string {
	if s.Grouped {
		return layoutGroup
	}
	return layoutMap
}

// reload is the command that loads what the plan needs.
func (b *pbm) reload() string { return b.reloadIn(b.s.namespace) }

func (b *pbm) reloadIn(namespace string) string {
	s := b.s
	var cmd strings.Builder
	cmd.WriteString("perfbench run --profile ingestion --target URL")
	if namespace != "perfbench" {
		fmt.Fprintf(&cmd, " --namespace %q", namespace)
	}
	for _, kv := range []string{
		"layout=" + s.layout, "mapNames=" + strings.Join(b.needs(), ","), "prefix=" + s.prefix, fmt.Sprintf("memberSetSize=%d", s.members),
		fmt.Sprintf("%s.totalEntryCount=%d", mapElig, s.eligPer*int64(s.eligThreads)), fmt.Sprintf("%s.threadCount=%d", mapElig, s.eligThreads),
		fmt.Sprintf("%s.totalEntryCount=%d", mapProfile, s.flat[mapProfile].entries), fmt.Sprintf("%s.threadCount=%d", mapProfile, 1),
		fmt.Sprintf("%s.payloadSize=%d", mapElig, s.eligPayload), fmt.Sprintf("%s.payloadSize=%d", mapProfile, s.flat[mapProfile].payload),
	} {
		cmd.WriteString(" --set " + kv)
	}
	if s.readsSummary() {
		fmt.Fprintf(&cmd, " --set flavour=coherence --set %s.totalEntryCount=%d --set %s.threadCount=1 --set %s.payloadSize=%d", mapSummary, s.flat[mapSummary].entries, mapSummary, mapSummary, s.flat[mapSummary].payload)
	}
	return cmd.String()
}

func (b *pbm) record(name, state string) store.Made {
	s := b.s
	m := store.Made{
		Space: s.space(name), Profile: Name, Run: s.runID, Updated: time.Now().UTC().Format(time.RFC3339),
		Params: map[string]string{"layout": layoutOf(s.space(name)), "prefix": s.prefix},
	}
	if state != "" {
		m.Params["state"] = state
	}
	flat := s.flat[name]
	entries, per, threads, payload := flat.entries, flat.entries, 1, flat.payload
	switch {
	case name == mapSummary && !s.readsSummary():
		return m
	case name == mapElig:
		entries, per, threads, payload = s.entries(), s.eligPer, s.eligThreads, s.eligPayload
	}
	maps.Copy(m.Params, map[string]string{
		"memberSetSize": strconv.FormatInt(s.members, 10), "totalEntries": strconv.FormatInt(entries, 10), "threads": strconv.Itoa(threads),
		"perThread": strconv.FormatInt(per, 10), "payload": strconv.Itoa(payload), "baseDateMs": strconv.FormatInt(s.base, 10), "seed": strconv.FormatInt(s.seed, 10),
	})
	return m
}

// summaries makes sure that the summaries are ours to write.
func (b *pbm) summaries(ctx context.Context, made []store.Made) error {
	sp := b.s.space(mapSummary)
	for _, m := range made {
		if m.Space == sp && m.Params["totalEntries"] != "" {
			return fault.Input(fmt.Errorf("map %s, left by profile %s (run %s), was loaded as a map of its own, and tx writes summaries into it", sp.Name, m.Profile, m.Run),
				fmt.Sprintf("delete it with  %s,  or use another --namespace", deleteCommand(sp.Namespace)))
		}
		if m.Space == sp {
			return nil
		}
	}
	found, err := b.keep.Inspect(ctx, sp)
	switch {
	case err != nil:
		return err
	case found.Exists && !b.s.allow:
		return fault.Input(fmt.Errorf("%s is there and was not made by perfbench", prefixed(sp.Namespace, sp.Name)), "use another --namespace, or --allow-existing to write into it")
	case !found.Exists:
		b.made = append(b.made, sp)
	}
	_, err = record(ctx, b.keep, b.record(mapSummary, ""))
	return err
}

// teardown removes what this run made.
func (b *pbm) teardown(ctx context.Context) error {
	var errs []error
	for _, sp := range b.made {
		if _, err := b.keep.Drop(ctx, sp, nil); err != nil {
			errs = append(errs, fmt.Errorf("delete map %s: %w", sp.Name, err))
		}
	}
	if p, ok := b.store.(preparer); ok {
		errs = append(errs, p.cleanup(ctx))
	}
	return errors.Join(errs...)
}
