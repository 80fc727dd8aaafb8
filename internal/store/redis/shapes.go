package redis

import (
	"context"
	"sync"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Maps are the hashes that keep the entries of spaces; it owns what their calls reuse.
type Maps struct {
	servers *servers
	lines   *link.Lines
	calls   sync.Pool // of *call
}

func newMaps(v *servers, lines *link.Lines) *Maps {
	return &Maps{servers: v, lines: lines, calls: sync.Pool{New: func() any { return new(call) }}}
}

// putScript does what a Java map's put does on Redis: read, write, and return the old
// value.
var putScript = link.NewScript("put", "local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v")

// Put stores one entry with a script that returns the old value, which is read and
// discarded. A server without scripts gets HGET and HSET in a MULTI.
func (m *Maps) Put(ctx context.Context, s store.Space, key, val []byte) error {
	l := m.acquire(s)
	defer m.release(l)
	l.Text = append(l.Text[:0], l.key...)
	return failed("put", l, m.put(ctx, l, key, val))
}

// put carries out the call on the key that is in l.Text.
func (m *Maps) put(ctx context.Context, l *call, key, val []byte) error {
	l.hash = append(l.hash[:0], l.Text...)
	if m.servers.unscripted != nil {
		l.Multi()
		l.Next("HGET")
		l.Bytes(l.hash)
		l.Bytes(key)
		l.Next("HSET")
		l.Bytes(l.hash)
		l.Bytes(key)
		l.Bytes(val)
		l.Exec()
		_, err := m.lines.Do(ctx, &l.Caller)
		return err
	}
	scripts := link.Scripts{Lines: m.lines, How: link.BySHA}
	scripts.Begin(&l.Request, putScript, 1)
	l.Bytes(l.hash)
	l.Bytes(key)
	l.Bytes(val)
	_, err := scripts.Finish(ctx, &l.Caller, putScript)
	return err
}

// Set stores one entry with HSET.
func (m *Maps) Set(ctx context.Context, s store.Space, key, val []byte) error {
	l := m.acquire(s)
	defer m.release(l)
	l.Command("HSET")
	l.Add(l.key)
	l.Bytes(key)
	l.Bytes(val)
	_, err := m.lines.Do(ctx, &l.Caller)
	return failed("hset", l, err)
}

// PutAll stores entries with one HMSET.
func (m *Maps) PutAll(ctx context.Context, s store.Space, es []store.Entry) error {
	if len(es) == 0 {
		return ctx.Err()
	}
	l := m.acquire(s)
	defer m.release(l)
	l.Command("HMSET")
	l.Add(l.key)
	for _, e := range es {
		l.Bytes(e.Key)
		l.Bytes(e.Val)
	}
	_, err := m.lines.Do(ctx, &l.Caller)
	return failed("hmset", l, err)
}

// Get reads one value into buf with HGET, growing buf if the value does not fit.
func (m *Maps) Get(ctx context.Context, s store.Space, key, buf []byte) ([]byte, bool, error) {
	l := m.acquire(s)
	defer m.release(l)
	l.Command("HGET")
	l.Add(l.key)
	l.Bytes(key)
	own := l.Reply.Text
	l.Reply.Into(buf)
	n, err := m.lines.Do(ctx, &l.Caller)
	buf, l.Reply.Text = l.Reply.Text, own
	return buf, err == nil && n >= 0, failed("hget", l, err)
}

// GetAll reads the values of keys with one HMGET. The values must not be modified.
func (m *Maps) GetAll(ctx context.Context, s store.Space, keys [][]byte) ([][]byte, error) {
	l := m.acquire(s)
	defer m.release(l)
	l.Command("HMGET")
	l.Add(l.key)
	return m.hmget(ctx, l, keys)
}

// hmget completes and runs the call, and copies what it returns.
func (m *Maps) hmget(ctx context.Context, l *call, keys [][]byte) ([][]byte, error) {
	if len(keys) == 0 {
		return nil, ctx.Err()
	}
	for _, k := range keys {
		l.Bytes(k)
	}
	l.Reply.Keep = true
	if _, err := m.lines.Do(ctx, &l.Caller); err != nil {
		return nil, failed("hmget", l, err)
	}
	out, text := make([][]byte, len(keys)), make([]byte, 0, len(l.Reply.Text))
	for i := range min(len(out), l.Reply.Len()) {
		if v, there := l.Reply.At(i); there {
			text = append(text, v...)
			out[i] = text[len(text)-len(v) : len(text) : len(text)]
		}
	}
	return out, nil
}
