package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Meter reads what the servers report about themselves, and knows what they do not show us.
type Meter struct {
	servers *servers
	// hidesConfig, hidesSlow and hidesLatency say why the server does not show us its
	// settings, its log of slow commands and its latency monitor; nil if it does.
	hidesConfig, hidesSlow, hidesLatency atomic.Pointer[error]
}

// Usage adds up what the masters report about themselves; calls are script calls,
// except those for the lease.
func (mt *Meter) Usage(ctx context.Context) store.Usage {
	u := store.Usage{Kind: "scripts", Here: mt.servers.here(), Calls: -mt.servers.ours.Load()}
	if mt.servers.masters(ctx, func(ctx context.Context, m link.Client) error {
		text, err := m.InfoMap(ctx, "cpu", "memory", "stats", "commandstats").Result()
		if err != nil {
			return err
		}
		number := func(section, name string) float64 { return decimal(text[section][name]) }
		u.CPU += number("CPU", "used_cpu_sys") + number("CPU", "used_cpu_user")
		u.Asked += int64(number("Stats", "total_commands_processed"))
		u.Received += int64(number("Stats", "total_net_input_bytes"))
		u.Sent += int64(number("Stats", "total_net_output_bytes"))
		u.Memory += int64(number("Memory", "used_memory_dataset"))
		for _, name := range []string{"cmdstat_eval", "cmdstat_evalsha", "cmdstat_fcall"} {
			calls, _, _ := strings.Cut(text["Commandstats"][name], ",")
			u.Calls += int64(decimal(strings.TrimPrefix(calls, "calls=")))
		}
		u.Cores++ // one thread does the work
		return nil
	}) != nil {
		return store.Untold()
	}
	return u
}

// here reports whether a single server runs on this machine.
func (v *servers) here() bool {
	if v.mode == cluster {
		return false
	}
	o := link.ServerOf(v.client)
	host, _, _ := net.SplitHostPort(o.Addr)
	ip := net.ParseIP(host)
	return o.Network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback()
}

func decimal(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64) // 0 if it is not reported
	return v
}

// told are the numbers of INFO that are passed on, with our names for them. Counters
// count from the start of the server.
var told = []struct {
	section, name, as string
	sum               bool
	per               float64 // how many of its units make one of ours
}{
	{"Clients", "connected_clients", "clients", false, 1},
	{"Clients", "blocked_clients", "blocked_clients", false, 1},
	{"Memory", "used_memory", "memory_bytes", false, 1},
	{"Memory", "used_memory_rss", "resident_bytes", false, 1},
	{"Persistence", "rdb_bgsave_in_progress", "saving", false, 1},
	{"Persistence", "aof_rewrite_in_progress", "rewriting_aof", false, 1},
	{"Persistence", "aof_pending_bio_fsync", "pending_syncs", false, 1},
	{"Persistence", "aof_delayed_fsync", "delayed_syncs_per_s", true, 1},
	{"Stats", "latest_fork_usec", "latest_fork_ms", false, 1000},
	{"Stats", "eventloop_duration_sum", "main_thread_busy_ms_per_s", true, 1000}, // from 7.2 on
	{"Stats", "total_forks", "forks_per_s", true, 1},
	{"Stats", "total_commands_processed", "commands_per_s", true, 1},
	{"Stats", "total_error_replies", "errors_per_s", true, 1},
	{"Stats", "total_net_input_bytes", "net_in_bytes_per_s", true, 1},
	{"Stats", "total_net_output_bytes", "net_out_bytes_per_s", true, 1},
	{"Stats", "keyspace_hits", "hits_per_s", true, 1},
	{"Stats", "keyspace_misses", "misses_per_s", true, 1},
	{"Stats", "expired_keys", "expired_keys_per_s", true, 1},
	{"Stats", "evicted_keys", "evicted_keys_per_s", true, 1},
	{"Stats", "rejected_connections", "rejected_connections_per_s", true, 1},
}

