package memcached

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

// abilities are what servers are asked that speak the text protocol. Nothing is written.
var abilities = []store.Question[*servers]{
	{
		Trait: store.Trait{
			Ability: "list of keys", Title: "lru_crawler metadump",
			Without: "entries cannot be counted, verified or deleted, so that no run begins",
		},
		Ask: func(ctx context.Context, v *servers) error {
			return v.withholds(v.keys(ctx, "\x00", func(string) error { return nil }))
		},
	},
	{
		Trait: store.Trait{Ability: "stats", Title: "statistics", Without: "its memory, its load and its evictions are unknown"},
		Ask: func(ctx context.Context, v *servers) error {
			got, err := v.stats(ctx, v.addrs[0], "")
			if err == nil && got["limit_maxbytes"] == "" {
				return errors.New("limit_maxbytes is not told")
			}
			return v.withholds(err)
		},
	},
}

// withholds returns the answer by which a server withholds something; an error that is none is
// store.ErrUnknown.
func (v *servers) withholds(err error) error {
	if err != nil && Classify(err) != store.Other {
		return fmt.Errorf("%w: %w", store.ErrUnknown, err)
	}
	return err
}

// Facts returns what the servers can do, as they answer.
func (v *servers) Facts(ctx context.Context) (store.Facts, error) {
	all, err := store.Ask(ctx, &v.asked, abilities, v)
	if err != nil {
		return store.Facts{}, v.explain(ctx, err)
	}
	return store.Facts{Where: "memcached: " + v.target.Hosts[0], All: all}, nil
}

// Info asks the servers for their details.
func (v *servers) Info(ctx context.Context) (store.Info, error) {
	info := store.Info{Name: "memcached", Topology: "standalone", Details: map[string]string{}}
	if n := len(v.addrs); n > 1 {
		info.Topology = fmt.Sprintf("%d servers, keys divided by the client", n)
	}
	for i, addr := range v.addrs {
		got, err := v.stats(ctx, addr, "")
		if err != nil {
			return store.Info{}, v.explain(ctx, err)
		}
		limit := int64(number(got, "limit_maxbytes"))
		info.FreeBytes += max(limit-int64(number(got, "bytes")), 1)
		if i > 0 {
			continue
		}
		info.Version = got["version"]
		info.Details["memory"], info.Details["threads"] = units.Size(limit), got["threads"]
		if set, err := v.stats(ctx, addr, "settings"); err == nil {
			info.Details["largest value"] = set["item_size_max"]
			if set["evictions"] != "off" {
				info.Warnings = append(info.Warnings, fmt.Sprintf("the server evicts items when %s are full: what was written may be gone when it is verified", units.Size(limit)))
			}
		}
	}
	return info, nil
}

func number(told map[string]string, name string) float64 {
	n, _ := strconv.ParseFloat(told[name], 64) // 0 if it is not told
	return n
}

// Usage adds up what the servers report about themselves.
func (v *servers) Usage(ctx context.Context) store.Usage {
	u := store.Untold()
	for _, addr := range v.addrs {
		got, err := v.stats(ctx, addr, "")
		if err != nil {
			return store.Untold()
		}
		u.Asked = max(u.Asked, 0)
		for _, name := range requests {
			u.Asked += int64(number(got, name))
		}
		u.CPU = max(u.CPU, 0) + number(got, "rusage_user") + number(got, "rusage_system")
		u.Cores += number(got, "threads")
		u.Memory = max(u.Memory, 0) + int64(number(got, "bytes"))
		u.Received = max(u.Received, 0) + int64(number(got, "bytes_read"))
		u.Sent = max(u.Sent, 0) + int64(number(got, "bytes_written"))
	}
	host, _, _ := net.SplitHostPort(v.addrs[0])
	ip := net.ParseIP(host)
	u.Here = len(v.addrs) == 1 && (host == "localhost" || ip != nil && ip.IsLoopback())
	return u
}

// requests are the counters of the statistics that each of our requests raises one of: of a read of
// several keys, for each.
var requests = []string{"cmd_get", "cmd_set", "cmd_touch", "delete_hits", "delete_misses", "incr_hits", "incr_misses", "decr_hits", "decr_misses", "cas_badval", "cas_misses"}

// told are the numbers of the statistics that are passed on, with our names for them.
var told = []struct {
	name, as string
	sum      bool
}{
	{"uptime", store.Uptime, false},
	{"curr_connections", "clients", false},
	{"bytes", "memory_bytes", false},
	{"curr_items", "items", false},
	{"cmd_get", "reads_per_s", true},
	{"cmd_set", "writes_per_s", true},
	{"get_hits", "hits_per_s", true},
	{"get_misses", "misses_per_s", true},
	{"evictions", "evicted_keys_per_s", true},
	{"bytes_read", "net_in_bytes_per_s", true},
	{"bytes_written", "net_out_bytes_per_s", true},
	{"conn_yields", "yields_per_s", true},
	{"listen_disabled_num", "refused_connections_per_s", true},
}

// Readings returns what every server reports about itself.
func (v *servers) Readings(ctx context.Context) (out []store.Reading, err error) {
	for _, addr := range v.addrs {
		got, err := v.stats(ctx, addr, "")
		if err != nil {
			return nil, v.explain(ctx, err)
		}
		node := ""
		if len(v.addrs) > 1 {
			node = addr
		}
		out = append(out, store.Reading{Node: node, Name: "cpu_cores", Value: number(got, "rusage_user") + number(got, "rusage_system"), Sum: true})
		for _, t := range told {
			if _, ok := got[t.name]; ok {
				out = append(out, store.Reading{Node: node, Name: t.as, Value: number(got, t.name), Sum: t.sum})
			}
		}
		// It begins empty, unless it has its items in a file: those it did not count as stored.
		out = append(out, store.Reading{Node: node, Name: store.Began, Value: max(number(got, "curr_items")-number(got, "total_items"), 0)})
	}
	return out, nil
}
