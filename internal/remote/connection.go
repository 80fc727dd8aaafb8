package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/perfbench/perfbench/internal/fault"
)

// natsServer is what is needed of a *server.Server of NATS once it is made. A field of that
// type would have each package that imports this one compile the server's generics again.
type natsServer interface {
	Start()
	ReadyForConnections(within time.Duration) bool
	ClientURL() string
	Addr() net.Addr
	JetStreamConfig() *server.JetStreamConfig
	Shutdown()
	WaitForShutdown()
}

// Connection owns how a coordinator is reached: its NATS, which it starts or which is the user's,
// its connection with that, and the stream that keeps what workers send. Its methods may be
// called from any goroutine.
type Connection struct {
	o  *Options
	id string // of the coordinator
	// secret is its password in its own NATS.
	secret string
	on     subjects
	srv    natsServer // nil: the user's own is used
	nc     *nats.Conn
	js     jetstream.JetStream
	stays  atomic.Bool // what was kept, after the end
}

func newConnection(o *Options) *Connection {
	return &Connection{o: o, id: nuid.Next(), secret: newID(), on: subjectsOf(o.Run)}
}

// open connects with the user's NATS, or one that it starts.
func (c *Connection) open() error {
	if c.o.NATS != nil {
		var err error
		c.nc, c.js, err = c.o.NATS.use(len(c.o.Order))
		return err
	}
	if err := Check(c.o.Listen, c.o.Token != "", c.o.Identity != nil); err != nil {
		return err
	}
	if err := c.serve(); err != nil {
		return err
	}
	var secure *tls.Config
	if c.o.Identity != nil {
		secure = only(c.o.Identity.Fingerprint)
	}
	var err error
	own := []nats.Option{nats.Name(roleCoordinator), nats.UserInfo(roleCoordinator, c.secret), nats.CustomInboxPrefix(answersTo + c.id)}
	if c.nc, err = nats.Connect(c.srv.ClientURL(), append(options("", secure), own...)...); err == nil {
		c.js, err = jetstream.New(c.nc)
	}
	if err != nil {
		c.close()
		return fmt.Errorf("bring workers together: %w", err)
	}
	return nil
}

// close ends our server, or removes from the user's what was kept there, unless that stays.
func (c *Connection) close() {
	if c.o.NATS != nil && !c.stays.Load() { // on ours it goes with the folder
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		_ = c.js.DeleteStream(ctx, c.on.stream)
	}
	if c.nc != nil {
		c.nc.Close()
	}
	if c.srv != nil {
		c.srv.Shutdown()
		c.srv.WaitForShutdown()
	}
}

// serve starts the server.
func (c *Connection) serve() error {
	host, port, _ := net.SplitHostPort(c.o.Listen)
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return fault.Field("listen", fault.Input(fmt.Errorf("listen: %q is not a port", port), "use a number of up to 65535"))
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	opts := &server.Options{
		Host: host, Port: n, NoLog: true, NoSigs: true, MaxPayload: MaxMessage, ServerName: ownServer + c.id, MaxConn: mostConnections,
		CustomClientAuthentication: &guard{on: c.on, token: c.o.Token, watch: c.o.WatchToken, secret: c.secret},
		JetStream:                  true, StoreDir: c.o.Dir, DontListen: false, DisableShortFirstPing: true,
	}
	if id := c.o.Identity; id != nil {
		opts.TLS, opts.TLSConfig, opts.TLSTimeout = true, &tls.Config{Certificates: []tls.Certificate{id.pair}, MinVersion: tls.VersionTLS13}, 5
	}
	// The server ends its process when it cannot listen, so that is tried first.
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fault.Field("listen", fault.Input(fmt.Errorf("listen: %w", err), "use another port with --listen"))
	}
	_ = l.Close()
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("start NATS: %w", err)
	}
	c.srv = srv
	c.srv.Start()
	if !c.srv.ReadyForConnections(30 * time.Second) {
		c.srv.Shutdown()
		return errors.New("start NATS: it did not get ready within 30 s")
	}
	return nil
}

// stream is where figures are kept: a new one.
func (c *Connection) stream(ctx context.Context) (jetstream.Stream, error) {
	stream, err := c.create(ctx)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // ids go by the second
		c.stays.Store(true)
		return nil, fault.Input(fmt.Errorf("another run with the id %s uses this NATS", c.o.Run), "start it again: ids go by the second")
	}
	return stream, err
}

