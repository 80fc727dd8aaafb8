package authz

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltable"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
)

// onSQL keeps one table of edges with the inverse index; ids are compared byte by
// byte.
type onSQL struct {
	*sqltable.Set
	db *sql.DB
}

// sqlTables are the tables. Two ids and a role must fit into an index.
var sqlTables = []sqltable.Table{
	{
		Name: "principals", Key: "principal_id",
		Columns: "principal_id {name 1000} NOT NULL, tenant {name 1000} NOT NULL, kind VARCHAR(1) NOT NULL, visibility VARCHAR(16), username {text}, password_hash VARCHAR(100), " +
			"first_name {text}, last_name {text}, display_name {text}, locale VARCHAR(16), timezone VARCHAR(64), title {text}, description {text}",
	},
	{
		Name: "roles", Key: "principal_id, resource_id", Index: sqltable.Index{Name: "by_resource", Columns: "resource_id, principal_id, role"},
		Columns: "principal_id {name 1000} NOT NULL, resource_id {name 1000} NOT NULL, role {name 100} NOT NULL",
	},
	{
		Name: "memberships_cache", Key: "principal_id, group_id",
		Columns: "principal_id {name 1000} NOT NULL, group_id {name 1000} NOT NULL, indirect BOOLEAN",
	},
	{
		Name: "permission_cache", Key: "principal_id, resource_id, action",
		Columns: "principal_id {name 1000} NOT NULL, resource_id {name 1000} NOT NULL, action {name 100} NOT NULL",
	},
	{
		Name: "profiles", Key: "principal_id, section",
		Columns: "principal_id {name 1000} NOT NULL, section VARCHAR(32) NOT NULL, visibility VARCHAR(16), data {text}",
	},
	{Name: "load", Key: "tenant, batch", Columns: "tenant {name 1000} NOT NULL, batch VARCHAR(64) NOT NULL"},
}

func newSQL(c sqlstore.Typed, namespace string) *onSQL {
	return &onSQL{sqltable.New(c, namespace, "authz_", sqlTables), c.SQL()}
}

// spaces lists the tables, a space each.
func (l *onSQL) spaces() []place.Space { return l.Spaces(nil) }

// look makes sure that the tables that are there will do.
func (l *onSQL) look(ctx context.Context, c *place.Claim) error { return l.Look(ctx, c) }

// prepare makes the tables.
func (l *onSQL) prepare(ctx context.Context) error { return l.Create(ctx) }

func (l *onSQL) exec(ctx context.Context, w *work, s string, args ...any) error {
	w.statements++
	p, err := l.Stmt(ctx, s)
	if err == nil {
		_, err = p.ExecContext(ctx, args...)
	}
	return err
}

func (l *onSQL) rows(ctx context.Context, w *work, s string, each func(*sql.Rows) error, args ...any) error {
	w.statements++
	p, err := l.Stmt(ctx, s)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close() // what went wrong Err tells
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (l *onSQL) heldBy(ctx context.Context, w *work, s string, args ...any) (out []held, err error) {
	err = l.rows(ctx, w, s, func(r *sql.Rows) error {
		var h held
		err := r.Scan(&h.id, &h.role)
		out = append(out, h)
		return err
	}, args...)
	return out, err
}

func (l *onSQL) ids(ctx context.Context, w *work, s string, args ...any) (out []string, err error) {
	err = l.rows(ctx, w, s, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		out = append(out, id)
		return err
	}, args...)
	return out, err
}

// upsert is an INSERT that replaces what is under the key, whose columns come first.
func upsert(table string, keys int, columns ...string) string {
	text := "INSERT INTO %" + table + " (" + strings.Join(columns, ", ") + ") VALUES " + sqltext.Marks(len(columns))
	if keys == len(columns) {
		return text + "{keep " + columns[0] + "}"
	}
	return text + "{replace " + strings.Join(columns[:keys], ", ") + ": " + strings.Join(columns[keys:], ", ") + "}"
}

