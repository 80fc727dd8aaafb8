package authz

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
)

// onSQL keeps one table of edges with the inverse index; ids are compared byte by
// byte.
type onSQL struct {
	c         sqlstore.Typed
	db        *sql.DB
	namespace string
	prefix    string // of tables: "perfbench_authz_"
	stmts     sync.Map
	claim     *place.Claim // since look
}

// sqlTables lists the tables with their columns; %id is the type of an id,
// %role of a role, %text of a text of any length.
var sqlTables = []struct{ name, columns, key, index string }{
	{"principals", "principal_id %id NOT NULL, tenant %id NOT NULL, kind VARCHAR(1) NOT NULL, visibility VARCHAR(16), username %text, password_hash VARCHAR(100), " +
		"first_name %text, last_name %text, display_name %text, locale VARCHAR(16), timezone VARCHAR(64), title %text, description %text", "principal_id", ""},
	{"roles", "principal_id %id NOT NULL, resource_id %id NOT NULL, role %role NOT NULL", "principal_id, resource_id", "resource_id, principal_id, role"},
	{"memberships_cache", "principal_id %id NOT NULL, group_id %id NOT NULL, indirect BOOLEAN", "principal_id, group_id", ""},
	{"permission_cache", "principal_id %id NOT NULL, resource_id %id NOT NULL, action %role NOT NULL", "principal_id, resource_id, action", ""},
	{"profiles", "principal_id %id NOT NULL, section VARCHAR(32) NOT NULL, visibility VARCHAR(16), data %text", "principal_id, section", ""},
	{"load", "tenant %id NOT NULL, batch VARCHAR(64) NOT NULL", "tenant, batch", ""},
}

func newSQL(c sqlstore.Typed, namespace string) *onSQL {
	prefix := "authz_"
	if namespace != "" {
		prefix = namespace + "_authz_"
	}
	return &onSQL{c: c, db: c.SQL(), namespace: namespace, prefix: prefix}
}

