// Package onsql is the layer on SQL databases.
package onsql

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/store/sqlstore"

	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Adapter keeps one table of edges with the inverse index; ids are compared byte by byte.
type Adapter struct {
	tables *sqlstore.Tables
	db     *sql.DB
}

// sqlTables are the tables. Two ids and a role must fit into an index.
var sqlTables = []sqlstore.Table{
	{
		Name: "principals", Key: "principal_id",
		Columns: "principal_id {name 1000} NOT NULL, tenant {name 1000} NOT NULL, kind VARCHAR(1) NOT NULL, visibility VARCHAR(16), username {text}, password_hash VARCHAR(100), " +
			"first_name {text}, last_name {text}, display_name {text}, locale VARCHAR(16), timezone VARCHAR(64), title {text}, description {text}",
	},
	{
		Name: "roles", Key: "principal_id, resource_id", Index: sqlstore.Index{Name: "by_resource", Columns: "resource_id, principal_id, role"},
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

// New returns the layer for a namespace. It changes nothing in the store.
func New(c sqlstore.Typed, namespace string) *model.Adapter {
	l := &Adapter{sqlstore.NewTables(c, namespace, "authz_", sqlTables), c.SQL()}
	return &model.Adapter{
		Spaces: l.tables.Spaces(nil), Tables: l.tables,
		Accounts: l, Graph: l, Edges: l, Closures: l, Permissions: l, Sections: l, Progress: l, Walker: l,
	}
}

func (l *Adapter) exec(ctx context.Context, w *model.Work, s string, args ...any) error {
	w.Statements++
	p, err := l.tables.Stmt(ctx, s)
	if err == nil {
		_, err = p.ExecContext(ctx, args...)
	}
	return err
}

func (l *Adapter) rows(ctx context.Context, w *model.Work, s string, each func(*sql.Rows) error, args ...any) error {
	w.Statements++
	p, err := l.tables.Stmt(ctx, s)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close() // Err reports what went wrong
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (l *Adapter) heldBy(ctx context.Context, w *model.Work, s string, args ...any) (out []model.Held, err error) {
	err = l.rows(ctx, w, s, func(r *sql.Rows) error {
		var h model.Held
		err := r.Scan(&h.ID, &h.Role)
		out = append(out, h)
		return err
	}, args...)
	return out, err
}

func (l *Adapter) ids(ctx context.Context, w *model.Work, s string, args ...any) (out []string, err error) {
	err = l.rows(ctx, w, s, func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		out = append(out, id)
		return err
	}, args...)
	return out, err
}

// upsert returns an INSERT that replaces the row with the same key, whose columns come
// first.
func upsert(table string, keys int, columns ...string) string {
	text := "INSERT INTO %" + table + " (" + strings.Join(columns, ", ") + ") VALUES " + sqltext.Marks(len(columns))
	if keys == len(columns) {
		return text + "{keep " + columns[0] + "}"
	}
	return text + "{replace " + strings.Join(columns[:keys], ", ") + ": " + strings.Join(columns[keys:], ", ") + "}"
}

var (
	putAccount = upsert("principals", 1, model.AccountColumns...)
	setRole    = upsert("roles", 2, "principal_id", "resource_id", "role")
	putClosure = upsert("memberships_cache", 2, "principal_id", "group_id", "indirect")
	permit     = upsert("permission_cache", 3, "principal_id", "resource_id", "action")
	putSection = upsert("profiles", 2, "principal_id", "section", "visibility", "data")
	mark       = upsert("load", 2, "tenant", "batch")
)

// Account reads a principal, false if there is none.
func (l *Adapter) Account(ctx context.Context, w *model.Work, id string) (a model.Account, ok bool, err error) {
	a.ID = id
	err = l.rows(ctx, w, "SELECT tenant, kind, visibility, first_name, last_name, title, description FROM %principals WHERE principal_id = ?", func(r *sql.Rows) error {
		ok = true
		var text string
		err := r.Scan(&a.Tenant, &a.Kind, &a.Visibility, &a.First, &a.Last, &a.Title, &text)
		a.Describe(text)
		return err
	}, id)
	return a, ok, err
}

// PutAccount stores a principal.
func (l *Adapter) PutAccount(ctx context.Context, w *model.Work, a model.Account) error {
	return l.exec(ctx, w, putAccount, a.Values()...)
}

// Role returns the direct role of a principal on a resource, or "".
func (l *Adapter) Role(ctx context.Context, w *model.Work, principal, resource string) (string, error) {
	ids, err := l.ids(ctx, w, "SELECT role FROM %roles WHERE principal_id = ? AND resource_id = ?", principal, resource)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// SetMember does nothing: the index is the other direction.
func (l *Adapter) SetMember(context.Context, *model.Work, model.Grant) error { return nil }

// SetRole writes the upward direction of an edge.
func (l *Adapter) SetRole(ctx context.Context, w *model.Work, g model.Grant) error {
	return l.exec(ctx, w, setRole, g.Member, g.Resource, g.Role)
}

// Change writes grants and revocations, both directions.
func (l *Adapter) Change(ctx context.Context, w *model.Work, gs []model.Grant) error {
	for _, g := range gs {
		var err error
		if g.Role == "" {
			err = l.exec(ctx, w, "DELETE FROM %roles WHERE principal_id = ? AND resource_id = ?", g.Member, g.Resource)
		} else {
			err = l.SetRole(ctx, w, g)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// in runs a statement that ends in "IN (" for ids, in chunks of a few sizes so that
// there are few different statements; chunks are padded with the last id.
func (l *Adapter) in(ctx context.Context, w *model.Work, s string, ids []string, tail string, before ...any) ([]model.Held, error) {
	var out []model.Held
	for chunk := range slices.Chunk(ids, model.InChunk) {
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

// Parents returns the groups that the principals are in.
func (l *Adapter) Parents(ctx context.Context, w *model.Work, principals []string) ([]model.Held, error) {
	return l.in(ctx, w, "SELECT resource_id, role FROM %roles WHERE principal_id", principals, " AND resource_id >= 'g:' AND resource_id < 'g;'")
}

// RolesOn reads the direct roles of several principals on a resource.
func (l *Adapter) RolesOn(ctx context.Context, w *model.Work, resource string, principals []string) ([]model.Held, error) {
	return l.in(ctx, w, "SELECT principal_id, role FROM %roles WHERE resource_id = ? AND principal_id", principals, "", resource)
}

// MemberGroups returns the groups that are members of a resource.
func (l *Adapter) MemberGroups(ctx context.Context, w *model.Work, resource string) ([]model.Held, error) {
	return l.heldBy(ctx, w, "SELECT principal_id, role FROM %roles WHERE resource_id = ? AND principal_id >= 'g:' AND principal_id < 'g;'", resource)
}

// Members returns members of a resource, ordered by id.
func (l *Adapter) Members(ctx context.Context, w *model.Work, resource, after string, limit int) ([]model.Held, error) {
	return l.heldBy(ctx, w, "SELECT principal_id, role FROM %roles WHERE resource_id = ? AND principal_id > ? ORDER BY principal_id LIMIT "+strconv.Itoa(limit), resource, after)
}

// Closure makes one query per chunk of groups: what another worker caches or drops
// between two queries would be taken for a denial.
func (l *Adapter) Closure(ctx context.Context, w *model.Work, principal string, among []string) (groups []string, known bool, err error) {
	const there = "SELECT DISTINCT '', '' FROM %memberships_cache WHERE principal_id = ?"
	if len(among) == 0 {
		hs, err := l.heldBy(ctx, w, there, principal)
		return nil, len(hs) > 0, err
	}
	for part := range slices.Chunk(among, model.InChunk) {
		hs, err := l.in(ctx, w, there+" UNION ALL SELECT group_id, '' FROM %memberships_cache WHERE principal_id = ? AND group_id", part, "", principal, principal)
		if err != nil || len(hs) == 0 {
			return nil, false, err
		}
		for _, h := range hs {
			if h.ID != "" {
				groups = append(groups, h.ID)
			}
		}
	}
	return groups, true, nil
}

// PutClosure caches everything or nothing, because a part of the groups would be taken
// for all. Several workers may cache those of one principal at once; since all write
// the rows in the same order, they do not deadlock. Together with DropClosures, for
// which the database chooses the order of locks, one of them may still be rolled back,
// and is repeated.
func (l *Adapter) PutClosure(ctx context.Context, w *model.Work, principal string, groups []string, direct int) error {
	if len(groups) == 0 {
		groups = []string{model.EmptyClosure}
	}
	p, err := l.tables.Stmt(ctx, putClosure)
	if err != nil {
		return err
	}
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(groups[a], groups[b]) })
	return l.again(ctx, func() error {
		return sqlstore.Transact(ctx, l.db, func(tx *sql.Tx) error {
			p := tx.StmtContext(ctx, p)
			for _, i := range order {
				w.Statements++
				if _, err := p.ExecContext(ctx, principal, groups[i], i >= direct); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// again calls f again if the database rolled it back because of another transaction.
func (l *Adapter) again(ctx context.Context, f func() error) error {
	return sqlstore.Retry(ctx, l.tables.Conn, func(time.Duration) {}, f)
}

// DropClosures drops the cached groups of principals.
func (l *Adapter) DropClosures(ctx context.Context, w *model.Work, principals []string) error {
	for _, id := range principals {
		if err := l.again(ctx, func() error {
			return l.exec(ctx, w, "DELETE FROM %memberships_cache WHERE principal_id = ?", id)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Permitted reads a cached permission.
func (l *Adapter) Permitted(ctx context.Context, w *model.Work, principal, resource, role string) (bool, error) {
	ids, err := l.ids(ctx, w, "SELECT action FROM %permission_cache WHERE principal_id = ? AND resource_id = ? AND action = ?", principal, resource, role)
	return len(ids) > 0, err
}

// Permit caches a permission.
func (l *Adapter) Permit(ctx context.Context, w *model.Work, principal, resource, role string) error {
	return l.exec(ctx, w, permit, principal, resource, role)
}

// Forbid drops cached permissions of principals.
func (l *Adapter) Forbid(ctx context.Context, w *model.Work, resource string, principals []string) error {
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

// Section reads a section of a profile, false if there is none.
func (l *Adapter) Section(ctx context.Context, w *model.Work, principal, name string) (vis, data string, ok bool, err error) {
	err = l.rows(ctx, w, "SELECT visibility, data FROM %profiles WHERE principal_id = ? AND section = ?", func(r *sql.Rows) error {
		ok = true
		return r.Scan(&vis, &data)
	}, principal, name)
	return vis, data, ok, err
}

// PutSection stores a section of a profile.
func (l *Adapter) PutSection(ctx context.Context, w *model.Work, principal, name, visibility, data string) error {
	return l.exec(ctx, w, putSection, principal, name, visibility, data)
}

// Marks returns the batches of a tenant's load that are done.
func (l *Adapter) Marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := l.ids(ctx, &model.Work{}, "SELECT batch FROM %load WHERE tenant = ?", tenant)
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

// Mark notes that a batch is done.
func (l *Adapter) Mark(ctx context.Context, tenant, batch string) error {
	return l.exec(ctx, &model.Work{}, mark, tenant, batch)
}

// HasRole walks the graph inside the server. UNION removes what has been visited, so
// that cycles end.
func (l *Adapter) HasRole(ctx context.Context, w *model.Work, principal, resource, role string) (bool, error) {
	ids, err := l.ids(ctx, w, `WITH RECURSIVE anc(id) AS (
		SELECT resource_id FROM %roles WHERE principal_id = ? AND resource_id >= 'g:' AND resource_id < 'g;'
		UNION
		SELECT r.resource_id FROM %roles r JOIN anc a ON r.principal_id = a.id WHERE r.resource_id >= 'g:' AND r.resource_id < 'g;')
		SELECT d.role FROM %roles d WHERE d.resource_id = ? AND d.role = ?
		AND (d.principal_id = ? OR d.principal_id IN (SELECT id FROM anc)) LIMIT 1`, principal, resource, role, principal)
	return len(ids) > 0, err
}
