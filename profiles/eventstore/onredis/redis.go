// Package onredis is the data layer on Redis: a stream for each bucket of time.
package onredis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
)

// streams keeps one stream for each bucket of time, with an index by id and one by
// parent beside it under the same hash tag, so that a bucket lies on one node of a
// cluster:
//
//	perfbench:events:{PAGE SCOPE BUCKET}      stream of batches
//	perfbench:events:{PAGE SCOPE BUCKET}:ids  hash, id of batch → id in the stream
//	perfbench:events:{PAGE SCOPE BUCKET}:of:PARENT  sorted set, ids in the stream by start in µs
//	perfbench:events:{PAGE SCOPE}:statistics  hash, KIND:START:count|bytes
type streams struct {
	o      *model.Options
	c      link.Client // for rare operations
	prefix string
	// calls sends everything else.
	calls   *link.Batches
	scripts link.Scripts
}

// redisKeys are the forms of all keys. A page ends with six digits of the moment at
// which it began.
var redisKeys = []string{
	store.FormOf("stream", pageTag+` [0-9]+\}`),
	store.FormOf("hash", pageTag+` [0-9]+\}:ids`),
	store.FormOf("zset", pageTag+` [0-9]+\}:of:.*`),
	store.FormOf("hash", pageTag+`\}:statistics`),
}

const pageTag = `\{.+-[0-9a-f]{6} .+`

// addScript stores a batch unless it exists, so that what is delivered twice is stored
// once. KEYS: stream, ids, parent; ARGV: id, start in µs within the parent's set,
// fields.
var addScript = link.NewScript("add_events", `
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
local at = redis.call('XADD', KEYS[1], '*', unpack(ARGV, 3))
redis.call('ZADD', KEYS[3], ARGV[2], at)
redis.call('HSET', KEYS[2], ARGV[1], at)
return 1`)

// New opens the layer on Redis.
func New(o *model.Options, c redis.Typed) (model.Adapter, []ownership.Space) {
	lines := c.Lines(true)
	l := &streams{
		o: o, c: c.Client(), prefix: "events:",
		calls: link.NewBatches(lines), scripts: link.Scripts{Lines: lines, How: link.BySHA},
	}
	if o.Namespace != "" {
		l.prefix = o.Namespace + ":events:"
	}
	return l, []ownership.Space{{Space: o.Keys(), Parts: redisKeys, Params: o.Params}}
}

func (l *streams) key(bucket int) string {
	return l.prefix + "{" + l.o.Page + " " + l.o.Scope + " " + strconv.Itoa(bucket) + "}"
}

// Prepare loads the script and finds out when the server considers a write durable.
func (l *streams) Prepare(ctx context.Context) (model.Traits, error) {
	if err := l.scripts.Load(ctx, "", "", addScript); err != nil {
		return model.Traits{}, err
	}
	t := model.Traits{Writers: 8, Group: 32, Durability: "in the server's memory"}
	if on, err := l.c.ConfigGet(ctx, "appendonly").Result(); err == nil && on["appendonly"] == "yes" {
		how, err := l.c.ConfigGet(ctx, "appendfsync").Result()
		if err == nil {
			t.Durability = "in the append-only file, appendfsync=" + how["appendfsync"]
		}
	}
	return t, nil
}

