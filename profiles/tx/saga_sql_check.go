package tx

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// Prepare makes missing accounts. Where all are there none is touched: what a killed
// run has prepared may have locked some.
func (s *sqlSagas) Prepare(ctx context.Context, progress func(done, total int64)) error {
	const chunk = 500
	if s.spec.accounts > 0 {
		var n int64
		err := s.DB.QueryRowContext(ctx, s.Dialect.Text("SELECT COUNT(*) FROM "+s.account+" WHERE id >= 0 AND id < ?"), s.spec.accounts).Scan(&n)
		if err != nil || n == s.spec.accounts {
			return err
		}
	}
	for from := int64(0); from < s.spec.accounts; from += chunk {
		to := min(from+chunk, s.spec.accounts)
		var args []any
		for a := from; a < to; a++ {
			args = append(args, a, s.spec.balance)
		}
		text := "INSERT INTO " + s.account + " (id, balance) VALUES " + s.Dialect.Rows(int(to-from), 2) + s.Dialect.Keep("id")
		if _, err := s.DB.ExecContext(ctx, text, args...); err != nil {
			return fmt.Errorf("make accounts: %w", err)
		}
		progress(to, s.spec.accounts)
	}
	return nil
}

// Unfinished lists what is not finished.
func (s *sqlSagas) Unfinished(ctx context.Context, _ int) (out []pending, err error) {
	err = s.Each(ctx, "SELECT gid, next_cron_time FROM "+s.global+" WHERE status IN ('prepared','submitted','aborting')", nil, func(scan func(...any) error) error {
		var p pending
		var due int64
		if err := scan(&p.gid, &due); err != nil {
			return err
		}
		p.due = time.UnixMilli(due)
		out = append(out, p)
		return nil
	})
	return out, err
}

// Read reads transactions, with one statement for each table.
func (s *sqlSagas) Read(ctx context.Context, _ int, gids []string) ([]stored, error) {
	out := make([]stored, len(gids))
	at := make(map[string]*stored, len(gids))
	args := make([]any, len(gids))
	for i, g := range gids {
		out[i] = stored{gid: g, ledger: map[string]entry{}}
		at[g], args[i] = &out[i], g
	}
	in := " WHERE gid IN " + sqltext.Marks(len(gids))
	var gid, id, op, status, trans string
	s.Extra.Add(2)
	if s.spec.accounts > 0 {
		s.Extra.Add(1)
	}
	err := s.Each(ctx, s.Dialect.Text("SELECT gid, trans_type, status FROM "+s.global+in), args, func(scan func(...any) error) error {
		if err := scan(&gid, &trans, &status); err != nil {
			return err
		}
		at[gid].kind, at[gid].status, at[gid].inner = kindOf(trans), status, status // it is kept once only
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.Each(ctx, s.Dialect.Text("SELECT gid, status, bin_data FROM "+s.branch+in+" ORDER BY id"), args, func(scan func(...any) error) error {
		var data []byte
		if err := scan(&gid, &status, &data); err != nil {
			return err
		}
		p, err := parsePayload(gid, data)
		to := at[gid]
		to.rows, to.fillings = append(to.rows, status), append(to.fillings, p.Filling)
		return err
	})
	if err != nil || s.spec.accounts == 0 {
		return out, err
	}
	var account, delta sql.NullInt64
	var frozen int64
	err = s.Each(ctx, s.Dialect.Text("SELECT gid, branch_id, op, account, delta, frozen, id FROM "+s.barrier+in), args, func(scan func(...any) error) error {
		var seq int64
		err := scan(&gid, &id, &op, &account, &delta, &frozen, &seq)
		if err == nil {
			at[gid].ledger[id+op] = entry{transfer: transfer{account.Int64, delta.Int64}, frozen: frozen, null: !account.Valid, seq: seq}
		}
		return err
	})
	return out, err
}

// Balances reads all accounts.
func (s *sqlSagas) Balances(ctx context.Context, f func(account, balance, frozen int64)) error {
	return s.Each(ctx, "SELECT id, balance, frozen FROM "+s.account, nil, func(scan func(...any) error) error {
		var a, n, frozen int64
		err := scan(&a, &n, &frozen)
		if err == nil {
			f(a, n, frozen)
		}
		return err
	})
}

// Money adds everything up in one statement, which sees one instant.
func (s *sqlSagas) Money(ctx context.Context) ([]money, error) {
	var m money
	s.Extra.Add(1)
	err := s.DB.QueryRowContext(ctx, "SELECT (SELECT COALESCE(SUM(balance + frozen), 0) FROM "+s.account+"), (SELECT COALESCE(SUM(b.delta), 0) FROM "+s.barrier+
		" b JOIN "+s.global+" g ON g.gid = b.gid WHERE g.status IN ('prepared','submitted','aborting'))").Scan(&m.sum, &m.flying)
	return []money{m}, err
}

// Sweep removes what has been finished for longer than it is kept, some at a time.
func (s *sqlSagas) Sweep(ctx context.Context, now time.Time) (int64, error) {
	const chunk, chunks = 500, 40
	var gone int64
	for range chunks {
		var args []any
		s.Extra.Add(1)
		err := s.Each(ctx, s.Dialect.Text("SELECT gid FROM "+s.global+" WHERE status IN ('succeed','failed') AND update_time <= ? LIMIT 500"),
			[]any{now.Add(-s.spec.finishedExpire).UnixMilli()}, func(scan func(...any) error) error {
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
			for _, t := range []string{s.barrier, s.branch, s.global} {
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
