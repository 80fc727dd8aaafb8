package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis/link"
)

// Open connects to the servers of t and makes sure that they answer and are laid out as
// the target says. Errors have the code of an unfit store, or of bad input if the
// target itself is wrong, and a hint; none contains a password.
func Open(ctx context.Context, t store.Target, o store.OpenOptions) (*Conn, error) {
	c, err := newConn(t, o)
	if err != nil {
		return nil, err
	}
	if err := c.servers.check(ctx); err != nil {
		_ = c.servers.client.Close() // it could not be used
		return nil, err
	}
	c.servers.askScripts(ctx)
	return c, nil
}

// check verifies what must be right before anything else is requested.
func (v *servers) check(ctx context.Context) error {
	if v.mode == cluster {
		return v.checkCluster(ctx)
	}
	if err := v.ping(ctx); err != nil {
		return v.explain(ctx, err)
	}
	// A server that cannot or may not tell is assumed to be what the target says.
	told := inform(ctx, v.client, "server")
	switch where := v.where(); told["redis_mode"] {
	case "cluster":
		if v.mode == standalone && !soleNode(ctx, v.client) {
			return fault.Store(fmt.Errorf("redis: %s is a node of a cluster, but the target is written for a single server", where),
				"did you mean "+v.scheme("cluster")+"://"+strings.Join(v.target.Hosts, ",")+"?")
		}
	case "sentinel":
		return fault.Store(fmt.Errorf("redis: %s is a sentinel, which keeps no data", where),
			"did you mean "+v.scheme("sentinel")+"://"+strings.Join(v.target.Hosts, ",")+"/mymaster?")
	}
	return nil
}

// soleNode reports whether a node serves all slots itself, so that a single connection
// reaches every key.
func soleNode(ctx context.Context, node link.Client) bool {
	slots, err := node.ClusterSlots(ctx).Result() //nolint:staticcheck // ClusterShards is of Redis 7 only
	if err != nil {
		return false
	}
	served, nodes := 0, map[string]bool{}
	for _, s := range slots {
		served += s.End - s.Start + 1
		if len(s.Nodes) > 0 {
			nodes[s.Nodes[0].Addr] = true
		}
	}
	return served == 16384 && len(nodes) == 1
}

func (v *servers) checkCluster(ctx context.Context) error {
	slots, err := v.client.ClusterSlots(ctx).Result() //nolint:staticcheck // ClusterShards is of Redis 7 only
	if err == nil && len(slots) == 0 {
		return fault.Store(fmt.Errorf("redis: the cluster at %s serves no slots", v.where()),
			"create it first: redis-cli --cluster create …")
	}
	if err == nil {
		// Not only the seeds but also the nodes, under the names they give themselves,
		// must be reachable.
		err = v.masters(ctx, func(ctx context.Context, m link.Client) error {
			if err := m.Ping(ctx).Err(); err != nil {
				return fmt.Errorf("node %s: %w", link.ServerOf(m).Addr, err)
			}
			return nil
		})
	}
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "cluster support disabled") {
		return fault.Store(fmt.Errorf("redis: %s is a single server, but the target is written for a cluster", v.where()),
			"did you mean "+v.scheme("")+"://"+v.target.Hosts[0]+"?")
	}
	if why := withholds(err); why != nil && !errors.Is(why, store.ErrUnknown) {
		return fault.Store(fmt.Errorf("redis: %s: the nodes of the cluster cannot be found, because the server withholds CLUSTER: %w", v.where(), why),
			"grant it:  ACL SETUSER … +cluster|slots,  or use "+v.scheme("")+":// if one address serves all keys")
	}
	return v.explain(ctx, err)
}

// where returns the servers as the target names them.
func (v *servers) where() string {
	if v.target.Scheme == "unix" {
		return v.target.Path
	}
	return strings.Join(v.target.Hosts, ",")
}

// scheme returns the scheme for another layout, with TLS if the target has it.
func (v *servers) scheme(layout string) string {
	s := "redis"
	if v.tls != nil {
		s = "rediss"
	}
	if layout != "" {
		s += "+" + layout
	}
	return s
}

// masterNames asks the sentinels which masters they know.
func (v *servers) masterNames(ctx context.Context) []string {
	for _, h := range v.target.Hosts {
		masters, err := link.MastersOf(ctx, store.HostPort(h, 26379), link.Servers{
			TLS: v.tls, SentinelUser: v.target.Params.Get("sentinel_user"), SentinelPassword: v.target.Params.Get("sentinel_password"),
			Dial: link.ServerOf(v.client).Dial, Read: link.ServerOf(v.client).Read,
		})
		if err != nil {
			continue
		}
		var names []string
		for _, m := range masters {
			if n := nameOf(m); n != "" {
				names = append(names, n)
			}
		}
		return names
	}
	return nil
}

// nameOf finds the name in what a sentinel reports about a master: a map or, with the
// older protocol, a list of names and values.
func nameOf(m any) string {
	switch m := m.(type) {
	case map[any]any:
		n, _ := m["name"].(string)
		return n
	case []any:
		for i := 0; i+1 < len(m); i += 2 {
			if m[i] == "name" {
				n, _ := m[i+1].(string)
				return n
			}
		}
	}
	return ""
}
