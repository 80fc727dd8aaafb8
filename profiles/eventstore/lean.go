package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
)

// tables is what both layouts on Cassandra share: where the tables are, and how they
// are made.
type tables struct {
	s        *spec
	c        cassandra.Typed
	prefix   string // of tables: "perfbench_events_"
	keyspace string
	space    store.Space
	claim    *place.Claim // since look
}

func newTables(s *spec, c cassandra.Typed, bare bool) tables {
	t := tables{s: s, c: c, keyspace: c.KeyspaceFor(s.namespace)}
	switch {
	case s.namespace != "":
		t.prefix = cassandra.Name(s.namespace) + "_events_"
	case !bare:
		t.prefix = "events_"
	}
	return t
}

// text puts the places of tables into a statement: %name is a table.
func (t *tables) text(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		end := i + 1
		for end < len(s) && (s[end] >= 'a' && s[end] <= 'z' || s[end] == '_') {
			end++
		}
		b.WriteString(`"` + t.keyspace + `"."` + t.prefix + s[i+1:end] + `"`)
		i = end - 1
	}
	return b.String()
}

// names are the names of tables, as they are in the keyspace. Each table is given as
// its name and what follows it.
func (t *tables) names(all [][2]string) []string {
	out := make([]string, len(all))
	for i, def := range all {
		out[i] = t.prefix + def[0]
	}
	return out
}

// needs is what the tables must have.
func (t *tables) needs(all [][2]string) map[string]store.Table {
	out := map[string]store.Table{}
	for _, def := range all {
		columns, key, _ := strings.Cut(strings.ReplaceAll(def[1], "\n", " "), ", PRIMARY KEY ")
		key, _, _ = strings.Cut(key, " WITH ")
		key = strings.NewReplacer("(", "", ")", "").Replace(key)
		out[t.prefix+def[0]] = store.Table{Columns: store.Columns(strings.TrimPrefix(columns, "(")), Key: strings.Split(key, ", ")}
	}
	return out
}

// missing lists the tables that are yet to be made, unless one that is there will not
// do.
func (t *tables) missing(ctx context.Context, all [][2]string) (out [][2]string, err error) {
	for _, def := range all {
		got, err := t.c.Columns(ctx, t.keyspace, t.prefix+def[0])
		if err != nil {
			return nil, err
		}
		if t.claim != nil && t.claim.Theirs(t.space, t.prefix+def[0]) {
			continue
		}
		for name := range got {
			if !strings.Contains(def[1], name+" ") {
				return nil, fault.Store(fmt.Errorf("cassandra: the table %s.%s%s has a column %s that is not of this version", t.keyspace, t.prefix, def[0], name),
					"delete it with  perfbench data delete,  or use another --namespace")
			}
		}
		if len(got) == 0 {
			out = append(out, def)
		}
	}
	return out, nil
}

// make makes keyspace and tables.
func (t *tables) make(ctx context.Context, all [][2]string) error {
	if _, err := t.c.EnsureKeyspace(ctx, t.s.namespace); err != nil {
		return err
	}
	missing, err := t.missing(ctx, all)
	if err != nil {
		return err
	}
	for _, def := range missing {
		if err := t.c.Session().Query(t.text("CREATE TABLE IF NOT EXISTS %" + def[0] + " " + def[1])).ExecContext(ctx); err != nil {
			return fmt.Errorf("create table %s%s: %w", t.prefix, def[0], err)
		}
	}
	return nil
}

// durability says when a write counts as durable, as far as the server tells.
func (t *tables) durability(ctx context.Context) string {
	ask := func(name string) string {
		var v string
		if err := t.c.Session().Query("SELECT value FROM system_views.settings WHERE name = ?", name).ScanContext(ctx, &v); err != nil {
			return "unknown"
		}
		return v
	}
	return "acknowledged at the consistency of the target, commitlog_sync=" + ask("commitlog_sync")
}

