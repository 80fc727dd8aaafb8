package tx

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/store/redis"
)

// usage is what a run has used up to a moment. Numbers that are not told are
// below 0.
type usage struct {
	at time.Time
	// client and server are CPU seconds of this process and of the store's.
	client, server float64
	// memory is bytes of data in the store, calls the calls of scripts that it counted.
	memory, calls int64
	// kind is what the calls are: scripts or statements.
	kind string
	// received and sent are bytes that the server got and gave.
	received, sent int64
	// cores is how many threads of the server do the work: 1 for Redis.
	cores float64
}

// meter tells what a run has used.
type meter interface {
	usage(ctx context.Context) usage
}

// plainMeter knows this process only: for stores within it, and for those that do
// not tell.
type plainMeter struct{}

func (plainMeter) usage(context.Context) usage {
	return usage{at: time.Now(), client: cpuSeconds(), server: -1, memory: -1, calls: -1, received: -1, sent: -1}
}

// redisMeter asks Redis.
type redisMeter struct{ c redis.Typed }

func (m redisMeter) usage(ctx context.Context) usage {
	u := plainMeter{}.usage(ctx)
	u.kind = "scripts"
	var clients []*goredis.Client
	switch c := m.c.Client().(type) {
	case *goredis.Client:
		clients = append(clients, c)
	case *goredis.ClusterClient:
		found := make(chan *goredis.Client, 1024) // more masters than a cluster has
		_ = c.ForEachMaster(ctx, func(_ context.Context, m *goredis.Client) error { found <- m; return nil })
		close(found)
		for m := range found {
			clients = append(clients, m)
		}
	}
	for i, c := range clients {
		text, err := c.InfoMap(ctx, "cpu", "memory", "stats", "commandstats").Result()
		if err != nil {
			return u
		}
		if i == 0 {
			u.server, u.memory, u.calls, u.received, u.sent = 0, 0, 0, 0, 0
		}
		cpu := text["CPU"]
		u.server += decimal(cpu["used_cpu_sys"]) + decimal(cpu["used_cpu_user"])
		u.received += int64(decimal(text["Stats"]["total_net_input_bytes"]))
		u.sent += int64(decimal(text["Stats"]["total_net_output_bytes"]))
		u.memory += int64(decimal(text["Memory"]["used_memory_dataset"]))
		for name, v := range text["Commandstats"] {
			switch name {
			case "cmdstat_eval", "cmdstat_evalsha", "cmdstat_fcall":
				u.calls += int64(decimal(strings.TrimPrefix(strings.SplitN(v, ",", 2)[0], "calls=")))
			}
		}
		u.cores++
	}
	return u
}

// shared says whether the server runs on this machine.
func (m redisMeter) shared() bool {
	c, ok := m.c.Client().(*goredis.Client)
	if !ok {
		return false
	}
	o := c.Options()
	host, _, _ := net.SplitHostPort(o.Addr)
	ip := net.ParseIP(host)
	return o.Network == "unix" || host == "localhost" || ip != nil && ip.IsLoopback()
}

func decimal(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64) // 0 for what is not told
	return v
}
