package eventstore

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store/redis"
)

// onStreams keeps one stream for each bucket of time, with an index by id and one by
// parent beside it under the same hash tag, so that a bucket lies on one node of a
// cluster:
//
//	perfbench:events:{PAGE SCOPE BUCKET}      stream of batches
//	perfbench:events:{PAGE SCOPE BUCKET}:ids  hash, id of batch → id in the stream
//	perfbench:events:{PAGE SCOPE BUCKET}:of:PARENT  sorted set, ids in the stream by start in µs
//	perfbench:events:{PAGE SCOPE}:statistics  hash, KIND:START:count|bytes
type onStreams struct {
	o      *options
	c      goredis.UniversalClient
	prefix string
}

// redisKeys are the forms of all keys.
var redisKeys = []string{"{*}", "{*}:ids", "{*}:of:*", "{*}:statistics"}

// addScript stores a batch unless it is there: what is delivered twice is stored once.
// KEYS: stream, ids, parent; ARGV: id, start in µs within the parent's set, fields.
var addScript = goredis.NewScript(`
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return 0 end
local at = redis.call('XADD', KEYS[1], '*', unpack(ARGV, 3))
redis.call('ZADD', KEYS[3], ARGV[2], at)
redis.call('HSET', KEYS[2], ARGV[1], at)
return 1`)

// newStreams opens the layer on Redis.
func newStreams(o *options, c redis.Typed) (layer, []place.Space) {
	l := &onStreams{o: o, c: c.Client(), prefix: "events:"}
	if o.Namespace != "" {
		l.prefix = o.Namespace + ":events:"
	}
	return l, []place.Space{{Space: o.keys(), Parts: redisKeys, Params: o.Params}}
}

func (l *onStreams) key(bucket int) string {
	return l.prefix + "{" + l.o.Page + " " + l.o.Scope + " " + strconv.Itoa(bucket) + "}"
}

// prepare loads the script and asks when the server calls a write durable.
func (l *onStreams) prepare(ctx context.Context) (traits, error) {
	if err := l.load(ctx); err != nil {
		return traits{}, fmt.Errorf("load the script: %w", err)
	}
	t := traits{writers: 8, group: 32, durability: "in the server's memory"}
	if on, err := l.c.ConfigGet(ctx, "appendonly").Result(); err == nil && on["appendonly"] == "yes" {
		how, err := l.c.ConfigGet(ctx, "appendfsync").Result()
		if err == nil {
			t.durability = "in the append-only file, appendfsync=" + how["appendfsync"]
		}
	}
	return t, nil
}

func (l *onStreams) load(ctx context.Context) error {
	if cl, ok := l.c.(*goredis.ClusterClient); ok {
		return cl.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error { return addScript.Load(ctx, m).Err() })
	}
	return addScript.Load(ctx, l.c).Err()
}

// store adds the records in one pipeline.
func (l *onStreams) store(ctx context.Context, rs []*record) (int, error) {
	pipe := l.c.Pipeline()
	for _, r := range rs {
		key := l.key(l.o.bucketAt(r.start, r.id))
		args := append(make([]any, 0, 28), r.id, r.start/1000,
			"id", r.id, "start", r.start, "end", r.end, "last", r.last, "cnt", r.count, "ok", flag(r.ok), "single", flag(r.single),
			"parent", r.parent, "raw", r.raw, "codec", int(r.codec), "body", r.body, "links", r.links)
		addScript.EvalSha(ctx, pipe, []string{key, key + ":ids", key + ":of:" + string(r.parent)}, args...)
	}
	_, err := pipe.Exec(ctx)
	if err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") { // the server has been restarted
		if e := l.load(ctx); e != nil {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return len(rs), fmt.Errorf("add to the stream: %w", err)
	}
	return len(rs), nil
}

// flush adds to the statistics.
func (l *onStreams) flush(ctx context.Context, t *tallies) error {
	key := l.prefix + "{" + l.o.Page + " " + l.o.Scope + "}:statistics"
	pipe := l.c.Pipeline()
	for f, a := range t.frames {
		name := strconv.Itoa(int(f.kind)) + ":" + strconv.FormatInt(f.start/1e6, 10)
		pipe.HIncrBy(ctx, key, name+":count", a.count)
		pipe.HIncrBy(ctx, key, name+":bytes", a.bytes)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// rowOfEntry reads an entry of a stream.
func rowOfEntry(m goredis.XMessage) *record {
	text := func(name string) string { v, _ := m.Values[name].(string); return v }
	number := func(name string) int64 { n, _ := strconv.ParseInt(text(name), 10, 64); return n }
	return &record{
		id: []byte(text("id")), start: number("start"), end: number("end"), last: number("last"), count: int(number("cnt")),
		ok: text("ok") == "1", single: text("single") == "1", parent: []byte(text("parent")), raw: int(number("raw")),
		codec: byte(number("codec")), body: []byte(text("body")), links: []byte(text("links")),
	}
}

// scan reads the streams of the buckets one after the other. Entries are in the order
// in which they were stored.
func (l *onStreams) scan(ctx context.Context, from, to int64, visit func(*record) error) error {
	first, last := l.o.buckets(from, to)
	for b := first; b <= last; b++ {
		err := l.stream(ctx, l.key(b), func(w *record) error {
			if w.start < from || w.start > to {
				return nil
			}
			return visit(w)
		})
		if err != nil {
			return enough(err)
		}
	}
	return nil
}

// stream visits the entries of one stream.
func (l *onStreams) stream(ctx context.Context, key string, visit func(*record) error) error {
	at := "-"
	for size := 4; ; size = min(2*size, l.o.PageSize) {
		page, err := l.c.XRangeN(ctx, key, at, "+", int64(size)).Result()
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		for _, m := range page {
			if err := visit(rowOfEntry(m)); err != nil {
				return err
			}
		}
		if len(page) < size {
			return nil
		}
		at = "(" + page[len(page)-1].ID
	}
}

func (l *onStreams) get(ctx context.Context, k key, visit func(*record) error) error {
	stream := l.key(l.o.bucketAt(k.start, []byte(k.id)))
	at, err := l.c.HGet(ctx, stream+":ids", k.id).Result()
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find %s: %w", k.id, err)
	}
	return l.entries(ctx, stream, []string{at}, visit)
}

// entries visits the entries of a stream with these ids.
func (l *onStreams) entries(ctx context.Context, stream string, ids []string, visit func(*record) error) error {
	for _, id := range ids {
		page, err := l.c.XRangeN(ctx, stream, id, id, 1).Result()
		if err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		for _, m := range page {
			if err := visit(rowOfEntry(m)); err != nil {
				return enough(err)
			}
		}
	}
	return nil
}

func (l *onStreams) children(ctx context.Context, parent []byte, from, to int64, visit func(*record) error) error {
	first, last := l.o.buckets(from, to)
	over := false
	for b := first; b <= last && !over; b++ {
		stream := l.key(b)
		ids, err := l.c.ZRangeByScore(ctx, stream+":of:"+string(parent), &goredis.ZRangeBy{
			Min: strconv.FormatInt(from/1000, 10), Max: strconv.FormatInt(to/1000, 10), Count: int64(l.o.QueryLimit),
		}).Result()
		if err != nil {
			return fmt.Errorf("children in %s: %w", stream, err)
		}
		err = l.entries(ctx, stream, ids, func(w *record) error {
			err := visit(w)
			over = errors.Is(err, errEnough)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
