package redis

import (
	"context"
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
	if err := c.check(ctx); err != nil {
		c.closeQuietly()
		return nil, err
	}
	return c, nil
}

// check verifies what must be right before anything else is requested.
func (c *Conn) check(ctx context.Context) error {
	if c.mode == cluster {
		return c.checkCluster(ctx)
	}
	if err := c.ping(ctx); err != nil {
		return c.explain(ctx, err)
	}
	// A server that cannot or may not tell is assumed to be what the target says.
	told := inform(ctx, c.client, "server")
	switch where := c.where(); told["redis_mode"] {
	case "cluster":
		if c.mode == standalone && !soleNode(ctx, c.client) {
			return fault.Store(fmt.Errorf("redis: %s is a node of a cluster, but the target is written for a single server", where),
				"did you mean "+c.scheme("cluster")+"://"+strings.Join(c.target.Hosts, ",")+"?")
		}
	case "sentinel":
		return fault.Store(fmt.Errorf("redis: %s is a sentinel, which keeps no data", where),
			"did you mean "+c.scheme("sentinel")+"://"+strings.Join(c.target.Hosts, ",")+"/mymaster?")
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

func (c *Conn) checkCluster(ctx context.Context) error {
	slots, err := c.client.ClusterSlots(ctx).Result() //nolint:staticcheck // ClusterShards is of Redis 7 only
	if err == nil && len(slots) == 0 {
		return fault.Store(fmt.Errorf("redis: the cluster at %s serves no slots", c.where()),
			"create it first: redis-cli --cluster create …")
	}
	if err == nil {
		// Not only the seeds but also the nodes, under the names they give themselves,
		// must be reachable.
		err = c.masters(ctx, func(ctx context.Context, m link.Client) error {
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
		return fault.Store(fmt.Errorf("redis: %s is a single server, but the target is written for a cluster", c.where()),
			"did you mean "+c.scheme("")+"://"+c.target.Hosts[0]+"?")
	}
	return c.explain(ctx, err)
}

// where returns the servers as the target names them.
func (c *Conn) where() string {
	if c.target.Scheme == "unix" {
		return c.target.Path
	}
	return strings.Join(c.target.Hosts, ",")
}

// scheme returns the scheme for another layout, with TLS if the target has it.
func (c *Conn) scheme(layout string) string {
	s := "redis"
	if c.tls != nil {
		s = "rediss"
	}
	if layout != "" {
		s += "+" + layout
	}
	return s
}

// masterNames asks the sentinels which masters they know.
func (c *Conn) masterNames(ctx context.Context) []string {
	for _, h := range c.target.Hosts {
		masters, err := link.MastersOf(ctx, store.HostPort(h, 26379), link.Servers{
			TLS: c.tls, SentinelUser: c.target.Params.Get("sentinel_user"), SentinelPassword: c.target.Params.Get("sentinel_password"),
			Dial: link.ServerOf(c.client).Dial, Read: link.ServerOf(c.client).Read,
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
