package coherence

import (
	"context"
	"errors"
	"log"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/oracle/coherence-go-client/v2/coherence"

	"github.com/perfbench/perfbench/internal/fault"
)

// session is a session of the client: a *client.Session.
type session interface {
	ID() string
	Close()
}

// cacheIn looks up a cache of a session: a client.NamedCache with text keys and byte values, of which
// each caller sees what it uses. It and the session are named by no field or method, because a package
// that comes across them compiles 400 functions of the client again.
func cacheIn(s session, name string, options ...func(*client.CacheOptions)) (any, error) {
	m, err := client.GetNamedCache[string, Value](s.(*client.Session), name, options...)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// life is the context of a session's calls. It has a deadline, so that the client does
// not add one, and ends as if it had expired: on a cancelled call the client leaks
// goroutines.
type life struct{ done chan struct{} }

// Deadline returns a time in the distant future.
func (life) Deadline() (time.Time, bool) { return time.Unix(1<<40, 0), true }

// Done is closed when the session has ended.
func (l life) Done() <-chan struct{} { return l.done }

// Err returns why it ended.
func (l life) Err() error {
	select {
	case <-l.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// Value always returns nil.
func (life) Value(any) any { return nil }

// link is one session with one host.
type link struct {
	place   int // its slot among the connection's links, or -1
	host    string
	session session
	life    life
	lost    chan struct{} // closed when it is given up
	heard   atomic.Int64  // when the last answer came, in ns since 1970
	ending  sync.Once

	making sync.Mutex
	caches sync.Map // name → Cache
	queues sync.Map // name → Queue
}

var errOld = errors.New("it speaks only version 0 of the gRPC protocol")

// opening serializes the opening and the end of sessions: the client sets its log level, which
// is a package variable, when it opens one, and reads it for the last word of one that ends.
var opening sync.Mutex

// openLink opens the session of a slot.
func (ss *sessions) openLink(ctx context.Context, place int) (*link, error) {
	return ss.newLink(ctx, ss.hosts[max(place, 0)%len(ss.hosts)], place)
}

// newLink opens a session. The client does so without a context.
func (ss *sessions) newLink(ctx context.Context, host string, place int) (*link, error) {
	options := []func(*client.SessionOptions){
		client.WithAddress(host), client.WithRequestTimeout(ss.opts.read), client.WithPlainText(),
	}
	if ss.tls != nil {
		config := ss.tls.Clone()
		options[2] = client.WithTLSConfig(config)
	}
	type opened struct {
		s   *client.Session
		err error
	}
	done := make(chan opened, 1) // one value: the sender never waits
	fault.Go(func() {
		opening.Lock()
		defer opening.Unlock()
		s, err := client.NewSession(context.Background(), options...)
		awake(s)
		done <- opened{s, err}
	})
	select {
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		l := &link{place: place, host: host, session: o.s, life: life{make(chan struct{})}, lost: make(chan struct{})}
		l.heard.Store(time.Now().UnixNano())
		ss.fence.Opened()
		if o.s.GetProtocolVersion() == 0 { // the client takes a missing answer for an old server
			l.close()
			return nil, errOld
		}
		return l, nil
	case <-ctx.Done():
		ss.mending.Go(fault.Guarded(func() {
			if o := <-done; o.s != nil {
				end(o.s)
			}
		}))
		return nil, context.Cause(ctx)
	}
}

// close ends the session. Its calls are notified first and the client's own waits last,
// when nothing can arrive any more that they could miss.
func (l *link) close() {
	l.ending.Do(func() {
		close(l.lost)
		end(l.session)
		settle()
		close(l.life.done)
	})
}

// awake returns once the client's connection watch of a new session has looked for the
// first time. The connection carries calls a moment before it reports that it is ready,
// and a watch that sees it become ready takes that for a reconnection: it marks the
// session and renews its stream, without the locks that calls use.
func awake(s *client.Session) {
	if s == nil {
		return
	}
	settle()
	Heard(s.ID()) // the watch's actions so far have been logged, so they happened before this
}

// settle lets a new session finish with its connection, and a closed one with what had
// arrived. It sleeps often instead of long: on a busy machine, each time it wakes as late as
// the client's goroutines do, so that they have their turns before it is done.
func settle() {
	for range 25 {
		time.Sleep(time.Millisecond)
	}
}

// breath lets sessions whose connection broke log that it did, since each reads the log level
// that the next one to open sets. What was logged so far happened before it returns.
func breath() {
	settle()
	log.Writer() // takes the lock under which lines are written
}

// end closes a session and waits until the client has logged that it did. Others cannot open one
// for a second at most: a client that waits for a lost server keeps Close waiting for longer.
func end(s session) {
	said := Listen(s.ID())
	defer said.Forget()
	closed := make(chan struct{})
	opening.Lock()
	fault.Go(func() {
		defer close(closed)
		defer func() { _ = recover() }() // a session that never connected has no stream
		s.Close()
	})
	said.Wait()
	opening.Unlock()
	<-closed
}

var inName = regexp.MustCompile(`Coherence version: (\S+?),`)

// version returns the server's version, which the client reports only in its log.
func (l *link) version() string {
	if m := inName.FindStringSubmatch(Heard(l.session.ID())); m != nil {
		return m[1]
	}
	return ""
}

// cache returns the cache of that name, which the server creates if necessary. It is
// looked up once per session.
func (l *link) cache(name string) (any, error) {
	if m, ok := l.caches.Load(name); ok {
		return m, nil
	}
	l.making.Lock()
	defer l.making.Unlock()
	if m, ok := l.caches.Load(name); ok {
		return m, nil
	}
	m, err := cacheIn(l.session, name)
	if err != nil {
		return nil, err
	}
	l.caches.Store(name, m)
	return m, nil
}
