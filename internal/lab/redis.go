package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab/proc"
)

var redisNeeds = []Need{{Binary: "redis-server", Package: "redis-server"}}

func redisService() Service {
	return Service{
		Name:    "redis",
		Summary: "one Redis server without persistence",
		Needs:   redisNeeds,
		start:   startRedis,
		answers: redisAnswers,
		single:  true,
	}
}

func startRedis(ctx context.Context, h *host) error {
	port := h.opts.Port
	if port == 0 {
		ports, err := proc.FreePorts(1, 0)
		if err != nil {
			return err
		}
		port = ports[0]
	}
	p, err := h.spawnRedis(ctx, "redis", port)
	if err != nil {
		return err
	}
	if err := h.ready(ctx, p); err != nil {
		return err
	}
	h.rec.URL = "redis://" + p.Addr
	if h.rec.TLS != nil {
		h.rec.URL = tlsURL(p.Addr, *h.rec.TLS)
	}
	h.rec.Version = h.redisVersion(ctx, p)
	return nil
}

// spawnRedis starts a data server with the options of the service and the given lines
// of configuration.
func (h *host) spawnRedis(ctx context.Context, name string, port int, lines ...string) (proc.Process, error) {
	conf := append(redisBase(h.folder(name), port), lines...)
	if h.rec.TLS != nil {
		conf = append(conf, tlsLines(port, *h.rec.TLS)...)
	}
	extra, err := confLines(h.rec.Args)
	if err != nil {
		return proc.Process{}, err
	}
	return h.spawn(ctx, spec{
		Name:    name,
		Addr:    proc.Addr(port),
		Command: []string{"redis-server", filepath.Join(h.folder(name), "redis.conf")},
		Files:   map[string]string{"redis.conf": strings.Join(append(conf, extra...), "\n") + "\n"},
	})
}

// redisBase returns the configuration that all our servers have.
func redisBase(dir string, port int) []string {
	return []string{
		"bind 127.0.0.1",
		fmt.Sprintf("port %d", port),
		"daemonize no",
		`save ""`,
		"appendonly no",
		"dir " + confQuote(dir),
		`logfile ""`,
	}
}

func tlsLines(port int, f TLSFiles) []string {
	auth := "optional"
	if f.ClientAuth {
		auth = "yes"
	}
	return []string{
		"port 0",
		fmt.Sprintf("tls-port %d", port),
		"tls-ca-cert-file " + confQuote(f.CA),
		"tls-cert-file " + confQuote(f.Cert),
		"tls-key-file " + confQuote(f.Key),
		"tls-auth-clients " + auth,
	}
}

// tlsURL returns a URL with what a client needs: the authority, and a client
// certificate if the server asks for one.
func tlsURL(addr string, f TLSFiles) string {
	q := url.Values{"ca": {f.CA}}
	if f.ClientAuth {
		q.Set("cert", f.ClientCert)
		q.Set("key", f.ClientKey)
	}
	return "rediss://" + addr + "?" + q.Encode()
}

// confLines turns command line arguments into lines of a configuration file, by
// redis-server's own rule: an argument with -- begins a line.
func confLines(args []string) ([]string, error) {
	var lines []string
	for _, a := range args {
		name, option := strings.CutPrefix(a, "--")
		switch {
		case option:
			lines = append(lines, name)
		case len(lines) == 0:
			return nil, fault.Input(fmt.Errorf("server argument %q: it must follow one that begins with --", a), "")
		default:
			lines[len(lines)-1] += " " + confQuote(a)
		}
	}
	return lines, nil
}

// confQuote quotes a value for Redis configuration files.
func confQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// redisPassword returns the password set by args, or "".
func redisPassword(args []string) string {
	for i, a := range args {
		if strings.EqualFold(a, "--requirepass") && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// redisAnswers asks the server for its process id, which distinguishes it from another
// server on the same port, and whether it has loaded its data: until then it reports
// about itself but refuses everything else. A server whose access rules keep us out
// also counts as ready.
func redisAnswers(ctx context.Context, h *host, p proc.Process) error {
	c, err := h.dialRedis(ctx, p)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // it has no calls in progress
	info, err := c.Info(ctx).Result()
	if err != nil {
		if keptOut(err) {
			return nil
		}
		return err
	}
	if pid := infoField(info, "process_id"); pid != fmt.Sprint(p.PID) {
		return fmt.Errorf("process %s answers on its port instead of %d: %w", pid, p.PID, errPortTaken)
	}
	if infoField(info, "loading") == "1" {
		return errors.New("it is loading its data")
	}
	return nil
}

func (h *host) redisVersion(ctx context.Context, p proc.Process) string {
	c, err := h.dialRedis(ctx, p)
	if err != nil {
		return ""
	}
	defer func() { _ = c.Close() }() // it has no calls in progress
	info, err := c.Info(ctx, "server").Result()
	if err != nil {
		return ""
	}
	if v := infoField(info, "valkey_version"); v != "" {
		return v
	}
	return infoField(info, "redis_version")
}

// infoField returns the value of one "name:value" line.
func infoField(info, name string) string {
	for line := range strings.Lines(info) {
		if v, ok := strings.CutPrefix(line, name+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func portOf(p proc.Process) string {
	_, port, _ := net.SplitHostPort(p.Addr)
	return port
}

// dialRedis opens a client with one connection made here and now. The library would
// dial by itself, but it logs every refusal, and a server that is starting refuses many
// times.
func (h *host) dialRedis(ctx context.Context, p proc.Process) (*redis.Client, error) {
	conn, err := (&net.Dialer{Timeout: 2 * time.Second}).DialContext(ctx, "tcp", p.Addr)
	if err != nil {
		return nil, err
	}
	if f := h.rec.TLS; f != nil {
		config, err := clientTLS(*f)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		conn = tls.Client(conn, config)
	}
	password := redisPassword(h.rec.Args)
	if strings.HasPrefix(p.Name, "sentinel") {
		password = ""
	}
	return redis.NewClient(&redis.Options{
		Addr:     p.Addr,
		Password: password,
		Protocol: 2,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			c := conn
			if conn = nil; c == nil {
				return nil, net.ErrClosed
			}
			return c, nil
		},
		MaxRetries:            -1,
		DialerRetries:         1,
		PoolSize:              1,
		ReadTimeout:           2 * time.Second,
		ContextTimeoutEnabled: true,
		DisableIdentity:       true,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	}), nil
}

func clientTLS(f TLSFiles) (*tls.Config, error) {
	ca, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, fmt.Errorf("%s: no certificate in it", f.CA)
	}
	cert, err := tls.LoadX509KeyPair(f.ClientCert, f.ClientKey)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{cert}, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}, nil
}

// keptOut reports whether the server answered, but only to refuse us access.
func keptOut(err error) bool {
	for _, code := range []string{"NOAUTH", "NOPERM", "WRONGPASS"} {
		if redis.HasErrorPrefix(err, code) {
			return true
		}
	}
	return false
}

// onRedis runs fn with a client of p.
func (h *host) onRedis(ctx context.Context, p proc.Process, fn func(c *redis.Client) error) error {
	c, err := h.dialRedis(ctx, p)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // it has no calls in progress
	return fn(c)
}
