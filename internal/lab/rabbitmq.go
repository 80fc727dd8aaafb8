package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// Debian's command on the PATH switches to the package's user and folders; the one that
// it calls does not.
var rabbitDirs = []string{"/usr/lib/rabbitmq/bin", "/usr/local/sbin", "/opt/homebrew/sbin"}

// The processes of the service, and the two programs that they are.
const (
	rabbitName   = "rabbitmq"
	epmdName     = "epmd" // tells a node's tools which port it uses
	rabbitServer = "rabbitmq-server"
)

func rabbitmqService() Service {
	return Service{
		Name:    rabbitName,
		Summary: "one RabbitMQ broker with the user guest, for --set via=lab:rabbitmq",
		Needs: []Need{
			{Binary: rabbitServer, Package: rabbitServer, Dirs: rabbitDirs, DirsFirst: true},
			{Binary: epmdName, Package: "erlang-base", Dirs: []string{"/usr/lib/erlang/bin"}},
		},
		start:   startRabbitMQ,
		answers: rabbitAnswers,
		limit:   2 * startLimit, // about 5 s, most of it computing
		single:  true,
		powered: true,
		use:     "--set via=" + Scheme + rabbitName,
	}
}

// startRabbitMQ starts a broker and the epmd that it needs, on their own ports: they
// never meet the system's broker and epmd.
func startRabbitMQ(ctx context.Context, h *host) error {
	ports, err := FreePorts(3, 0)
	if err != nil {
		return err
	}
	if h.opts.Port != 0 {
		ports[0] = h.opts.Port
	}
	port, dist, epmd := ports[0], ports[1], ports[2]
	dir := h.folder(rabbitName)
	conf, err := rabbitConf(h, dir, port)
	if err != nil {
		return err
	}
	data := filepath.Join(dir, "mnesia")
	if h.opts.Disk != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if data, err = h.dataFolder(ctx, dir, ""); err != nil {
			return err
		}
	}
	e, err := h.spawn(ctx, spec{
		Name: epmdName, Addr: Addr(epmd),
		Command: []string{epmdName, "-port", fmt.Sprint(epmd), "-address", "127.0.0.1"}, // in the foreground
	})
	if err != nil {
		return err
	}
	if err := h.ready(ctx, e); err != nil {
		return err
	}
	env := rabbitEnv(dir, data, port, dist, epmd)
	server := h.binaries[rabbitServer]
	p, err := h.spawn(ctx, spec{
		Name: rabbitName, Addr: Addr(port),
		Command: []string{"/bin/sh", filepath.Join(dir, "start")},
		Files: map[string]string{
			"rabbitmq.conf":   conf,
			"enabled_plugins": "[].\n",
			"start":           env + "exec " + shQuote(server) + "\n",
			"ctl":             env + "exec " + shQuote(filepath.Join(filepath.Dir(server), "rabbitmqctl")) + ` "$@"` + "\n",
		},
	})
	if err != nil {
		return err
	}
	// By the first process, callers mean the broker.
	slices.Reverse(h.rec.Processes)
	if err := h.rec.save(); err != nil {
		return err
	}
	h.step("waiting until it answers, some 5 seconds")
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.URL = "amqp://" + p.Addr // clients log in as guest unless told otherwise
	if f := h.rec.TLS; f != nil {
		h.rec.URL = "amqps://" + p.Addr + sqlTLSParams(f)
	}
	h.rec.Version, err = rabbitProperty(ctx, h, p, "version")
	return err
}

// rabbitConf returns the configuration of a broker named after its folder, which
// distinguishes it from other brokers.
func rabbitConf(h *host, dir string, port int) (string, error) {
	lines := []string{"cluster_name = " + dir}
	if f := h.rec.TLS; f == nil {
		lines = append(lines, "listeners.tcp.1 = "+Addr(port))
	} else {
		verify := "verify_none"
		if f.ClientAuth {
			verify = "verify_peer"
		}
		lines = append(lines, "listeners.tcp = none", "listeners.ssl.1 = "+Addr(port),
			"ssl_options.cacertfile = "+f.CA, "ssl_options.certfile = "+f.Cert, "ssl_options.keyfile = "+f.Key,
			"ssl_options.verify = "+verify, fmt.Sprintf("ssl_options.fail_if_no_peer_cert = %t", f.ClientAuth))
	}
	extra, err := settings(h.rec.Args, func(s string) string { return s })
	if err != nil {
		return "", err
	}
	for _, usual := range []string{"vm_memory_high_watermark.absolute = 1GB", "disk_free_limit.absolute = 50MB"} {
		// If a setting occurs twice, only one counts, and not the requested one.
		group, _, _ := strings.Cut(usual, ".")
		if !slices.ContainsFunc(extra, func(l string) bool { return strings.HasPrefix(l, group) }) {
			lines = append(lines, usual)
		}
	}
	return strings.Join(append(lines, extra...), "\n") + "\n", nil
}

