package lab

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

const (
	clusterNodes = 3
	clusterSlots = 16384
	busOffset    = 10000 // from the port of a node to its cluster bus
)

func redisClusterService() Service {
	return Service{
		Name:     "redis-cluster",
		Summary:  "three Redis masters that form a cluster",
		Needs:    redisNeeds,
		start:    startRedisCluster,
		answers:  redisAnswers,
		settings: redisSettings(),
	}
}

func startRedisCluster(ctx context.Context, h *host) error {
	ports, err := h.freePorts(clusterNodes, busOffset)
	if err != nil {
		return err
	}
	for i, port := range ports {
		_, err := spawnRedis(ctx, h, fmt.Sprintf("node-%d", i+1), port,
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
	if err := formCluster(ctx, h, nodes); err != nil {
		return fmt.Errorf("form the cluster: %w", err)
	}
	h.rec.URL = "redis+cluster://" + strings.Join(addrs, ",")
	h.rec.Version = redisVersion(ctx, h, nodes[0])
	return nil
}

// formCluster assigns the slots, makes all nodes known to each other, and waits until
// they agree.
func formCluster(ctx context.Context, h *host, nodes []Process) error {
	for i, p := range nodes {
		first, next := clusterSlots*i/len(nodes), clusterSlots*(i+1)/len(nodes)
		slots := []string{"CLUSTER", "ADDSLOTS"}
		for slot := first; slot < next; slot++ {
			slots = append(slots, strconv.Itoa(slot))
		}
		// With different epochs from the start the nodes need not negotiate them;
		// they can be set only while a node knows no other.
		_, err := redisCall(ctx, h, p, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if err == nil {
			_, err = redisCall(ctx, h, p, slots...)
		}
		if err != nil {
			return fmt.Errorf("%s: slots: %w", p.Name, err)
		}
	}
	for _, p := range nodes[1:] {
		_, err := redisCall(ctx, h, nodes[0], "CLUSTER", "MEET", "127.0.0.1", portOf(p))
		if err != nil {
			return fmt.Errorf("%s: meet: %w", p.Name, err)
		}
	}
	for _, p := range nodes {
		if err := clusterAgrees(ctx, h, p); err != nil {
			return err
		}
	}
	return nil
}

// clusterAgrees waits until p sees every node, and every slot as served.
func clusterAgrees(ctx context.Context, h *host, p Process) error {
	want := map[string]string{
		"cluster_state":       "ok",
		"cluster_slots_ok":    fmt.Sprint(clusterSlots),
		"cluster_known_nodes": fmt.Sprint(clusterNodes),
		"cluster_size":        fmt.Sprint(clusterNodes),
	}
	return Poll(ctx, func() error {
		if !IsAlive(p) {
			return Permanent{Err: h.died(p)}
		}
		got, err := redisCall(ctx, h, p, "CLUSTER", "INFO")
		if err != nil {
			return err
		}
		info := strings.Join(got, "")
		for name, value := range want {
			if got := infoField(info, name); got != value {
				return fmt.Errorf("%s says %s:%s, not %s", p.Name, name, got, value)
			}
		}
		return nil
	})
}
