package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/perfbench/perfbench/internal/fault"
)

// JoinOptions say whom to join.
type JoinOptions struct {
	// URL is that of the coordinator, Token what it wants, Fingerprint that of its
	// certificate; empty: none.
	URL, Token, Fingerprint string
	// Authorities are those who may have signed its certificate; nil: the fingerprint counts.
	Authorities *x509.CertPool
	// Creds and NKey are files by which the user's own NATS knows us; empty: none.
	Creds, NKey string
	// Run is the id of the run to join; empty: the only one there.
	Run string
	// Version is ours.
	Version string
	// Patience is how long to wait for a coordinator that is not there yet.
	Patience time.Duration
}

// secure is how the coordinator's certificate is checked; nil: there is no TLS.
func (o *JoinOptions) secure() *tls.Config {
	switch {
	case o.Fingerprint != "":
		return only(o.Fingerprint)
	case o.Authorities != nil:
		return &tls.Config{RootCAs: o.Authorities, MinVersion: tls.VersionTLS13}
	}
	return nil
}

// Worker is a process that has joined. Its methods may be called from any goroutine.
type Worker struct {
	// Place is what the coordinator gave.
	Place Place

	id    string
	on    subjects
	nc    *nats.Conn
	js    jetstream.JetStream
	begin chan time.Time
	quit  context.CancelFunc
	sent  chan struct{} // closed when the sender is through

	mu    sync.Mutex
	queue []Report
	more  chan struct{} // capacity 1
	n     int64
	do    func(Command)
	heard time.Time // of the coordinator
	last  Command   // the last settings that it told, and what was answered
	said  applied
	early []Command // that came before somebody listened

	beside bool // it is an heir: the connection is another's
}

// Join joins a coordinator. A refusal comes as an error of input.
func Join(ctx context.Context, o JoinOptions) (*Worker, error) {
	w := &Worker{id: nuid.Next(), begin: make(chan time.Time, 1), sent: make(chan struct{}), more: make(chan struct{}, 1)}
	var err error
	if w.nc, err = dial(ctx, o, w.id); err != nil {
		return nil, err
	}
	if err := w.enter(ctx, o); err != nil {
		w.nc.Close()
		return nil, err
	}
	ctx, w.quit = context.WithCancel(context.WithoutCancel(ctx))
	w.heard = time.Now()
	go w.beats(ctx)
	go w.send(ctx)
	return w, nil
}

// Ask asks a coordinator who has joined it; o.Version does not matter.
func Ask(ctx context.Context, o JoinOptions) ([]Member, error) {
	nc, err := dial(ctx, o, "asks")
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	run, err := find(ctx, nc, o, false)
	if err != nil {
		return nil, err
	}
	m, err := nc.RequestWithContext(ctx, subjectsOf(run).members, nil)
	if err != nil {
		return nil, fault.Store(fmt.Errorf("ask %s who has joined: %w", o.URL, err), "")
	}
	var out []Member
	if err := json.Unmarshal(m.Data, &out); err != nil {
		return nil, fmt.Errorf("ask %s who has joined: it answers in another way than a coordinator: %w", o.URL, err)
	}
	return out, nil
}

