package onredis

import (
	"context"
	"fmt"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/profiles/group/layer"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// muxClient carries the calls on maps of all callers over two connections to each
// server: whoever has something to send when the connection is free to write sends
// it together with what others have, and nobody waits for another's reply. It is
// safe for use by several goroutines.
type muxClient struct{ client rueidis.Client }

// Of each connection: the bytes of its buffers, and the power of two of their
// number to each server.
const (
	muxBuffer = 64 << 10
	muxConns  = 1
)

func newMux(t redis.Typed) (*muxClient, error) {
	o := rueidisOptions(t)
	o.DisableCache, o.PipelineMultiplex = true, muxConns
	o.ReadBufferEachConn, o.WriteBufferEachConn = muxBuffer, muxBuffer
	c, err := rueidis.NewClient(o)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("pipelining: %w", replyOf(err)), "--set pipelining=off uses a connection a caller")
	}
	return &muxClient{c}, nil
}

// carries says whether the calls of an operation can go over shared connections.
func (m *muxClient) carries(o *model.Op) bool {
	if o.Kind != model.KindMap || o.Space.Grouped {
		return false
	}
	switch o.Action {
	case model.ActPut, model.ActSet, model.ActPutAll, model.ActGet, model.ActGetAll:
		return true
	}
	return false
}

// Caller returns what carries out the calls of an operation.
func (m *muxClient) Caller(o *model.Op) layer.Caller {
	return &muxCaller{m.client, model.KeyOf(o.Space)}
}

// muxCaller does the calls of one worker on one map.
type muxCaller struct {
	c   rueidis.Client
	key string
}

// putSource is what a Java map's put does on Redis: read, write, and hand the old
// value back.
const putSource = "local v = redis.call('hget', KEYS[1], ARGV[1]); redis.call('hset', KEYS[1], ARGV[1], ARGV[2]); return v"

var putHash = goredis.NewScript(putSource).Hash()

// Do is HGET, HMGET, HSET, HMSET, or the script of HGET and HSET. A call that has
// been sent is waited for whatever becomes of the context: its bytes are on the way,
// and a server that is silent is given up after the read timeout.
func (h *muxCaller) Do(ctx context.Context, c *layer.Call) (layer.Result, error) {
	if err := ctx.Err(); err != nil {
		return layer.Result{}, err
	}
	r, err := h.route(context.Background(), c)
	if err = replyOf(err); err != nil {
		return layer.Result{}, fmt.Errorf("%s %s: %w", c.Action, h.key, err)
	}
	return r, nil
}

func (h *muxCaller) route(ctx context.Context, c *layer.Call) (layer.Result, error) {
	b, n := h.c.B(), layer.Result{Entries: int64(len(c.Entries))}
	one := func() (key, val string) {
		return rueidis.BinaryString(c.Entries[0].Key), rueidis.BinaryString(c.Entries[0].Val)
	}
	switch c.Action {
	case model.ActGet:
		key, _ := one()
		reply := h.c.Do(ctx, b.Hget().Key(h.key).Field(key).Build())
		err := reply.Error()
		if c.Op.Direct && err == nil {
			c.Got, err = reply.AsBytes()
		}
		return layer.Found(1, !rueidis.IsRedisNil(err)), err
	case model.ActGetAll:
		cmd := b.Arbitrary("HMGET").Keys(h.key)
		for _, e := range c.Entries {
			cmd = cmd.Args(rueidis.BinaryString(e.Key))
		}
		return h.many(ctx, cmd.Build())
	case model.ActSet:
		key, val := one()
		return n, h.c.Do(ctx, b.Hset().Key(h.key).FieldValue().FieldValue(key, val).Build()).Error()
	case model.ActPutAll:
		if len(c.Entries) == 0 {
			return n, nil
		}
		cmd := b.Hmset().Key(h.key).FieldValue()
		for _, e := range c.Entries {
			cmd = cmd.FieldValue(rueidis.BinaryString(e.Key), rueidis.BinaryString(e.Val))
		}
		return n, h.c.Do(ctx, cmd.Build()).Error()
	case model.ActPut:
		key, val := one()
		err := h.c.Do(ctx, b.Evalsha().Sha1(putHash).Numkeys(1).Key(h.key).Arg(key, val).Build()).Error()
		if re, ok := rueidis.IsRedisErr(err); ok && re.IsNoScript() {
			err = h.c.Do(ctx, h.c.B().Eval().Script(putSource).Numkeys(1).Key(h.key).Arg(key, val).Build()).Error()
		}
		return n, err
	}
	return layer.Result{}, store.ErrUnsupported
}

// many counts what a reply of several values holds.
func (h *muxCaller) many(ctx context.Context, cmd rueidis.Completed) (layer.Result, error) {
	vals, err := h.c.Do(ctx, cmd).ToArray()
	return counted(vals), err
}

func counted(vals []rueidis.RedisMessage) layer.Result {
	var r layer.Result
	for i := range vals {
		if vals[i].IsNil() {
			r.Misses++
		} else {
			r.Entries++
		}
	}
	return r
}
