// Package broker connects to RabbitMQ: it turns a target into connections, explains
// what may go wrong on the way, and never shows a password.
package broker

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/watch"
)

const (
	defaultTimeout = 10 * time.Second // to connect and to log in
	heartbeat      = 5 * time.Second  // a broker that is silent for two of them is considered gone
	plainPort      = 5672
	tlsPort        = 5671
)

// Address is where a broker is and how to log in. It prints without secrets. Any
// goroutine may use it.
type Address struct {
	target  store.Target
	hosts   []string
	tls     *tls.Config
	timeout time.Duration
	user    string
	vhost   string
	// management is the URL of the management plugin; nil if unknown.
	management *url.URL
}

// Parse parses a target: amqp://user:password@host:port/vhost, or amqps:// with the
// parameters of TLS. It does not connect. Errors have the code of bad input.
func Parse(target string) (*Address, error) {
	t, err := store.ParseTarget(target)
	if err != nil {
		return nil, err
	}
	return FromTarget(t)
}

// FromTarget is Parse for a target that has been parsed already, and whose password may
// come from elsewhere.
func FromTarget(t store.Target) (*Address, error) {
	if t.Scheme != "amqp" && t.Scheme != "amqps" {
		return nil, fault.Input(fmt.Errorf("%s: this is not a broker", t.Scheme), "for example amqp://localhost:5672 or lab:rabbitmq")
	}
	if err := store.CheckParams(t, []string{"tls", "ca", "cert", "key", "servername", "insecure", "dial_timeout", "management"}); err != nil {
		return nil, err
	}
	a := &Address{target: t, timeout: defaultTimeout, user: t.User, vhost: t.Path}
	var err error
	if a.tls, err = store.TLSConfig(t); err != nil {
		return nil, err
	}
	if a.management, err = managementURL(t.Params.Get("management")); err != nil {
		return nil, err
	}
	times, err := store.Timeouts(t)
	if err != nil {
		return nil, err
	}
	if times.Dial > 0 {
		a.timeout = times.Dial
	}
	port := plainPort
	if a.tls != nil {
		port = tlsPort
	}
	for _, h := range t.Hosts {
		a.hosts = append(a.hosts, store.HostPort(h, port))
	}
	if a.user == "" {
		a.user = "guest"
	}
	if a.vhost == "" {
		a.vhost = "/"
	}
	return a, nil
}

// String returns the address without its secrets.
func (a *Address) String() string { return a.target.Redacted() }

// GoString returns String, so that %#v shows no secret either.
func (a *Address) GoString() string { return a.String() }

// Hosts returns the broker's host:port pairs.
func (a *Address) Hosts() []string { return slices.Clone(a.hosts) }

// Line is what a connection goes through: what counts its bytes, and what breaks it; each may be nil.
type Line struct {
	Traffic *watch.Traffic
	Proxy   *proxy.Proxy
}

// Dial connects and logs in, to the first host that accepts us; name is what the broker
// shows for the connection. Errors have the code of a store that cannot be reached.
func (a *Address) Dial(ctx context.Context, name string, by Line) (*amqp.Connection, error) {
	var errs []error
	for _, h := range a.hosts {
		c, err := a.dial(ctx, h, name, by)
		if err == nil {
			return c, nil
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 1 {
		return nil, errs[0]
	}
	return nil, fault.Code(errors.Join(errs...), fault.CodeStore)
}

func (a *Address) dial(ctx context.Context, host, name string, by Line) (*amqp.Connection, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, a.timeout, fmt.Errorf("no answer within %v", a.timeout))
	defer cancel()
	raw, err := by.Proxy.Dial(ctx, new(net.Dialer), "tcp", host)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("broker %s: %w", host, cause(ctx, err)), "is it running? perfbench lab up rabbitmq starts one")
	}
	conn := by.Traffic.Conn(raw)
	if a.tls != nil {
		config := a.tls.Clone()
		if config.ServerName == "" {
			config.ServerName, _, _ = net.SplitHostPort(host)
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = raw.Close() // the other error is the one that matters
			return nil, fault.Store(fmt.Errorf("broker %s: TLS: %w", host, cause(ctx, err)), "does it speak TLS on this port, under a certificate that ca= has signed?")
		}
		conn = secure
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	properties := amqp.NewConnectionProperties()
	properties.SetClientConnectionName(name)
	c, err := amqp.Open(conn, amqp.Config{
		SASL:  []amqp.Authentication{&amqp.PlainAuth{Username: a.user, Password: a.password()}},
		Vhost: a.vhost, Heartbeat: heartbeat, Locale: "en_US", Properties: properties,
	})
	if !stop() && err == nil {
		_ = c.Close() // its connection is already closed
		err = context.Cause(ctx)
	}
	if err != nil {
		_ = raw.Close() // the other error is the one that matters
		return nil, a.explain(host, cause(ctx, err))
	}
	return c, nil
}

// password returns the password for logging in.
func (a *Address) password() string {
	if a.target.Password == "" && a.user == "guest" {
		return "guest" // by default RabbitMQ accepts it from its own machine
	}
	return a.target.Password
}

// cause returns why ctx ended if that is what caused err.
func cause(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// explain says what a refusal means.
func (a *Address) explain(host string, err error) error {
	hint := "is this RabbitMQ, and its port that of AMQP 0-9-1?"
	if e, ok := errors.AsType[*amqp.Error](err); ok {
		switch e.Code {
		case amqp.AccessRefused:
			return fault.Store(fmt.Errorf("broker %s refuses the user %s", host, a.user), "write user and password before the host: amqp://user:password@host")
		case amqp.NotAllowed:
			return fault.Store(fmt.Errorf("broker %s: user %s may not use virtual host %q, or there is none", host, a.user, a.vhost), "the virtual host is the path of the URL; none is /")
		}
	}
	return fault.Store(fmt.Errorf("broker %s: %w", host, err), hint)
}

// Property returns a property that the broker reports: "product", "version".
func Property(c *amqp.Connection, name string) string {
	s, _ := c.Properties[name].(string)
	return s
}
