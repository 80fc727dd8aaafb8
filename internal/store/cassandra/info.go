package cassandra

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	gocql "github.com/apache/cassandra-gocql-driver/v2"

	"github.com/perfbench/perfbench/internal/store"
)

// Info describes the nodes and the connection to them.
func (c *Conn) Info(ctx context.Context) (store.Info, error) {
	var version string
	q := c.own.Query("SELECT release_version FROM system.local").Consistency(gocql.One)
	if err := q.ScanContext(ctx, &version); err != nil {
		return store.Info{}, c.explain(ctx, err)
	}
	if c.product == "" {
		c.version = version
	}
	o := &c.opts
	topology := "one node"
	if c.nodes > 1 {
		topology = fmt.Sprintf("%d nodes", c.nodes)
	}
	info := store.Info{
		Name: cmp.Or(c.product, "cassandra"), Version: c.version, Topology: topology,
		Details: map[string]string{
			"consistency":           o.consistency.String(),
			"serial consistency":    o.serial.String(),
			"data centre":           c.datacenter,
			"protocol":              "v" + strconv.Itoa(o.protocol),
			"routing":               "token-aware, then round robin",
			"connections per node":  strconv.Itoa(o.connections),
			"retry policy":          "none: an operation is one attempt",
			"speculative execution": "off",
		},
	}
	if c.product != "" {
		info.Details["routing"] += "; not by shard"
		info.Warnings = append(info.Warnings, "the driver is that of Cassandra, which knows no shards: a ScyllaDB node passes most calls on between its cores, which a driver of its own would not need")
	}
	if o.dc != "" {
		info.Details["routing"] = "token-aware, then round robin within " + o.dc
	}
	if o.retries > 0 {
		info.Details["retry policy"] = fmt.Sprintf("up to %d more attempts, all within the time of the operation", o.retries)
		info.Warnings = append(info.Warnings, fmt.Sprintf("retries=%d: what failed and was tried again counts as one operation that worked", o.retries))
	}
	if o.speculative > 0 {
		info.Details["speculative execution"] = fmt.Sprintf("%d more after %v each", o.speculative, o.speculativeDelay)
		info.Warnings = append(info.Warnings, "speculative execution is on: the store does more work than is counted")
	}
	if o.keyspace != "" {
		if r := c.replicationOf(ctx, o.keyspace); r != "" {
			info.Details["replication"] = r
		}
	}
	return info, nil
}

// replicationOf says how a keyspace is replicated, "" if that is unknown.
func (k *cluster) replicationOf(ctx context.Context, keyspace string) string {
	var r map[string]string
	err := k.own.Query("SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?", keyspace).Consistency(gocql.One).ScanContext(ctx, &r)
	if err != nil {
		return ""
	}
	class := r["class"]
	class = class[strings.LastIndexByte(class, '.')+1:]
	delete(r, "class")
	return strings.TrimSpace(class + " " + strings.Trim(fmt.Sprint(r), "map[]"))
}
