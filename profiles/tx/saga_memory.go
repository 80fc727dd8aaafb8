package tx

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/store"
)

// memorySagas keeps transactions in maps of this process, all behind one lock, for
// as long as its connection lives.
type memorySagas struct {
	spec *sagaSpec
	pace func(ctx context.Context) error

	mu       sync.Mutex
	sagas    map[string]*saga
	index    map[string]time.Time
	ledger   map[string]map[string]entry
	accounts map[int64]int64
	frozen   map[int64]int64
}

// memorySagasOf makes the transactions of a connection, which answers as slowly as
// it was asked to.
func memorySagasOf(c store.Conn, sp *sagaSpec) *memorySagas {
	m := &memorySagas{spec: sp, sagas: map[string]*saga{}, index: map[string]time.Time{}, ledger: map[string]map[string]entry{}, accounts: map[int64]int64{}, frozen: map[int64]int64{}}
	m.pace = func(ctx context.Context) error { return ctx.Err() }
	if p, ok := c.(store.Prober); ok {
		m.pace = func(ctx context.Context) error { return p.Probe(ctx, sp.space()) }
	}
	return m
}

// layer is the transactions as a run sees them.
func (m *memorySagas) layer() *sagaLayer {
	return &sagaLayer{open: m.open, price: everyOne}
}

func (m *memorySagas) open() sagaStore {
	return sagaStore{Records: m, Phases: m, Participants: m, Index: m, Audit: m, Upkeep: m}
}