// refusal marks an error that no retry mends: a row larger than the server takes.
func refusal(err error) error {
	if err == nil {
		return nil
	}
	for _, words := range []string{"Mutation of", "too large", "Request is too big"} {
		if strings.Contains(err.Error(), words) {
			return fmt.Errorf("%w: %w", errPermanent, err)
		}
	}
	return err
}

// onLean keeps batches in partitions bounded by time, with an index by parent.
type onLean struct {
	tables
	policy string
	insert string
	parent string
	read   string
	one    string
	under  string
}

var leanTables = [][2]string{
	{"batch", `(book text, page text, scope text, bucket int, start_ns bigint, id text, end_ns bigint, last_start_ns bigint, parent_id text,
ok boolean, single boolean, cnt int, codec tinyint, raw_size int, body blob, links blob, PRIMARY KEY ((book, page, scope, bucket), start_ns, id))
WITH compression = {'enabled': false}
AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'MINUTES', 'compaction_window_size': 10}`},
	{"by_parent", `(parent_id text, bucket int, start_ns bigint, id text, book text, page text, scope text, ok boolean, cnt int,
PRIMARY KEY ((parent_id, bucket), start_ns, id))`},
	{"scope", `(book text, page text, scope text, first_bucket int, max_duration_ms bigint, PRIMARY KEY ((book, page), scope))`},
	{"page", `(book text, start_ns bigint, page text, end_ns bigint, PRIMARY KEY (book, start_ns))`},
	{"stat", `(book text, page text, frame tinyint, frame_start timestamp, cnt counter, bytes counter, PRIMARY KEY ((book, page, frame), frame_start))`},
}

