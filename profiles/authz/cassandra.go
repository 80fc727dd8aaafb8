package authz

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/cassandra/cqltable"
)

// onCassandra keeps one partition for each principal upward and one for each
// resource downward.
type onCassandra struct {
	*cqltable.Set
	stmt     map[string]string // by use
	parallel int
}

var cassandraTables = []cqltable.Table{
	{Name: "indirect_cache", Columns: "principal_id text, group_id text, value text", Key: "(principal_id), group_id"}, // in full its name would be too long
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

func newCassandra(c cassandra.Typed, namespace string) *onCassandra {
	space := store.Space{Namespace: namespace, Name: "authz", Shape: store.Keys, Grouped: true}
	l := &onCassandra{Set: cqltable.New(c, space, "authz_", cassandraTables), stmt: map[string]string{}, parallel: 32}
	for use, text := range cassandraStatements {
		l.stmt[use] = l.Text(text)
	}
	return l
}

// spaces lists where the tables are, as one space.
func (l *onCassandra) spaces() []place.Space { return l.Spaces(nil) }

// look makes sure that the tables that are there will do.
func (l *onCassandra) look(ctx context.Context, c *place.Claim) error { return l.Look(ctx, c) }

// prepare makes the tables.
func (l *onCassandra) prepare(ctx context.Context) error { return l.Create(ctx) }

func (l *onCassandra) exec(ctx context.Context, w *work, use string, args ...any) error {
	w.statements++
	if err := l.Conn.Query(l.stmt[use], args...).ExecContext(ctx); err != nil {
		return fmt.Errorf("%s: %w", use, err)
	}
	return nil
}

// one reads one row, false when there is none.
func (l *onCassandra) one(ctx context.Context, w *work, use string, dest []any, args ...any) (bool, error) {
	w.statements++
	err := l.Conn.Query(l.stmt[use], args...).ScanContext(ctx, dest...)
	if errors.Is(err, gocql.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", use, err)
	}
	return true, nil
}

// pairsOf reads rows of an id and a role.
func (l *onCassandra) pairsOf(ctx context.Context, w *work, use string, args ...any) ([]held, error) {
	w.statements++
	iter := l.Conn.Query(l.stmt[use], args...).IterContext(ctx)
	var out []held
	var h held
	for iter.Scan(&h.id, &h.role) {
		out = append(out, h)
	}
	if err := iter.Close(); err != nil {
		return nil, fmt.Errorf("%s: %w", use, err)
	}
	return out, nil
}

func (l *onCassandra) account(ctx context.Context, w *work, id string) (account, bool, error) {
	a := account{id: id}
	var text string
	ok, err := l.one(ctx, w, "account", []any{&a.tenant, &a.kind, &a.visibility, &a.first, &a.last, &a.title, &text}, id)
	a.describe(text)
	return a, ok, err
}

func (l *onCassandra) putAccount(ctx context.Context, w *work, a account) error {
	return l.exec(ctx, w, "putAccount", a.values()...)
}

func (l *onCassandra) role(ctx context.Context, w *work, principal, resource string) (role string, err error) {
	_, err = l.one(ctx, w, "role", []any{&role}, principal, resource)
	return role, err
}

func (l *onCassandra) setMember(ctx context.Context, w *work, g grant) error {
	return l.exec(ctx, w, "setMember", g.resource, g.member, g.role)
}

func (l *onCassandra) setRole(ctx context.Context, w *work, g grant) error {
	return l.exec(ctx, w, "setRole", g.member, g.resource, g.role)
}

func (l *onCassandra) change(ctx context.Context, w *work, gs []grant) error {
	w.statements++
	b := l.Conn.Batch(gocql.LoggedBatch)
	for _, g := range gs {
		if g.role == "" {
			b.Query(l.stmt["dropMember"], g.resource, g.member)
			b.Query(l.stmt["dropRole"], g.member, g.resource)
			continue
		}
		b.Query(l.stmt["setMember"], g.resource, g.member, g.role)
		b.Query(l.stmt["setRole"], g.member, g.resource, g.role)
	}
	if err := b.ExecContext(ctx); err != nil {
		return fmt.Errorf("change roles: %w", err)
	}
	return nil
}

func (l *onCassandra) parents(ctx context.Context, w *work, principals []string) ([]held, error) {
	if len(principals) == 1 {
		return l.pairsOf(ctx, w, "parents", principals[0])
	}
	return l.many(w, len(principals), func(w *work, i int) ([]held, error) {
		return l.pairsOf(ctx, w, "parents", principals[i])
	})
}

// many runs reads side by side, up to a limit, and joins what they give.
func (l *onCassandra) many(w *work, n int, f func(w *work, i int) ([]held, error)) ([]held, error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	var out []held
	var first error
	next := 0
	for range min(n, l.parallel) {
		all.Go(func() {
			var mine work
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
			w.statements += mine.statements
			mu.Unlock()
		})
	}
	all.Wait()
	return out, first
}

func (l *onCassandra) rolesOn(ctx context.Context, w *work, resource string, principals []string) ([]held, error) {
	if len(principals) <= inChunk {
		return l.pairsOf(ctx, w, "rolesOn", resource, principals)
	}
	chunks := slices.Collect(slices.Chunk(principals, inChunk))
	return l.many(w, len(chunks), func(w *work, i int) ([]held, error) {
		return l.pairsOf(ctx, w, "rolesOn", resource, chunks[i])
	})
}

func (l *onCassandra) memberGroups(ctx context.Context, w *work, resource string) ([]held, error) {
	return l.pairsOf(ctx, w, "groups", resource)
}

func (l *onCassandra) members(ctx context.Context, w *work, resource, after string, limit int) ([]held, error) {
	return l.pairsOf(ctx, w, "members", resource, after, limit)
}

func (l *onCassandra) list(ctx context.Context, w *work, use string, args ...any) ([]string, error) {
	w.statements++
	iter := l.Conn.Query(l.stmt[use], args...).IterContext(ctx)
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

func (l *onCassandra) closure(ctx context.Context, w *work, principal string, among []string) ([]string, bool, error) {
	var first string
	known, err := l.one(ctx, w, "probe", []any{&first}, principal)
	if err != nil || !known || len(among) == 0 {
		return nil, known, err
	}
	var out []string
	for part := range slices.Chunk(among, inChunk) {
		ids, err := l.list(ctx, w, "closure", principal, part)
		if err != nil {
			return nil, true, err
		}
		out = append(out, ids...)
	}
	return out, true, nil
}

func (l *onCassandra) putClosure(ctx context.Context, w *work, principal string, groups []string, direct int) error {
	indirect := groups[direct:]
	if len(groups) == 0 {
		groups = []string{emptyClosure}
	}
	if err := l.putAll(ctx, w, "indirect", principal, indirect); err != nil {
		return err
	}
	return l.putAll(ctx, w, "putClosure", principal, groups)
}

// putAll writes rows of one partition; servers warn above 5 KiB a batch.
func (l *onCassandra) putAll(ctx context.Context, w *work, use, principal string, groups []string) error {
	for part := range slices.Chunk(groups, 40) {
		w.statements++
		b := l.Conn.Batch(gocql.UnloggedBatch)
		for _, g := range part {
			b.Query(l.stmt[use], principal, g)
		}
		if err := b.ExecContext(ctx); err != nil {
			return fmt.Errorf("%s: %w", use, err)
		}
	}
	return nil
}

func (l *onCassandra) dropClosures(ctx context.Context, w *work, principals []string) error {
	_, err := l.many(w, len(principals), func(w *work, i int) ([]held, error) {
		if err := l.exec(ctx, w, "forget", principals[i]); err != nil {
			return nil, err
		}
		return nil, l.exec(ctx, w, "forgetToo", principals[i])
	})
	return err
}

func (l *onCassandra) permitted(ctx context.Context, w *work, principal, resource, role string) (bool, error) {
	var ok bool
	found, err := l.one(ctx, w, "permitted", []any{&ok}, principal, resource, role)
	return found && ok, err
}

func (l *onCassandra) permit(ctx context.Context, w *work, principal, resource, role string) error {
	return l.exec(ctx, w, "permit", principal, resource, role)
}

func (l *onCassandra) forbid(ctx context.Context, w *work, resource string, principals []string) error {
	_, err := l.many(w, len(principals), func(w *work, i int) ([]held, error) {
		if resource == "" {
			return nil, l.exec(ctx, w, "forbidAll", principals[i])
		}
		return nil, l.exec(ctx, w, "forbid", principals[i], resource)
	})
	return err
}

func (l *onCassandra) section(ctx context.Context, w *work, principal, name string) (vis, data string, ok bool, err error) {
	ok, err = l.one(ctx, w, "section", []any{&vis, &data}, principal, name)
	return vis, data, ok, err
}

func (l *onCassandra) putSection(ctx context.Context, w *work, principal, name, visibility, data string) error {
	return l.exec(ctx, w, "putSection", principal, name, visibility, data)
}

func (l *onCassandra) marks(ctx context.Context, tenant string) (map[string]bool, error) {
	names, err := l.list(ctx, &work{}, "marks", tenant)
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out, err
}

func (l *onCassandra) mark(ctx context.Context, tenant, batch string) error {
	return l.exec(ctx, &work{}, "mark", tenant, batch)
}