// processor are the processor times in INFO, each the sum of two numbers of seconds.
var processor = []struct{ user, system, as string }{
	{"used_cpu_user", "used_cpu_sys", "cpu_cores"},
	{"used_cpu_user_main_thread", "used_cpu_sys_main_thread", "main_thread_cpu_cores"},
	{"used_cpu_user_children", "used_cpu_sys_children", "children_cpu_cores"},
}

// Readings returns what every master reports by INFO, whether writes wait for the disk,
// and how many commands were slow. It takes a server about 0.1 ms.
func (mt *Meter) Readings(ctx context.Context) (out []store.Reading, err error) {
	err = mt.servers.masters(ctx, func(ctx context.Context, m link.Client) error {
		text, err := m.InfoMap(ctx).Result()
		if err != nil {
			return err
		}
		node := ""
		if mt.servers.mode == cluster {
			node = link.ServerOf(m).Addr
		}
		add := func(name string, v float64, sum bool) {
			out = append(out, store.Reading{Node: node, Name: name, Value: v, Sum: sum})
		}
		for _, p := range processor {
			if user, ok := text["CPU"][p.user]; ok {
				add(p.as, decimal(user)+decimal(text["CPU"][p.system]), true)
			}
		}
		for _, t := range told {
			if v, ok := text[t.section][t.name]; ok {
				add(t.as, decimal(v)/t.per, t.sum)
			}
		}
		process(text, add)
		if text["Persistence"]["aof_enabled"] == "1" {
			mt.syncs(ctx, m, add)
		}
		mt.slow(ctx, m, add)
		return nil
	})
	if err != nil {
		return nil, mt.servers.explain(ctx, err)
	}
	for _, hidden := range []*error{mt.hidesConfig.Load(), mt.hidesSlow.Load()} {
		if hidden != nil {
			err = errors.Join(err, *hidden)
		}
	}
	return out, err
}

// process reports for how long the server has been there and, since Redis 7, how many keys it had read
// from its snapshot when it began: all that it had, unless it reads its append-only file.
func process(text map[string]map[string]string, add func(string, float64, bool)) {
	up, ok := text["Server"]["uptime_in_seconds"]
	disk := text["Persistence"]
	if !ok || disk["loading"] == "1" {
		return
	}
	add(store.Uptime, decimal(up), false)
	if keys, ok := disk["rdb_last_load_keys_loaded"]; ok && disk["aof_enabled"] == "0" {
		add(store.Began, decimal(keys), false)
	}
}

// withheld remembers why a server does not report something, so that it is not asked
// again. A timeout is not such a reason.
func withheld(ctx context.Context, why *atomic.Pointer[error], what string, err error) {
	if ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", what, err)
		why.Store(&err)
	}
}

// syncs reports whether each write waits until the append-only file has reached the
// disk.
func (mt *Meter) syncs(ctx context.Context, m link.Client, add func(string, float64, bool)) {
	if mt.hidesConfig.Load() != nil {
		return
	}
	got, err := m.ConfigGet(ctx, "appendfsync").Result()
	if err != nil {
		withheld(ctx, &mt.hidesConfig, "read its settings", err)
		return
	}
	v := 0.0
	if got["appendfsync"] == "always" {
		v = 1
	}
	add("aof_syncs_each_write", v, false)
}

// slow reports how many commands have been in the slow log so far, from the id of the
// last one.
func (mt *Meter) slow(ctx context.Context, m link.Client, add func(string, float64, bool)) {
	if mt.hidesSlow.Load() != nil {
		return
	}
	last, err := m.SlowLogGet(ctx, 1).Result()
	if err != nil {
		withheld(ctx, &mt.hidesSlow, "read its log of slow commands", err)
		return
	}
	n := 0.0
	if len(last) == 1 {
		n = float64(last[0].ID + 1) // ids continue when the log is cleared
	}
	add("slow_commands_per_s", n, true)
}

// mostNotes is how many commands are read from the slow log at a time: the newest.
const mostNotes = 64