func newLean(s *spec, c cassandra.Typed) *onLean {
	l := &onLean{tables: newTables(s, c, false)}
	const columns = "start_ns, id, end_ns, last_start_ns, parent_id, ok, single, cnt, codec, raw_size, body, links"
	const partition = " WHERE book = ? AND page = ? AND scope = ? AND bucket = ?"
	l.insert = l.text("INSERT INTO %batch (book, page, scope, bucket, " + columns + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	l.parent = l.text("INSERT INTO %by_parent (parent_id, bucket, start_ns, id, book, page, scope, ok, cnt) VALUES (?,?,?,?,?,?,?,?,?)")
	l.read = l.text("SELECT " + columns + " FROM %batch" + partition + " AND start_ns >= ? AND start_ns <= ?")
	l.one = l.text("SELECT " + columns + " FROM %batch" + partition + " AND start_ns = ? AND id = ?")
	l.under = l.text("SELECT start_ns, id, page, scope FROM %by_parent WHERE parent_id = ? AND bucket = ? AND start_ns >= ? AND start_ns <= ?")
	return l
}

func (l *onLean) traits() traits {
	return traits{writers: 128, group: 1, durability: l.policy}
}

func (l *onLean) look(ctx context.Context, c *place.Claim) error {
	l.claim = c
	_, err := l.missing(ctx, leanTables)
	return err
}

func (l *onLean) prepare(ctx context.Context) error {
	if err := l.make(ctx, leanTables); err != nil {
		return err
	}
	l.policy = l.durability(ctx)
	err := l.c.Query(l.text("INSERT INTO %page (book, start_ns, page) VALUES (?, ?, ?)"), string(l.s.Shape.Book), l.s.Born, l.s.page).ExecContext(ctx)
	if err != nil {
		return fmt.Errorf("write down the page: %w", err)
	}
	return nil
}

// store writes each batch and its place under its parent. Both are told by the events
// alone, so that writing them again changes nothing.
func (l *onLean) store(ctx context.Context, rs []*record) (int, error) {
	book, page, scope := string(l.s.Book), l.s.page, string(l.s.Scope)
	n := 0
	for _, r := range rs {
		id, parent := string(r.id), string(r.parent)
		bucket := l.s.bucketAt(r.start, r.id)
		err := l.c.Query(l.insert, book, page, scope, bucket, r.start, id, r.end, r.last, parent,
			r.ok, r.single, r.count, int8(r.codec), r.raw, r.body, r.links).ExecContext(ctx)
		if err != nil {
			return n, refusal(fmt.Errorf("insert: %w", err))
		}
		if err := l.c.Query(l.parent, parent, bucket, r.start, id, book, page, scope, r.ok, r.count).ExecContext(ctx); err != nil {
			return n, fmt.Errorf("insert under the parent: %w", err)
		}
		n += 2
	}
	return n, nil
}

// counterBatch is how many counters one batch of statements changes.
const counterBatch = 100

// flush writes statistics, and the scope with its longest batch.
func (l *onLean) flush(ctx context.Context, t *tallies) error {
	book := string(l.s.Book)
	update := l.text("UPDATE %stat SET cnt = cnt + ?, bytes = bytes + ? WHERE book = ? AND page = ? AND frame = ? AND frame_start = ?")
	b := l.c.Batch(gocql.CounterBatch)
	for f, a := range t.frames {
		b.Query(update, a.count, a.bytes, book, l.s.page, f.kind, time.Unix(0, f.start).UTC())
		if b.Size() == counterBatch {
			if err := b.ExecContext(ctx); err != nil {
				return err
			}
			b = l.c.Batch(gocql.CounterBatch)
		}
	}
	if b.Size() > 0 {
		if err := b.ExecContext(ctx); err != nil {
			return err
		}
	}
	return l.c.Query(l.text("INSERT INTO %scope (book, page, scope, first_bucket, max_duration_ms) VALUES (?,?,?,?,?)"),
		book, l.s.page, string(l.s.Scope), bucketOf(l.s.Born, l.s.bucket), t.longest).ExecContext(ctx)
}

// rows visits what a query finds.
func (l *onLean) rows(ctx context.Context, q *gocql.Query, visit func(*row) error) error {
	iter := q.PageSize(min(l.s.pageSize, 16)).IterContext(ctx)
	var w row
	var id, parent string
	var codec int8
	for iter.Scan(&w.start, &id, &w.end, &w.last, &parent, &w.ok, &w.single, &w.count, &codec, &w.raw, &w.body, &w.links) {
		w.id, w.parent, w.codec = []byte(id), []byte(parent), byte(codec)
		if err := visit(&w); err != nil {
			return errors.Join(err, iter.Close())
		}
		w = row{}
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

func (l *onLean) scan(ctx context.Context, from, to int64, visit func(*row) error) error {
	first, last := l.s.buckets(from, to)
	for b := first; b <= last; b++ {
		q := l.c.Query(l.read, string(l.s.Book), l.s.page, string(l.s.Scope), b, from, to)
		if err := l.rows(ctx, q, visit); err != nil {
			return enough(err)
		}
	}
	return nil
}

func (l *onLean) get(ctx context.Context, k key, visit func(*row) error) error {
	b := l.s.bucketAt(k.start, []byte(k.id))
	return enough(l.rows(ctx, l.c.Query(l.one, string(l.s.Book), l.s.page, string(l.s.Scope), b, k.start, k.id), visit))
}

func (l *onLean) children(ctx context.Context, parent []byte, from, to int64, visit func(*row) error) error {
	first, last := l.s.buckets(from, to)
	for b := first; b <= last; b++ {
		iter := l.c.Query(l.under, string(parent), b, from, to).PageSize(l.s.pageSize).IterContext(ctx)
		var start int64
		var id, page, scope string
		for iter.Scan(&start, &id, &page, &scope) {
			if page != l.s.page {
				continue
			}
			q := l.c.Query(l.one, string(l.s.Book), page, scope, l.s.bucketAt(start, []byte(id)), start, id)
			if err := l.rows(ctx, q, visit); err != nil {
				return enough(errors.Join(err, iter.Close()))
			}
		}
		if err := iter.Close(); err != nil {
			return fmt.Errorf("children: %w", err)
		}
	}
	return nil
}
