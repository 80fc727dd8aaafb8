package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/workload"
)

// Options say how to bring workers together.
type Options struct {
	// Workers is how many must join.
	Workers int
	// Listen is HOST:PORT; no host is this machine alone. NATS, when set, is the user's own
	// server, used instead of one that listens there.
	Listen string
	NATS   *Server
	// Token is what workers must bring; empty: nothing. WatchToken is one that lets nobody but
	// watchers in, whom Token lets in, too; empty: there is none. Where NATS is the user's,
	// that says who may do what.
	Token, WatchToken string
	// Key signs what workers are told; nil: one is made.
	Key *Key
	// Identity makes connections use TLS; nil: they do not.
	Identity *Identity
	// Dir is the folder that keeps what workers have sent, and Keep how many bytes of that at
	// most: what was sent first goes first, and then nobody can go on in this coordinator's
	// place. 0: three eighths of what is free on the disk. Without NATS only.
	Dir  string
	Keep int64
	// Version is ours: workers must have the same.
	Version string
	// Patience is how long a worker may be silent until nobody waits for it any longer; 0:
	// DefaultPatience.
	Patience time.Duration
	// Wait is for how long Gather waits while no worker joins or gets ready, Remind how often
	// it says who is missing; 0: DefaultWait, and half a minute.
	Wait, Remind time.Duration
	// Run is the id of the run, Order what workers are given, at most MaxMessage.
	Run   string
	Order []byte
	// Line is that of the runs which this is one of, with the same workers; empty: it is the
	// only one. More says that others of them follow.
	Line string
	More bool
	// Past is that of the coordinator in whose place this one goes on; nil: there was none.
	Past *Restored
	// Tracks is how many tracks the run has; 0: it is not known.
	Tracks int
	// Take is called with each report, in order for each worker and one at a time.
	Take func(worker int, r *Report) error
	// Noticed is told of a worker that is silent, gone, given up or back; nil: nobody is. It
	// must not wait.
	Noticed func(worker int, host string, now State)
	// Pass, when set, has the rest of the part of a worker that is given up done by another,
	// and tells what of it is left, by what the figures have of it, and its settings. Passed is
	// told whose it was, the number of the heir and of the worker in whose process that is.
	Pass   func(part int, did []workload.Did) Handoff
	Passed func(from, heir, host int)
	// Show tells those who watch the run how it is, in words of the caller's own; nil: nobody
	// may watch. It is called from any goroutine.
	Show func() []byte
}

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

// Coordinator brings workers together and knows what has become of them. Its methods may
// be called from any goroutine.
type Coordinator struct {
	o  Options
	id string
	// secret is its password in its own NATS.
	secret string
	on     subjects
	srv    natsServer // nil: the user's own is used
	nc     *nats.Conn
	js     jetstream.JetStream
	over   map[int]chan struct{} // of tracks; guarded by mu
	gc     int                   // how eager the collector was before
	life   context.Context
	quit   context.CancelFunc
	rest   sync.Once
	// taking is held while a report is taken in, or what was told is looked at as a whole; mu
	// may be taken meanwhile, and not the other way round.
	taking sync.Mutex

	mu      sync.Mutex
	workers []*worker
	changed chan struct{} // closed and replaced when a worker has joined or is ready
	changes int           // how often settings were changed
	phases  map[string]time.Duration
	closed  bool
	rested  bool // nobody is told anything any more
	failed  error
	at      time.Time // when the run began
	// watchers are those who watch the run, by where they are told of its end, and when each
	// asked last.
	watchers map[string]time.Time
	stays    bool            // what was kept, after the end
	held     bool            // the run has ended, and another follows
	parted   map[string]bool // workers that know that none does

	last   uint64        // message of the stream that is to be read again
	reread chan struct{} // closed when it was
	upto   atomic.Int64

	numbers atomic.Int64 // of what is signed; it begins with the time, which is later for each coordinator
}

