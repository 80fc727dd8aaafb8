package oncassandra

import (
	"context"
	"errors"
	"fmt"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
)

// lean keeps batches in partitions limited in time, with an index by parent.
type lean struct {
	tables
	insert string
	parent string
	read   string
	one    string
	under  string
}

var leanTables = []cassandra.Table{
	{
		Name: "batch", Key: "(book, page, scope, bucket), start_ns, id",
		Columns: "book text, page text, scope text, bucket int, start_ns bigint, id text, end_ns bigint, last_start_ns bigint, parent_id text, " +
			"ok boolean, single boolean, cnt int, codec tinyint, raw_size int, body blob, links blob",
		With: "compression = {'enabled': false} AND compaction = {'class': 'TimeWindowCompactionStrategy', 'compaction_window_unit': 'MINUTES', 'compaction_window_size': 10}",
	},
	{
		Name: "by_parent", Key: "(parent_id, bucket), start_ns, id",
		Columns: "parent_id text, bucket int, start_ns bigint, id text, book text, page text, scope text, ok boolean, cnt int",
	},
	{
		Name: "scope", Key: "(book, page), scope",
		Columns: "book text, page text, scope text, first_bucket int, max_duration_ms bigint",
	},
	{
		Name: "page", Key: "book, start_ns",
		Columns: "book text, start_ns bigint, page text, end_ns bigint",
	},
	{
		Name: "stat", Key: "(book, page, frame), frame_start",
		Columns: "book text, page text, frame tinyint, frame_start timestamp, cnt counter, bytes counter",
	},
}

