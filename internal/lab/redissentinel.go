package lab

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	sentinels      = 3
	sentinelMaster = "perfbench" // the name under which clients ask for the master
)

func redisSentinelService() Service {
	return Service{
		Name:     "redis-sentinel",
		Summary:  "a Redis master and its replica, watched by three sentinels",
		Needs:    redisNeeds,
		start:    startRedisSentinel,
		find:     findBySentinel,
		look:     lookBySentinel,
		answers:  redisAnswers,
		settings: redisSettings(),
	}
}

func startRedisSentinel(ctx context.Context, h *host) error {
	ports, err := h.freePorts(2+sentinels, 0)
	if err != nil {
		return err
	}
	lines := []string{"repl-diskless-sync-delay 0"}
	if pw := redisPassword(h.rec.Args); pw != "" {
		lines = append(lines, "masterauth "+confQuote(pw))
	}
	if _, err := spawnRedis(ctx, h, "master", ports[0], lines...); err != nil {
		return err
	}
	lines = append(lines, fmt.Sprintf("replicaof 127.0.0.1 %d", ports[0]))
	if _, err := spawnRedis(ctx, h, "replica", ports[1], lines...); err != nil {
		return err
	}
	// A sentinel that cannot find its master yet would declare it dead.
	for _, name := range []string{"master", "replica"} {
		if err := h.ready(ctx, *h.rec.process(name)); err != nil {
			return err
		}
	}
	if err := replicaFollows(ctx, h); err != nil {
		return err
	}
	addrs, err := startSentinels(ctx, h, ports[0], ports[2:])
	if err != nil {
		return err
	}
	h.rec.URL = "redis+sentinel://" + strings.Join(addrs, ",") + "/" + sentinelMaster
	h.rec.Version = redisVersion(ctx, h, h.rec.Processes[0])
	return nil
}

// startSentinels starts one sentinel per port and waits until each knows the replica
// and all other sentinels: before that, no failover is possible.
func startSentinels(ctx context.Context, h *host, master int, ports []int) ([]string, error) {
	var addrs []string
	for i, port := range ports {
		p, err := spawnSentinel(ctx, h, fmt.Sprintf("sentinel-%d", i+1), port, master)
		if err != nil {
			return nil, err
		}
		addrs = append(addrs, p.Addr)
	}
	h.step("waiting for the sentinels to find each other")
	for _, p := range h.rec.Processes {
		if !strings.HasPrefix(p.Name, "sentinel") {
			continue
		}
		if err := h.ready(ctx, p); err != nil {
			return nil, err
		}
		if err := sentinelSees(ctx, h, p); err != nil {
			return nil, err
		}
	}
	return addrs, nil
}

func spawnSentinel(ctx context.Context, h *host, name string, port, master int) (Process, error) {
	monitor := "sentinel %s " + sentinelMaster + " %s"
	conf := []string{
		"bind 127.0.0.1",
		fmt.Sprintf("port %d", port),
		"daemonize no",
		"dir " + confQuote(h.folder(name)),
		fmt.Sprintf(monitor, "monitor", fmt.Sprintf("127.0.0.1 %d 2", master)),
		fmt.Sprintf(monitor, "down-after-milliseconds", "1000"),
		fmt.Sprintf(monitor, "failover-timeout", "5000"),
	}
	if pw := redisPassword(h.rec.Args); pw != "" {
		conf = append(conf, fmt.Sprintf(monitor, "auth-pass", confQuote(pw)))
	}
	return h.spawn(ctx, spec{
		Name:    name,
		Addr:    Addr(port),
		Command: []string{"redis-server", filepath.Join(h.folder(name), "sentinel.conf"), "--sentinel"},
		Files:   map[string]string{"sentinel.conf": strings.Join(conf, "\n") + "\n"},
	})
}

// replicaFollows waits until the replica has everything that the master has.
func replicaFollows(ctx context.Context, h *host) error {
	h.step("waiting for the replica to follow the master")
	p := *h.rec.process("replica")
	return Poll(ctx, func() error {
		if !IsAlive(p) {
			return Permanent{Err: h.died(p)}
		}
		info, err := redisInfo(ctx, h, p, "replication")
		if err != nil {
			return err
		}
		if link := infoField(info, "master_link_status"); link != "up" {
			return fmt.Errorf("the replica's link to its master is %s", link)
		}
		return nil
	})
}

// findBySentinel asks the sentinels which of the two servers is the master.
func findBySentinel(ctx context.Context, h *host, role string) (string, error) {
	err := ErrNotRunning
	for _, p := range h.rec.Processes {
		if !strings.HasPrefix(p.Name, "sentinel") || !IsAlive(p) {
			continue
		}
		var got []string
		if got, err = redisCall(ctx, h, p, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", sentinelMaster); err != nil {
			continue
		}
		for _, name := range []string{"master", "replica"} {
			if is := len(got) == 2 && portOf(*h.rec.process(name)) == got[1]; is == (role == Primary) {
				return name, nil
			}
		}
	}
	return "", err
}

// lookBySentinel implements Service.look.
func lookBySentinel(ctx context.Context, h *host) error {
	name, err := findBySentinel(ctx, h, Primary)
	if err != nil {
		return err
	}
	var written int64
	for _, role := range []string{Primary, Replica} {
		for _, one := range []string{"master", "replica"} {
			p := h.rec.process(one)
			if (one == name) != (role == Primary) || !IsAlive(*p) || Stopped(*p) {
				continue
			}
			info, err := redisInfo(ctx, h, *p, "replication")
			if err != nil {
				return err
			}
			if p.Role = role; role == Primary {
				written, err = strconv.ParseInt(infoField(info, "master_repl_offset"), 10, 64)
			} else if got, bad := strconv.ParseInt(infoField(info, "slave_repl_offset"), 10, 64); bad == nil && written > 0 {
				p.Behind = behindBytes(written-got) + ", asynchronous"
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func sentinelSees(ctx context.Context, h *host, p Process) error {
	want := map[string]string{"num-slaves": "1", "num-other-sentinels": fmt.Sprint(sentinels - 1), "flags": "master"}
	return Poll(ctx, func() error {
		if !IsAlive(p) {
			return Permanent{Err: h.died(p)}
		}
		got, err := redisCall(ctx, h, p, "SENTINEL", "MASTER", sentinelMaster)
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(got); i += 2 {
			name, value := got[i], got[i+1]
			if w, ok := want[name]; ok && w != value {
				return fmt.Errorf("%s says %s %s, not %s", p.Name, name, value, w)
			}
		}
		return nil
	})
}
