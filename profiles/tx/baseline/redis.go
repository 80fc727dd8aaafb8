package baseline

import (
	"bytes"
	"context"
	"net"
	"strings"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/workload"
)

// RequestOf returns the request of a row, whose words also serve as a title. The
// original's scripts do not run: they have ARGS instead of ARGV, and a semicolon after
// do, which is not valid Lua.
func (s *Spec) RequestOf(row *SuiteRow) []string {
	key, value := s.key(row), row.text()
	switch row.Name {
	case "set", "set-p50", "set-remote":
		return []string{"SET", key, value}
	case "eval-literal":
		return []string{"EVAL", "redis.call('SET', '" + key + "', '" + value + "')", "0"}
	case "eval-args", "eval-args-p50":
		return []string{"EVAL", "redis.call('SET', KEYS[1], ARGV[1])", "1", key, value}
	case "eval-loop10":
		return []string{"EVAL", "for k=1,10 do redis.call('SET', KEYS[1], ARGV[1]) end", "1", key, value}
	}
	return []string{"EVAL", "for k=1,10 do cjson.decode(ARGV[1]) end", "1", key, value}
}

// redisPrimitives makes the calls of the suite on Redis.
type redisPrimitives struct {
	s *Spec
	c redis.Typed
	// requests are the requests to send, by row.
	requests map[string][]byte
}

func newRedisPrimitives(s *Spec, c redis.Typed) redisPrimitives {
	r := redisPrimitives{s, c, map[string][]byte{}}
	for i := range s.Rows {
		row := &s.Rows[i]
		r.requests[row.Name] = bytes.Repeat(link.Encode(s.RequestOf(row)...), row.Depth)
	}
	return r
}

// Spaces returns the keys that the calls write. Keys as published stand alone: each is
// looked at, recorded and dropped as a space of its own.
func (r redisPrimitives) Spaces() []ownership.Space {
	if !r.s.bare() {
		return []ownership.Space{{Space: r.s.Space(), Parts: r.s.keys(func(row *SuiteRow) string { return store.Literal("string", part(row)) })}}
	}
	var out []ownership.Space
	for _, k := range r.s.keys(r.s.key) {
		out = append(out, ownership.Space{Space: store.Space{Name: k, Shape: store.Keys}, Kind: "string"})
	}
	return out
}

func (r redisPrimitives) Create(context.Context) error { return nil }

func (r redisPrimitives) title(row *SuiteRow) string { return strings.Join(r.s.RequestOf(row), " ") }

func (r redisPrimitives) note(row *SuiteRow) string {
	if row.Name != "set-remote" {
		return ""
	}
	o, err := link.NewOwn(context.Background(), r.c.Client(), r.s.key(row))
	if err != nil {
		return ""
	}
	defer o.Close()
	if c, err := o.Dial(context.Background()); err == nil {
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		if ip := net.ParseIP(host); c.RemoteAddr().Network() == "unix" || ip != nil && ip.IsLoopback() {
			return "the server is on this machine, so this row is the same as set: for a remote row, run perfbench on another machine"
		}
	}
	return ""
}

func (r redisPrimitives) caller(row *SuiteRow) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	raw, err := link.NewOwn(context.Background(), r.c.Client(), r.s.key(row))
	if err != nil {
		return nil, err
	}
	request := r.requests[row.Name]
	return func(ctx context.Context, _ *workload.Iteration) (int, error) {
		return row.Depth, raw.Call(ctx, request, row.Depth)
	}, nil
}
