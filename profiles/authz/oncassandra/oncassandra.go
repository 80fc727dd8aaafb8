// Package oncassandra is the layer on Cassandra.
package oncassandra

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

// Adapter keeps one upward partition per principal and one downward partition per
// resource.
type Adapter struct {
	conn     cassandra.Typed
	stmt     map[string]string // by use
	parallel int
}

var cassandraTables = []cassandra.Table{
	{Name: "indirect_cache", Columns: "principal_id text, group_id text, value text", Key: "(principal_id), group_id"}, // its full name would be too long
	{Name: "load", Columns: "tenant text, part text", Key: "(tenant), part"},
	{Name: "members", Columns: "resource_id text, member_id text, role text", Key: "(resource_id), member_id"},
	{Name: "memberships_cache", Columns: "principal_id text, group_id text, value text", Key: "(principal_id), group_id"},
	{Name: "permission_cache", Columns: "principal_id text, resource_id text, action text, allowed boolean", Key: "(principal_id), resource_id, action"},
	{
		Name: "principals", Key: "principal_id",
		Columns: "principal_id text, tenant text, kind text, visibility text, username text, password_hash text, first_name text, last_name text, " +
			"display_name text, locale text, timezone text, title text, description text",
	},
	{Name: "profiles", Columns: "principal_id text, section text, visibility text, data text", Key: "(principal_id), section"},
	{Name: "roles", Columns: "principal_id text, resource_id text, role text", Key: "(principal_id), resource_id"},
}

var cassandraStatements = map[string]string{
	"account": "SELECT tenant, kind, visibility, first_name, last_name, title, description FROM %principals WHERE principal_id = ?",
	"putAccount": "INSERT INTO %principals (principal_id, tenant, kind, visibility, username, password_hash, first_name, last_name, display_name, locale, timezone, title, description) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"role":       "SELECT role FROM %roles WHERE principal_id = ? AND resource_id = ?",
	"setRole":    "INSERT INTO %roles (principal_id, resource_id, role) VALUES (?, ?, ?)",
	"setMember":  "INSERT INTO %members (resource_id, member_id, role) VALUES (?, ?, ?)",
	"dropRole":   "DELETE FROM %roles WHERE principal_id = ? AND resource_id = ?",
	"dropMember": "DELETE FROM %members WHERE resource_id = ? AND member_id = ?",
	"parents":    "SELECT resource_id, role FROM %roles WHERE principal_id = ? AND resource_id >= 'g:' AND resource_id < 'g;'",
	"rolesOn":    "SELECT member_id, role FROM %members WHERE resource_id = ? AND member_id IN ?",
	"groups":     "SELECT member_id, role FROM %members WHERE resource_id = ? AND member_id >= 'g:' AND member_id < 'g;' LIMIT 10000",
	"members":    "SELECT member_id, role FROM %members WHERE resource_id = ? AND member_id > ? LIMIT ?",
	"probe":      "SELECT group_id FROM %memberships_cache WHERE principal_id = ? LIMIT 1",
	"closure":    "SELECT group_id FROM %memberships_cache WHERE principal_id = ? AND group_id IN ?",
	"putClosure": "INSERT INTO %memberships_cache (principal_id, group_id, value) VALUES (?, ?, '1')",
	"forget":     "DELETE FROM %memberships_cache WHERE principal_id = ?",
	"indirect":   "INSERT INTO %indirect_cache (principal_id, group_id, value) VALUES (?, ?, '1')",
	"forgetToo":  "DELETE FROM %indirect_cache WHERE principal_id = ?",
	"permitted":  "SELECT allowed FROM %permission_cache WHERE principal_id = ? AND resource_id = ? AND action = ?",
	"permit":     "INSERT INTO %permission_cache (principal_id, resource_id, action, allowed) VALUES (?, ?, ?, true)",
	"forbid":     "DELETE FROM %permission_cache WHERE principal_id = ? AND resource_id = ?",
	"forbidAll":  "DELETE FROM %permission_cache WHERE principal_id = ?",
	"section":    "SELECT visibility, data FROM %profiles WHERE principal_id = ? AND section = ?",
	"putSection": "INSERT INTO %profiles (principal_id, section, visibility, data) VALUES (?, ?, ?, ?)",
	"marks":      "SELECT part FROM %load WHERE tenant = ?",
	"mark":       "INSERT INTO %load (tenant, part) VALUES (?, ?)",
}

// New returns the layer for a namespace. It changes nothing in the store.
func New(c cassandra.Typed, namespace string) *model.Adapter {
	space := store.Space{Namespace: namespace, Name: "authz", Shape: store.Keys, Grouped: true}
	tables := cassandra.New(c, space, "authz_", cassandraTables)
	l := &Adapter{conn: tables.Conn, stmt: map[string]string{}, parallel: 32}
	for use, text := range cassandraStatements {
		l.stmt[use] = tables.Text(text)
	}
	return &model.Adapter{
		Spaces: tables.Spaces(nil), Tables: tables,
		Accounts: l, Graph: l, Edges: l, Closures: l, Permissions: l, Sections: l, Progress: l,
	}
}

