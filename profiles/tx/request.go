package tx

import (
	"context"
	"errors"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// request is a command that is being put together: its arguments one after the
// other in one buffer, which the next command uses again. It belongs to one
// goroutine.
type request struct {
	text []byte
	ends []int
	out  []byte
}

// reset begins a command.
func (q *request) reset() { q.text, q.ends = q.text[:0], q.ends[:0] }

// end ends the argument that was appended to text.
func (q *request) end() { q.ends = append(q.ends, len(q.text)) }

// add appends an argument of several parts.
func (q *request) add(parts ...string) {
	for _, p := range parts {
		q.text = append(q.text, p...)
	}
	q.end()
}

// num appends a number as an argument.
func (q *request) num(n int64) {
	q.text = strconv.AppendInt(q.text, n, 10)
	q.end()
}

// wire writes the command as the protocol has it.
func (q *request) wire() []byte {
	out := q.out[:0]
	out = append(out, '*')
	out = append(strconv.AppendInt(out, int64(len(q.ends)), 10), "\r\n"...)
	from := 0
	for _, to := range q.ends {
		out = append(out, '$')
		out = append(strconv.AppendInt(out, int64(to-from), 10), "\r\n"...)
		out = append(append(out, q.text[from:to]...), "\r\n"...)
		from = to
	}
	q.out = out
	return out
}

// args are the arguments for a client library.
func (q *request) args() []any {
	out := make([]any, len(q.ends))
	from := 0
	for i, to := range q.ends {
		out[i] = q.text[from:to:to]
		from = to
	}
	return out
}

// caller is what one client sends its scripts through: connections that it shares
// with others, else one of its own where the server is one, else the pool of a
// cluster's client. It belongs to one goroutine.
type caller struct {
	request
	// shard is what the next call is about.
	shard int
	// ask and lane are for shared connections: the place in the line, and which
	// connection of several.
	ask  *ask
	lane int
	raw  *rawConn
	init bool
}

// begin begins a call of a script with a number of keys, by whichever name the
// server is to know it.
func (r scripts) begin(q *request, s script, keys int64) {
	q.reset()
	switch r.how {
	case scriptEval:
		q.add("EVAL")
		q.add(s.text)
	case scriptFunction:
		q.add("FCALL")
		q.add(s.function())
	default:
		q.add("EVALSHA")
		q.add(s.sha)
	}
	q.num(keys)
}

// finish sends what begin began and reads a number. A server that does not know
// the script is given its text.
func (r scripts) finish(ctx context.Context, c *caller, s script) (int64, error) {
	n, err := r.exchange(ctx, c)
	if err != nil && r.how == scriptSHA && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		args := c.args()
		args[0], args[1] = "EVAL", s.text
		return r.through(ctx, args)
	}
	return n, err
}

func (r scripts) exchange(ctx context.Context, c *caller) (int64, error) {
	if r.links != nil {
		return r.shared(ctx, c)
	}
	if !c.init {
		c.init = true
		c.raw = r.own(ctx)
	}
	if c.raw == nil {
		return r.through(ctx, c.args())
	}
	n, err := c.raw.number(ctx, c.wire())
	if err != nil && isReply(err) && strings.HasPrefix(err.Error(), "READONLY") {
		c.raw.close() // another server is the master by now
	}
	return n, err
}

// shared sends a call over a connection that is shared with others.
func (r scripts) shared(ctx context.Context, c *caller) (int64, error) {
	if c.ask != nil && c.ask.ctx != ctx {
		c.ask.stop()
		c.ask = nil
	}
	if c.ask == nil {
		c.ask, c.lane = newAsk(ctx), int(r.links.lane.Add(1))
	}
	list, err := r.links.to(ctx, c.shard)
	if err != nil {
		return 0, err
	}
	n, err := list[c.lane%len(list)].call(c.wire(), c.ask)
	if err == nil {
		return n, nil
	}
	if c.ask.ended {
		c.ask = nil
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, err
	}
	if !isReply(err) {
		r.links.forget(ctx, c.shard)
		return 0, err
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "MOVED "), strings.HasPrefix(text, "ASK "):
		r.links.forget(ctx, c.shard)
		return r.through(ctx, c.args())
	case strings.HasPrefix(text, "READONLY"):
		r.links.forget(ctx, c.shard) // another server is the master by now
	}
	return 0, err
}

// own makes a connection of a client's own; nil where the calls must go through
// the library: a cluster's, and one that is to have fewer connections than clients.
func (r scripts) own(ctx context.Context) *rawConn {
	c, ok := r.client.(*goredis.Client)
	if !ok || c.Options().PoolSize < r.clients {
		return nil
	}
	raw, err := newRaw(ctx, c, "")
	if err != nil {
		return nil
	}
	return raw
}

// isLook says whether a command's name is that of one that reads: its key comes
// first.
func isLook(name any) bool {
	b, ok := name.([]byte)
	return ok && (string(b) == "GET" || string(b) == "LRANGE")
}

// through sends a command through the library.
func (r scripts) through(ctx context.Context, args []any) (int64, error) {
	cmd := goredis.NewCmd(ctx, args...)
	if len(args) > 3 && !isLook(args[0]) {
		cmd.SetFirstKeyPos(3)
	}
	_ = r.client.Process(ctx, cmd) // the command keeps its error
	if errors.Is(cmd.Err(), goredis.Nil) {
		return 0, nil
	}
	switch v := cmd.Val().(type) { // a text counts by its length, as connections of our own count it
	case string:
		return int64(len(v)), cmd.Err()
	case []any:
		return int64(len(v)), cmd.Err()
	}
	return cmd.Int64()
}