// Noted returns the contents of the slow log and the latency monitor of every master,
// as far as they are enabled. A server that does not show us its slow log has been
// named by Readings.
func (mt *Meter) Noted(ctx context.Context, from store.Bookmark) (out []store.Noted, to store.Bookmark, err error) {
	to = store.Bookmark{}
	err = mt.servers.masters(ctx, func(ctx context.Context, m link.Client) error {
		n := notes{server: m, from: from, to: to}
		if mt.servers.mode == cluster {
			n.node = link.ServerOf(m).Addr
		}
		if mt.hidesSlow.Load() == nil {
			if err := n.slow(ctx); err != nil {
				return err
			}
		}
		if mt.hidesLatency.Load() == nil {
			err := n.latency(ctx)
			if _, refused := errors.AsType[goredis.Error](err); refused {
				withheld(ctx, &mt.hidesLatency, "read its latency monitor", err)
			} else if err != nil {
				return err
			}
		}
		out = append(out, n.out...)
		return nil
	})
	if err != nil {
		return nil, nil, mt.servers.explain(ctx, err)
	}
	if hidden := mt.hidesLatency.Load(); hidden != nil {
		err = *hidden
	}
	return out, to, err
}

// notes reads the logs of one server.
type notes struct {
	server   link.Client
	node     string
	from, to store.Bookmark
	out      []store.Noted
}

// grown records how far something has come, and returns how far it was before; false if
// there is no previous value, as for a new server.
func (n *notes) grown(what string, now int64) (before int64, known bool) {
	const begun = " begun"
	_, known = n.from[n.node+begun]
	n.to[n.node+begun] = 1
	n.to[n.node+what] = now
	return n.from[n.node+what], known
}

// slow reads the slow log. Of the commands' arguments it takes only the key.
func (n *notes) slow(ctx context.Context) error {
	last, err := n.server.SlowLogGet(ctx, 1).Result()
	if err != nil {
		return err
	}
	next := int64(0) // ids continue when the log is cleared
	if len(last) > 0 {
		next = last[0].ID + 1
	}
	before, known := n.grown(" slow", next)
	if next < before {
		before = 0 // the server was restarted
	}
	if !known || next == before {
		return nil
	}
	list, err := n.server.SlowLogGet(ctx, min(next-before, mostNotes)).Result()
	if err != nil {
		return err
	}
	for _, e := range list {
		if e.ID < before || e.ID >= next || len(e.Args) == 0 {
			continue
		}
		n.out = append(n.out, store.Noted{Node: n.node, Command: command(e.Args[0]), Key: keyOf(e.Args), For: e.Duration})
	}
	return nil
}

// command returns the name of a command in capitals, without characters that names do
// not have.
func command(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return -1
	}, name)
}

// keyOf returns the first key of a command, as far as can be told from its form; for
// scripts it follows the number of keys.
func keyOf(args []string) string {
	at := 1
	switch command(args[0]) {
	case "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO":
		at = 3
	}
	if at >= len(args) {
		return ""
	}
	return args[at]
}

// latency reads the latency monitor, which has the longest time of each second in which
// an event exceeded latency-monitor-threshold.
func (n *notes) latency(ctx context.Context) error {
	latest, err := n.server.Do(ctx, "latency", "latest").Slice()
	if err != nil {
		return err
	}
	n.grown(" latency", 0)
	for _, l := range latest {
		event, at, ms, ok := spike(l, 1)
		if !ok {
			continue
		}
		since, known := n.grown(" at "+event, at)
		least, _ := n.grown(" ms "+event, ms)
		if !known || at == since && ms == least {
			continue
		}
		list, err := n.server.Do(ctx, "latency", "history", event).Slice()
		if err != nil {
			return err
		}
		for _, h := range list {
			if _, when, took, ok := spike(h, 0); ok && when <= at && (when > since || when == since && took > least) {
				n.out = append(n.out, store.Noted{Node: n.node, Event: event, For: time.Duration(took) * time.Millisecond})
			}
		}
	}
	return nil
}

// spike parses an event of the latency monitor: its time and its duration follow after
// that many words, of which the first is the event.
func spike(v any, words int) (event string, at, ms int64, ok bool) {
	list, _ := v.([]any)
	if len(list) < words+2 {
		return "", 0, 0, false
	}
	if words > 0 {
		event = fmt.Sprint(list[0])
	}
	at, one := list[words].(int64)
	ms, two := list[words+1].(int64)
	return event, at, ms, one && two
}
