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

// watched tells one who watches how the run is.
func (c *Coordinator) watched(m *nats.Msg) {
	if c.o.Show == nil {
		return
	}
	refuse := func(why string) {
		if isInbox(m.Reply) {
			_ = m.RespondMsg(&nats.Msg{Header: nats.Header{headerRefused: {why}}})
		}
	}
	c.mu.Lock()
	held, room := c.held, c.watchedBy(m.Data)
	c.mu.Unlock()
	switch {
	case held:
		refuse("the run has ended")
		return
	case !room:
		refuse(fmt.Sprintf("%d watch it already", mostWatchers))
		return
	}
	data := c.o.Show()
	if most := c.nc.MaxPayload(); int64(len(data)) > most {
		refuse(fmt.Sprintf("what there is to show takes %s, and NATS takes messages of %s: raise its max_payload", units.Size(int64(len(data))), units.Size(most)))
		return
	}
	answer(m, data)
}

// watchedBy notes who asks, by where it is to be told of the end; false: there are too many,
// or that is no place for it. The caller holds c.mu.
func (c *Coordinator) watchedBy(inbox []byte) bool {
	if len(inbox) > mostName || !isInbox(string(inbox)) {
		return false
	}
	if _, known := c.watchers[string(inbox)]; !known && len(c.watchers) >= mostWatchers {
		maps.DeleteFunc(c.watchers, func(_ string, at time.Time) bool { return time.Since(at) > watching })
		if len(c.watchers) >= mostWatchers {
			return false
		}
	}
	c.watchers[string(inbox)] = time.Now()
	return true
}

// Last shows all who watch the run what came of it, and waits a little until they have it.
func (c *Coordinator) Last(shown []byte) {
	c.mu.Lock()
	watchers := maps.Clone(c.watchers)
	c.mu.Unlock()
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for inbox, at := range watchers {
		if time.Since(at) < watching {
			all.Go(func() { _, _ = c.nc.RequestWithContext(ctx, inbox, shown) }) // gone, perhaps
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
