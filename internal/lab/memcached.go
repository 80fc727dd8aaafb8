package lab

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

func memcachedService() Service {
	return Service{
		Name:    "memcached",
		Summary: "one Memcached of 64 MiB",
		Needs:   []Need{{Binary: "memcached", Package: "memcached"}},
		start:   startMemcached,
		answers: memcachedAnswers,
	}
}

// startMemcached starts a server. It reads no file: further settings, none of which is a
// secret, are on its command line.
func startMemcached(ctx context.Context, h *host) error {
	ports, err := FreePorts(1, 0)
	if err != nil {
		return err
	}
	command := []string{"memcached", "--listen=127.0.0.1", fmt.Sprintf("--port=%d", ports[0]), "--udp-port=0"}
	if os.Getuid() == 0 {
		command = append(command, "--user=nobody") // it does not run as root
	}
	extra, err := settings(h.rec.Args, func(s string) string { return s })
	if err != nil {
		return err
	}
	for _, line := range extra {
		command = append(command, "--"+strings.Replace(line, " = ", "=", 1))
	}
	p, err := h.spawn(ctx, spec{Name: "memcached", Addr: Addr(ports[0]), Command: command})
	if err != nil {
		return err
	}
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.URL = "memcached://" + p.Addr
	told, err := memcachedStats(ctx, p)
	h.rec.Version = told["version"]
	return err
}

// memcachedAnswers asks the server for its process id, which distinguishes it from another on
// the same port.
func memcachedAnswers(ctx context.Context, _ *host, p Process) error {
	told, err := memcachedStats(ctx, p)
	if err != nil {
		return err
	}
	if pid := told["pid"]; pid != fmt.Sprint(p.PID) {
		return fmt.Errorf("process %s answers on its port instead of %d: %w", pid, p.PID, errPortTaken)
	}
	return nil
}

// memcachedStats returns what a server reports about itself.
func memcachedStats(ctx context.Context, p Process) (map[string]string, error) {
	c, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", p.Addr)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second)) // without it, what follows waits longer
	if _, err := c.Write([]byte("stats\r\n")); err != nil {
		return nil, err
	}
	told := map[string]string{}
	in := bufio.NewScanner(c)
	for in.Scan() && in.Text() != "END" {
		if words := strings.Fields(in.Text()); len(words) == 3 {
			told[words[1]] = words[2]
		}
	}
	return told, in.Err()
}