var (
	putAccount = upsert("principals", 1, accountColumns...)
	setRole    = upsert("roles", 2, "principal_id", "resource_id", "role")
	putClosure = upsert("memberships_cache", 2, "principal_id", "group_id", "indirect")
	permit     = upsert("permission_cache", 3, "principal_id", "resource_id", "action")
	putSection = upsert("profiles", 2, "principal_id", "section", "visibility", "data")
	mark       = upsert("load", 2, "tenant", "batch")
)

func (l *onSQL) account(ctx context.Context, w *work, id string) (a account, ok bool, err error) {
	a.id = id
	err = l.rows(ctx, w, "SELECT tenant, kind, visibility, first_name, last_name, title, description FROM %principals WHERE principal_id = ?", func(r *sql.Rows) error {
		ok = true
		var text string
		err := r.Scan(&a.tenant, &a.kind, &a.visibility, &a.first, &a.last, &a.title, &text)
		a.describe(text)
		return err
	}, id)
	return a, ok, err
}

func (l *onSQL) putAccount(ctx context.Context, w *work, a account) error {
	return l.exec(ctx, w, putAccount, a.values()...)
}

func (l *onSQL) role(ctx context.Context, w *work, principal, resource string) (string, error) {
	ids, err := l.ids(ctx, w, "SELECT role FROM %roles WHERE principal_id = ? AND resource_id = ?", principal, resource)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// setMember has nothing to do: the index is the other direction.
func (l *onSQL) setMember(context.Context, *work, grant) error { return nil }

func (l *onSQL) setRole(ctx context.Context, w *work, g grant) error {
	return l.exec(ctx, w, setRole, g.member, g.resource, g.role)
}

func (l *onSQL) change(ctx context.Context, w *work, gs []grant) error {
	for _, g := range gs {
		var err error
		if g.role == "" {
			err = l.exec(ctx, w, "DELETE FROM %roles WHERE principal_id = ? AND resource_id = ?", g.member, g.resource)
		} else {
			err = l.setRole(ctx, w, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// in runs a statement that ends in "IN (" for ids in chunks of a few sizes, so that
// there are few texts; the last id fills up.
func (l *onSQL) in(ctx context.Context, w *work, s string, ids []string, tail string, before ...any) ([]held, error) {
	var out []held
	for chunk := range slices.Chunk(ids, inChunk) {
		size := 1
		for size < len(chunk) {
			size *= 10
		}
		args := slices.Clone(before)
		for i := range size {
			args = append(args, chunk[min(i, len(chunk)-1)])
		}
		hs, err := l.heldBy(ctx, w, s+" IN "+sqltext.Marks(size)+tail, args...)
		if err != nil {
			return nil, err
		}
		out = append(out, hs...)
	}
	return out, nil
}

func (l *onSQL) parents(ctx context.Context, w *work, principals []string) ([]held, error) {
	return l.in(ctx, w, "SELECT resource_id, role FROM %roles WHERE principal_id", principals, " AND resource_id >= 'g:' AND resource_id < 'g;'")
}

func (l *onSQL) rolesOn(ctx context.Context, w *work, resource string, principals []string) ([]held, error) {
	return l.in(ctx, w, "SELECT principal_id, role FROM %roles WHERE resource_id = ? AND principal_id", principals, "", resource)
}

func (l *onSQL) memberGroups(ctx context.Context, w *work, resource string) ([]held, error) {
	return l.heldBy(ctx, w, "SELECT principal_id, role FROM %roles WHERE resource_id = ? AND principal_id >= 'g:' AND principal_id < 'g;'", resource)
}

func (l *onSQL) members(ctx context.Context, w *work, resource, after string, limit int) ([]held, error) {
	return l.heldBy(ctx, w, "SELECT principal_id, role FROM %roles WHERE resource_id = ? AND principal_id > ? ORDER BY principal_id LIMIT "+strconv.Itoa(limit), resource, after)
}

// closure takes one look for each part of the groups: what another worker keeps or
// drops between two looks would be taken for a denial.
func (l *onSQL) closure(ctx context.Context, w *work, principal string, among []string) (groups []string, known bool, err error) {
	const there = "SELECT DISTINCT '', '' FROM %memberships_cache WHERE principal_id = ?"
	if len(among) == 0 {
		hs, err := l.heldBy(ctx, w, there, principal)
		return nil, len(hs) > 0, err
	}
	for part := range slices.Chunk(among, inChunk) {
		hs, err := l.in(ctx, w, there+" UNION ALL SELECT group_id, '' FROM %memberships_cache WHERE principal_id = ? AND group_id", part, "", principal, principal)
		if err != nil || len(hs) == 0 {
			return nil, false, err
		}
		for _, h := range hs {
			if h.id != "" {
				groups = append(groups, h.id)
			}
		}
	}
	return groups, true, nil
}

// putClosure keeps all or nothing: a part of the groups would be taken for all.
func (l *onSQL) putClosure(ctx context.Context, w *work, principal string, groups []string, direct int) error {
	if len(groups) == 0 {
		groups = []string{emptyClosure}
	}
	p, err := l.Stmt(ctx, putClosure)
	if err != nil {
		return err
	}
	return sqlstore.Transact(ctx, l.db, func(tx *sql.Tx) error {
		p := tx.StmtContext(ctx, p)
		for i, g := range groups {
			w.statements++
			if _, err := p.ExecContext(ctx, principal, g, i >= direct); err != nil {
				return err
			}
		}
		return nil
	})
}

func (l *onSQL) dropClosures(ctx context.Context, w *work, principals []string) error {
	for _, id := range principals {
		if err := l.exec(ctx, w, "DELETE FROM %memberships_cache WHERE principal_id = ?", id); err != nil {
			return err
		}
	}
	return nil
}

func (l *onSQL) permitted(ctx context.Context, w *work, principal, resource, role string) (bool, error) {
	ids, err := l.ids(ctx, w, "SELECT action FROM %permission_cache WHERE principal_id = ? AND resource_id = ? AND action = ?", principal, resource, role)
	return len(ids) > 0, err
}

func (l *onSQL) permit(ctx context.Context, w *work, principal, resource, role string) error {
	return l.exec(ctx, w, permit, principal, resource, role)
}

func (l *onSQL) forbid(ctx context.Context, w *work, resource string, principals []string) error {
	for _, id := range principals {
		s, args := "DELETE FROM %permission_cache WHERE principal_id = ?", []any{id}
		if resource != "" {
			s, args = s+" AND resource_id = ?", append(args, resource)
		}
		if err := l.exec(ctx, w, s, args...); err != nil {
			return err
		}
	}
	return nil
}

func (l *onSQL) section(ctx context.Context, w *work, principal, name string) (vis, data string, ok bool, err error) {
	err = l.rows(ctx, w, "SELECT visibility, data FROM %profiles WHERE principal_id = ? AND section = ?", func(r *sql.Rows) error {
		ok = true
		return r.Scan(&vis, &data)
	}, principal, name)
	return vis, data, ok, err
}

func (l *onSQL) putSection(ctx context.Context, w *work, principal, name, visibility, data string) error {
	return l.exec(ctx, w, putSection, principal, name, visibility, data)
}

func (l *onSQL) marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := l.ids(ctx, &work{}, "SELECT batch FROM %load WHERE tenant = ?", tenant)
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

func (l *onSQL) mark(ctx context.Context, tenant, batch string) error {
	return l.exec(ctx, &work{}, mark, tenant, batch)
}

// hasRole walks the graph inside the server. UNION drops what was seen, so that a
// cycle ends.
func (l *onSQL) hasRole(ctx context.Context, w *work, principal, resource, role string) (bool, error) {
	ids, err := l.ids(ctx, w, `WITH RECURSIVE anc(id) AS (
		SELECT resource_id FROM %roles WHERE principal_id = ? AND resource_id >= 'g:' AND resource_id < 'g;'
		UNION
		SELECT r.resource_id FROM %roles r JOIN anc a ON r.principal_id = a.id WHERE r.resource_id >= 'g:' AND r.resource_id < 'g;')
		SELECT d.role FROM %roles d WHERE d.resource_id = ? AND d.role = ?
		AND (d.principal_id = ? OR d.principal_id IN (SELECT id FROM anc)) LIMIT 1`, principal, resource, role, principal)
	return len(ids) > 0, err
}