func (l *Adapter) exec(ctx context.Context, w *model.Work, use string, args ...any) error {
	w.Statements++
	if err := l.conn.Query(l.stmt[use], args...).ExecContext(ctx); err != nil {
		return fmt.Errorf("%s: %w", use, err)
	}
	return nil
}

// one reads one row, false if there is none.
func (l *Adapter) one(ctx context.Context, w *model.Work, use string, dest []any, args ...any) (bool, error) {
	w.Statements++
	err := l.conn.Query(l.stmt[use], args...).ScanContext(ctx, dest...)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", use, err)
	}
	return true, nil
}

// pairsOf reads rows with an id and a role.
func (l *Adapter) pairsOf(ctx context.Context, w *model.Work, use string, args ...any) ([]model.Held, error) {
	w.Statements++
	iter := l.conn.Query(l.stmt[use], args...).IterContext(ctx)
	var out []model.Held
	var h model.Held
	for iter.Scan(&h.ID, &h.Role) {
		out = append(out, h)
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", use, err)
	}
	return out, nil
}

// Account reads a principal, false if there is none.
func (l *Adapter) Account(ctx context.Context, w *model.Work, id string) (model.Account, bool, error) {
	a := model.Account{ID: id}
	var text string
	ok, err := l.one(ctx, w, "account", []any{&a.Tenant, &a.Kind, &a.Visibility, &a.First, &a.Last, &a.Title, &text}, id)
	a.Describe(text)
	return a, ok, err
}

// PutAccount stores a principal.
func (l *Adapter) PutAccount(ctx context.Context, w *model.Work, a model.Account) error {
	return l.exec(ctx, w, "putAccount", a.Values()...)
}

// Role returns the direct role of a principal on a resource, or "".
func (l *Adapter) Role(ctx context.Context, w *model.Work, principal, resource string) (role string, err error) {
	_, err = l.one(ctx, w, "role", []any{&role}, principal, resource)
	return role, err
}

// SetMember writes the downward direction of an edge.
func (l *Adapter) SetMember(ctx context.Context, w *model.Work, g model.Grant) error {
	return l.exec(ctx, w, "setMember", g.Resource, g.Member, g.Role)
}

// SetRole writes the upward direction of an edge.
func (l *Adapter) SetRole(ctx context.Context, w *model.Work, g model.Grant) error {
	return l.exec(ctx, w, "setRole", g.Member, g.Resource, g.Role)
}

// Change writes grants and revocations, both directions.
func (l *Adapter) Change(ctx context.Context, w *model.Work, gs []model.Grant) error {
	w.Statements++
	b := l.conn.Batch(gocql.LoggedBatch)
	for _, g := range gs {
		if g.Role == "" {
			b.Query(l.stmt["dropMember"], g.Resource, g.Member)
			b.Query(l.stmt["dropRole"], g.Member, g.Resource)
			continue
		}
		b.Query(l.stmt["setMember"], g.Resource, g.Member, g.Role)
		b.Query(l.stmt["setRole"], g.Member, g.Resource, g.Role)
	}
	if err := b.ExecContext(ctx); err != nil {
		return fmt.Errorf("change roles: %w", err)
	}
	return nil
}

// Parents returns the groups that the principals are in.
func (l *Adapter) Parents(ctx context.Context, w *model.Work, principals []string) ([]model.Held, error) {
	if len(principals) == 1 {
		return l.pairsOf(ctx, w, "parents", principals[0])
	}
	return l.many(w, len(principals), func(w *model.Work, i int) ([]model.Held, error) {
		return l.pairsOf(ctx, w, "parents", principals[i])
	})
}

