package onsql

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// Prepare creates missing accounts. If all exist, none is touched: some may be locked
// by what a killed run has prepared.
func (s *Tables) Prepare(ctx context.Context, progress func(done, total int64)) error {
	const chunk = 500
	if s.spec.Accounts > 0 {
		var n int64
		err := s.DB.QueryRowContext(ctx, s.Dialect.Text("SELECT COUNT(*) FROM "+s.Account+" WHERE id >= 0 AND id < ?"), s.spec.Accounts).Scan(&n)
		if err != nil || n == s.spec.Accounts {
			return err
		}
	}
	for from := int64(0); from < s.spec.Accounts; from += chunk {
		to := min(from+chunk, s.spec.Accounts)
		var args []any
		for a := from; a < to; a++ {
			args = append(args, a, s.spec.Balance)
		}
		text := "INSERT INTO " + s.Account + " (id, balance) VALUES " + s.Dialect.Rows(int(to-from), 2) + s.Dialect.Keep("id")
		if _, err := s.DB.ExecContext(ctx, text, args...); err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
		progress(to, s.spec.Accounts)
	}
	return nil
}

// Unfinished lists unfinished transactions.
func (s *Tables) Unfinished(ctx context.Context, _ int) (out []model.Pending, err error) {
	err = s.Each(ctx, "SELECT gid, next_cron_time FROM "+s.Global+" WHERE status IN ('prepared','submitted','aborting')", nil, func(scan func(...any) error) error {
		var p model.Pending
		var due int64
		if err := scan(&p.Gid, &due); err != nil {
			return err
		}
		p.Due = time.UnixMilli(due)
		out = append(out, p)
		return nil
	})
	return out, err
}

// Read reads transactions, with one statement for each table.
func (s *Tables) Read(ctx context.Context, _ int, gids []string) ([]model.Stored, error) {
	out := make([]model.Stored, len(gids))
	at := make(map[string]*model.Stored, len(gids))
	args := make([]any, len(gids))
	for i, g := range gids {
		out[i] = model.Stored{Gid: g, Ledger: map[string]model.Entry{}}
		at[g], args[i] = &out[i], g
	}
	in := " WHERE gid IN " + sqltext.Marks(len(gids))
	var gid, id, op, status, trans string
	s.Extra.Add(2)
	if s.spec.Accounts > 0 {
		s.Extra.Add(1)
	}
	err := s.Each(ctx, s.Dialect.Text("SELECT gid, trans_type, status FROM "+s.Global+in), args, func(scan func(...any) error) error {
		if err := scan(&gid, &trans, &status); err != nil {
			return err
		}
		at[gid].Kind, at[gid].Status, at[gid].Inner = model.KindOf(trans), status, status // it is stored only once
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.Each(ctx, s.Dialect.Text("SELECT gid, status, bin_data FROM "+s.Branch+in+" ORDER BY id"), args, func(scan func(...any) error) error {
		var data []byte
		if err := scan(&gid, &status, &data); err != nil {
			return err
		}
		p, err := model.ParsePayload(gid, data)
		to := at[gid]
		to.Rows, to.Fillings = append(to.Rows, status), append(to.Fillings, p.Filling)
		return err
	})
	if err != nil || s.spec.Accounts == 0 {
		return out, err
	}
	var account, delta sql.NullInt64
	var frozen int64
	err = s.Each(ctx, s.Dialect.Text("SELECT gid, branch_id, op, account, delta, frozen, id FROM "+s.Barrier+in), args, func(scan func(...any) error) error {
		var seq int64
		err := scan(&gid, &id, &op, &account, &delta, &frozen, &seq)
		if err == nil {
			at[gid].Ledger[id+op] = model.Entry{Transfer: model.Transfer{Account: account.Int64, Amount: delta.Int64}, Frozen: frozen, Null: !account.Valid, Seq: seq}
		}
		return err
	})
	return out, err
}

// Balances reads all accounts.
func (s *Tables) Balances(ctx context.Context, f func(account, balance, frozen int64)) error {
	return s.Each(ctx, "SELECT id, balance, frozen FROM "+s.Account, nil, func(scan func(...any) error) error {
		var a, n, frozen int64
		err := scan(&a, &n, &frozen)
		if err == nil {
			f(a, n, frozen)
		}
		return err
	})
}

// Money returns the totals from one statement, which sees a single moment.
func (s *Tables) Money(ctx context.Context) ([]model.Money, error) {
	var m model.Money
	s.Extra.Add(1)
	err := s.DB.QueryRowContext(ctx, "SELECT (SELECT COALESCE(SUM(balance + frozen), 0) FROM "+s.Account+"), (SELECT COALESCE(SUM(b.delta), 0) FROM "+s.Barrier+
		" b JOIN "+s.Global+" g ON g.gid = b.gid WHERE g.status IN ('prepared','submitted','aborting'))").Scan(&m.Sum, &m.Flying)
	return []model.Money{m}, err
}

// Sweep removes transactions past their retention time, several at a time.
func (s *Tables) Sweep(ctx context.Context, now time.Time) (int64, error) {
	const chunk, chunks = 500, 40
	var gone int64
	for range chunks {
		var args []any
		s.Extra.Add(1)
		err := s.Each(ctx, s.Dialect.Text("SELECT gid FROM "+s.Global+" WHERE status IN ('succeed','failed') AND update_time <= ? LIMIT 500"),
			[]any{now.Add(-s.spec.FinishedExpire).UnixMilli()}, func(scan func(...any) error) error {
				var gid string
				err := scan(&gid)
				args = append(args, gid)
				return err
			})
		if err != nil || len(args) == 0 {
			return gone, err
		}
		s.Extra.Add(3)
		err = s.Within(ctx, nil, func(tx *sql.Tx) error {
			for _, t := range []string{s.Barrier, s.Branch, s.Global} {
				if _, err := tx.ExecContext(ctx, s.Dialect.Text("DELETE FROM "+t+" WHERE gid IN "+sqltext.Marks(len(args))), args...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return gone, err
		}
		gone += int64(len(args))
		if len(args) < chunk {
			break
		}
	}
	return gone, nil
}