// past is the stream of the coordinator before, with the number of its last message.
func (c *Connection) past(ctx context.Context) (s jetstream.Stream, last uint64, err error) {
	all, err := offers(ctx, c.nc, "", c.o.Run, others)
	if err != nil {
		return nil, 0, err
	}
	if slices.ContainsFunc(all, func(o offer) bool { return o.Run == c.o.Run }) {
		return nil, 0, fault.Input(errors.New("another coordinator is at work on this run"), "a run has one coordinator")
	}
	s, err = c.js.Stream(ctx, c.on.stream)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, 0, fault.Input(errors.New("what workers sent is not there any more: the stream "+c.on.stream+" is gone"), "perfbench report shows what the run had come to")
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read what workers sent: %w", err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("read what workers sent: %w", err)
	}
	if info.State.FirstSeq > 1 {
		return nil, 0, fault.Input(errors.New("what workers sent at first is not there any more: the disk had no room for it"), "perfbench report shows what the run had come to")
	}
	return s, info.State.LastSeq, nil
}

// replicas is how many servers of a cluster keep what workers send: with one of three gone
// the others go on.
const replicas = 3

// create makes the stream that keeps what workers send.
func (c *Connection) create(ctx context.Context) (jetstream.Stream, error) {
	as := jetstream.StreamConfig{
		Name: c.on.stream, Subjects: []string{c.on.figures + ".>"}, Storage: jetstream.FileStorage, MaxMsgSize: MaxMessage, Duplicates: 10 * time.Minute,
		DenyDelete: true, DenyPurge: true, // what is kept goes as a whole
		Metadata: map[string]string{"coordinator": c.id}, // or two would be taken for one
	}
	if c.srv != nil {
		as.MaxBytes = cmp.Or(c.o.Keep, c.srv.JetStreamConfig().MaxStore/2)
	}
	if c.o.NATS != nil && c.nc.ConnectedClusterName() != "" {
		as.Replicas = replicas
		if stream, err := c.made(ctx, as); err == nil || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			return stream, err
		}
		as.Replicas = 1 // it has fewer servers with room, or no right to that
	}
	return c.made(ctx, as)
}

// noFolder is the code of a server that cannot make the folder of a stream.
const noFolder = 10049

// made creates a stream. When the last one of an account has gone, the server removes what
// held them all a moment later, and a new one that comes then has no place: it is asked again.
func (c *Connection) made(ctx context.Context, as jetstream.StreamConfig) (jetstream.Stream, error) {
	for wait := time.Millisecond; ; wait *= 2 {
		stream, err := c.js.CreateStream(ctx, as)
		if e, ok := errors.AsType[*jetstream.APIError](err); !ok || e.ErrorCode != noFolder || wait > time.Second {
			return stream, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// JoinURL is what workers are given: URL and, where others may publish, the key by which they
// know the coordinator. It has no secret in it.
func (c *Connection) JoinURL() string {
	if c.o.NATS == nil {
		scheme, at, _ := strings.Cut(c.URL(), "://")
		return scheme + "://" + forOthers(at, c.o.Identity)
	}
	return c.URL() + "#" + c.o.Key.Public()
}

// forOthers is an address by which others reach what listens at one of this machine: where that
// is all of them, the name that the certificate is for, the address by which this machine
// reaches others, or its name.
func forOthers(at string, id *Identity) string {
	host, port, err := net.SplitHostPort(at)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsUnspecified() {
		return at
	}
	if id != nil && id.Signed && id.pair.Leaf != nil {
		for _, name := range id.pair.Leaf.DNSNames {
			if !strings.HasPrefix(name, "*") {
				return net.JoinHostPort(name, port)
			}
		}
	}
	if c, err := net.Dial("udp4", "192.0.2.1:9"); err == nil { // nothing is sent
		defer func() { _ = c.Close() }()
		if own, _, err := net.SplitHostPort(c.LocalAddr().String()); err == nil {
			return net.JoinHostPort(own, port)
		}
	}
	if name, err := os.Hostname(); err == nil {
		return net.JoinHostPort(name, port)
	}
	return at
}

// Cut says that the user's NATS cannot be reached at the moment; empty: it can.
func (c *Connection) Cut() string {
	if c == nil || c.o.NATS == nil || c.nc.IsConnected() {
		return ""
	}
	return "NATS at " + c.o.NATS.URL + " cannot be reached"
}

// URL is where workers join; it has no secret in it.
func (c *Connection) URL() string {
	if c.o.NATS != nil {
		return c.o.NATS.URL
	}
	scheme := "nats"
	if c.o.Identity != nil {
		scheme = "tls"
	}
	return scheme + "://" + c.srv.Addr().String()
}

// Addr is where our server listens, as HOST:PORT; empty: the user's is used.
func (c *Connection) Addr() string {
	if c.srv == nil {
		return ""
	}
	return c.srv.Addr().String()
}

// options are those of every connection.
func options(token string, secure *tls.Config) []nats.Option {
	out := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second)}
	// The library's own handler writes to the standard error, over the screen of a workbench.
	out = append(out, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if token != "" {
		out = append(out, nats.Token(token))
	}
	if secure != nil {
		out = append(out, nats.Secure(secure))
	}
	return out
}
