// Package onmemory keeps transactions and accounts in maps of this process, or nowhere.
package onmemory

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Memory keeps transactions in maps of this process, all behind one lock, for as long
// as its connection exists.
type Memory struct {
	Spec *model.Spec
	pace func(ctx context.Context) error

	mu       sync.Mutex
	sagas    map[string]*model.Saga
	index    map[string]time.Time
	ledger   map[string]map[string]model.Entry
	accounts map[int64]int64
	frozen   map[int64]int64
}

// New returns the transactions of a connection, with the connection's configured delay.
func New(c store.Conn, sp *model.Spec) *Memory {
	m := &Memory{Spec: sp, sagas: map[string]*model.Saga{}, index: map[string]time.Time{}, ledger: map[string]map[string]model.Entry{}, accounts: map[int64]int64{}, frozen: map[int64]int64{}}
	m.pace = func(ctx context.Context) error { return ctx.Err() }
	if p, ok := store.Has[store.Prober](c); ok {
		m.pace = func(ctx context.Context) error { return p.Probe(ctx, sp.Space()) }
	}
	return m
}

// Layer returns the transactions as a run sees them.
func (m *Memory) Layer() *model.Adapter {
	return &model.Adapter{Open: m.Open, Price: model.EveryOne}
}

// Open returns the store for a client. All clients have the same, and any goroutine may
// use it.
func (m *Memory) Open() model.Store {
	return model.Store{Records: m, Phases: m, Participants: m, Index: m, Audit: m, Upkeep: m}
}