// many runs reads concurrently, up to a limit, and joins their results.
func (l *Adapter) many(w *model.Work, n int, f func(w *model.Work, i int) ([]model.Held, error)) ([]model.Held, error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var out []model.Held
	var first error
	next := 0
	for range min(n, l.parallel) {
		all.Go(fault.Guarded(func() {
			var mine model.Work
			for {
				mu.Lock()
				i := next
				next++
				stop := i >= n || first != nil
				mu.Unlock()
				if stop {
					break
				}
				hs, err := f(&mine, i)
				mu.Lock()
				out = append(out, hs...)
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
			mu.Lock()
			w.Statements += mine.Statements
			mu.Unlock()
		}))
	}
	all.Wait()
	return out, first
}

// RolesOn reads the direct roles of several principals on a resource.
func (l *Adapter) RolesOn(ctx context.Context, w *model.Work, resource string, principals []string) ([]model.Held, error) {
	if len(principals) <= model.InChunk {
		return l.pairsOf(ctx, w, "rolesOn", resource, principals)
	}
	chunks := slices.Collect(slices.Chunk(principals, model.InChunk))
	return l.many(w, len(chunks), func(w *model.Work, i int) ([]model.Held, error) {
		return l.pairsOf(ctx, w, "rolesOn", resource, chunks[i])
	})
}

// MemberGroups returns the groups that are members of a resource.
func (l *Adapter) MemberGroups(ctx context.Context, w *model.Work, resource string) ([]model.Held, error) {
	return l.pairsOf(ctx, w, "groups", resource)
}

// Members returns members of a resource, ordered by id.
func (l *Adapter) Members(ctx context.Context, w *model.Work, resource, after string, limit int) ([]model.Held, error) {
	return l.pairsOf(ctx, w, "members", resource, after, limit)
}

func (l *Adapter) list(ctx context.Context, w *model.Work, use string, args ...any) ([]string, error) {
	w.Statements++
	iter := l.conn.Query(l.stmt[use], args...).IterContext(ctx)
	var out []string
	var id string
	for iter.Scan(&id) {
		out = append(out, id)
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", use, err)
	}
	return out, nil
}

// Closure returns which of some groups are cached for a principal.
func (l *Adapter) Closure(ctx context.Context, w *model.Work, principal string, among []string) ([]string, bool, error) {
	var first string
	known, err := l.one(ctx, w, "probe", []any{&first}, principal)
	if err != nil || !known || len(among) == 0 {
		return nil, known, err
	}
	var out []string
	for part := range slices.Chunk(among, model.InChunk) {
		ids, err := l.list(ctx, w, "closure", principal, part)
		if err != nil {
			return nil, true, err
		}
		out = append(out, ids...)
	}
	return out, true, nil
}

// PutClosure caches the groups of a principal, the direct ones first.
func (l *Adapter) PutClosure(ctx context.Context, w *model.Work, principal string, groups []string, direct int) error {
	indirect := groups[direct:]
	if len(groups) == 0 {
		groups = []string{model.EmptyClosure}
	}
	if err := l.putAll(ctx, w, "indirect", principal, indirect); err != nil {
		return err
	}
	return l.putAll(ctx, w, "putClosure", principal, groups)
}

// putAll writes rows of one partition; servers warn about batches above 5 KiB.
func (l *Adapter) putAll(ctx context.Context, w *model.Work, use, principal string, groups []string) error {
	for part := range slices.Chunk(groups, 40) {
		w.Statements++
		b := l.conn.Batch(gocql.UnloggedBatch)
		for _, g := range part {
			b.Query(l.stmt[use], principal, g)
		}
		if err := b.ExecContext(ctx); err != nil {
			return fmt.Errorf("%s: %w", use, err)
		}
	}
	return nil
}

// DropClosures drops the cached groups of principals.
func (l *Adapter) DropClosures(ctx context.Context, w *model.Work, principals []string) error {
	_, err := l.many(w, len(principals), func(w *model.Work, i int) ([]model.Held, error) {
		if err := l.exec(ctx, w, "forget", principals[i]); err != nil {
			return nil, err
		}
		return nil, l.exec(ctx, w, "forgetToo", principals[i])
	})
	return err
}

// Permitted reads a cached permission.
func (l *Adapter) Permitted(ctx context.Context, w *model.Work, principal, resource, role string) (bool, error) {
	var ok bool
	found, err := l.one(ctx, w, "permitted", []any{&ok}, principal, resource, role)
	return found && ok, err
}

// Permit caches a permission.
func (l *Adapter) Permit(ctx context.Context, w *model.Work, principal, resource, role string) error {
	return l.exec(ctx, w, "permit", principal, resource, role)
}

// Forbid drops cached permissions of principals.
func (l *Adapter) Forbid(ctx context.Context, w *model.Work, resource string, principals []string) error {
	_, err := l.many(w, len(principals), func(w *model.Work, i int) ([]model.Held, error) {
		if resource == "" {
			return nil, l.exec(ctx, w, "forbidAll", principals[i])
		}
		return nil, l.exec(ctx, w, "forbid", principals[i], resource)
	})
	return err
}

// Section reads a section of a profile, false if there is none.
func (l *Adapter) Section(ctx context.Context, w *model.Work, principal, name string) (vis, data string, ok bool, err error) {
	ok, err = l.one(ctx, w, "section", []any{&vis, &data}, principal, name)
	return vis, data, ok, err
}

// PutSection stores a section of a profile.
func (l *Adapter) PutSection(ctx context.Context, w *model.Work, principal, name, visibility, data string) error {
	return l.exec(ctx, w, "putSection", principal, name, visibility, data)
}

// Marks returns the batches of a tenant's load that are done.
func (l *Adapter) Marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := l.list(ctx, &model.Work{}, "marks", tenant)
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

// Mark notes that a batch is done.
func (l *Adapter) Mark(ctx context.Context, tenant, batch string) error {
	return l.exec(ctx, &model.Work{}, "mark", tenant, batch)
}