// NewLean opens the layer of schema=lean.
func NewLean(o *model.Options, c cassandra.Typed) (model.Adapter, []ownership.Space) {
	l := &lean{tables: tables{cassandra.New(c, o.Keys(), "events_", leanTables), o}}
	// The body comes last: the driver appends to its frame, and would copy what is longest
	// once more for what came behind it.
	const columns = "start_ns, id, end_ns, last_start_ns, parent_id, ok, single, cnt, codec, raw_size, links, body"
	const partition = " WHERE book = ? AND page = ? AND scope = ? AND bucket = ?"
	l.insert = l.Text("INSERT INTO %batch (book, page, scope, bucket, " + columns + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	l.parent = l.Text("INSERT INTO %by_parent (parent_id, bucket, start_ns, id, book, page, scope, ok, cnt) VALUES (?,?,?,?,?,?,?,?,?)")
	l.read = l.Text("SELECT " + columns + " FROM %batch" + partition + " AND start_ns >= ? AND start_ns <= ?")
	l.one = l.Text("SELECT " + columns + " FROM %batch" + partition + " AND start_ns = ? AND id = ?")
	l.under = l.Text("SELECT start_ns, id, page, scope FROM %by_parent WHERE parent_id = ? AND bucket = ? AND start_ns >= ? AND start_ns <= ?")
	return l, l.Spaces(o.Params)
}

func (l *lean) Prepare(ctx context.Context) (model.Traits, error) {
	if err := l.Create(ctx); err != nil {
		return model.Traits{}, err
	}
	err := l.Conn.Query(l.Text("INSERT INTO %page (book, start_ns, page) VALUES (?, ?, ?)"), l.o.Book, l.o.Born, l.o.Page).ExecContext(ctx)
	if err != nil {
		return model.Traits{}, fmt.Errorf("record the page: %w", err)
	}
	return model.Traits{Writers: 128, Group: 1, Durability: l.durability(ctx)}, nil
}

// Store writes each batch and its entry under its parent. Both depend only on the
// events, so writing them again changes nothing.
func (l *lean) Store(ctx context.Context, rs []*model.Record) (int, error) {
	book, page, scope := l.o.Book, l.o.Page, l.o.Scope
	n := 0
	for _, r := range rs {
		id, parent := string(r.ID), string(r.Parent)
		bucket := l.o.BucketAt(r.Start, r.ID)
		err := l.Conn.Query(l.insert, book, page, scope, bucket, r.Start, id, r.End, r.Last, parent,
			r.OK, r.Single, r.Count, int8(r.Codec), r.Raw, r.Links, r.Body).ExecContext(ctx)
		if err != nil {
			return n, refusal(fmt.Errorf("insert: %w", err))
		}
		if err := l.Conn.Query(l.parent, parent, bucket, r.Start, id, book, page, scope, r.OK, r.Count).ExecContext(ctx); err != nil {
			return n, fmt.Errorf("insert under the parent: %w", err)
		}
		n += 2
	}
	return n, nil
}

// counterBatch is how many counters one batch of statements changes.
const counterBatch = 100

// Flush writes statistics, and the scope with its longest batch.
func (l *lean) Flush(ctx context.Context, t *model.Tallies) error {
	book := l.o.Book
	update := l.Text("UPDATE %stat SET cnt = cnt + ?, bytes = bytes + ? WHERE book = ? AND page = ? AND frame = ? AND frame_start = ?")
	b := l.Conn.Batch(gocql.CounterBatch)
	for f, a := range t.Frames {
		b.Query(update, a.Count, a.Bytes, book, l.o.Page, f.Kind, time.Unix(0, f.Start).UTC())
		if b.Size() == counterBatch {
			if err := b.ExecContext(ctx); err != nil {
				return err
			}
			b = l.Conn.Batch(gocql.CounterBatch)
		}
	}
	if b.Size() > 0 {
		if err := b.ExecContext(ctx); err != nil {
			return err
		}
	}
	return l.Conn.Query(l.Text("INSERT INTO %scope (book, page, scope, first_bucket, max_duration_ms) VALUES (?,?,?,?,?)"),
		book, l.o.Page, l.o.Scope, model.BucketOf(l.o.Born, l.o.Bucket), t.Longest).ExecContext(ctx)
}

// rows visits the results of a query.
func (l *lean) rows(ctx context.Context, q *gocql.Query, visit func(*model.Record) error) error {
	iter := q.PageSize(min(l.o.PageSize, 16)).IterContext(ctx)
	var w model.Record
	var id, parent string
	var codec int8
	for iter.Scan(&w.Start, &id, &w.End, &w.Last, &parent, &w.OK, &w.Single, &w.Count, &codec, &w.Raw, &w.Links, &w.Body) {
		w.ID, w.Parent, w.Codec = []byte(id), []byte(parent), byte(codec)
		if err := visit(&w); err != nil {
			return errors.Join(err, iter.Close())
		}
		w = model.Record{}
	}
	if err := iter.Close(); err != nil {
		return fmt.Errorf("query: %w", err)
	}
	return nil
}

func (l *lean) Scan(ctx context.Context, from, to int64, visit func(*model.Record) error) error {
	first, last := l.o.Buckets(from, to)
	for b := first; b <= last; b++ {
		q := l.Conn.Query(l.read, l.o.Book, l.o.Page, l.o.Scope, b, from, to)
		if err := l.rows(ctx, q, visit); err != nil {
			return model.Enough(err)
		}
	}
	return nil
}

func (l *lean) Get(ctx context.Context, k model.Key, visit func(*model.Record) error) error {
	b := l.o.BucketAt(k.Start, []byte(k.ID))
	return model.Enough(l.rows(ctx, l.Conn.Query(l.one, l.o.Book, l.o.Page, l.o.Scope, b, k.Start, k.ID), visit))
}

func (l *lean) Children(ctx context.Context, parent []byte, from, to int64, visit func(*model.Record) error) error {
	first, last := l.o.Buckets(from, to)
	for b := first; b <= last; b++ {
		iter := l.Conn.Query(l.under, string(parent), b, from, to).PageSize(l.o.PageSize).IterContext(ctx)
		var start int64
		var id, page, scope string
		for iter.Scan(&start, &id, &page, &scope) {
			if page != l.o.Page {
				continue
			}
			q := l.Conn.Query(l.one, l.o.Book, page, scope, l.o.BucketAt(start, []byte(id)), start, id)
			if err := l.rows(ctx, q, visit); err != nil {
				return model.Enough(errors.Join(err, iter.Close()))
			}
		}
		if err := iter.Close(); err != nil {
			return fmt.Errorf("children: %w", err)
		}
	}
	return nil
}