// locked runs f after the store's delay, alone.
func (m *memorySagas) locked(ctx context.Context, f func() error) error {
	if err := m.pace(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return f()
}

func (s *saga) copyOf() *saga {
	c := *s
	c.steps, c.rows = append([]transfer(nil), s.steps...), append([]row(nil), s.rows...)
	c.fate, c.scratch = fate{}, nil
	c.fill()
	return &c
}

// fill has rows carry what their payloads are to carry, and the transaction stand for
// itself from now on.
func (s *saga) fill() {
	for i := range s.rows {
		if r := &s.rows[i]; !s.loaded && s.size > 0 {
			r.filling = string(s.appendFilling(nil, r.step))
		}
	}
	s.loaded = true
}

// Save stores a copy.
func (m *memorySagas) Save(ctx context.Context, s *saga) error {
	return m.locked(ctx, func() error {
		if m.sagas[s.gid] != nil {
			return errTaken
		}
		m.sagas[s.gid], m.index[s.gid] = s.copyOf(), s.next
		return nil
	})
}

// guarded runs f on the stored transaction if it has a status.
func (m *memorySagas) guarded(ctx context.Context, gid, status string, f func(old *saga)) error {
	return m.locked(ctx, func() error {
		old := m.sagas[gid]
		if old == nil || old.status != status {
			return errMoved
		}
		f(old)
		return nil
	})
}

// Branch stores a row.
func (m *memorySagas) Branch(ctx context.Context, s *saga, pos int) error {
	return m.guarded(ctx, s.gid, s.status, func(old *saga) {
		text := old.rows[pos].filling
		old.rows[pos] = s.rows[pos]
		old.rows[pos].filling = text
	})
}

// Change stores a status.
func (m *memorySagas) Change(ctx context.Context, s *saga, from string) error {
	return m.guarded(ctx, s.gid, from, func(old *saga) {
		old.status, old.updated, old.ended, old.rolledBack, old.reason = s.status, s.updated, s.ended, s.rolledBack, s.reason
		if final(s.status) {
			delete(m.index, s.gid)
		}
	})
}

// Touch stores when to look again.
func (m *memorySagas) Touch(ctx context.Context, s *saga) error {
	return m.guarded(ctx, s.gid, s.status, func(old *saga) {
		old.next, old.interval = s.next, s.interval
		m.index[s.gid] = s.next
	})
}

// Lock leases what is due longest.
func (m *memorySagas) Lock(ctx context.Context, shard int, now, until time.Time) (gid string, err error) {
	err = m.locked(ctx, func() error {
		for g, due := range m.index {
			if m.sagas[g].shard == shard && !due.After(now) && (gid == "" || due.Before(m.index[gid])) {
				gid = g
			}
		}
		if gid == "" {
			return errNone
		}
		m.index[gid] = until
		return nil
	})
	return gid, err
}

// Load returns a copy.
func (m *memorySagas) Load(ctx context.Context, _ int, gid string) (s *saga, err error) {
	err = m.locked(ctx, func() error {
		if m.sagas[gid] == nil {
			return errNone
		}
		s = m.sagas[gid].copyOf()
		return nil
	})
	return s, err
}

// Move carries out a branch call, with the barrier of move.lua.
func (m *memorySagas) Move(ctx context.Context, s *saga, pos int) (got reply, err error) {
	rw := &s.rows[pos]
	t := s.steps[rw.step]
	err = m.locked(ctx, func() error {
		l := m.ledger[s.gid]
		if l == nil {
			l = map[string]entry{}
			m.ledger[s.gid] = l
		}
		own, act := field(rw.step, rw.op), field(rw.step, opAction)
		undo := rw.op == opCompensate
		if e, twice := l[own]; twice {
			got = replyDuplicate
			if !undo && e.null {
				got = replyTooLate
			}
			return nil
		}
		if _, did := l[act]; undo && !did {
			l[act], l[own] = entry{null: true}, entry{null: true, seq: int64(len(l) + 2)}
			got = replyNothing
			return nil
		}
		if undo {
			t.Amount = -t.Amount
		}
		if have, there := m.accounts[t.Account]; !undo && (!there || have+t.Amount < 0) {
			got = replyRefused
			return nil
		}
		m.accounts[t.Account] += t.Amount
		l[own] = entry{transfer: t, seq: int64(len(l) + 1)}
		return nil
	})
	return got, err
}

// Prepare makes missing accounts.
func (m *memorySagas) Prepare(ctx context.Context, _ func(done, total int64)) error {
	return m.locked(ctx, func() error {
		for a := range m.spec.accounts {
			if _, ok := m.accounts[a]; !ok {
				m.accounts[a] = m.spec.balance
			}
		}
		return nil
	})
}

// Unfinished lists the index.
func (m *memorySagas) Unfinished(ctx context.Context, shard int) (out []pending, err error) {
	err = m.locked(ctx, func() error {
		for g, due := range m.index {
			if m.sagas[g].shard == shard {
				out = append(out, pending{g, due})
			}
		}
		return nil
	})
	return out, err
}

// Read reads transactions.
func (m *memorySagas) Read(ctx context.Context, _ int, gids []string) (out []stored, err error) {
	err = m.locked(ctx, func() error {
		for _, g := range gids {
			got := stored{gid: g, ledger: map[string]entry{}}
			if s := m.sagas[g]; s != nil {
				got.kind, got.status, got.inner = s.of(), s.status, s.status
				for _, r := range s.rows {
					got.rows, got.fillings = append(got.rows, r.status), append(got.fillings, r.filling)
				}
			}
			maps.Copy(got.ledger, m.ledger[g])
			out = append(out, got)
		}
		return nil
	})
	return out, err
}

// Balances reads all accounts.
func (m *memorySagas) Balances(ctx context.Context, f func(account, balance, frozen int64)) error {
	return m.locked(ctx, func() error {
		for a, n := range m.accounts {
			f(a, n, m.frozen[a])
		}
		return nil
	})
}

// Money adds everything up.
func (m *memorySagas) Money(ctx context.Context) ([]money, error) {
	var sum money
	err := m.locked(ctx, func() error {
		for _, n := range m.accounts {
			sum.sum += n
		}
		for _, n := range m.frozen {
			sum.sum += n
		}
		for g := range m.index {
			for _, e := range m.ledger[g] {
				sum.flying += e.Amount
			}
		}
		return nil
	})
	return []money{sum}, err
}

// Sweep removes what is older than it is kept.
func (m *memorySagas) Sweep(ctx context.Context, now time.Time) (n int64, err error) {
	err = m.locked(ctx, func() error {
		for g, s := range m.sagas {
			if final(s.status) && now.Sub(s.updated) >= m.spec.finishedExpire {
				delete(m.sagas, g)
				delete(m.ledger, g)
				n++
			}
		}
		return nil
	})
	return n, err
}

// nullSagas stores nothing and says that all is well.
type nullSagas struct{}

func (n nullSagas) layer() *sagaLayer {
	open := func() sagaStore {
		return sagaStore{Records: n, Phases: n, Participants: n, Index: n, Audit: n, Upkeep: n}
	}
	return &sagaLayer{open: open, price: everyOne}
}

func (nullSagas) Save(context.Context, *saga) error           { return nil }
func (nullSagas) Branch(context.Context, *saga, int) error    { return nil }
func (nullSagas) Change(context.Context, *saga, string) error { return nil }
func (nullSagas) Touch(context.Context, *saga) error          { return nil }
func (nullSagas) Lock(context.Context, int, time.Time, time.Time) (string, error) {
	return "", errNone
}
func (nullSagas) Load(context.Context, int, string) (*saga, error)       { return nil, errNone }
func (nullSagas) Move(context.Context, *saga, int) (reply, error)        { return replyDone, nil }
func (nullSagas) Prepare(context.Context, func(done, total int64)) error { return nil }
func (nullSagas) Unfinished(context.Context, int) ([]pending, error)     { return nil, nil }
func (nullSagas) Read(context.Context, int, []string) ([]stored, error)  { return nil, nil }
func (nullSagas) Balances(context.Context, func(_, _, _ int64)) error    { return nil }
func (nullSagas) Money(context.Context) ([]money, error)                 { return nil, nil }
func (nullSagas) Sweep(context.Context, time.Time) (int64, error)        { return 0, nil }