// locked runs f after the store's delay, with the lock held.
func (m *Memory) locked(ctx context.Context, f func() error) error {
	if err := m.pace(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

func copyOf(s *model.Saga) *model.Saga {
	c := *s
	c.Steps, c.Rows = append([]model.Transfer(nil), s.Steps...), append([]model.Row(nil), s.Rows...)
	c.Fate, c.Scratch = model.Fate{}, nil
	fill(&c)
	return &c
}

// fill sets the fillings of rows, so that the transaction no longer depends on its
// source.
func fill(s *model.Saga) {
	for i := range s.Rows {
		if r := &s.Rows[i]; !s.Loaded && s.Size > 0 {
			r.Filling = string(s.AppendFilling(nil, r.Step))
		}
	}
	s.Loaded = true
}

// Save stores a copy.
func (m *Memory) Save(ctx context.Context, s *model.Saga) error {
	return m.locked(ctx, func() error {
		if m.sagas[s.Gid] != nil {
			return model.ErrTaken
		}
		m.sagas[s.Gid], m.index[s.Gid] = copyOf(s), s.Next
		return nil
	})
}

// guarded runs f on the stored transaction if it has the given status.
func (m *Memory) guarded(ctx context.Context, gid, status string, f func(old *model.Saga)) error {
	return m.locked(ctx, func() error {
		old := m.sagas[gid]
		if old == nil || old.Status != status {
			return model.ErrMoved
		}
		f(old)
		return nil
	})
}

// Branch stores a row that has no outcome yet.
func (m *Memory) Branch(ctx context.Context, s *model.Saga, pos int) error {
	return m.guarded(ctx, s.Gid, s.Status, func(old *model.Saga) {
		if stands := old.Rows[pos].Status; model.Final(stands) {
			s.Rows[pos].Decide(stands, s.Rows[pos].Updated)
			return
		}
		text := old.Rows[pos].Filling
		old.Rows[pos] = s.Rows[pos]
		old.Rows[pos].Filling = text
	})
}

// Change stores a status.
func (m *Memory) Change(ctx context.Context, s *model.Saga, from string) error {
	return m.guarded(ctx, s.Gid, from, func(old *model.Saga) {
		old.Status, old.Updated, old.Ended, old.RolledBack, old.Reason = s.Status, s.Updated, s.Ended, s.RolledBack, s.Reason
		if model.Final(s.Status) {
			delete(m.index, s.Gid)
		}
	})
}

// Touch stores when to look at it next.
func (m *Memory) Touch(ctx context.Context, s *model.Saga) error {
	return m.guarded(ctx, s.Gid, s.Status, func(old *model.Saga) {
		old.Next, old.Interval = s.Next, s.Interval
		m.index[s.Gid] = s.Next
	})
}

// Lock leases what has been due longest.
func (m *Memory) Lock(ctx context.Context, shard int, now, until time.Time) (gid string, err error) {
	err = m.locked(ctx, func() error {
		for g, due := range m.index {
			if m.sagas[g].Shard == shard && !due.After(now) && (gid == "" || due.Before(m.index[gid])) {
				gid = g
			}
		}
		if gid == "" {
			return model.ErrNone
		}
		m.index[gid] = until
		return nil
	})
	return gid, err
}

// Load returns a copy.
func (m *Memory) Load(ctx context.Context, _ int, gid string) (s *model.Saga, err error) {
	err = m.locked(ctx, func() error {
		if m.sagas[gid] == nil {
			return model.ErrNone
		}
		s = copyOf(m.sagas[gid])
		return nil
	})
	return s, err
}

// Move carries out a branch call, with the barrier of move.lua.
func (m *Memory) Move(ctx context.Context, s *model.Saga, pos int) (got model.Reply, err error) {
	rw := &s.Rows[pos]
	t := s.Steps[rw.Step]
	err = m.locked(ctx, func() error {
		l := m.ledger[s.Gid]
		if l == nil {
			l = map[string]model.Entry{}
			m.ledger[s.Gid] = l
		}
		own, act := model.Field(rw.Step, rw.Op), model.Field(rw.Step, model.BranchAction)
		undo := rw.Op == model.BranchCompensate
		if e, twice := l[own]; twice {
			got = model.ReplyDuplicate
			if !undo && e.Null {
				got = model.ReplyTooLate
			}
			return nil
		}
		if _, did := l[act]; undo && !did {
			l[act], l[own] = model.Entry{Null: true}, model.Entry{Null: true, Seq: int64(len(l) + 2)}
			got = model.ReplyNothing
			return nil
		}
		if undo {
			t.Amount = -t.Amount
		}
		if have, there := m.accounts[t.Account]; !undo && (!there || have+t.Amount < 0) {
			got = model.ReplyRefused
			return nil
		}
		m.accounts[t.Account] += t.Amount
		l[own] = model.Entry{Transfer: t, Seq: int64(len(l) + 1)}
		return nil
	})
	return got, err
}

// Prepare creates missing accounts.
func (m *Memory) Prepare(ctx context.Context, _ func(done, total int64)) error {
	return m.locked(ctx, func() error {
		for a := range m.Spec.Accounts {
			if _, ok := m.accounts[a]; !ok {
				m.accounts[a] = m.Spec.Balance
			}
		}
		return nil
	})
}

// Unfinished lists the index.
func (m *Memory) Unfinished(ctx context.Context, shard int) (out []model.Pending, err error) {
	err = m.locked(ctx, func() error {
		for g, due := range m.index {
			if m.sagas[g].Shard == shard {
				out = append(out, model.Pending{Gid: g, Due: due})
			}
		}
		return nil
	})
	return out, err
}

// Read reads transactions.
func (m *Memory) Read(ctx context.Context, _ int, gids []string) (out []model.Stored, err error) {
	err = m.locked(ctx, func() error {
		for _, g := range gids {
			got := model.Stored{Gid: g, Ledger: map[string]model.Entry{}}
			if s := m.sagas[g]; s != nil {
				got.Kind, got.Status, got.Inner = s.Of(), s.Status, s.Status
				for _, r := range s.Rows {
					got.Rows, got.Fillings = append(got.Rows, r.Status), append(got.Fillings, r.Filling)
				}
			}
			maps.Copy(got.Ledger, m.ledger[g])
			out = append(out, got)
		}
		return nil
	})
	return out, err
}

// Balances reads all accounts.
func (m *Memory) Balances(ctx context.Context, f func(account, balance, frozen int64)) error {
	return m.locked(ctx, func() error {
		for a, n := range m.accounts {
			f(a, n, m.frozen[a])
		}
		return nil
	})
}

// Money returns the totals.
func (m *Memory) Money(ctx context.Context) ([]model.Money, error) {
	var sum model.Money
	err := m.locked(ctx, func() error {
		for _, n := range m.accounts {
			sum.Sum += n
		}
		for _, n := range m.frozen {
			sum.Sum += n
		}
		for g := range m.index {
			for _, e := range m.ledger[g] {
				sum.Flying += e.Amount
			}
		}
		return nil
	})
	return []model.Money{sum}, err
}

// Sweep removes what is past its retention time.
func (m *Memory) Sweep(ctx context.Context, now time.Time) (n int64, err error) {
	err = m.locked(ctx, func() error {
		for g, s := range m.sagas {
			if model.Final(s.Status) && now.Sub(s.Updated) >= m.Spec.FinishedExpire {
				delete(m.sagas, g)
				delete(m.ledger, g)
				n++
			}
		}
		return nil
	})
	return n, err
}

// Null stores nothing and reports success. Its methods are those of the interfaces of
// model.Store.
type Null struct{}

// Layer returns the store as a run sees it.
func (n Null) Layer() *model.Adapter {
	open := func() model.Store {
		return model.Store{Records: n, Phases: n, Participants: n, Index: n, Audit: n, Upkeep: n}
	}
	return &model.Adapter{Open: open, Price: model.EveryOne}
}

func (Null) Save(context.Context, *model.Saga) error           { return nil }
func (Null) Branch(context.Context, *model.Saga, int) error    { return nil }
func (Null) Change(context.Context, *model.Saga, string) error { return nil }
func (Null) Touch(context.Context, *model.Saga) error          { return nil }
func (Null) Lock(context.Context, int, time.Time, time.Time) (string, error) {
	return "", model.ErrNone
}
func (Null) Load(context.Context, int, string) (*model.Saga, error)      { return nil, model.ErrNone }
func (Null) Move(context.Context, *model.Saga, int) (model.Reply, error) { return model.ReplyDone, nil }
func (Null) Prepare(context.Context, func(done, total int64)) error      { return nil }
func (Null) Unfinished(context.Context, int) ([]model.Pending, error)    { return nil, nil }
func (Null) Read(context.Context, int, []string) ([]model.Stored, error) { return nil, nil }
func (Null) Balances(context.Context, func(_, _, _ int64)) error         { return nil }
func (Null) Money(context.Context) ([]model.Money, error)                { return nil, nil }
func (Null) Sweep(context.Context, time.Time) (int64, error)             { return 0, nil }
