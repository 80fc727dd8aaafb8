package redis

import (
	"context"
	"errors"
	"unsafe"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// putSource is what a Java map's put does on Redis: read, write, and hand the old
// value back. putScript is what the server calls it.
var (
	putSource = "local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v"
	putScript = goredis.NewScript(putSource).Hash()
)

// Put stores one entry by a script that returns the old value, which is read and
// thrown away.
func (c *Conn) Put(ctx context.Context, s store.Space, key, val []byte) error {
	l := c.take(s)
	defer c.give(l)
	return failed("put", l, c.put(ctx, l, l.key, key, val))
}

func (c *Conn) put(ctx context.Context, l *call, hash string, key, val []byte) error {
	b := l.room(2)
	b[0], b[1] = key, val
	l.hash = hash
	if l.buf == nil {
		l.buf = make([]byte, firstBuffer)
	}
	err := c.evalPut(ctx, l, "evalsha", &putScript)
	if err != nil && goredis.HasErrorPrefix(err, "NOSCRIPT") {
		// EVAL leaves the script on the very node that lacked it.
		err = c.evalPut(ctx, l, "eval", &putSource)
	}
	// An old value that is longer than the buffer has been read and thrown away
	// too, which is all that is wanted of it.
	if _, long := tooSmall(err); long || errors.Is(err, goredis.Nil) {
		return nil
	}
	return err
}

func (c *Conn) evalPut(ctx context.Context, l *call, verb any, script *string) error {
	l.args = append(l.args[:0], verb, script, "1", &l.hash, &l.bins[0], &l.bins[1])
	cmd := goredis.NewZeroCopyStringCmd(ctx, l.buf, l.args...)
	cmd.SetFirstKeyPos(3)
	_ = c.client.Process(ctx, cmd)
	return cmd.Err()
}

// Set stores one entry with HSET.
func (c *Conn) Set(ctx context.Context, s store.Space, key, val []byte) error {
	l := c.take(s)
	defer c.give(l)
	b := l.room(2)
	b[0], b[1] = key, val
	l.args = append(l.args[:0], "hset", &l.key, &b[0], &b[1])
	cmd := goredis.NewIntCmd(ctx, l.args...)
	cmd.SetFirstKeyPos(1)
	_ = c.client.Process(ctx, onceInt{cmd})
	return failed("hset", l, cmd.Err())
}

// PutAll stores entries with one HMSET.
func (c *Conn) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	if len(es) == 0 {
		return ctx.Err()
	}
	l := c.take(s)
	defer c.give(l)
	b := l.room(2 * len(es))
	l.args = append(l.args[:0], "hmset", &l.key)
	for i, e := range es {
		b[2*i], b[2*i+1] = e.Key, e.Val
		l.args = append(l.args, &b[2*i], &b[2*i+1])
	}
	cmd := goredis.NewStatusCmd(ctx, l.args...)
	cmd.SetFirstKeyPos(1)
	_ = c.client.Process(ctx, onceStatus{cmd})
	return failed("hmset", l, cmd.Err())
}

// Get reads one value into buf with HGET, growing it when the value does not fit.
// The first value longer than any that this connection has read costs a second
// call.
func (c *Conn) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	l := c.take(s)
	defer c.give(l)
	b := l.room(1)
	b[0] = key
	l.args = append(l.args[:0], "hget", &l.key, &b[0])
	for {
		buf = c.largest.fit(buf)
		cmd := goredis.NewZeroCopyStringCmd(ctx, buf, l.args...)
		cmd.SetFirstKeyPos(1)
		_ = c.client.Process(ctx, cmd)
		n, err := cmd.Result()
		if err == nil {
			return buf[:n], true, nil
		}
		if errors.Is(err, goredis.Nil) {
			return buf[:0], false, nil
		}
		need, yes := tooSmall(err)
		if !yes {
			return buf[:0], false, failed("hget", l, err)
		}
		c.largest.raise(need)
	}
}

// GetAll reads the values of keys with one HMGET. The values must not be written
// to.
func (c *Conn) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	l := c.take(s)
	defer c.give(l)
	return c.hmget(ctx, l, l.key, keys)
}

func (c *Conn) hmget(ctx context.Context, l *call, hash string, keys [][]byte) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	b := l.room(len(keys))
	l.hash = hash
	l.args = append(l.args[:0], "hmget", &l.hash)
	for i, k := range keys {
		b[i] = k
		l.args = append(l.args, &b[i])
	}
	cmd := goredis.NewSliceCmd(ctx, l.args...)
	cmd.SetFirstKeyPos(1)
	_ = c.client.Process(ctx, onceSlice{cmd})
	vals, err := cmd.Result()
	if err != nil {
		return nil, failed("hmget", l, err)
	}
	out := make([][]byte, len(keys))
	for i, v := range vals {
		if text, ok := v.(string); ok && i < len(out) {
			out[i] = bytesOf(text)
		}
	}
	return out, nil
}

// bytesOf returns the bytes of a string without copying them.
func bytesOf(s string) []byte {
	if s == "" {
		return []byte{}
	}
	return unsafe.Slice(unsafe.StringData(s), len(s))
}
