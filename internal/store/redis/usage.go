package redis

import (
	"context"
	"net"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store"
)

// Usage adds up what the masters tell of themselves; calls are those of scripts.
func (c *Conn) Usage(ctx context.Context) store.Usage {
	u := store.Usage{Kind: "scripts", Here: c.isHere()}
	if c.masters(ctx, func(ctx context.Context, m *goredis.Client) error {
		text, err := m.InfoMap(ctx, "cpu", "memory", "stats", "commandstats").Result()
		if err != nil {
			return err
		}
		number := func(section, name string) float64 { return decimal(text[section][name]) }
		u.CPU += number("CPU", "used_cpu_sys") + number("CPU", "used_cpu_user")
		u.Received += int64(number("Stats", "total_net_input_bytes"))
		u.Sent += int64(number("Stats", "total_net_output_bytes"))
		u.Memory += int64(number("Memory", "used_memory_dataset"))
		for _, name := range []string{"cmdstat_eval", "cmdstat_evalsha", "cmdstat_fcall"} {
			calls, _, _ := strings.Cut(text["Commandstats"][name], ",")
			u.Calls += int64(decimal(strings.TrimPrefix(calls, "calls=")))
		}
		u.Cores++ // one thread works
		return nil
	}) != nil {
		return store.Untold()
	}
	return u
}

// isHere says whether a single server runs on this machine.
func (c *Conn) isHere() bool {
	if c.single == nil {
		return false
	}
	o := c.single.Options()
	host, _, _ := net.SplitHostPort(o.Addr)
	ip := net.ParseIP(host)
	return o.Network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback()
}

func decimal(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64) // 0 for what is not told
	return v
}
