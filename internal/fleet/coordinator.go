package fleet

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/fault"
)

// Options say how to bring workers together.
type Options struct {
	// Workers is how many must join.
	Workers int
	// Listen is HOST:PORT; no host is this machine alone.
	Listen string
	// Token is what workers must bring; empty: nothing.
	Token string
	// SelfSigned makes connections use TLS with a certificate made for the run.
	SelfSigned bool
	// Dir is the folder that keeps what workers have sent.
	Dir string
	// Version is ours: workers must have the same.
	Version string
	// Run is the id of the run, Order what workers are given, at most MaxMessage.
	Run   string
	Order []byte
	// Take is called with each report, in order for each worker and one at a time.
	Take func(worker int, r *Report) error
	// Noticed is told of a worker that is silent, gone, or back; nil: nobody is. It must not
	// wait.
	Noticed func(worker int, host string, now State)
}

// Coordinator brings workers together and knows what has become of them. Its methods may
// be called from any goroutine.
type Coordinator struct {
	o     Options
	srv   *server.Server
	nc    *nats.Conn
	print string
	over  chan struct{}
	quit  context.CancelFunc

	mu      sync.Mutex
	workers []*worker
	changed chan struct{} // closed and replaced when a worker has joined or is ready
	closed  bool
	failed  error
	at      time.Time // when the run began
}

// Open begins to listen.
func Open(ctx context.Context, o Options) (*Coordinator, error) {
	if err := Check(o.Listen, o.Token != "", o.SelfSigned); err != nil {
		return nil, err
	}
	c := &Coordinator{o: o, over: make(chan struct{}), changed: make(chan struct{})}
	if err := c.serve(); err != nil {
		return nil, err
	}
	ctx, c.quit = context.WithCancel(context.WithoutCancel(ctx))
	if err := c.listen(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("bring workers together: %w", err)
	}
	go c.look(ctx)
	return c, nil
}

// serve starts the server.
func (c *Coordinator) serve() error {
	host, port, _ := net.SplitHostPort(c.o.Listen)
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 {
		return fault.Field("listen", fault.Input(fmt.Errorf("listen: %q is no port", port), "use a number of up to 65535"))
	}
	if host == "" || host == "localhost" {
		host = "127.0.0.1"
	}
	if n == 0 {
		n = server.RANDOM_PORT
	}
	opts := &server.Options{
		Host: host, Port: n, NoLog: true, NoSigs: true, MaxPayload: MaxMessage, Authorization: c.o.Token,
		JetStream: true, StoreDir: c.o.Dir, DontListen: false, DisableShortFirstPing: true,
	}
	if c.o.SelfSigned {
		cert, print, err := selfSigned()
		if err != nil {
			return fmt.Errorf("make a certificate: %w", err)
		}
		c.print = print
		opts.TLS, opts.TLSConfig, opts.TLSTimeout = true, &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}, 5
	}
	// The server ends its process when it cannot listen, so that is tried first.
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fault.Field("listen", fault.Input(fmt.Errorf("listen: %w", err), "use another port with --listen"))
	}
	_ = l.Close()
	if c.srv, err = server.NewServer(opts); err != nil {
		return fmt.Errorf("start NATS: %w", err)
	}
	c.srv.Start()
	if !c.srv.ReadyForConnections(30 * time.Second) {
		c.srv.Shutdown()
		return errors.New("start NATS: it did not get ready within 30 s")
	}
	return nil
}

// options are those of every connection.
func options(token, print string) []nats.Option {
	out := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second)}
	if token != "" {
		out = append(out, nats.Token(token))
	}
	if print != "" {
		out = append(out, nats.Secure(only(print)))
	}
	return out
}

// listen takes what workers say.
func (c *Coordinator) listen(ctx context.Context) error {
	var err error
	if c.nc, err = nats.Connect(c.srv.ClientURL(), append(options(c.o.Token, c.print), nats.Name("coordinator"))...); err != nil {
		return err
	}
	js, err := jetstream.New(c.nc)
	if err != nil {
		return err
	}
	stream, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{subjectFigures + ".>"}, Storage: jetstream.FileStorage, MaxMsgSize: MaxMessage, Duplicates: 10 * time.Minute,
	})
	if err != nil {
		return err
	}
	figures, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	if _, err := figures.Consume(c.figures); err != nil {
		return err
	}
	for subject, f := range map[string]nats.MsgHandler{
		subjectJoin: c.join, subjectReady + ".*": c.ready, subjectBeat + ".*": c.beat,
	} {
		if _, err := c.nc.Subscribe(subject, f); err != nil {
			return err
		}
	}
	return c.nc.Flush()
}

// URL is where workers join; it has no secret in it.
func (c *Coordinator) URL() string {
	scheme := "nats"
	if c.o.SelfSigned {
		scheme = "tls"
	}
	return scheme + "://" + c.srv.Addr().String()
}

// Fingerprint is that of the certificate, empty without TLS.
func (c *Coordinator) Fingerprint() string { return c.print }

// Over is closed when no worker is at work any more.
func (c *Coordinator) Over() <-chan struct{} { return c.over }

// Close ends the server and forgets the workers.
func (c *Coordinator) Close() {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	if was {
		return
	}
	if c.quit != nil {
		c.quit()
	}
	if c.nc != nil {
		c.nc.Close()
	}
	c.srv.Shutdown()
	c.srv.WaitForShutdown()
}

func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // messages of ours are plain data
	}
	return data
}
