package lab

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

var redisNeeds = []Need{{Binary: "redis-server", Package: "redis-server"}}

func redisService() Service {
	return Service{
		Name:     "redis",
		Summary:  "one Redis server without persistence",
		Needs:    redisNeeds,
		start:    startRedis,
		answers:  redisAnswers,
		single:   true,
		powered:  true,
		settings: redisSettings(),
	}
}

func startRedis(ctx context.Context, h *host) error {
	port, err := h.freePort()
	if err != nil {
		return err
	}
	p, err := spawnRedis(ctx, h, "redis", port)
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
	h.rec.Version = redisVersion(ctx, h, p)
	return nil
}

// spawnRedis starts a data server with the options of the service and the given lines
// of configuration.
func spawnRedis(ctx context.Context, h *host, name string, port int, lines ...string) (Process, error) {
	data := h.folder(name)
	if h.opts.Disk != nil {
		var err error
		if data, err = h.dataFolder(ctx, data, ""); err != nil {
			return Process{}, err
		}
	}
	conf := append(redisBase(data, port), lines...)
	if h.rec.TLS != nil {
		conf = append(conf, tlsLines(port, *h.rec.TLS)...)
	}
	extra, err := confLines(h.rec.Args)
	if err != nil {
		return Process{}, err
	}
	return h.spawn(ctx, spec{
		Name:    name,
		Addr:    Addr(port),
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
func redisAnswers(ctx context.Context, h *host, p Process) error {
	info, err := redisInfo(ctx, h, p, "default")
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

func redisVersion(ctx context.Context, h *host, p Process) string {
	info, err := redisInfo(ctx, h, p, "server")
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

func portOf(p Process) string {
	_, port, _ := net.SplitHostPort(p.Addr)
	return port
}

// redisCalls is a connection to a server, on which one call follows another. A client
// library would do more than is needed here, and cost seconds to compile.
type redisCalls struct {
	conn net.Conn
	in   *bufio.Reader
	// patience is how long the server may take for each.
	patience time.Duration
}

// redisPatience is how long a server may take to connect, and to answer a question; orderPatience, to
// carry out what cannot be asked for again, also where all processors are taken.
const (
	redisPatience = 2 * time.Second
	orderPatience = 20 * time.Second
)

func dialRedis(ctx context.Context, h *host, p Process, patience time.Duration) (*redisCalls, error) {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", p.Addr)
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
	c := &redisCalls{conn, bufio.NewReader(conn), patience}
	if password := redisPassword(h.rec.Args); password != "" && !strings.HasPrefix(p.Name, "sentinel") {
		if _, err := c.do(ctx, "AUTH", password); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return c, nil
}

// redisError is an error that a server replied.
type redisError string

func (e redisError) Error() string { return string(e) }

// do sends a command and returns its reply: the elements of an array, or a single value.
func (c *redisCalls) do(ctx context.Context, args ...string) ([]string, error) {
	until := time.Now().Add(c.patience)
	if d, ok := ctx.Deadline(); ok && d.Before(until) {
		until = d
	}
	if err := c.conn.SetDeadline(until); err != nil {
		return nil, err
	}
	defer context.AfterFunc(ctx, func() { _ = c.conn.SetDeadline(time.Unix(1, 0)) })() // it fails only if it is closed
	request := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, a := range args {
		request = fmt.Appendf(request, "$%d\r\n%s\r\n", len(a), a)
	}
	if _, err := c.conn.Write(request); err != nil {
		return nil, err
	}
	return c.reply(0)
}

// reply reads a reply within so many arrays.
func (c *redisCalls) reply(within int) ([]string, error) {
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimRight(line, "\r\n")
	if line == "" {
		return nil, errors.New("an empty line instead of a reply")
	}
	kind, text := line[0], line[1:]
	if kind == '-' {
		return nil, redisError(text)
	}
	if kind == '+' || kind == ':' {
		return []string{text}, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > 1<<20 || kind != '$' && (kind != '*' || within > 1) {
		return nil, fmt.Errorf("%q is no reply of a Redis server", line)
	}
	if kind == '$' {
		data := make([]byte, max(n, 0)+2)
		if n < 0 {
			return []string{""}, nil
		}
		if _, err := io.ReadFull(c.in, data); err != nil {
			return nil, err
		}
		return []string{string(data[:n])}, nil
	}
	var all []string
	for range n {
		one, err := c.reply(within + 1)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// redisInfo returns a section of what a server says about itself.
func redisInfo(ctx context.Context, h *host, p Process, section string) (string, error) {
	got, err := redisCall(ctx, h, p, "INFO", section)
	return strings.Join(got, ""), err
}

// redisCall makes a single call.
func redisCall(ctx context.Context, h *host, p Process, args ...string) ([]string, error) {
	return redisCallWithin(ctx, redisPatience, h, p, args)
}

// redisOrder makes a single call that cannot be made again.
func redisOrder(ctx context.Context, h *host, p Process, args ...string) ([]string, error) {
	return redisCallWithin(ctx, orderPatience, h, p, args)
}

func redisCallWithin(ctx context.Context, patience time.Duration, h *host, p Process, args []string) ([]string, error) {
	c, err := dialRedis(ctx, h, p, patience)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.conn.Close() }() // it has no calls in progress
	return c.do(ctx, args...)
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
	reply, ok := errors.AsType[redisError](err)
	code, _, _ := strings.Cut(string(reply), " ")
	return ok && slices.Contains([]string{"NOAUTH", "NOPERM", "WRONGPASS"}, code)
}
