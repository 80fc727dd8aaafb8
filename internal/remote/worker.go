package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/workload"
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
	// Key is that of the coordinator, and no other is joined; empty: whoever is there.
	Key string
	// Run is the id of the run to join; empty: the only one there.
	Run string
	// Version is ours.
	Version string
	// Patience is how long to wait for a coordinator that is not there yet, or not any more;
	// less than 0: for ever.
	Patience time.Duration
	// After is the worker as it was in the run before, which has ended: the next of the same
	// line is waited for. nil: there was none.
	After *Worker
	// Stay has any run do that needs workers, the oldest first, and any be waited for.
	Stay bool
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

// Worker is a process that has joined a run, and its connection with the coordinator. Its
// methods may be called from any goroutine.
type Worker struct {
	Orders *Orders
	Pulse  *Pulse
	Outbox *Outbox

	// Place is what the coordinator gave.
	Place Slot

	id   string
	key  string // what its coordinator signs with
	told bool   // it was given that, before it joined
	on   subjects
	nc   *nats.Conn
	js   jetstream.JetStream
	quit context.CancelFunc

	beside bool // it is an heir: the connection is another's
}

// Join joins a coordinator. A refusal comes as an error of input; after another run it may be
// ErrOver or ErrIdle.
func Join(ctx context.Context, o JoinOptions) (*Worker, error) {
	s := newSeek(o)
	s.open, s.live = true, true
	for {
		w, err := s.join(ctx)
		if s.waits() && (errors.Is(err, errFull) || errors.Is(err, errLost)) {
			continue
		}
		if s.o.Stay && errors.Is(err, errForeign) {
			if err = s.backOff(ctx, o.Patience, err); err == nil {
				continue
			}
		}
		return w, err
	}
}

func (s *seek) join(ctx context.Context) (*Worker, error) {
	w := &Worker{Orders: newOrders(), id: newID()}
	var err error
	var run string
	if w.nc, run, err = s.reach(ctx, roleWorker, w.id); err != nil {
		return nil, err
	}
	if err := w.enter(ctx, s.o, run); err != nil {
		w.nc.Close()
		return nil, err
	}
	w.work(ctx)
	return w, nil
}

// work begins to say that the worker is there, and to send what it reports.
func (w *Worker) work(ctx context.Context) {
	w.Pulse = &Pulse{nc: w.nc, subject: w.mine(w.on.beat), heard: time.Now()}
	w.Outbox = newOutbox(w.nc, w.js, w.mine(w.on.figures), w.id+"-"+strconv.Itoa(w.Place.Index))
	ctx, w.quit = context.WithCancel(context.WithoutCancel(ctx))
	fault.Go(func() { w.Pulse.beats(ctx) })
	fault.Go(func() { w.Outbox.send(ctx) })
}

// Ask asks a coordinator who has joined it; o.Version does not matter.
func Ask(ctx context.Context, o JoinOptions) ([]Member, error) {
	nc, run, err := newSeek(o).reach(ctx, roleWatch, newID())
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
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

// enter asks for a place in a run, and listens to what the coordinator will say.
func (w *Worker) enter(ctx context.Context, o JoinOptions, run string) error {
	var err error
	if w.js, err = jetstream.New(w.nc); err != nil {
		return err
	}
	host, _ := os.Hostname()
	_, zone := time.Now().Zone()
	machine, born := ownership.Identity()
	h := Hello{Protocol: Protocol, Version: o.Version, ID: w.id, Host: host, PID: os.Getpid(), Machine: machine, Born: born, CPUs: runtime.GOMAXPROCS(0), ZoneS: zone, Now: time.Now().UnixNano()}
	w.on = subjectsOf(run)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	// What it may not ask for, NATS does not answer: it says so beside.
	quiet := w.nc.ErrorHandler()
	w.nc.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
		if errors.Is(err, nats.ErrPermissionViolation) {
			cancel()
		}
	})
	defer w.nc.SetErrorHandler(quiet)
	m, err := w.nc.RequestWithContext(ctx, w.on.join+"."+w.id, encoded(h))
	if err != nil && errors.Is(w.nc.LastError(), nats.ErrPermissionViolation) {
		return fault.Input(fmt.Errorf("join %s: the token lets its owner watch, and not work", o.URL), "give that of the coordinator's --token-file")
	}
	if err != nil && (o.Stay || o.After != nil) && ctx.Err() == nil {
		return errLost
	}
	if err != nil {
		return fault.Store(fmt.Errorf("join %s: no coordinator answers: %w", o.URL, err), "")
	}
	if err := decoded(m.Data, MaxMessage, &w.Place); err != nil {
		return fmt.Errorf("join %s: it answers in another way than a coordinator: %w", o.URL, err)
	}
	if err := w.know(o, run, m); err != nil {
		return err
	}
	if w.Place.Full && (o.Stay || o.After != nil) {
		return errFull
	}
	if w.Place.Refused != "" {
		return fault.Input(fmt.Errorf("join %s: refused: %s", o.URL, w.Place.Refused), "")
	}
	return w.listen()
}

