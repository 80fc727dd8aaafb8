package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// leaseKey is the key of the lease among the records, as a column has it.
var leaseKey = []byte(store.LeaseKey)

// leaseRow is the stored form of the lease. A row can be replaced only by a process
// that has seen its current content, so that of two competitors one fails.
type leaseRow struct {
	store.Lease
	// Until is when it expires, by the server's clock, in Unix milliseconds.
	Until int64 `json:"until"`
	// Beat makes each row differ from the one before.
	Beat int64 `json:"beat"`
	// Came is the last lease that another process took where the server counts its
	// statements with those of the holder, since this one was taken; nil: nobody did.
	Came *store.Lease `json:"came,omitempty"`

	text []byte
}

// Leases are who uses each namespace, in rows of the tables of records.
type Leases struct {
	tables *tables
	choice *choice
	asked  sync.Map // names of the tables of records whose lease was asked for
}

// Hold takes or renews the lease of a namespace.
func (ls *Leases) Hold(ctx context.Context, namespace string, l store.Lease, ttl time.Duration) (store.Lease, store.Hold, error) {
	made, err := ls.tables.table(madeName(namespace), false)
	if err != nil {
		return l, store.Denied, err
	}
	if err := ls.choice.ensure(ctx, namespace); err != nil {
		return l, store.Denied, err
	}
	ls.asked.Store(made.key.name, true)
	holder, how := l, store.Denied
	err = ls.tables.inMade(ctx, made, func() error {
		if !ls.tables.fits(ctx, made) {
			return ls.notRecords(made)
		}
		for done := false; !done; {
			var err error
			if holder, how, done, err = ls.hold(ctx, made, l, ttl); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && how == store.Taken {
		ls.announce(ctx, l)
	}
	return holder, how, ls.tables.server.refusal(ctx, wrap("take the lease in", made, err))
}

// hold tries once; done is false if somebody else was faster.
func (ls *Leases) hold(ctx context.Context, made *table, l store.Lease, ttl time.Duration) (holder store.Lease, how store.Hold, done bool, err error) {
	var now int64
	if err := ls.tables.beside.QueryRowContext(ctx, ls.tables.d.now).Scan(&now); err != nil {
		return l, store.Denied, false, err
	}
	old, there, err := ls.leaseIn(ctx, made)
	if err != nil {
		return l, store.Denied, false, cmp.Or(ls.foreign(ctx, made), err)
	}
	if there && old.Lease != l && old.Until > now {
		return old.Lease, store.Denied, true, nil
	}
	how, next := store.Taken, leaseRow{Lease: l, Until: now + ttl.Milliseconds(), Beat: time.Now().UnixNano()}
	if there && old.Lease == l {
		how, next.Came = store.Renewed, old.Came
	} else if err := ls.foreign(ctx, made); err != nil {
		return l, store.Denied, false, err
	}
	text, err := json.Marshal(next)
	if err != nil {
		return l, store.Denied, false, err
	}
	var n int64
	if there {
		n, err = ls.replace(ctx, ls.tables.d.Quote(made.key.name), text, old.text)
	} else {
		var res sql.Result
		if res, err = ls.tables.beside.ExecContext(ctx, made.insert+ls.tables.d.Rows(1, 2), leaseKey, text); err == nil {
			n, err = res.RowsAffected()
		}
	}
	if err != nil {
		if Classify(err) == store.Conflict && ctx.Err() == nil {
			return l, store.Denied, false, nil
		}
		return l, store.Denied, false, err
	}
	return l, how, n == 1, nil
}

// Swap replaces the lease old.
func (ls *Leases) Swap(ctx context.Context, namespace string, old, l store.Lease, ttl time.Duration) (bool, error) {
	made, err := ls.tables.table(madeName(namespace), false)
	if err != nil {
		return false, err
	}
	if chosen, err := ls.choice.choose(ctx, namespace, false); !chosen {
		return false, err
	}
	done, err := ls.swap(ctx, made, old, l, ttl)
	if Absent(err) {
		return false, nil
	}
	return done, wrap("pass on the lease in", made, err)
}

func (ls *Leases) swap(ctx context.Context, made *table, old, l store.Lease, ttl time.Duration) (bool, error) {
	for {
		r, there, err := ls.leaseIn(ctx, made)
		if err != nil || !there || r.Lease != old {
			return false, err
		}
		var now int64
		if err := ls.tables.beside.QueryRowContext(ctx, ls.tables.d.now).Scan(&now); err != nil {
			return false, err
		}
		text, err := json.Marshal(leaseRow{Lease: l, Until: now + ttl.Milliseconds(), Beat: time.Now().UnixNano(), Came: r.Came})
		if err != nil {
			return false, err
		}
		n, err := ls.replace(ctx, ls.tables.d.Quote(made.key.name), text, r.text)
		switch {
		case err != nil && Classify(err) == store.Conflict && ctx.Err() == nil: // look again
		case n == 1 || err != nil:
			return n == 1, err
		}
	}
}

// replace stores a row of the lease in place of the one that was there, in a table of the
// quoted name; 0: there is another by now.
func (ls *Leases) replace(ctx context.Context, name string, text, old []byte) (int64, error) {
	res, err := ls.tables.beside.ExecContext(ctx, "UPDATE "+name+" SET v = "+ls.tables.d.Mark(1)+" WHERE k = "+ls.tables.d.Mark(2)+" AND v = "+ls.tables.d.Mark(3), text, leaseKey, old)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// notRecords refuses a table in the place of our records.
func (ls *Leases) notRecords(made *table) error {
	return fault.Input(fmt.Errorf("%s: the table %s already exists and has columns other than those of perfbench's records", ls.tables.d.Dialect, made.key.name), "use another --namespace")
}

// foreign returns why a table is not that of our records: it has other columns, or
// another primary key. Such a table is neither written nor dropped.
func (ls *Leases) foreign(ctx context.Context, made *table) error {
	ours, err := ls.tables.exact(ctx, made, made.own())
	if err != nil || ours {
		return err
	}
	return ls.notRecords(made)
}

// leaseIn reads the lease among the records.
func (ls *Leases) leaseIn(ctx context.Context, made *table) (leaseRow, bool, error) {
	var r leaseRow
	err := ls.tables.beside.QueryRowContext(ctx, made.get, leaseKey).Scan(&r.text)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	if err := json.Unmarshal(r.text, &r); err != nil {
		return r, false, store.NotOurs(fmt.Sprintf("%s: %q in %s", ls.tables.d.Dialect, leaseKey, made.key.name), "lease")
	}
	return r, true, nil
}

// Holder returns who has the lease of a namespace.
func (ls *Leases) Holder(ctx context.Context, namespace string) (store.Lease, bool, error) {
	made, err := ls.tables.table(madeName(namespace), false)
	if err != nil {
		return store.Lease{}, false, err
	}
	if chosen, err := ls.choice.choose(ctx, namespace, false); !chosen {
		return store.Lease{}, false, err
	}
	r, there, err := ls.leaseIn(ctx, made)
	if Absent(err) {
		return store.Lease{}, false, nil
	}
	if !there || err != nil {
		return store.Lease{}, false, wrap("read", made, err)
	}
	var now int64
	err = ls.tables.beside.QueryRowContext(ctx, ls.tables.d.now).Scan(&now)
	return r.Lease, r.Until > now, wrap("read", made, err)
}

// Neighbours returns the leases that others hold where the server counts their statements
// with ours, and the last that was taken there since ours was: MySQL and MariaDB count for
// all databases, PostgreSQL for the current one. A database within this process counts
// nothing. A table that is named like that of our records and has no lease, or does not show
// it to us, is passed over.
func (ls *Leases) Neighbours(ctx context.Context) (out []store.Lease, err error) {
	err = ls.others(ctx, func(_ string, r leaseRow) { out = append(out, r.Lease) })
	if err != nil || ls.tables.d.records == "" {
		return nil, err
	}
	ls.asked.Range(func(name, _ any) bool {
		var r leaseRow
		if r, _, err = ls.rowIn(ctx, ls.tables.d.Quote(name.(string))); err == nil && r.Came != nil && !slices.Contains(out, *r.Came) {
			out = append(out, *r.Came)
		}
		return err == nil
	})
	return out, err
}

// announce tells those whose statements the server counts with ours that l was taken, for
// when its holder is gone. Who may not write there is seen only while its lease lasts.
func (ls *Leases) announce(ctx context.Context, l store.Lease) {
	_ = ls.others(ctx, func(name string, r leaseRow) {
		for range announceTries {
			old := r.text
			r.Came = &l
			text, err := json.Marshal(r)
			if err != nil {
				return
			}
			if n, err := ls.replace(ctx, name, text, old); n == 1 || err != nil && Classify(err) != store.Conflict {
				return
			}
			if again, there, err := ls.rowIn(ctx, name); err == nil && there { // it was renewed just now
				r = again
			}
		}
	})
}

// announceTries is how often a lease is told of another, as it may be renewed meanwhile.
const announceTries = 5

// others calls f for each lease that lasts where the server counts its holder's statements
// with ours, with the quoted name of its table.
func (ls *Leases) others(ctx context.Context, f func(name string, r leaseRow)) error {
	if ls.tables.d.records == "" {
		return nil
	}
	tables, err := ls.records(ctx)
	if err != nil {
		return fmt.Errorf("look for other leases: %w", err)
	}
	var now int64
	for _, name := range tables {
		if err := ls.tables.beside.QueryRowContext(ctx, ls.tables.d.now).Scan(&now); err != nil {
			return fmt.Errorf("look for other leases: %w", err)
		}
		r, there, err := ls.rowIn(ctx, name)
		if err != nil {
			return err
		}
		if there && r.Until > now {
			f(name, r)
		}
	}
	return nil
}

// rowIn reads the lease in a table of the quoted name; false if it has none that we can see.
func (ls *Leases) rowIn(ctx context.Context, name string) (r leaseRow, there bool, err error) {
	switch err := ls.tables.beside.QueryRowContext(ctx, "SELECT v FROM "+name+" WHERE k = "+ls.tables.d.Mark(1), leaseKey).Scan(&r.text); {
	case err == nil:
		return r, json.Unmarshal(r.text, &r) == nil && r.Token != "", nil
	case slices.Contains(passing, Classify(err)):
		return r, false, fmt.Errorf("look for a lease in %s: %w", name, err)
	}
	return r, false, nil
}

// records returns the quoted names of the tables that may hold the records of namespaces
// other than those whose lease was asked for.
func (ls *Leases) records(ctx context.Context) (names []string, err error) {
	rows, err := ls.tables.beside.QueryContext(ctx, ls.tables.d.records)
	if err != nil {
		return nil, err
	}
	err = walk(rows, func(r *sql.Rows) error {
		var in, name string
		var here bool
		if err := r.Scan(&in, &name, &here); err != nil {
			return err
		}
		if _, own := ls.asked.Load(name); !own || !here {
			names = append(names, ls.tables.d.Quote(in)+"."+ls.tables.d.Quote(name))
		}
		return nil
	})
	return names, err
}

// Free gives up the lease, and removes the table of records if nothing else is in it.
func (ls *Leases) Free(ctx context.Context, namespace string, l store.Lease) error {
	made, err := ls.tables.table(madeName(namespace), false)
	if err != nil {
		return err
	}
	for gone := false; !gone && err == nil; {
		gone, err = ls.free(ctx, made, l)
	}
	return wrap("give back the lease in", made, err)
}

// free tries once; false if the row of the lease has changed meanwhile, as it does when
// another process makes itself known there.
func (ls *Leases) free(ctx context.Context, made *table, l store.Lease) (bool, error) {
	r, there, err := ls.leaseIn(ctx, made)
	if Absent(err) || err == nil && (!there || r.Lease != l) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	n, err := ls.tables.count(ctx, made)
	if err != nil {
		return false, err
	}
	if n == 1 {
		ls.tables.forget(made)
		_, err = ls.tables.beside.ExecContext(ctx, made.drop)
		return true, err
	}
	res, err := ls.tables.beside.ExecContext(ctx, made.remove+" AND v = "+ls.tables.d.Mark(2), leaseKey, r.text)
	if err != nil {
		return false, err
	}
	n, err = res.RowsAffected()
	return n > 0, err
}
