package redis

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
	"github.com/perfbench/perfbench/internal/units"
)

// nearlyFull is the fraction of the memory limit above which a run gets a warning.
const nearlyFull = 0.9

// inform returns what a server reports by INFO. It is empty if the server cannot or may
// not tell: an unknown section or a missing permission is not an error.
func inform(ctx context.Context, m link.Client, sections ...string) map[string]string {
	out := map[string]string{}
	for _, s := range sections {
		text, err := m.Info(ctx, s).Result()
		if err != nil {
			continue
		}
		for line := range strings.Lines(text) {
			if k, v, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
				out[k] = v
			}
		}
	}
	return out
}

// Info asks the servers for their details. It fails only if they do not answer at all;
// what a server does not report is left out.
func (c *Conn) Info(ctx context.Context) (store.Info, error) {
	if err := c.servers.ping(ctx); err != nil {
		return store.Info{}, c.servers.explain(ctx, err)
	}
	info := store.Info{Name: "redis", Details: map[string]string{}}
	masters := 0
	err := c.servers.masters(ctx, func(ctx context.Context, m link.Client) error {
		told := inform(ctx, m, "server", "memory", "persistence", "replication", "keydb")
		maps.Copy(told, configured(ctx, m))
		if masters++; masters == 1 {
			identify(&info, told)
			details(&info, told)
		}
		info.FreeBytes += free(told)
		name := ""
		if c.servers.mode == cluster {
			name = link.ServerOf(m).Addr + ": "
		}
		warn(&info, name, told)
		return nil
	})
	if err != nil {
		return store.Info{}, c.servers.explain(ctx, err)
	}
	switch c.servers.mode {
	case cluster:
		info.Topology = fmt.Sprintf("cluster of %d masters", masters)
		if masters == 1 {
			info.Topology = "cluster of 1 master"
		}
	case sentinel:
		info.Topology = "sentinel"
	default:
		info.Topology = "standalone"
	}
	return info, nil
}

// configured returns settings that are not part of INFO.
func configured(ctx context.Context, m link.Client) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"save", "io-threads"} {
		got, err := m.ConfigGet(ctx, name).Result()
		if err != nil {
			return out
		}
		maps.Copy(out, got)
	}
	return out
}

// products are servers that also tell a redis_version, for clients that ask for one: by the
// field with the version of their own.
var products = []struct{ field, name string }{
	{"valkey_version", "valkey"},
	{"dragonfly_version", "dragonfly"},
	{"garnet_version", "garnet"},
	{"kvrocks_version", "kvrocks"},
	{"keydb_version", "keydb"},
}

// identify says which product it is that answered, and which version of it.
func identify(info *store.Info, told map[string]string) {
	info.Version = told["redis_version"]
	for _, p := range products {
		if v := told[p.field]; v != "" {
			info.Name, info.Version = p.name, strings.TrimPrefix(v, "df-v")
			return
		}
	}
	if n := told["server_name"]; n != "" {
		info.Name = strings.ToLower(n)
	} else if told["mvcc_depth"] != "" || strings.Contains(told["executable"], "keydb") { // it has the version of Redis alone
		info.Name = "keydb"
	}
}

func details(info *store.Info, told map[string]string) {
	for name, key := range map[string]string{
		"maxmemory_policy": "maxmemory_policy", "save": "save", "io_threads": "io-threads",
		"maxmemory": "maxmemory", "role": "role", "replicas": "connected_slaves",
	} {
		if v, ok := told[key]; ok {
			info.Details[name] = v
		}
	}
	switch told["aof_enabled"] {
	case "1":
		info.Details["appendonly"] = "yes"
	case "0":
		info.Details["appendonly"] = "no"
	}
}

func number(told map[string]string, key string) int64 {
	n, _ := strconv.ParseInt(told[key], 10, 64)
	return n
}

// free returns how much memory a server may still fill, 0 if unknown; a full server has
// 1 byte.
func free(told map[string]string) int64 {
	limit := number(told, "maxmemory")
	if limit == 0 {
		limit = number(told, "total_system_memory")
	}
	if limit == 0 {
		return 0
	}
	return max(limit-number(told, "used_memory"), 1)
}

func warn(info *store.Info, name string, told map[string]string) {
	limit, used, policy := number(told, "maxmemory"), number(told, "used_memory"), told["maxmemory_policy"]
	if limit > 0 && policy == "noeviction" && float64(used) > nearlyFull*float64(limit) {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%s%s of %s of maxmemory are used and the policy is noeviction: writes will soon be refused", name, units.Size(used), units.Size(limit)))
	}
	if limit > 0 && policy != "" && policy != "noeviction" {
		info.Warnings = append(info.Warnings, fmt.Sprintf("%sthe server evicts keys when %s are full (%s): what was written may be gone when it is verified", name, units.Size(limit), policy))
	}
	if told["role"] == "slave" {
		info.Warnings = append(info.Warnings, name+"the server is a replica: it refuses writes unless it is set to take them, and its master overwrites them")
	}
	if told["loading"] == "1" {
		info.Warnings = append(info.Warnings, name+"the server is still loading its data")
	}
}
