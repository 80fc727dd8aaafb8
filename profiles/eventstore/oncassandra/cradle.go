package oncassandra

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// cradle keeps events in the tables of th2's Cradle, schema version 5.3.0, byte for
// byte: one partition for each book, page and scope, a secondary index by parent, and
// links that are never compressed.
type cradle struct {
	tables
	insert string
	read   string
	one    string
	under  string

	telling sync.Mutex // held while durations and scopes are recorded
	mu      sync.Mutex
	// longest is the longest batch recorded for the scope, in milliseconds; -1: nothing
	// is. known means that scope and page scope are recorded.
	longest int64
	known   bool
}

// cradleVersion is the version of the schema, as recorded with the book.
const cradleVersion = "5.3.0"

var cradleTables = []cassandra.Table{
	{
		Name: "test_events", Key: "(book, page, scope), start_date, start_time, id",
		Columns: "book text, page text, scope text, start_date date, start_time time, id text, name text, type text, success boolean, root boolean, " +
			"event_batch boolean, compressed boolean, parent_id text, event_count int, end_date date, end_time time, messages blob, " +
			"labels set<text>, z_content blob, rec_date timestamp, z_content_size int, z_content_uncompressed_size int",
	},
	{
		Name: "scopes", Key: "book, scope",
		Columns: "book text, scope text",
	},
	{
		Name: "page_scopes", Key: "(book, page), scope",
		Columns: "book text, page text, scope text",
	},
	{
		Name: "event_batch_max_durations", Key: "(book, page), scope",
		Columns: "book text, page text, scope text, max_batch_duration bigint",
	},
	{
		Name: "entity_statistics", Key: "(book, page, entity_type, frame_type), frame_start",
		Columns: "book text, page text, entity_type tinyint, frame_type tinyint, frame_start timestamp, entity_count counter, entity_size counter",
	},
	{
		Name: "books", Key: "name",
		Columns: "name text, fullname text, description text, created timestamp, schema_version text",
	},
	{
		Name: "pages", Key: "book, start_date, start_time",
		Columns: "book text, start_date date, start_time time, name text, comment text, end_date date, end_time time, updated timestamp, " +
			"removed timestamp",
	},
	{
		Name: "page_names", Key: "book, name",
		Columns: "book text, name text, start_date date, start_time time, comment text, end_date date, end_time time",
	},
}

const cradleEvent = 2 // entity type

