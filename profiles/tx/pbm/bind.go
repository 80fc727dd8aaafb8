package pbm

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// run is a pbm plan at work on one store.
type run struct {
	s     *Spec
	c     store.Conn
	plan  *workload.Plan
	claim *ownership.Claim
	layer adapter
	works []*work
	// layout is as it was asked for, missing the maps to be loaded.
	layout  string
	missing []string
	// mixed says that there may be entries of others, or of another plan, among ours.
	mixed bool
	mu    sync.Mutex
	// loaded tells what was loaded and how long it took; guarded by mu.
	loaded loadFacts
}

func (b *run) note(f func(l *loadFacts)) {
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

// bind connects a plan to a store.
func bind(c store.Conn, p *workload.Plan, s *Spec, st adapter) error {
	b := &run{s: s, c: c, plan: p, layer: st, layout: s.layout}
	for i := range s.maps {
		w := newWork(s, &s.maps[i], st)
		w.conn = c
		b.works = append(b.works, w)
		p.Phases[0].Tracks[i].NewTask = func(worker int) (workload.Task, error) { return w.newTask(worker), nil }
	}
	p.Claims = []ownership.Space{} // Admit adds them: which these are depends on what is there
	p.Parts = workload.Parts{b}
	b.share(p.Shared)
	return nil
}

// preparer is implemented by stores that must be made ready for transactions.
type preparer interface {
	prepare(ctx context.Context) error
	cleanup(ctx context.Context) error
}

// Admit settles the layout, looks at what is there, and wants the spaces that are to
// be loaded or written.
func (b *run) Admit(ctx context.Context, c *ownership.Claim) error {
	made := c.Made()
	b.claim, b.missing, b.s.layout = c, nil, b.layout
	if err := b.settle(made); err != nil {
		return err
	}
	if !store.Forgets(b.c) {
		if err := b.data(ctx, made); err != nil {
			return err
		}
	}
	if !b.s.tx() {
		return nil
	}
	return b.summaries(ctx, made)
}

// Setup loads the maps that are missing, and makes the store ready for transactions.
func (b *run) Setup(ctx context.Context, progress func(done, total int64)) error {
	return fault.Code(b.setup(ctx, progress), fault.CodeStore)
}

func (b *run) setup(ctx context.Context, progress func(done, total int64)) error {
	began := time.Now()
	for _, name := range b.missing {
		if err := b.load(ctx, name, progress); err != nil {
			return fmt.Errorf("load map %s: %w", name, err)
		}
		b.note(func(l *loadFacts) { l.Seconds = time.Since(began).Seconds() })
	}
	if p, ok := b.layer.(preparer); ok {
		return p.prepare(ctx)
	}
	return nil
}

// needs lists the maps that the plan reads.
func (b *run) needs() []string {
	if b.s.tx() {
		return padogrid.MapsOf(values.FlavourRedis)
	}
	var out []string
	for _, m := range b.s.maps {
		out = append(out, m.name)
	}
	return out
}

// data finds out which of the maps that the plan reads are to be loaded.
func (b *run) data(ctx context.Context, made []store.Made) error {
	for _, name := range b.needs() {
		there, err := b.recognise(ctx, name, made)
		if err != nil {
			return err
		}
		if there {
			continue
		}
		spot, err := b.claim.Add(ctx, ownership.Space{Space: b.s.space(name), Kind: "hash", Parts: padogrid.GroupForms(b.s.space(name), b.s.prefix), Params: b.params(name, "loading")})
		if err != nil {
			return err
		}
		b.mixed = b.mixed || spot.State == ownership.Shared
		if b.s.load == loadNever {
			return fault.Input(fmt.Errorf("map %s is not there, and load=never", name), "load it with  "+b.reload())
		}
		b.missing = append(b.missing, name)
	}
	return nil
}

// recognise says whether a map is there as the plan needs it. What is there in
// another form is refused, with the commands that load it anew.
func (b *run) recognise(ctx context.Context, name string, made []store.Made) (bool, error) {
	s := b.s
	for _, m := range made {
		if m.Name != name {
			continue
		}
		where := fmt.Sprintf("map %s, left by profile %s (run %s),", name, m.Profile, m.Run)
		again := fmt.Sprintf("delete it with  %s  and load it with  %s,  or use another --namespace", ownership.DeleteCommand(s.namespace), b.reload())
		if s.tx() && !m.Grouped && !b.inOneStep() {
			return false, fault.Input(fmt.Errorf("%s is one structure on one node of the cluster, and a transaction needs a group's entries of both maps together", where), b.elsewhere())
		}
		if m.Grouped != s.grouped() {
			return false, fault.Input(fmt.Errorf("%s is kept with layout=%s, and this plan needs layout=%s", where, layoutOf(m.Space), s.layout), again)
		}
		if name == padogrid.Summaries && m.Params["totalEntries"] == "" {
			return false, fault.Input(fmt.Errorf("%s holds what transactions wrote", where), again)
		}
		if m.Params["state"] == "loading" {
			// A load that was cut short is done again. What it has left may be of another plan.
			b.mixed = b.mixed || !maps.Equal(m.Params, b.params(name, "loading"))
			return false, nil
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
			asked := s.flat[name].payload
			if name == padogrid.Eligibility {
				asked = s.eligPayload
			}
			if was := (ownership.Sizes{strconv.Itoa(n)}).Words(); n != asked && slices.Contains(s.sized, name) {
				return false, fault.Input(fmt.Errorf("%s has values of %s, and this plan asks for %s (payloadSize)", where, was, ownership.Sizes{strconv.Itoa(asked)}.Words()), again)
			} else if n != asked {
				b.claim.Note(fmt.Sprintf("%s has values of %s, which this run reads, and not %s", where, was, ownership.Sizes{strconv.Itoa(asked)}.Words()))
			}
			if name == padogrid.Eligibility {
				s.eligPayload = n
			} else {
				s.flat[name] = flatMap{s.flat[name].entries, n}
			}
		}
		b.note(func(l *loadFacts) { l.Found = m.Profile + " " + m.Run })
		return true, nil
	}
	return false, nil
}

// complete checks that as many entries are there as were to be written.
func (b *run) complete(ctx context.Context, m store.Made, where, again string) error {
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
func (b *run) wanted(name string) map[string]string {
	s := b.s
	want := map[string]string{"prefix": s.prefix}
	if name != padogrid.Eligibility {
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
func (b *run) reload() string { return b.reloadIn(b.s.namespace) }

func (b *run) reloadIn(namespace string) string {
	s := b.s
	var cmd strings.Builder
	cmd.WriteString("perfbench run --profile ingestion --target URL")
	if namespace != "perfbench" {
		fmt.Fprintf(&cmd, " --namespace %q", namespace)
	}
	for _, kv := range []string{
		"layout=" + s.layout, "mapNames=" + strings.Join(b.needs(), ","), "prefix=" + s.prefix, fmt.Sprintf("memberSetSize=%d", s.members),
		fmt.Sprintf("%s.totalEntryCount=%d", padogrid.Eligibility, s.eligPer*int64(s.eligThreads)), fmt.Sprintf("%s.threadCount=%d", padogrid.Eligibility, s.eligThreads),
		fmt.Sprintf("%s.totalEntryCount=%d", padogrid.Profiles, s.flat[padogrid.Profiles].entries), fmt.Sprintf("%s.threadCount=%d", padogrid.Profiles, 1),
		fmt.Sprintf("%s.payloadSize=%d", padogrid.Eligibility, s.eligPayload), fmt.Sprintf("%s.payloadSize=%d", padogrid.Profiles, s.flat[padogrid.Profiles].payload),
	} {
		cmd.WriteString(" --set " + kv)
	}
	if s.readsSummary() {
		fmt.Fprintf(&cmd, " --set flavour=coherence --set %s.totalEntryCount=%d --set %s.threadCount=1 --set %s.payloadSize=%d", padogrid.Summaries, s.flat[padogrid.Summaries].entries, padogrid.Summaries, padogrid.Summaries, s.flat[padogrid.Summaries].payload)
	}
	return cmd.String()
}

// params is what is recorded of a map: what a later run must know to read it.
func (b *run) params(name, state string) map[string]string {
	s := b.s
	out := map[string]string{"layout": layoutOf(s.space(name)), "prefix": s.prefix}
	if state != "" {
		out["state"] = state
	}
	flat := s.flat[name]
	entries, per, threads, payload := flat.entries, flat.entries, 1, flat.payload
	switch {
	case name == padogrid.Summaries && !s.readsSummary():
		return out
	case name == padogrid.Eligibility:
		entries, per, threads, payload = s.entries(), s.eligPer, s.eligThreads, s.eligPayload
	}
	maps.Copy(out, map[string]string{
		"memberSetSize": strconv.FormatInt(s.members, 10), "totalEntries": strconv.FormatInt(entries, 10), "threads": strconv.Itoa(threads),
		"perThread": strconv.FormatInt(per, 10), "payload": strconv.Itoa(payload), "baseDateMs": strconv.FormatInt(s.base, 10), "seed": strconv.FormatInt(s.seed, 10),
	})
	return out
}

// summaries wants the place of the summaries, unless that was loaded as a map.
func (b *run) summaries(ctx context.Context, made []store.Made) error {
	sp := b.s.space(padogrid.Summaries)
	for _, m := range made {
		if m.Space == sp && m.Params["totalEntries"] != "" {
			return fault.Input(fmt.Errorf("map %s, left by profile %s (run %s), was loaded as a map of its own, and tx writes summaries into it", sp.Name, m.Profile, m.Run),
				fmt.Sprintf("delete it with  %s,  or use another --namespace", ownership.DeleteCommand(sp.Namespace)))
		}
	}
	spot, err := b.claim.Add(ctx, ownership.Space{Space: sp, Kind: "hash", Parts: padogrid.GroupForms(sp, b.s.prefix), Params: b.params(padogrid.Summaries, "")})
	b.s.hadSummaries = spot.State != ownership.Fresh
	return err
}

// Teardown removes what this run made beside its maps.
func (b *run) Teardown(ctx context.Context) error {
	if p, ok := b.layer.(preparer); ok {
		return p.cleanup(ctx)
	}
	return nil
}

// Connector connects a plan of mode=pbm to stores of a driver.
func (s *Spec) Connector(driver string) workload.Connector {
	switch driver {
	case "embedded", "redis":
		return workload.On(s.onRedis)
	case "memory", "null":
		return s.onPlain
	case "mysql", "postgres", "sqlite":
		return workload.On(s.onSQL)
	case "cassandra":
		return s.onCassandra
	case "coherence":
		return workload.On(s.onCoherence)
	}
	return nil
}

// Needs says by what transactions are atomic on Redis.
func (s *Spec) Needs(driver string) []store.Need {
	if driver != "redis" || !s.tx() {
		return nil
	}
	need, ok := map[string]store.Need{
		atomicScript:   {Ability: store.Scripts, For: "atomic=script", Instead: "use --set atomic=watch"},
		atomicFunction: {Ability: store.Functions, For: "atomic=function", Instead: "use --set atomic=script or watch"},
		atomicWatch:    {Ability: store.Transactions, For: "atomic=watch", Instead: "use --set atomic=script, or atomic=none for what it costs without"},
	}[s.atomic]
	if !ok {
		return nil
	}
	return []store.Need{need}
}

func (s *Spec) onRedis(_ context.Context, c redis.Typed, b *workload.Bound) error {
	st, err := newRedisLayer(c, s)
	if err != nil {
		return err
	}
	return bind(b.Conn, b.Plan, s, st)
}

func (s *Spec) onPlain(_ context.Context, b *workload.Bound) error {
	h, err := newShapes(b.Conn, s)
	if err != nil {
		return fault.Store(fmt.Errorf("tx: %w", err), "use redis:// or embedded:")
	}
	if store.Forgets(b.Conn) {
		return bind(b.Conn, b.Plan, s, nullLayer{h})
	}
	return bind(b.Conn, b.Plan, s, &memoryLayer{shapes: h})
}

func (s *Spec) onSQL(_ context.Context, c sqlstore.Typed, b *workload.Bound) error {
	st, err := newSQLLayer(c, s)
	if err != nil {
		return err
	}
	return bind(b.Conn, b.Plan, s, st)
}
