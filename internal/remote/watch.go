package remote

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// watching is how long after its last question a watcher is told of the end. One that has
// gone costs nothing.
const watching = time.Minute

// headerRefused is the header of an answer that says why there is none.
const headerRefused = "Perfbench-Refused"

// audience owns who watches a run, and tells them how it is.
type audience struct {
	conn *Connection
	show func() []byte // nil: nobody may watch

	mu sync.Mutex
	// watchers are those who watch, by where they are told of the end, and when each asked last.
	watchers map[string]time.Time
}

func newAudience(conn *Connection, show func() []byte) *audience {
	return &audience{conn: conn, show: show, watchers: map[string]time.Time{}}
}

// asked tells one who watches how the run is, unless it is over.
func (a *audience) asked(m *nats.Msg, over bool) {
	if a.show == nil {
		return
	}
	refuse := func(why string) {
		if isInbox(m.Reply) {
			_ = m.RespondMsg(&nats.Msg{Header: nats.Header{headerRefused: {why}}})
		}
	}
	room := a.admit(string(m.Data[:min(len(m.Data), mostName+1)]))
	switch {
	case over:
		refuse("the run has ended")
		return
	case !room:
		refuse(fmt.Sprintf("%d watch it already", mostWatchers))
		return
	}
	data := a.show()
	if most := a.conn.nc.MaxPayload(); int64(len(data)) > most {
		refuse(fmt.Sprintf("what there is to show takes %s, and NATS takes messages of %s: raise its max_payload", units.Size(int64(len(data))), units.Size(most)))
		return
	}
	answer(m, data)
}

// admit notes who asks, by where it is to be told of the end; false: there are too many,
// or that is no place for it.
func (a *audience) admit(inbox string) bool {
	if len(inbox) > mostName || !isInbox(inbox) {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.watchers[inbox]; !known && len(a.watchers) >= mostWatchers {
		maps.DeleteFunc(a.watchers, func(_ string, at time.Time) bool { return time.Since(at) > watching })
		if len(a.watchers) >= mostWatchers {
			return false
		}
	}
	a.watchers[inbox] = time.Now()
	return true
}

// last shows all who watch what came of the run, and waits a little until they have it.
func (a *audience) last(shown []byte) {
	a.mu.Lock()
	watchers := maps.Clone(a.watchers)
	a.mu.Unlock()
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for inbox, at := range watchers {
		if time.Since(at) < watching {
			all.Go(fault.Guarded(func() { _, _ = a.conn.nc.RequestWithContext(ctx, inbox, shown) })) // gone, perhaps
		}
	}
	all.Wait()
}

// Watcher watches a run without taking part in it. Its methods may be called from any
// goroutine.
type Watcher struct {
	nc    *nats.Conn
	watch string
	inbox string
	last  chan []byte // capacity 1
}

// Watch looks for the coordinator of a run; the version in o does not matter.
func Watch(ctx context.Context, o JoinOptions) (*Watcher, error) {
	s := newSeek(o)
	s.live, s.watches = true, true
	nc, run, err := s.reach(ctx, roleWatch, newID())
	if err != nil {
		return nil, err
	}
	w := &Watcher{nc: nc, watch: subjectsOf(run).watch, inbox: nc.NewInbox(), last: make(chan []byte, 1)}
	_, err = nc.Subscribe(w.inbox, func(m *nats.Msg) {
		select {
		case w.last <- m.Data:
		default: // told already
		}
		_ = m.Respond(nil)
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		nc.Close()
		return nil, fmt.Errorf("watch %s: %w", o.URL, err)
	}
	return w, nil
}

// Ask asks how the run is, as its coordinator's Show tells it.
func (w *Watcher) Ask(ctx context.Context) ([]byte, error) {
	m, err := w.nc.RequestWithContext(ctx, w.watch, []byte(w.inbox))
	if err != nil {
		return nil, fmt.Errorf("ask how the run is: %w", err)
	}
	if why := m.Header.Get(headerRefused); why != "" {
		return nil, fault.Code(errors.New(why), fault.CodeOther)
	}
	return m.Data, nil
}

// Last brings what came of the run, once, when it has ended.
func (w *Watcher) Last() <-chan []byte { return w.last }

// Close ends the watch. The run goes on.
func (w *Watcher) Close() { w.nc.Close() }