// rabbitEnv returns the head of a shell script that restricts a program of the broker
// to our folder, with its data in one of them, to the loopback device and to our ports.
func rabbitEnv(dir, data string, port, dist, epmd int) string {
	in := func(name string) string { return filepath.Join(dir, name) }
	const loopback = "-kernel inet_dist_use_interface {127,0,0,1}"
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for _, v := range [][2]string{
		{"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/homebrew/bin"},
		{"HOME", dir},
		{"LC_ALL", "C.UTF-8"},
		{"RUNNING_UNDER_SYSTEMD", "true"}, // makes the script become the broker instead of starting it
		{"RABBITMQ_NODENAME", "perfbench@localhost"},
		{"RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"},
		{"RABBITMQ_NODE_PORT", fmt.Sprint(port)},
		{"RABBITMQ_DIST_PORT", fmt.Sprint(dist)},
		{"RABBITMQ_MNESIA_BASE", data},
		{"RABBITMQ_LOG_BASE", in("logs")},
		{"RABBITMQ_LOGS", "-"}, // to stdout, which is our log
		{"RABBITMQ_ENABLED_PLUGINS_FILE", in("enabled_plugins")},
		{"RABBITMQ_CONFIG_FILE", in("rabbitmq")},
		{"RABBITMQ_ADVANCED_CONFIG_FILE", in("advanced")},
		{"RABBITMQ_CONF_ENV_FILE", in("none.conf")},
		{"RABBITMQ_PID_FILE", in("pid")},
		{"ERL_EPMD_PORT", fmt.Sprint(epmd)},
		{"ERL_EPMD_ADDRESS", "127.0.0.1"},
		{"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", loopback + " -start_epmd false"},
		{"RABBITMQ_CTL_ERL_ARGS", loopback},
	} {
		fmt.Fprintf(&b, "export %s=%s\n", v[0], shQuote(v[1]))
	}
	return b.String()
}

// shQuote quotes a word for a shell.
func shQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// rabbitAnswers connects as a client would.
func rabbitAnswers(ctx context.Context, h *host, p Process) error {
	if p.Name == epmdName {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", p.Addr)
		if err != nil {
			return err
		}
		return conn.Close()
	}
	name, err := rabbitProperty(ctx, h, p, "cluster_name")
	if err == nil && name != p.Dir {
		return fmt.Errorf("a broker called %s answers on its port: %w", name, errPortTaken)
	}
	return err
}

// rabbitProperty returns a property that the broker reports when clients connect.
func rabbitProperty(ctx context.Context, h *host, p Process, name string) (string, error) {
	conn, err := dialPlainOrTLS(ctx, h, p)
	if err != nil {
		return "", err
	}
	if end, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(end); err != nil {
			return "", err
		}
	}
	c, err := amqp.Open(conn, amqp.Config{
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}},
		Vhost: "/", Heartbeat: 10 * time.Second, Locale: "en_US",
	})
	if err != nil {
		_ = conn.Close() // the error that counts is the other
		return "", err
	}
	value, _ := c.Properties[name].(string)
	return value, c.Close()
}

// Ctl returns the program that controls a broker running below dir: sh CTL
// set_disk_free_limit 1GB. It returns ErrNotRunning if there is none.
func Ctl(dir string) (path string, err error) {
	p, err := running(dir, rabbitName, rabbitName)
	if err != nil {
		return "", err
	}
	path = filepath.Join(p.Dir, "ctl")
	_, err = os.Stat(path)
	return path, err
}
