package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/perfbench/perfbench/internal/lab/proc"
)

// dialRedis opens a client over one connection that is made here and now. The
// library would dial by itself, but it logs every refusal, and a server that is
// starting refuses many times.
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

// keptOut reports whether the server answered, but only to say that we may not.
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
	defer func() { _ = c.Close() }() // nothing is under way on it
	return fn(c)
}