// know checks that the coordinator which gave the worker its place is the one it was told of,
// or else takes it for that from now on.
func (w *Worker) know(o JoinOptions, run string, m *nats.Msg) error {
	p := &w.Place
	want := o.Key
	if a := o.After; want == "" && a != nil && a.Place.Line != "" && a.Place.Line == p.Line {
		want = a.key
	}
	w.told = o.Key != ""
	w.key = p.Key
	if p.Run != run || want != "" && want != p.Key || !genuine(p.Key, run, w.id, "place", m) {
		return fault.Input(fmt.Errorf("join %s: run %s: %w", o.URL, workload.PlainText(run, mostName), errForeign), "copy the URL that the coordinator printed, with what follows #")
	}
	if p.Refused == "" && (p.Of < 1 || p.Of > MaxWorkers || p.Index < 0 || p.Index >= p.Of) {
		return fmt.Errorf("join %s: its coordinator gives it place %d of %d", o.URL, p.Index, p.Of)
	}
	p.Refused = workload.PlainText(p.Refused, mostText)
	return nil
}

// start takes the moment at which all begin.
func (w *Worker) start(m *nats.Msg) {
	var s start
	if !w.bids("start", m) || decoded(m.Data, mostWord, &s) != nil {
		return
	}
	w.Orders.startAt(time.Unix(0, s.At))
	_ = m.Respond(nil)
}

// control does what the coordinator tells.
func (w *Worker) control(m *nats.Msg) {
	var c Command
	if w.bids("control", m) && decoded(m.Data, MaxMessage, &c) == nil {
		_ = m.Respond(encoded(w.Orders.obey(m.Header.Get(headerNumber), c)))
	}
}

// Ready tells the coordinator that the worker can begin, or why it cannot.
func (w *Worker) Ready(ctx context.Context, why error) error {
	r := ready{}
	if why != nil {
		r.Err = why.Error()
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := w.nc.RequestWithContext(ctx, w.mine(w.on.ready), encoded(r))
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
		case at := <-w.Orders.begin:
			// The runtime's timers may be late by a millisecond: the rest is waited for awake.
			if rest := time.Until(at) - 2*time.Millisecond; rest > 0 {
				time.Sleep(rest)
			}
			for time.Now().Before(at) {
				runtime.Gosched()
			}
			return nil
		case <-look.C:
			if away++; w.Pulse.Hears() {
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

// Cut says that NATS, the coordinator's or the user's own, cannot be reached at the moment, or
// does not take what is measured; empty: it can, and does.
func (w *Worker) Cut() string {
	at := strings.Join(w.nc.Opts.Servers, ", ")
	if !w.nc.IsConnected() {
		return "NATS cannot be reached at " + at
	}
	if why := w.Outbox.refused(); why != nil {
		return "NATS at " + at + " does not take what is measured: " + why.Error()
	}
	return ""
}

// Ended tells that the worker is through with a track, at a time since measurement began.
// Where that does not arrive, a report says it.
func (w *Worker) Ended(track int, at time.Duration) {
	_ = w.nc.Publish(w.mine(w.on.ended), encoded(ended{track, at}))
}

// Leave waits until all was sent, or ctx ends, and leaves.
func (w *Worker) Leave(ctx context.Context) error {
	err := w.Outbox.empty(ctx)
	w.Close()
	return err
}

// Close leaves at once. It may be called again.
func (w *Worker) Close() {
	w.quit()
	if !w.beside {
		w.nc.Close()
	}
}