// NewCradle opens the layer of schema=cradle.
func NewCradle(o *model.Options, c cassandra.Typed) (model.Adapter, []ownership.Space) {
	prefix := "events_"
	if o.Namespace == "" {
		prefix = "" // the original's names
	}
	l := &cradle{tables: tables{cassandra.New(c, o.Keys(), prefix, cradleTables), o}, longest: -1}
	const columns = "start_date, start_time, id, name, type, success, event_batch, compressed, parent_id, event_count, end_date, end_time, z_content, z_content_uncompressed_size, messages"
	const partition = " WHERE book = ? AND page = ? AND scope = ?"
	l.insert = l.Text("INSERT INTO %test_events (book, page, scope, start_date, start_time, id, name, type, success, root, event_batch, compressed, parent_id, event_count, " +
		"end_date, end_time, messages, labels, z_content, rec_date, z_content_size, z_content_uncompressed_size) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	l.read = l.Text("SELECT " + columns + " FROM %test_events" + partition + " AND (start_date, start_time) >= (?, ?) AND (start_date, start_time) <= (?, ?)")
	l.one = l.Text("SELECT " + columns + " FROM %test_events" + partition + " AND start_date = ? AND start_time = ? AND id = ?")
	l.under = l.Text("SELECT " + columns + " FROM %test_events" + partition + " AND parent_id = ?")
	return l, l.Spaces(o.Params)
}

// dateOf and clockOf split a time into the form of Cradle's columns.
func dateOf(ns int64) time.Time { return time.Unix(0, ns).UTC().Truncate(24 * time.Hour) }

const dayNS = int64(24 * time.Hour)

func clockOf(ns int64) time.Duration { return time.Duration(ns % dayNS) }

// cradleIndex is the index on the parents of events, for finding children.
const cradleIndex = "test_event_parent_index"

// Check checks whether existing tables are suitable.
func (l *cradle) Check(ctx context.Context, c *ownership.Claim) error {
	if err := l.Set.Check(ctx, c); err != nil || !l.Theirs("test_events") {
		return err
	}
	table, index := l.Name("test_events"), l.Name(cradleIndex)
	var n int
	err := l.Conn.Session().Query("SELECT COUNT(*) FROM system_schema.indexes WHERE keyspace_name = ? AND table_name = ? AND index_name = ?", l.Keyspace, table, index).
		ScanContext(ctx, &n)
	if err == nil && n == 0 {
		err = fault.Input(fmt.Errorf("the table %s.%s already exists and was not made by perfbench, and it has no index %s of its parent_id", l.Keyspace, table, index),
			"use another --namespace; perfbench never alters a table that it did not make")
	}
	return err
}

// Prepare creates the tables and records book and page: the whole run is one page.
func (l *cradle) Prepare(ctx context.Context) (model.Traits, error) {
	if err := l.Create(ctx); err != nil {
		return model.Traits{}, err
	}
	if !l.Theirs("test_events") {
		create := l.Text(`CREATE INDEX IF NOT EXISTS "` + l.Name(cradleIndex) + `" ON %test_events (parent_id)`)
		if err := l.Conn.Session().Query(create).ExecContext(ctx); err != nil {
			return model.Traits{}, fmt.Errorf("create the index of parents: %w", err)
		}
	}
	book, now := l.o.Book, time.Now().UTC()
	date, at := dateOf(l.o.Born), clockOf(l.o.Born)
	for _, q := range []*gocql.Query{
		l.Conn.Query(l.Text("INSERT INTO %books (name, fullname, created, schema_version) VALUES (?,?,?,?)"), book, book, now, cradleVersion),
		l.Conn.Query(l.Text("INSERT INTO %pages (book, start_date, start_time, name, updated) VALUES (?,?,?,?,?)"), book, date, at, l.o.Page, now),
		l.Conn.Query(l.Text("INSERT INTO %page_names (book, name, start_date, start_time) VALUES (?,?,?,?)"), book, l.o.Page, date, at),
	} {
		if err := q.ExecContext(ctx); err != nil {
			return model.Traits{}, fmt.Errorf("record book and page: %w", err)
		}
	}
	return model.Traits{Writers: 128, Group: 1, LinksRaw: true, PlainSingle: true, Durability: l.durability(ctx)}, nil
}

// Store inserts each record, and then does what Cradle does after an insert: durations,
// scopes, and propagating the failure of a batch to its parents.
func (l *cradle) Store(ctx context.Context, rs []*model.Record) (int, error) {
	n := 0
	for _, r := range rs {
		if err := refusal(l.put(ctx, r)); err != nil {
			return n, err
		}
		n++
		more, err := l.after(ctx, r)
		n += more
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (l *cradle) put(ctx context.Context, r *model.Record) error {
	var name, kind, links any = gocql.UnsetValue, gocql.UnsetValue, gocql.UnsetValue
	if r.Single {
		name, kind = string(r.Name), string(r.Kind)
	}
	if len(r.Links) > 0 {
		links = r.Links
	}
	var count any = gocql.UnsetValue
	if !r.Single {
		count = r.Count
	}
	err := l.Conn.Query(l.insert, l.o.Book, l.o.Page, l.o.Scope, dateOf(r.Start), clockOf(r.Start), string(r.ID), name, kind,
		r.OK, len(r.Parent) == 0, !r.Single, r.Codec != wire.None, string(r.Parent), count, dateOf(r.End), clockOf(r.End), links, gocql.UnsetValue,
		r.Body, time.Now().UTC(), len(r.Body), r.Raw).ExecContext(ctx)
	if err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}

// after does what is due after an insert, and returns how many statements it needed.
func (l *cradle) after(ctx context.Context, r *model.Record) (int, error) {
	n, err := l.announce(ctx, r)
	if err != nil || r.OK || len(r.Parent) == 0 {
		return n, err
	}
	more, err := l.failParents(ctx, string(r.Parent))
	return n + more, err
}

// news reports whether the record's duration, and its scope, must be recorded.
func (l *cradle) news(r *model.Record) (longer, unknown bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return (r.Last-r.Start)/1e6 > l.longest && !r.Single, !l.known
}

// announce records the longest duration and the scope if they are new, one record at a
// time, as in the original, so that the next ones find them known.
func (l *cradle) announce(ctx context.Context, r *model.Record) (n int, err error) {
	if longer, unknown := l.news(r); !longer && !unknown {
		return 0, nil
	}
	l.telling.Lock()
	defer l.telling.Unlock()
	book, scope, ms := l.o.Book, l.o.Scope, (r.Last-r.Start)/1e6
	longer, unknown := l.news(r)
	if longer {
		for _, q := range []*gocql.Query{
			l.Conn.Query(l.Text("INSERT INTO %event_batch_max_durations (book, page, scope, max_batch_duration) VALUES (?,?,?,?) IF NOT EXISTS"), book, l.o.Page, scope, ms),
			l.Conn.Query(l.Text("UPDATE %event_batch_max_durations SET max_batch_duration = ? WHERE book = ? AND page = ? AND scope = ? IF max_batch_duration < ?"), ms, book, l.o.Page, scope, ms),
		} {
			if _, err := q.MapScanCASContext(ctx, map[string]any{}); err != nil {
				return n, fmt.Errorf("duration of the longest batch: %w", err)
			}
			n++
		}
		l.mu.Lock()
		l.longest = max(l.longest, ms)
		l.mu.Unlock()
	}
	if !unknown {
		return n, nil
	}
	for _, q := range []*gocql.Query{
		l.Conn.Query(l.Text("INSERT INTO %scopes (book, scope) VALUES (?,?)"), book, scope),
		l.Conn.Query(l.Text("INSERT INTO %page_scopes (book, page, scope) VALUES (?,?,?)"), book, l.o.Page, scope),
	} {
		if err := q.ExecContext(ctx); err != nil {
			return n, fmt.Errorf("scope: %w", err)
		}
		n++
	}
	l.mu.Lock()
	l.known = true
	l.mu.Unlock()
	return n, nil
}

// failParents marks the parent of a batch with a failure as failed, and its parents in
// turn. It stops at a parent that is not found, such as one inside a batch.
func (l *cradle) failParents(ctx context.Context, parent string) (n int, err error) {
	for parent != "" {
		start, id, ok := wire.SplitFullID(parent)
		if !ok {
			return n, nil
		}
		args := []any{l.o.Book, l.o.Page, l.o.Scope, dateOf(start), clockOf(start), id}
		const where = " WHERE book = ? AND page = ? AND scope = ? AND start_date = ? AND start_time = ? AND id = ?"
		var success bool
		var above string
		err := l.Conn.Query(l.Text("SELECT success, parent_id FROM %test_events"+where), args...).ScanContext(ctx, &success, &above)
		n++
		if errors.Is(err, gocql.ErrNotFound) || err == nil && !success {
			return n, nil
		}
		if err == nil {
			err = l.Conn.Query(l.Text("UPDATE %test_events SET success = false"+where), args...).ExecContext(ctx)
			n++
		}
		if err != nil {
			return n, fmt.Errorf("fail the parent: %w", err)
		}
		parent = above
	}
	return n, nil
}

// Flush adds to the statistics: one batch of counters for each kind of frame.
func (l *cradle) Flush(ctx context.Context, t *model.Tallies) error {
	update := l.Text("UPDATE %entity_statistics SET entity_count = entity_count + ?, entity_size = entity_size + ? WHERE book = ? AND page = ? AND entity_type = ? AND frame_type = ? AND frame_start = ?")
	for kind := range model.Frames {
		b := l.Conn.Batch(gocql.CounterBatch)
		for f, a := range t.Frames {
			if int(f.Kind) != kind+1 {
				continue
			}
			b.Query(update, a.Count, a.Bytes, l.o.Book, l.o.Page, int8(cradleEvent), f.Kind, time.Unix(0, f.Start).UTC())
		}
		if b.Size() == 0 {
			continue
		}
		if err := b.ExecContext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rows visits the results of a query.
func (l *cradle) rows(ctx context.Context, q *gocql.Query, visit func(*model.Record) error) error {
	iter := q.PageSize(min(l.o.PageSize, 100)).IterContext(ctx)
	var w model.Record
	var from, to time.Time
	var fromT, toT time.Duration
	var id, name, kind, parent string
	var many, compressed bool
	for iter.Scan(&from, &fromT, &id, &name, &kind, &w.OK, &many, &compressed, &parent, &w.Count, &to, &toT, &w.Body, &w.Raw, &w.Links) {
		w.ID, w.Name, w.Kind, w.Parent = []byte(id), []byte(name), []byte(kind), []byte(parent)
		w.Start, w.End = from.UnixNano()+int64(fromT), to.UnixNano()+int64(toT)
		w.Single, w.LinksRaw = !many, true
		if w.Single {
			w.Count = 1
		}
		if compressed {
			w.Codec = wire.CodecOf(w.Body)
		}
		if err := visit(&w); err != nil {
			return errors.Join(err, iter.Close())
		}
		w, name, kind = model.Record{}, "", ""
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

func (l *cradle) Scan(ctx context.Context, from, to int64, visit func(*model.Record) error) error {
	return model.Enough(l.rows(ctx, l.Conn.Query(l.read, l.o.Book, l.o.Page, l.o.Scope, dateOf(from), clockOf(from), dateOf(to), clockOf(to)), visit))
}

func (l *cradle) Get(ctx context.Context, k model.Key, visit func(*model.Record) error) error {
	return model.Enough(l.rows(ctx, l.Conn.Query(l.one, l.o.Book, l.o.Page, l.o.Scope, dateOf(k.Start), clockOf(k.Start), k.ID), visit))
}

func (l *cradle) Children(ctx context.Context, parent []byte, _, _ int64, visit func(*model.Record) error) error {
	return model.Enough(l.rows(ctx, l.Conn.Query(l.under, l.o.Book, l.o.Page, l.o.Scope, string(parent)), visit))
}