// Store sends a call of the script for each record, all together.
func (l *streams) Store(ctx context.Context, rs []*model.Record) (int, error) {
	b := l.calls.Acquire()
	defer b.Release()
	for _, r := range rs {
		c := b.Call()
		l.scripts.Begin(&c.Request, addScript, 3)
		l.fill(&c.Request, r)
	}
	err := b.Do(ctx)
	if link.Unknown(err) {
		if e := l.scripts.Load(ctx, "", "", addScript); e != nil {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return len(rs), fmt.Errorf("add to the stream: %w", err)
	}
	return len(rs), nil
}

// fill appends the keys and arguments of addScript for a record.
func (l *streams) fill(q *link.Request, r *model.Record) {
	key := l.key(l.o.BucketAt(r.Start, r.ID))
	q.Add(key)
	q.Add(key, ":ids")
	q.Text = append(append(append(q.Text[:0], key...), ":of:"...), r.Parent...)
	q.End()
	q.Bytes(r.ID)
	q.Num(r.Start / 1000)
	text := func(name string, v []byte) { q.Add(name); q.Bytes(v) }
	number := func(name string, v int64) { q.Add(name); q.Num(v) }
	text("id", r.ID)
	number("start", r.Start)
	number("end", r.End)
	number("last", r.Last)
	number("cnt", int64(r.Count))
	number("ok", int64(model.Flag(r.OK)))
	number("single", int64(model.Flag(r.Single)))
	text("parent", r.Parent)
	number("raw", int64(r.Raw))
	number("codec", int64(r.Codec))
	text("body", r.Body)
	text("links", r.Links)
}

// Flush adds to the statistics.
func (l *streams) Flush(ctx context.Context, t *model.Tallies) error {
	key := l.prefix + "{" + l.o.Page + " " + l.o.Scope + "}:statistics"
	b := l.calls.Acquire()
	defer b.Release()
	for f, a := range t.Frames {
		name := strconv.Itoa(int(f.Kind)) + ":" + strconv.FormatInt(f.Start/1e6, 10)
		c := b.Command("HINCRBY", key)
		c.Add(name, ":count")
		c.Num(a.Count)
		c = b.Command("HINCRBY", key)
		c.Add(name, ":bytes")
		c.Num(a.Bytes)
	}
	return b.Do(ctx)
}

// Scan reads the streams of the buckets one after the other. Entries are in the order
// in which they were stored.
func (l *streams) Scan(ctx context.Context, from, to int64, visit func(*model.Record) error) error {
	first, last := l.o.Buckets(from, to)
	for b := first; b <= last; b++ {
		err := l.stream(ctx, l.key(b), func(w *model.Record) error {
			if w.Start < from || w.Start > to {
				return nil
			}
			return visit(w)
		})
		if err != nil {
			return model.Enough(err)
		}
	}
	return nil
}

// stream visits the entries of one stream.
func (l *streams) stream(ctx context.Context, key string, visit func(*model.Record) error) error {
	at := "-"
	for size := 4; ; size = min(2*size, l.o.PageSize) {
		last, n, err := l.page(ctx, key, at, "+", size, visit)
		if err != nil || n < size {
			return err
		}
		at = "(" + last
	}
}

// page visits the entries of a stream between two ids, and returns the last id and the
// number of entries.
func (l *streams) page(ctx context.Context, key, from, to string, size int, visit func(*model.Record) error) (last string, n int, err error) {
	b := l.calls.Acquire()
	defer b.Release()
	c := b.Command("XRANGE", key)
	c.Add(from)
	c.Add(to)
	c.Add("COUNT")
	c.Num(int64(size))
	c.Reply.Keep = true
	if err := b.Do(ctx); err != nil {
		return "", 0, fmt.Errorf("read %s: %w", key, err)
	}
	n = int(c.Reply.N)
	if n == 0 {
		return "", 0, nil
	}
	each := c.Reply.Len() / n // number of texts in an entry: its id, then fields and their values
	for i := range n {
		id, _ := c.Reply.At(i * each)
		last = string(id)
		if err := visit(rowOfEntry(&c.Reply, i*each+1, each/2)); err != nil {
			return last, n, err
		}
	}
	return last, n, nil
}

// rowOfEntry decodes an entry of a stream, whose fields begin at a text of a reply.
func rowOfEntry(r *link.Reply, at, fields int) *model.Record {
	w := &model.Record{}
	for i := at; i < at+2*fields; i += 2 {
		name, _ := r.At(i)
		v, _ := r.At(i + 1)
		switch string(name) {
		case "id":
			w.ID = v
		case "parent":
			w.Parent = v
		case "body":
			w.Body = v
		case "links":
			w.Links = v
		case "ok":
			w.OK = string(v) == "1"
		case "single":
			w.Single = string(v) == "1"
		default:
			n, _ := strconv.ParseInt(string(v), 10, 64)
			setNumber(w, string(name), n)
		}
	}
	return w
}

// setNumber sets a numeric field of a row.
func setNumber(w *model.Record, name string, n int64) {
	switch name {
	case "start":
		w.Start = n
	case "end":
		w.End = n
	case "last":
		w.Last = n
	case "cnt":
		w.Count = int(n)
	case "raw":
		w.Raw = int(n)
	case "codec":
		w.Codec = byte(n)
	}
}

// Get reads the record with a key.
func (l *streams) Get(ctx context.Context, k model.Key, visit func(*model.Record) error) error {
	stream := l.key(l.o.BucketAt(k.Start, []byte(k.ID)))
	b := l.calls.Acquire()
	c := b.Command("HGET", stream+":ids")
	c.Add(k.ID)
	ids, err := texts(ctx, b, c)
	if err != nil {
		return fmt.Errorf("find %s: %w", k.ID, err)
	}
	return l.entries(ctx, stream, ids, visit)
}

// texts sends the only call of a batch, and returns the batch for reuse once it has
// read the texts.
func texts(ctx context.Context, b *link.Batch, c *link.Caller) ([]string, error) {
	defer b.Release()
	c.Reply.Keep = true
	if err := b.Do(ctx); err != nil {
		return nil, err
	}
	var all []string
	for i := range c.Reply.Len() {
		if text, there := c.Reply.At(i); there {
			all = append(all, string(text))
		}
	}
	return all, nil
}

// entries visits the entries of a stream with these ids.
func (l *streams) entries(ctx context.Context, stream string, ids []string, visit func(*model.Record) error) error {
	for _, id := range ids {
		if _, _, err := l.page(ctx, stream, id, id, 1, visit); err != nil {
			return model.Enough(err)
		}
	}
	return nil
}

// Children visits the records under a parent.
func (l *streams) Children(ctx context.Context, parent []byte, from, to int64, visit func(*model.Record) error) error {
	first, last := l.o.Buckets(from, to)
	over := false
	for n := first; n <= last && !over; n++ {
		stream := l.key(n)
		b := l.calls.Acquire()
		c := b.Command("ZRANGEBYSCORE", stream+":of:"+string(parent))
		c.Num(from / 1000)
		c.Num(to / 1000)
		c.Add("LIMIT")
		c.Add("0")
		c.Num(int64(l.o.QueryLimit))
		ids, err := texts(ctx, b, c)
		if err != nil {
			return fmt.Errorf("children in %s: %w", stream, err)
		}
		err = l.entries(ctx, stream, ids, func(w *model.Record) error {
			err := visit(w)
			over = errors.Is(err, model.ErrEnough)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
