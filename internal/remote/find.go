package remote

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// How runs are found: coordinators tell of theirs to whoever asks, and a worker joins one
// after the other where several follow each other, or as long as it stays.

var (
	// ErrOver says that no other run follows the one that the worker was in.
	ErrOver = errors.New("no other run follows")
	// ErrIdle says that a worker that stays has waited for a run for long enough.
	ErrIdle = errors.New("there was no run for as long as it was to wait")

	// errLost says that the connection is gone, errFull that others were here first: both may
	// be better next time.
	errLost = errors.New("the connection was lost")
	errFull = errors.New("others were here first")
	// errForeign says that somebody else answered in the coordinator's place.
	errForeign = errors.New("it is not the coordinator that this worker was told of")
)

// seek is a look-out for a run.
type seek struct {
	o JoinOptions
	// open: one that needs workers; live: one that has not ended.
	open, live bool
	// watches: to watch it, and its command has no --wait.
	watches bool
	// heard is when it began, or when the coordinator of the line was heard of last.
	heard time.Time
	pause time.Duration
	// ended is the run whose coordinator said that no other follows.
	ended string
}

func newSeek(o JoinOptions) *seek { return &seek{o: o, heard: time.Now()} }

// waits says that there is no hurry: the worker has been in a run, or stays for any.
func (s *seek) waits() bool { return s.o.Stay || s.o.After != nil }

// line is that of the runs whose next the worker waits for; empty: of none.
func (s *seek) line() string {
	if s.o.After == nil || !s.o.After.Place.More {
		return ""
	}
	return s.o.After.Place.Line
}

// reach connects with where a run is, and finds that.
func (s *seek) reach(ctx context.Context, role, id string) (*nats.Conn, string, error) {
	for {
		nc, err := s.dial(ctx, role, id)
		if err != nil {
			return nil, "", err
		}
		run, err := s.find(ctx, nc)
		if err == nil {
			return nc, run, nil
		}
		nc.Close()
		if !errors.Is(err, errLost) {
			return nil, "", err
		}
		s.pause = 0 // where one coordinator makes way for the next, that is there at once
	}
}

// backOff waits a little before the next look. When it has been too long, the error is failed.
func (s *seek) backOff(ctx context.Context, limit time.Duration, failed error) error {
	switch {
	case s.o.Patience < 0 || time.Since(s.heard) <= limit:
	case s.o.After != nil && s.o.Stay:
		return ErrIdle
	case s.o.After != nil:
		return fault.Code(fmt.Errorf("the coordinator was not heard of for %s (--patience), and other runs were to follow", units.Duration(limit)), fault.CodeOther)
	default:
		return failed
	}
	most := 100 * time.Millisecond
	if s.waits() {
		most = 500 * time.Millisecond
	}
	s.pause = min(cmp.Or(2*s.pause, 50*time.Millisecond), most)
	select {
	case <-time.After(s.pause):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// dial connects, trying again while there is nobody.
func (s *seek) dial(ctx context.Context, role, id string) (*nats.Conn, error) {
	o := s.o
	known, err := Server{Creds: o.Creds, NKey: o.NKey}.known()
	if err != nil {
		return nil, err
	}
	for {
		nc, err := nats.Connect(o.URL, slices.Concat(options(o.Token, o.secure()), known, as(role, id))...)
		if err == nil {
			return nc, nil
		}
		if err := s.refused(err); err != nil {
			return nil, err
		}
		failed := fault.Store(fmt.Errorf("join %s: %w", o.URL, err), s.absent())
		if !errors.Is(err, nats.ErrNoServers) && !passes(err) {
			return nil, failed
		}
		if err := s.backOff(ctx, o.Patience, failed); err != nil {
			return nil, err
		}
	}
}

// refused is the error where somebody is there with whom no connection comes about, however
// long one waits; nil: it is another one.
func (s *seek) refused(err error) error {
	refuse := func(why, fix string) error {
		return fault.Input(fmt.Errorf("join %s: %s", s.o.URL, why), fix)
	}
	_, unknown := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		return refuse("the coordinator does not take the token", "give that of its --token-file")
	case errors.Is(err, nats.ErrSecureConnRequired):
		return refuse("the coordinator wants TLS", "add --fingerprint with what it printed, or --tls-ca")
	case errors.Is(err, nats.ErrSecureConnWanted):
		return refuse("the coordinator has no TLS", "start it with --tls-self-signed, or join it on its own machine by nats:// without --fingerprint and --tls-ca")
	case errors.Is(err, errOther):
		return refuse(errOther.Error(), "copy the fingerprint that the coordinator printed")
	case unknown && s.o.Authorities == nil:
		return refuse("the coordinator wants TLS, and nobody known here signed its certificate", "use tls:// with --fingerprint, which the coordinator printed, or with --tls-ca")
	case unknown:
		return refuse(err.Error(), "give those who signed the coordinator's certificate with --tls-ca, or use --fingerprint with what it printed")
	}
	return nil
}

// absent says what helps where no coordinator is.
func (s *seek) absent() string {
	const start = "start perfbench run … --workers N there first"
	if s.watches {
		return start
	}
	return start + ", or wait longer with --wait"
}

// passes says that an error is of the network, or of a server that is about to end.
func passes(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Op == "dial" || op.Op == "read" || op.Op == "write"
	}
	_, unknown := errors.AsType[*net.DNSError](err) // a service whose pod has not started has no address
	return unknown || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, nats.ErrConnectionClosed) || errors.Is(err, nats.ErrStaleConnection)
}