// Open begins to listen.
func Open(ctx context.Context, o Options) (*Coordinator, error) {
	o.Patience = cmp.Or(o.Patience, DefaultPatience)
	c := &Coordinator{o: o, id: nuid.Next(), secret: newID(), on: subjectsOf(o.Run), over: map[int]chan struct{}{}, phases: map[string]time.Duration{}, changed: make(chan struct{}), watchers: map[string]time.Time{}, parted: map[string]bool{}, reread: make(chan struct{})}
	c.upto.Store(math.MaxInt64)
	c.numbers.Store(time.Now().UnixNano())
	if c.o.Key == nil {
		var err error
		if c.o.Key, err = NewKey(); err != nil {
			return nil, err
		}
	}
	if o.Past != nil {
		c.recall(o.Past)
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	c.gc = debug.SetGCPercent(eager)
	ctx, c.quit = context.WithCancel(context.WithoutCancel(ctx))
	c.life = ctx
	if err := c.listen(ctx); err != nil {
		c.stays = c.stays || o.Past != nil
		c.Close()
		return nil, fmt.Errorf("bring workers together: %w", err)
	}
	go c.checkSilence(ctx)
	return c, nil
}

// eager is how much, in percent, a coordinator's memory may grow between two collections:
// what comes from workers is garbage soon, and no operation of this process waits for them.
const eager = 40

// connect connects with the user's NATS, or one that it starts.
func (c *Coordinator) connect() error {
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
		c.Close()
		return fmt.Errorf("bring workers together: %w", err)
	}
	return nil
}

// serve starts the server.
func (c *Coordinator) serve() error {
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

// options are those of every connection.
func options(token string, secure *tls.Config) []nats.Option {
	out := []nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond), nats.Timeout(5 * time.Second)}
	if token != "" {
		out = append(out, nats.Token(token))
	}
	if secure != nil {
		out = append(out, nats.Secure(secure))
	}
	return out
}

// listen takes what workers say.
func (c *Coordinator) listen(ctx context.Context) error {
	stream, err := c.stream(ctx)
	if err != nil {
		return fmt.Errorf("keep what workers send: %w", err)
	}
	figures, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	if _, err := figures.Consume(c.figures, jetstream.PullMaxMessages(64)); err != nil {
		return err
	}
	for subject, f := range map[string]nats.MsgHandler{
		c.on.join + ".*": c.join, c.on.ready + ".*.*": c.ready, c.on.beat + ".*.*": c.beat, c.on.ended + ".*.*": c.ended,
		c.on.members: c.tellMembers, subjectRuns: c.offer, c.on.watch: c.watched, c.on.parted: c.part,
	} {
		if _, err := c.nc.Subscribe(subject, f); err != nil {
			return err
		}
	}
	return c.nc.Flush()
}

// replicas is how many servers of a cluster keep what workers send: with one of three gone
// the others go on.
const replicas = 3

// keep makes the stream that keeps what workers send. One that is there is another run's, whose
// id is the same: ids go by the second.
func (c *Coordinator) keep(ctx context.Context) (jetstream.Stream, error) {
	stream, err := c.create(ctx)
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		c.mu.Lock()
		c.stays = true
		c.mu.Unlock()
		return nil, fault.Input(fmt.Errorf("another run with the id %s uses this NATS", c.o.Run), "start it again: ids go by the second")
	}
	return stream, err
}

func (c *Coordinator) create(ctx context.Context) (jetstream.Stream, error) {
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
func (c *Coordinator) made(ctx context.Context, as jetstream.StreamConfig) (jetstream.Stream, error) {
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
func (c *Coordinator) JoinURL() string {
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
func (c *Coordinator) Cut() string {
	if c == nil || c.o.NATS == nil || c.nc.IsConnected() {
		return ""
	}
	return "NATS at " + c.o.NATS.URL + " cannot be reached"
}

// Key is what signs what workers are told, for another coordinator that goes on in this one's
// place.
func (c *Coordinator) Key() *Key { return c.o.Key }

// URL is where workers join; it has no secret in it.
func (c *Coordinator) URL() string {
	if c.o.NATS != nil {
		return c.o.NATS.URL
	}
	scheme := "nats"
	if c.o.Identity != nil {
		scheme = "tls"
	}
	return scheme + "://" + c.srv.Addr().String()
}

// Rest ends what goes on for workers, all of whom have ended: from then on the coordinator
// only answers. It may be called again.
func (c *Coordinator) Rest() {
	if c.quit != nil {
		c.mu.Lock()
		c.rested = true
		c.mu.Unlock()
		c.rest.Do(func() {
			c.quit()
			debug.SetGCPercent(c.gc)
		})
	}
}

// Addr is where our server listens, as HOST:PORT; empty: the user's is used.
func (c *Coordinator) Addr() string {
	if c.srv == nil {
		return ""
	}
	return c.srv.Addr().String()
}

// Close ends our server, or removes from the user's what was kept there, and forgets the
// workers.
func (c *Coordinator) Close() {
	c.mu.Lock()
	was := c.closed
	c.closed = true
	c.mu.Unlock()
	if was {
		return
	}
	c.Rest()
	if c.o.NATS != nil && !c.stays { // on ours it goes with the folder
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

func encoded(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // messages of ours are plain data
	}
	return data
}
