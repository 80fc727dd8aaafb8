package link

import (
	"context"
	"errors"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"
)

// Request is a command that is being put together: its arguments one after the
// other in one buffer, which the next command uses again. It belongs to one
// goroutine.
type Request struct {
	// Text are the arguments, one after the other; End ends one.
	Text []byte
	ends []int
	out  []byte
}

// Reset begins a command.
func (q *Request) Reset() { q.Text, q.ends = q.Text[:0], q.ends[:0] }

// End ends the argument that was appended to text.
func (q *Request) End() { q.ends = append(q.ends, len(q.Text)) }

// Add appends an argument of several parts.
func (q *Request) Add(parts ...string) {
	for _, p := range parts {
		q.Text = append(q.Text, p...)
	}
	q.End()
}

// Num appends a number as an argument.
func (q *Request) Num(n int64) {
	q.Text = strconv.AppendInt(q.Text, n, 10)
	q.End()
}

// wire writes the command as the protocol has it.
func (q *Request) wire() []byte {
	out := q.out[:0]
	out = append(out, '*')
	out = append(strconv.AppendInt(out, int64(len(q.ends)), 10), "\r\n"...)
	from := 0
	for _, to := range q.ends {
		out = append(out, '$')
		out = append(strconv.AppendInt(out, int64(to-from), 10), "\r\n"...)
		out = append(append(out, q.Text[from:to]...), "\r\n"...)
		from = to
	}
	q.out = out
	return out
}

// args are the arguments for a client library.
func (q *Request) args() []any {
	out := make([]any, len(q.ends))
	from := 0
	for i, to := range q.ends {
		out[i] = q.Text[from:to:to]
		from = to
	}
	return out
}

// Caller is what one client sends its scripts through: connections that it shares
// with others, else one of its own where the server is one, else the pool of a
// cluster's client. It belongs to one goroutine.
type Caller struct {
	Request
	// Shard is what the next call is about.
	Shard int
	// ask and lane are for shared connections: the place in the line, and which
	// connection of several.
	ask  *ask
	lane int
	raw  *Own
	init bool
}

// Begin begins a call of a script with a number of keys, by whichever name the
// server is to know it.
func (r Scripts) Begin(q *Request, s Script, keys int64) {
	q.Reset()
	switch r.How {
	case ByText:
		q.Add("EVAL")
		q.Add(s.Text)
	case ByFunction:
		q.Add("FCALL")
		q.Add(s.Name)
	default:
		q.Add("EVALSHA")
		q.Add(s.sha)
	}
	q.Num(keys)
}

// Finish sends what Begin began and reads a number. A server that does not know
// the script is given its text.
func (r Scripts) Finish(ctx context.Context, c *Caller, s Script) (int64, error) {
	n, err := r.Exchange(ctx, c)
	if err != nil && r.How == BySHA && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		args := c.args()
		args[0], args[1] = "EVAL", s.Text
		return r.through(ctx, args)
	}
	return n, err
}

// Exchange sends the command of a caller and reads its number, or that of the bytes
// or elements of its reply.
func (r Scripts) Exchange(ctx context.Context, c *Caller) (int64, error) {
	if r.Shards != nil {
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
		c.raw.Close() // another server is the master by now
	}
	return n, err
}

// shared sends a call over a connection that is shared with others.
func (r Scripts) shared(ctx context.Context, c *Caller) (int64, error) {
	if c.ask != nil && c.ask.ctx != ctx {
		c.ask.stop()
		c.ask = nil
	}
	if c.ask == nil {
		c.ask, c.lane = newAsk(ctx), int(r.Shards.lane.Add(1))
	}
	list, err := r.Shards.to(ctx, c.Shard)
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
		r.Shards.forget(ctx, c.Shard)
		return 0, err
	}
	switch text := err.Error(); {
	case strings.HasPrefix(text, "MOVED "), strings.HasPrefix(text, "ASK "):
		r.Shards.forget(ctx, c.Shard)
		return r.through(ctx, c.args())
	case strings.HasPrefix(text, "READONLY"):
		r.Shards.forget(ctx, c.Shard) // another server is the master by now
	}
	return 0, err
}

// own makes a connection of a client's own; nil where the calls must go through
// the library: a cluster's, and one that is to have fewer connections than clients.
func (r Scripts) own(ctx context.Context) *Own {
	c, ok := r.Client.(*goredis.Client)
	if !ok || c.Options().PoolSize < r.Callers {
		return nil
	}
	raw, err := NewOwn(ctx, c, "")
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
func (r Scripts) through(ctx context.Context, args []any) (int64, error) {
	cmd := goredis.NewCmd(ctx, args...)
	if len(args) > 3 && !isLook(args[0]) {
		cmd.SetFirstKeyPos(3)
	}
	_ = r.Client.Process(ctx, cmd) // the command keeps its error
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