// find finds the run that is meant, waiting for one.
func (s *seek) find(ctx context.Context, nc *nats.Conn) (string, error) {
	for {
		more := others
		if s.waits() {
			more = polled // what was missed answers the next time
		}
		all, err := offers(ctx, nc, s.o.Key, s.o.Run, more)
		if lost(nc) {
			return "", errLost
		}
		if err != nil {
			return "", err
		}
		run, err := s.pick(all)
		if errors.Is(err, ErrOver) {
			_ = nc.Publish(subjectsOf(s.ended).parted, []byte(s.o.After.id))
			_ = nc.FlushTimeout(patience)
		}
		if run != "" || err != nil {
			return run, err
		}
		// A server is up before a coordinator listens to it.
		failed := fault.Store(fmt.Errorf("join %s: nobody answers as a coordinator", s.o.URL), s.absent())
		if err := s.backOff(ctx, max(s.o.Patience, patience), failed); err != nil {
			return "", err
		}
	}
}

// lost says that a connection is gone, or was, so that an answer may have been lost.
func lost(nc *nats.Conn) bool { return !nc.IsConnected() || nc.Stats().Reconnects > 0 }

// pick is the run that is meant, of those that there are; empty: none as yet.
func (s *seek) pick(all []offer) (string, error) {
	slices.SortFunc(all, func(a, b offer) int { return strings.Compare(a.Run, b.Run) })
	if s.waits() {
		return s.next(all)
	}
	var names, free []string
	for _, a := range all {
		if s.o.Run != "" && a.Run != s.o.Run || s.live && a.Over {
			continue
		}
		names = append(names, a.Run)
		if !a.Full {
			free = append(free, a.Run)
		}
	}
	if s.open && len(free) > 0 {
		names = free
	}
	switch len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", fault.Field("run", fault.Input(fmt.Errorf("run: there are several at %s: %s", s.o.URL, strings.Join(names, ", ")), "say which with --run"))
}

// next is the run that a worker goes on with: the next of its line, or the one that another
// coordinator has at the place of the one before; where it stays, any, the oldest first.
func (s *seek) next(all []offer) (string, error) {
	var before Slot
	if s.o.After != nil {
		before = s.o.After.Place
	}
	line := s.line()
	over := line == ""
	for _, a := range all {
		if line == "" || a.Line != line && a.Run != before.Run {
			continue
		}
		s.heard = time.Now()
		switch {
		case !a.Full && !a.Over:
			return a.Run, nil
		case !a.More:
			over, s.ended = true, a.Run
		default:
			return "", nil // more are to come
		}
	}
	if over && !s.o.Stay {
		return "", ErrOver
	}
	for _, a := range all {
		if (s.o.After == nil || a.Coordinator != before.Coordinator) && !a.Full && !a.Over && (s.o.Stay || !a.Shared) {
			return a.Run, nil
		}
	}
	return "", nil
}

// How long answers of further coordinators are waited for: of those who share a server, each
// may be on a busy machine, and a worker that missed one would join the wrong run.
const (
	others = 2 * time.Second
	polled = 100 * time.Millisecond
)

// offers asks which runs there are, once; there may be none. It waits no longer when the run
// that is meant, if one is, has answered, and after each answer no longer than more for another.
// Those that are not signed by whom the asker knows do not count; empty: nobody is known.
func offers(ctx context.Context, nc *nats.Conn, known, meant string, more time.Duration) (all []offer, err error) {
	answers, err := nc.SubscribeSync(nc.NewInbox())
	if err != nil {
		return nil, fmt.Errorf("ask for runs: %w", err)
	}
	defer func() { _ = answers.Unsubscribe() }()
	asked := newID()
	if err := nc.PublishRequest(subjectRuns, answers.Subject, []byte(asked)); err != nil {
		return nil, fmt.Errorf("ask for runs: %w", err)
	}
	next := func(within time.Duration) (*nats.Msg, error) {
		for until := time.Now().Add(within); ; {
			m, err := answers.NextMsg(min(max(time.Until(until), time.Millisecond), polled))
			if !errors.Is(err, nats.ErrTimeout) || ctx.Err() != nil || lost(nc) || time.Now().After(until) {
				return m, err
			}
		}
	}
	for within, heard := patience, 0; heard < mostOffers; heard++ {
		m, err := next(within)
		if err != nil || m.Header.Get("Status") != "" { // nobody, or no more
			return all, nil
		}
		var a offer
		fair := decoded(m.Data, mostHello, &a) == nil && a.Run != "" && named(a.Run) && genuine(a.Key, a.Run, asked, "offer", m)
		if fair && (known == "" || known == a.Key) {
			all = append(all, a)
			if a.Run == meant {
				return all, nil
			}
		}
		within = more
		if fair && !a.Shared {
			within = min(more, polled) // its server is its own
		}
	}
	return all, nil
}
