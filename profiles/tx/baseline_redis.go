package tx

import (
	"bytes"
	"context"
	"net"
	"strings"

	"github.com/perfbench/perfbench/internal/place"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/workload"
)

// requestOf returns the request of a row, and the words of it as a title. The
// original's scripts do not run: it has ARGS for ARGV, and a semicolon after do,
// which is no Lua.
func (s *baselineSpec) requestOf(row string) []string {
	const document = `{"id":1,"gid":"abcdefghij","status":"succeed","n":[1]}`
	k := s.key
	switch row {
	case "set", "set-p50":
		return []string{"SET", k("abcdefg"), "ddddddd"}
	case "set-remote":
		return []string{"SET", k("abcdefg"), "dddddddd"}
	case "eval-literal":
		return []string{"EVAL", "redis.call('SET', '" + k("abcdedf") + "', 'dddddd')", "0"}
	case "eval-args", "eval-args-p50":
		return []string{"EVAL", "redis.call('SET', KEYS[1], ARGV[1])", "1", k("aaaaaaaaa"), "bbbbbbbbbb"}
	case "eval-loop10":
		return []string{"EVAL", "for k=1,10 do redis.call('SET', KEYS[1], ARGV[1]) end", "1", k("aaaaaaaaa"), "bbbbbbbbbb"}
	}
	return []string{"EVAL", "for k=1,10 do cjson.decode(ARGV[1]) end", "1", k("aaaaaaaaa"), document}
}

// redisPrimitives makes the calls of the suite on Redis.
type redisPrimitives struct {
	s *baselineSpec
	c redis.Typed
}

// baselineKeys are the keys that the calls write.
var baselineKeys = []string{"{0}abcdefg", "{0}abcdedf", "{0}aaaaaaaaa"}

func (r redisPrimitives) spaces(map[string]string) []place.Space {
	return []place.Space{{Space: r.s.space(), Parts: baselineKeys}}
}

func (r redisPrimitives) create(context.Context) error { return nil }

func (r redisPrimitives) title(row string) string { return strings.Join(r.s.requestOf(row), " ") }

func (r redisPrimitives) note(row string) string {
	if row != "set-remote" {
		return ""
	}
	o, err := newRaw(context.Background(), r.c.Client(), r.s.key("a"))
	if err != nil {
		return ""
	}
	defer o.close()
	if c, err := o.dial(context.Background()); err == nil {
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		if ip := net.ParseIP(host); c.RemoteAddr().Network() == "unix" || ip != nil && ip.IsLoopback() {
			return "the server is on this machine, so that this row is no other than set: for a remote row run perfbench on another machine"
		}
	}
	return ""
}

func (r redisPrimitives) caller(row primitive) (func(ctx context.Context, it *workload.Iteration) (int, error), error) {
	raw, err := newRaw(context.Background(), r.c.Client(), r.s.key("a"))
	if err != nil {
		return nil, err
	}
	request := bytes.Repeat(encode(r.s.requestOf(row.name)...), row.depth)
	return func(ctx context.Context, _ *workload.Iteration) (int, error) {
		return row.depth, raw.call(ctx, request, row.depth)
	}, nil
}
