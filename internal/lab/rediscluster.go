package lab

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/perfbench/perfbench/internal/lab/proc"
)

const (
	clusterNodes = 3
	clusterSlots = 16384
	busOffset    = 10000 // from the port of a node to its cluster bus
)

func redisClusterService() Service {
	return Service{
		Name:    "redis-cluster",
		Summary: "three Redis masters that form a cluster",
		Needs:   redisNeeds,
		start:   startRedisCluster,
		answers: redisAnswers,
	}
}

func startRedisCluster(ctx context.Context, h *host) error {
	ports, err := proc.FreePorts(clusterNodes, busOffset)
	if err != nil {
		return err
	}
	for i, port := range ports {
		_, err := h.spawnRedis(ctx, fmt.Sprintf("node-%d", i+1), port,
			"cluster-enabled yes",
			"cluster-config-file nodes.conf",
			"cluster-node-timeout 2000",
			"cluster-announce-ip 127.0.0.1")
		if err != nil {
			return err
		}
	}
	nodes := h.rec.Processes
	addrs := make([]string, len(nodes))
	for i := range nodes {
		if err := h.ready(ctx, nodes[i]); err != nil {
			return err
		}
		addrs[i] = nodes[i].Addr
	}
	h.step("forming the cluster")
	if err := h.formCluster(ctx, nodes); err != nil {
		return fmt.Errorf("form the cluster: %w", err)
	}
	h.rec.URL = "redis+cluster://" + strings.Join(addrs, ",")
	h.rec.Version = h.redisVersion(ctx, nodes[0])
	return nil
}

// formCluster assigns the slots, makes all nodes known to each other, and waits until
// they agree.
func (h *host) formCluster(ctx context.Context, nodes []proc.Process) error {
	for i, p := range nodes {
		first, next := clusterSlots*i/len(nodes), clusterSlots*(i+1)/len(nodes)
		err := h.onRedis(ctx, p, func(c *redis.Client) error {
			// With different epochs from the start the nodes need not negotiate them;
			// they can be set only while a node knows no other.
			if err := c.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
				return err
			}
			return c.ClusterAddSlotsRange(ctx, first, next-1).Err()
		})
		if err != nil {
			return fmt.Errorf("%s: slots: %w", p.Name, err)
		}
	}
	for _, p := range nodes[1:] {
		err := h.onRedis(ctx, nodes[0], func(c *redis.Client) error {
			return c.ClusterMeet(ctx, "127.0.0.1", portOf(p)).Err()
		})
		if err != nil {
			return fmt.Errorf("%s: meet: %w", p.Name, err)
		}
	}
	for _, p := range nodes {
		if err := h.clusterAgrees(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// clusterAgrees waits until p sees every node, and every slot as served.
func (h *host) clusterAgrees(ctx context.Context, p proc.Process) error {
	want := map[string]string{
		"cluster_state":       "ok",
		"cluster_slots_ok":    fmt.Sprint(clusterSlots),
		"cluster_known_nodes": fmt.Sprint(clusterNodes),
		"cluster_size":        fmt.Sprint(clusterNodes),
	}
	return proc.Poll(ctx, func() error {
		if !proc.IsAlive(p) {
			return proc.Permanent{Err: h.died(p)}
		}
		return h.onRedis(ctx, p, func(c *redis.Client) error {
			info, err := c.ClusterInfo(ctx).Result()
			if err != nil {
				return err
			}
			for name, value := range want {
				if got := infoField(info, name); got != value {
					return fmt.Errorf("%s says %s:%s, not %s", p.Name, name, got, value)
				}
			}
			return nil
		})
	})
}