// text puts table names and placeholders of the dialect into a statement: %name is
// a table, ? a placeholder.
func (l *onSQL) text(s string) string {
	q := `"`
	if l.c.Dialect() == sqlstore.DialectMySQL {
		q = "`"
	}
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '%':
			end := i + 1
			for end < len(s) && (s[end] >= 'a' && s[end] <= 'z' || s[end] == '_') {
				end++
			}
			b.WriteString(q + strings.ReplaceAll(l.prefix, q, q+q) + s[i+1:end] + q)
			i = end - 1
		case s[i] == '?' && l.c.Dialect() == sqlstore.DialectPostgres:
			n++
			b.WriteString("$" + strconv.Itoa(n))
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// spaces are the tables, a space each.
func (l *onSQL) spaces() []place.Space {
	var out []place.Space
	for _, t := range sqlTables {
		out = append(out, place.Space{Space: l.space(t.name), Tables: map[string]store.Table{
			"": {Columns: store.Columns(t.columns), Key: strings.Split(t.key, ", ")},
		}})
	}
	return out
}

func (l *onSQL) space(table string) store.Space {
	return store.Space{Namespace: l.namespace, Name: "authz_" + table, Shape: store.Keys}
}

// look makes sure that the tables of ours that are there are of this version.
func (l *onSQL) look(ctx context.Context, c *place.Claim) error {
	l.claim = c
	for _, t := range sqlTables {
		if !c.Spot(l.space(t.name)).Found.Exists || c.Theirs(l.space(t.name), "") {
			continue
		}
		if err := l.fits(ctx, t.name, t.columns); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes the tables.
func (l *onSQL) prepare(ctx context.Context) error {
	if err := l.c.EnsureDatabase(ctx, l.namespace); err != nil {
		return err
	}
	// Two ids and a role must fit into an index.
	id, role, long := "VARCHAR(1000)", "VARCHAR(100)", "TEXT"
	switch l.c.Dialect() {
	case sqlstore.DialectMySQL:
		id, role, long = "VARBINARY(1000)", "VARBINARY(100)", "MEDIUMTEXT CHARACTER SET utf8mb4"
	case sqlstore.DialectPostgres:
		id, role = `VARCHAR(1000) COLLATE "C"`, `VARCHAR(100) COLLATE "C"`
	}
	for _, t := range sqlTables {
		if l.claim != nil && l.claim.Theirs(l.space(t.name), "") {
			continue
		}
		columns := strings.NewReplacer("%id", id, "%text", long, "%role", role).Replace(t.columns)
		index := ""
		if t.index != "" && l.c.Dialect() == sqlstore.DialectMySQL {
			index = ", INDEX by_resource (" + t.index + ")"
		}
		if err := l.make(ctx, l.text("CREATE TABLE IF NOT EXISTS %"+t.name)+" ("+columns+", PRIMARY KEY ("+t.key+")"+index+")"); err != nil {
			return fmt.Errorf("create table %s%s: %w", l.prefix, t.name, err)
		}
		if t.index != "" && index == "" {
			if err := l.make(ctx, l.text("CREATE INDEX IF NOT EXISTS %"+t.name+"_by_resource ON %"+t.name)+" ("+t.index+")"); err != nil {
				return fmt.Errorf("create index of %s%s: %w", l.prefix, t.name, err)
			}
		}
		if err := l.fits(ctx, t.name, t.columns); err != nil {
			return err
		}
	}
	return nil
}

func (l *onSQL) make(ctx context.Context, create string) error {
	return sqlstore.Make(func() error {
		_, err := l.db.ExecContext(ctx, create)
		return err
	})
}

// fits makes sure that a table has our columns.
func (l *onSQL) fits(ctx context.Context, name, columns string) error {
	var names []string
	for c := range strings.SplitSeq(columns, ", ") {
		n, _, _ := strings.Cut(c, " ")
		names = append(names, n)
	}
	rows, err := l.db.QueryContext(ctx, l.text("SELECT * FROM %"+name+" WHERE 1 = 0"))
	if err != nil {
		return fmt.Errorf("look at %s%s: %w", l.prefix, name, err)
	}
	got, err := rows.Columns()
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return err
	}
	if !slices.Equal(got, names) {
		return fault.Store(fmt.Errorf("the table %s%s has other columns than this version's: an older one made it", l.prefix, name),
			"delete it with  perfbench data delete,  or use another --namespace")
	}
	return nil
}

// stmt returns a statement prepared; texts are few.
func (l *onSQL) stmt(ctx context.Context, s string) (*sql.Stmt, error) {
	if v, ok := l.stmts.Load(s); ok {
		return v.(*sql.Stmt), nil
	}
	p, err := l.db.PrepareContext(ctx, l.text(s))
	if err != nil {
		return nil, err
	}
	if v, loaded := l.stmts.LoadOrStore(s, p); loaded {
		return v.(*sql.Stmt), p.Close()
	}
	return p, nil
}

func (l *onSQL) exec(ctx context.Context, w *work, s string, args ...any) error {
	w.statements++
	p, err := l.stmt(ctx, s)
	if err == nil {
		_, err = p.ExecContext(ctx, args...)
	}
	return err
}

func (l *onSQL) rows(ctx context.Context, w *work, s string, each func(*sql.Rows) error, args ...any) error {
	w.statements++
	p, err := l.stmt(ctx, s)
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

// upsert is an INSERT that replaces what is under the key.
func (l *onSQL) upsert(table, key string, columns ...string) string {
	s := "INSERT INTO %" + table + " (" + strings.Join(columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", len(columns)-1) + ")"
	var sets []string
	for _, c := range columns {
		if slices.Contains(strings.Split(key, ", "), c) {
			continue
		}
		if l.c.Dialect() == sqlstore.DialectMySQL {
			sets = append(sets, c+" = VALUES("+c+")")
		} else {
			sets = append(sets, c+" = excluded."+c)
		}
	}
	switch {
	case l.c.Dialect() == sqlstore.DialectMySQL && len(sets) == 0:
		return s + " ON DUPLICATE KEY UPDATE " + columns[0] + " = " + columns[0]
	case l.c.Dialect() == sqlstore.DialectMySQL:
		return s + " ON DUPLICATE KEY UPDATE " + strings.Join(sets, ", ")
	case len(sets) == 0:
		return s + " ON CONFLICT (" + key + ") DO NOTHING"
	}
	return s + " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(sets, ", ")
}

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
	return l.exec(ctx, w, l.upsert("principals", "principal_id", accountColumns...), a.values()...)
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
	return l.exec(ctx, w, l.upsert("roles", "principal_id, resource_id", "principal_id", "resource_id", "role"), g.member, g.resource, g.role)
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
		hs, err := l.heldBy(ctx, w, s+" IN (?"+strings.Repeat(", ?", size-1)+")"+tail, args...)
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
	p, err := l.stmt(ctx, l.upsert("memberships_cache", "principal_id, group_id", "principal_id", "group_id", "indirect"))
	if err != nil {
		return err
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing to do once it is committed
	p = tx.StmtContext(ctx, p)
	for i, g := range groups {
		w.statements++
		if _, err := p.ExecContext(ctx, principal, g, i >= direct); err != nil {
			return err
		}
	}
	return tx.Commit()
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
	return l.exec(ctx, w, l.upsert("permission_cache", "principal_id, resource_id, action", "principal_id", "resource_id", "action"), principal, resource, role)
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
	return l.exec(ctx, w, l.upsert("profiles", "principal_id, section", "principal_id", "section", "visibility", "data"), principal, name, visibility, data)
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
	return l.exec(ctx, &work{}, l.upsert("load", "tenant, batch", "tenant", "batch"), tenant, batch)
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