// dial connects, trying again while there is nobody.
func dial(ctx context.Context, o JoinOptions, id string) (*nats.Conn, error) {
	known, err := Server{Creds: o.Creds, NKey: o.NKey}.known()
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(o.Patience)
	for {
		nc, err := nats.Connect(o.URL, slices.Concat(options(o.Token, o.secure()), known, []nats.Option{nats.Name(id)})...)
		if err == nil {
			return nc, nil
		}
		if errors.Is(err, nats.ErrAuthorization) {
			return nil, fault.Input(fmt.Errorf("join %s: the coordinator does not take the token", o.URL), "give that of its --token-file")
		}
		if errors.Is(err, nats.ErrSecureConnRequired) {
			return nil, fault.Input(fmt.Errorf("join %s: the coordinator wants TLS", o.URL), "add --fingerprint with what it printed, or --tls-ca")
		}
		if time.Now().After(until) || !errors.Is(err, nats.ErrNoServers) {
			return nil, fault.Store(fmt.Errorf("join %s: %w", o.URL, err), "start perfbench run … --workers N there first, or wait longer with --wait")
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// enter asks for a place, and listens to what the coordinator will say.
func (w *Worker) enter(ctx context.Context, o JoinOptions) error {
	var err error
	if w.js, err = jetstream.New(w.nc); err != nil {
		return err
	}
	host, _ := os.Hostname()
	_, zone := time.Now().Zone()
	h := Hello{Protocol: Protocol, Version: o.Version, ID: w.id, Host: host, PID: os.Getpid(), CPUs: runtime.GOMAXPROCS(0), ZoneS: zone, Now: time.Now().UnixNano()}
	run, err := find(ctx, w.nc, o, true)
	if err != nil {
		return err
	}
	w.on = subjectsOf(run)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	m, err := w.nc.RequestWithContext(ctx, w.on.join, encoded(h))
	if err != nil {
		return fault.Store(fmt.Errorf("join %s: no coordinator answers: %w", o.URL, err), "")
	}
	if err := json.Unmarshal(m.Data, &w.Place); err != nil {
		return fmt.Errorf("join %s: it answers in another way than a coordinator: %w", o.URL, err)
	}
	if w.Place.Refused != "" {
		return fault.Input(fmt.Errorf("join %s: refused: %s", o.URL, w.Place.Refused), "")
	}
	return w.listen()
}

func (w *Worker) start(m *nats.Msg) {
	var s start
	if json.Unmarshal(m.Data, &s) != nil {
		return
	}
	select {
	case w.begin <- time.Unix(0, s.At):
	default:
	}
	_ = m.Respond(nil)
}

func (w *Worker) control(m *nats.Msg) {
	var c Command
	if json.Unmarshal(m.Data, &c) != nil {
		return
	}
	w.mu.Lock()
	do, said := w.do, w.said
	switch {
	case w.knows(&c):
		w.mu.Unlock()
		_ = m.Respond(encoded(said))
		return
	case do == nil:
		w.early = append(w.early, c)
	}
	w.mu.Unlock()
	if do != nil {
		do(c)
	}
	said = applied{At: time.Now().UnixNano()}
	if c.Settings != nil {
		w.mu.Lock()
		w.last, w.said = c, said
		w.mu.Unlock()
	}
	_ = m.Respond(encoded(said))
}

// OnCommand has f called with what the coordinator tells, and has told already.
func (w *Worker) OnCommand(f func(Command)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.early {
		f(c)
	}
	w.do, w.early = f, nil
}

// Ready tells the coordinator that the worker can begin, or why it cannot.
func (w *Worker) Ready(ctx context.Context, why error) error {
	r := ready{}
	if why != nil {
		r.Err = why.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := w.nc.RequestWithContext(ctx, w.on.ready+"."+strconv.Itoa(w.Place.Index), encoded(r))
	return err
}

// ErrLeft says that the coordinator went away.
var ErrLeft = errors.New("the coordinator went away before the run began")

// Begin waits for the moment at which all begin.
func (w *Worker) Begin(ctx context.Context) error {
	look := time.NewTicker(beatEvery)
	defer look.Stop()
	away := 0
	for {
		select {
		case at := <-w.begin:
			// The runtime's timers may be late by a millisecond: the rest is waited for awake.
			if rest := time.Until(at) - 2*time.Millisecond; rest > 0 {
				time.Sleep(rest)
			}
			for time.Now().Before(at) {
				runtime.Gosched()
			}
			return nil
		case <-look.C:
			if away++; w.Hears() {
				away = 0
			}
			if time.Duration(away)*beatEvery > patience {
				return fault.Code(ErrLeft, fault.CodeOther)
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (w *Worker) beats(ctx context.Context) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	answers := nats.NewInbox()
	if _, err := w.nc.Subscribe(answers, w.hear); err != nil {
		return // the connection is closed
	}
	for {
		if w.nc.IsConnected() {
			_ = w.nc.PublishRequest(w.on.beat+"."+strconv.Itoa(w.Place.Index), answers, nil)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// hear notes that the coordinator is there: NATS itself answers where nobody is.
func (w *Worker) hear(m *nats.Msg) {
	if m.Header.Get("Status") != "" {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard = time.Now()
}

// Hears says whether the coordinator has been heard of of late.
func (w *Worker) Hears() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.heard) <= silent
}

// Tell sends a report, its number included, when it can: until then it is kept.
func (w *Worker) Tell(r Report) {
	w.mu.Lock()
	w.n++
	r.N = w.n
	w.queue = append(w.queue, r)
	w.mu.Unlock()
	select {
	case w.more <- struct{}{}:
	default:
	}
}

// Ended tells that the worker is through with a track, at a time since measurement began.
// Where that does not arrive, a report says it.
func (w *Worker) Ended(track int, at time.Duration) {
	_ = w.nc.Publish(w.on.ended+"."+strconv.Itoa(w.Place.Index), encoded(ended{track, at}))
}

// send sends report after report, each until it is kept by the stream. A report that
// arrives twice is dropped there, by its id.
func (w *Worker) send(ctx context.Context) {
	defer close(w.sent)
	for {
		w.mu.Lock()
		var r Report
		have := len(w.queue) > 0
		if have {
			r = w.queue[0]
		}
		w.mu.Unlock()
		if !have {
			select {
			case <-w.more:
				continue
			case <-ctx.Done():
				return
			}
		}
		if !w.deliver(ctx, r) {
			return
		}
		w.mu.Lock()
		w.queue = w.queue[1:]
		w.mu.Unlock()
		if r.Over {
			return
		}
	}
}

func (w *Worker) deliver(ctx context.Context, r Report) bool {
	b := r.pack()
	place := strconv.Itoa(w.Place.Index)
	for {
		once, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := w.js.Publish(once, w.on.figures+"."+place, b.Bytes(), jetstream.WithMsgID(w.id+"-"+strconv.FormatInt(r.N, 10)))
		cancel()
		if err == nil {
			return true
		}
		if errors.Is(err, nats.ErrMaxPayload) && !r.Over {
			return w.deliver(ctx, Report{N: r.N, Over: true, Err: fmt.Sprintf("a second of figures takes %d bytes, and NATS takes %d: raise its max_payload", b.Len(), w.nc.MaxPayload())})
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return false
		}
	}
}

// Leave waits until all was sent, or ctx ends, and leaves.
func (w *Worker) Leave(ctx context.Context) error {
	var err error
	select {
	case <-w.sent:
	case <-ctx.Done():
		err = fmt.Errorf("not all of what was measured could be sent: %w", context.Cause(ctx))
	}
	w.quit()
	if !w.beside {
		w.nc.Close()
	}
	return err
}
