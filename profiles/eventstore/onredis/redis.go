// Package onredis is the data layer on Redis: a stream for each bucket of time.
package onredis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/profiles/eventstore/layer"
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
	o      *layer.Options
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

// New opens the layer on Redis.
func New(o *layer.Options, c redis.Typed) (layer.Layer, []place.Space) {
	l := &streams{o: o, c: c.Client(), prefix: "events:"}
	if o.Namespace != "" {
		l.prefix = o.Namespace + ":events:"
	}
	return l, []place.Space{{Space: o.Keys(), Parts: redisKeys, Params: o.Params}}
}

func (l *streams) key(bucket int) string {
	return l.prefix + "{" + l.o.Page + " " + l.o.Scope + " " + strconv.Itoa(bucket) + "}"
}

// Prepare loads the script and asks when the server calls a write durable.
func (l *streams) Prepare(ctx context.Context) (layer.Traits, error) {
	if err := l.load(ctx); err != nil {
		return layer.Traits{}, fmt.Errorf("load the script: %w", err)
	}
	t := layer.Traits{Writers: 8, Group: 32, Durability: "in the server's memory"}
	if on, err := l.c.ConfigGet(ctx, "appendonly").Result(); err == nil && on["appendonly"] == "yes" {
		how, err := l.c.ConfigGet(ctx, "appendfsync").Result()
		if err == nil {
			t.Durability = "in the append-only file, appendfsync=" + how["appendfsync"]
		}
	}
	return t, nil
}

func (l *streams) load(ctx context.Context) error {
	if cl, ok := l.c.(*goredis.ClusterClient); ok {
		return cl.ForEachMaster(ctx, func(ctx context.Context, m *goredis.Client) error { return addScript.Load(ctx, m).Err() })
	}
	return addScript.Load(ctx, l.c).Err()
}

// Store adds the records in one pipeline.
func (l *streams) Store(ctx context.Context, rs []*layer.Record) (int, error) {
	pipe := l.c.Pipeline()
	for _, r := range rs {
		key := l.key(l.o.BucketAt(r.Start, r.ID))
		args := append(make([]any, 0, 28), r.ID, r.Start/1000,
			"id", r.ID, "start", r.Start, "end", r.End, "last", r.Last, "cnt", r.Count, "ok", layer.Flag(r.OK), "single", layer.Flag(r.Single),
			"parent", r.Parent, "raw", r.Raw, "codec", int(r.Codec), "body", r.Body, "links", r.Links)
		addScript.EvalSha(ctx, pipe, []string{key, key + ":ids", key + ":of:" + string(r.Parent)}, args...)
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

// Flush adds to the statistics.
func (l *streams) Flush(ctx context.Context, t *layer.Tallies) error {
	key := l.prefix + "{" + l.o.Page + " " + l.o.Scope + "}:statistics"
	pipe := l.c.Pipeline()
	for f, a := range t.Frames {
		name := strconv.Itoa(int(f.Kind)) + ":" + strconv.FormatInt(f.Start/1e6, 10)
		pipe.HIncrBy(ctx, key, name+":count", a.Count)
		pipe.HIncrBy(ctx, key, name+":bytes", a.Bytes)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// rowOfEntry reads an entry of a stream.
func rowOfEntry(m goredis.XMessage) *layer.Record {
	text := func(name string) string { v, _ := m.Values[name].(string); return v }
	number := func(name string) int64 { n, _ := strconv.ParseInt(text(name), 10, 64); return n }
	return &layer.Record{
		ID: []byte(text("id")), Start: number("start"), End: number("end"), Last: number("last"), Count: int(number("cnt")),
		OK: text("ok") == "1", Single: text("single") == "1", Parent: []byte(text("parent")), Raw: int(number("raw")),
		Codec: byte(number("codec")), Body: []byte(text("body")), Links: []byte(text("links")),
	}
}

// Scan reads the streams of the buckets one after the other. Entries are in the order
// in which they were stored.
func (l *streams) Scan(ctx context.Context, from, to int64, visit func(*layer.Record) error) error {
	first, last := l.o.Buckets(from, to)
	for b := first; b <= last; b++ {
		err := l.stream(ctx, l.key(b), func(w *layer.Record) error {
			if w.Start < from || w.Start > to {
				return nil
			}
			return visit(w)
		})
		if err != nil {
			return layer.Enough(err)
		}
	}
	return nil
}

// stream visits the entries of one stream.
func (l *streams) stream(ctx context.Context, key string, visit func(*layer.Record) error) error {
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

func (l *streams) Get(ctx context.Context, k layer.Key, visit func(*layer.Record) error) error {
	stream := l.key(l.o.BucketAt(k.Start, []byte(k.ID)))
	at, err := l.c.HGet(ctx, stream+":ids", k.ID).Result()
	if errors.Is(err, goredis.Nil) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find %s: %w", k.ID, err)
	}
	return l.entries(ctx, stream, []string{at}, visit)
}

// entries visits the entries of a stream with these ids.
func (l *streams) entries(ctx context.Context, stream string, ids []string, visit func(*layer.Record) error) error {
	for _, id := range ids {
		page, err := l.c.XRangeN(ctx, stream, id, id, 1).Result()
		if err != nil {
			return fmt.Errorf("read %s: %w", stream, err)
		}
		for _, m := range page {
			if err := visit(rowOfEntry(m)); err != nil {
				return layer.Enough(err)
			}
		}
	}
	return nil
}

func (l *streams) Children(ctx context.Context, parent []byte, from, to int64, visit func(*layer.Record) error) error {
	first, last := l.o.Buckets(from, to)
	over := false
	for b := first; b <= last && !over; b++ {
		stream := l.key(b)
		ids, err := l.c.ZRangeByScore(ctx, stream+":of:"+string(parent), &goredis.ZRangeBy{
			Min: strconv.FormatInt(from/1000, 10), Max: strconv.FormatInt(to/1000, 10), Count: int64(l.o.QueryLimit),
		}).Result()
		if err != nil {
			return fmt.Errorf("children in %s: %w", stream, err)
		}
		err = l.entries(ctx, stream, ids, func(w *layer.Record) error {
			err := visit(w)
			over = errors.Is(err, layer.ErrEnough)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
