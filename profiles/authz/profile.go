package authz

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// profileTask reads full profiles as a reader: the account and both sections.
type profileTask struct {
	*worker
	tally *tally
	wrap  bool
	n     int64
}

// seen is what a reader was shown of a profile.
type seen struct {
	first, last string
	sections    [2]string // JSON; empty if the reader may not see it
	decoded     [2]bool
}

// Do reads one profile, decides what its reader may see, and compares that with
// what was stored.
func (k *profileTask) Do(ctx context.Context, it *workload.Iteration) error {
	i, more := k.t.next(0, k.n, k.wrap, it)
	if !more {
		return workload.ErrDone
	}
	user, reader := int(k.n-1-i%k.n), k.b.s.viewer
	if reader == mixedReaders {
		reader = readers[int(i)%len(readers)]
	}
	if k.b.s.updates > 0 && k.r.Float64() < k.b.s.updates {
		m := it.Begin(1)
		err := it.End(m, 1, k.putSection(ctx, k.t, user, k.r.IntN(len(sectionNames)), it.Settings.Payload))
		k.cost()
		return err
	}
	from := it.Now()
	m := it.Begin(0)
	got, err := k.b.profile(ctx, &k.c.Work, k.t.id(int32(user)), reader)
	_ = it.End(m, 1, err)
	if cost := k.cost(); !it.Warmup {
		k.tally.note(from, it.Now(), cost, err)
	}
	if err != nil || k.b.s.driver == "null" {
		return err
	}
	want := shown(k.b.s.model, user, reader)
	for n := range got.sections {
		got.sections[n] = k.b.plain(k.t.id(int32(user)), n, got.sections[n], want.sections[n])
	}
	if !it.Warmup {
		for _, ok := range got.decoded {
			k.tally.decided(ok)
		}
	}
	k.t.judge(got == want, true, k.t.id(int32(user)), "its profile", reader)
	return nil
}

// profile reads an account and its sections. A section is not decoded before it is
// known that the reader may see it.
func (b *bound) profile(ctx context.Context, w *model.Work, id, reader string) (seen, error) {
	var out seen
	a, ok, err := b.l.Accounts.Account(ctx, w, id)
	if err != nil || !ok && b.s.driver != "null" {
		if err == nil {
			err = fmt.Errorf("there is no user %s", id)
		}
		return out, err
	}
	b.carried.account(a)
	if named(a.Visibility, reader) {
		out.first, out.last = a.First, a.Last
	}
	for n, name := range sectionNames {
		vis, data, _, err := b.l.Sections.Section(ctx, w, id, name)
		if err != nil {
			return out, err
		}
		if !visible(vis, reader) || b.s.driver == "null" {
			continue
		}
		var decoded map[string]any
		if err := json.Unmarshal([]byte(data), &decoded); err != nil {
			return out, fmt.Errorf("section %s of %s: %w", name, id, err)
		}
		out.sections[n], out.decoded[n] = data, true
	}
	return out, nil
}

// shown returns what a reader must be shown of a user's profile.
func shown(m *model.Model, user int, reader string) seen {
	var out seen
	u := &m.Data.Users[user]
	if vis, _ := model.Visibility(u.Privacy); named(vis, reader) { // others were rejected when they were read
		out.first, out.last = u.First, u.Last
	}
	for n := range sectionNames {
		if vis, data, _ := sectionOf(m, user, n); visible(vis, reader) {
			out.sections[n], out.decoded[n] = data, true
		}
	}
	return out
}
