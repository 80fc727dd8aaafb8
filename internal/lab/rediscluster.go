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

// redisClusterReplicasService is a cluster that can lose one.
func redisClusterReplicasService() Service {
	return Service{
		Name:     "redis-cluster-replicas",
		Summary:  "three Redis masters that form a cluster, each with a replica that takes over if it ends",
		Needs:    redisNeeds,
		start:    startRedisClusterReplicas,
		find:     findInCluster,
		look:     lookAtCluster,
		answers:  clusterAnswers,
		settings: redisSettings(),
	}
}

func startRedisCluster(ctx context.Context, h *host) error {
	return startCluster(ctx, h, clusterNodes)
}

func startRedisClusterReplicas(ctx context.Context, h *host) error {
	return startCluster(ctx, h, 2*clusterNodes)
}

// startCluster starts so many nodes, of which those after the masters are a replica each.
func startCluster(ctx context.Context, h *host, n int) error {
	ports, err := h.freePorts(n, busOffset)
	if err != nil {
		return err
	}
	lines := []string{
		"cluster-enabled yes",
		"cluster-config-file nodes.conf",
		"cluster-node-timeout 2000",
		"cluster-announce-ip 127.0.0.1",
		"cluster-allow-replica-migration no",
		"repl-diskless-sync-delay 0",
	}
	if pw := redisPassword(h.rec.Args); pw != "" {
		lines = append(lines, "masterauth "+confQuote(pw))
	}
	for i, port := range ports {
		if _, err := spawnRedis(ctx, h, fmt.Sprintf("node-%d", i+1), port, lines...); err != nil {
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
	masters, replicas := nodes[:clusterNodes], nodes[clusterNodes:]
	for i, p := range masters {
		first, next := clusterSlots*i/clusterNodes, clusterSlots*(i+1)/clusterNodes
		slots := []string{"CLUSTER", "ADDSLOTS"}
		for slot := first; slot < next; slot++ {
			slots = append(slots, strconv.Itoa(slot))
		}
		// With different epochs from the start the nodes need not negotiate them;
		// they can be set only while a node knows no other.
		_, err := redisOrder(ctx, h, p, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		if err == nil {
			_, err = redisOrder(ctx, h, p, slots...)
		}
		if err != nil {
			return fmt.Errorf("%s: slots: %w", p.Name, err)
		}
	}
	for _, p := range nodes[1:] {
		_, err := redisOrder(ctx, h, nodes[0], "CLUSTER", "MEET", "127.0.0.1", portOf(p))
		if err != nil {
			return fmt.Errorf("%s: meet: %w", p.Name, err)
		}
	}
	for _, p := range nodes {
		if err := clusterAgrees(ctx, h, p, len(nodes)); err != nil {
			return err
		}
	}
	for i, p := range replicas {
		id, err := redisOrder(ctx, h, masters[i], "CLUSTER", "MYID")
		if err == nil {
			_, err = redisOrder(ctx, h, p, "CLUSTER", "REPLICATE", strings.Join(id, ""))
		}
		if err != nil {
			return fmt.Errorf("%s: follow %s: %w", p.Name, masters[i].Name, err)
		}
	}
	for _, p := range replicas {
		err := h.follows(ctx, p, func(ctx context.Context) error { return clusterAnswers(ctx, h, p) })
		if err != nil {
			return err
		}
	}
	if len(replicas) > 0 {
		return replicasKnown(ctx, h, masters[0], len(replicas))
	}
	return nil
}

// replicasKnown waits until a master knows all replicas as such: before that, none takes over.
func replicasKnown(ctx context.Context, h *host, p Process, n int) error {
	return Poll(ctx, func() error {
		if !IsAlive(p) {
			return Permanent{Err: h.died(p)}
		}
		got, err := redisCall(ctx, h, p, "CLUSTER", "NODES")
		if err != nil {
			return err
		}
		if known := strings.Count(strings.Join(got, ""), " slave "); known != n {
			return fmt.Errorf("%s knows %d of %d replicas", p.Name, known, n)
		}
		return nil
	})
}

// clusterAnswers returns nil if a node serves the part of the cluster that it has or follows: one
// that was started again has learned by then whether another has taken over from it.
func clusterAnswers(ctx context.Context, h *host, p Process) error {
	if err := redisAnswers(ctx, h, p); err != nil {
		return err
	}
	info, err := redisInfo(ctx, h, p, "replication")
	if err != nil {
		if keptOut(err) {
			return nil
		}
		return err
	}
	if infoField(info, "role") == "slave" {
		if link := infoField(info, "master_link_status"); link != "up" {
			return fmt.Errorf("its link to its master is %s", link)
		}
		return nil
	}
	if h.rec.URL == "" { // the cluster is yet to be formed
		return nil
	}
	got, err := redisCall(ctx, h, p, "CLUSTER", "INFO")
	if err != nil {
		return err
	}
	if state := infoField(strings.Join(got, ""), "cluster_state"); state != "ok" {
		return fmt.Errorf("the state of its cluster is %s", state)
	}
	return nil
}

// findInCluster returns the first node of a cluster that has a role.
func findInCluster(ctx context.Context, h *host, role string) (string, error) {
	err := lookAtCluster(ctx, h)
	for _, p := range h.rec.Processes {
		if p.Role == role {
			return p.Name, nil
		}
	}
	if err == nil {
		err = ErrNotRunning
	}
	return "", err
}

// lookAtCluster implements Service.look.
func lookAtCluster(ctx context.Context, h *host) error {
	var failed error
	written, of := map[string]int64{}, map[string]string{} // by the port of a master
	var replicas []func()
	for i := range h.rec.Processes {
		p := &h.rec.Processes[i]
		if !IsAlive(*p) || Stopped(*p) {
			continue
		}
		info, err := redisInfo(ctx, h, *p, "replication")
		if err != nil {
			failed = err
			continue
		}
		offset := func(name string) int64 {
			n, _ := strconv.ParseInt(infoField(info, name), 10, 64) // 0: nothing was written
			return n
		}
		if infoField(info, "role") == "master" {
			p.Role = Primary
			written[portOf(*p)], of[portOf(*p)] = offset("master_repl_offset"), p.Name
			continue
		}
		p.Role = Replica
		master, got := infoField(info, "master_port"), offset("slave_repl_offset")
		replicas = append(replicas, func() {
			if name, ok := of[master]; ok {
				p.Of, p.Behind = name, behindBytes(written[master]-got)+", asynchronous"
			}
		})
	}
	for _, known := range replicas {
		known()
	}
	return failed
}

// clusterAgrees waits until p sees all nodes, and every slot as served.
func clusterAgrees(ctx context.Context, h *host, p Process, nodes int) error {
	want := map[string]string{
		"cluster_state":       "ok",
		"cluster_slots_ok":    fmt.Sprint(clusterSlots),
		"cluster_known_nodes": fmt.Sprint(nodes),
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
