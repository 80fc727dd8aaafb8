package coherence

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	client "github.com/oracle/coherence-go-client/v2/coherence"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// nearEntries is the largest number of entries in the near cache of one cache.
const nearEntries = 1_000_000

// Near reads caches through the client's near caches, in a session of their own. A
// process has one copy of what it reads, and the server reports every change to it. It
// is safe for use by several goroutines, and must be closed before its connection.
type Near struct {
	sessions *sessions

	mu     sync.Mutex
	link   atomic.Pointer[link]
	tried  time.Time
	caches sync.Map // name → *nearCache
	spaces []store.Space
	reads  atomic.Int64
	hits   atomic.Int64
	hitNS  atomic.Int64
	hitN   atomic.Int64
	missNS atomic.Int64
	missN  atomic.Int64
}

type nearCache struct {
	l *link
	m nearReading
}

// nearReading is what is used of a near cache.
type nearReading interface {
	Get(ctx context.Context, key string) (*Value, error)
	GetAll(ctx context.Context, keys []string) <-chan *client.StreamedEntry[string, Value]
}

// asking is the context of one read. It notes whether the client waited for the server,
// which is when it calls Done. The client's own counters must not be read while it is
// counting.
type asking struct {
	life
	asked atomic.Bool
}

// Done notes that it was called.
func (a *asking) Done() <-chan struct{} {
	a.asked.Store(true)
	return a.life.Done()
}

// NearStats says what near caches did: how many entries were requested, and how many of
// these came from memory. If a call found only some of its entries in memory, the last
// of those may not be counted. The mean times, 0 if there were none, are per entry, in
// calls that found all or none of their entries in memory.
type NearStats struct {
	Reads, Hits int64
	Hit, Miss   time.Duration
}

// OpenNear opens the near caches of several spaces. It opens all of them up front,
// because the client deadlocks if a change arrives while it does so.
func (c *Conn) OpenNear(ctx context.Context, spaces []store.Space) (*Near, error) {
	n := &Near{sessions: c.sessions, spaces: spaces}
	if err := n.open(ctx); err != nil {
		return nil, c.sessions.explain(ctx, err)
	}
	return n, nil
}

func (n *Near) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, n.sessions.opts.dial)
	defer cancel()
	l, err := n.sessions.openLink(ctx, -1)
	if err != nil {
		return err
	}
	for _, s := range n.spaces {
		name, err := cacheOf(s)
		if err == nil {
			var m any
			m, err = callOn(ctx, n.sessions, l, func(context.Context, *link) (any, error) {
				return cacheIn(l.session, name, client.WithNearCache(&client.NearCacheOptions{HighUnits: nearEntries}))
			})
			if err == nil {
				n.caches.Store(name, &nearCache{l, m.(nearReading)})
			}
		}
		if err != nil {
			n.sessions.mending.Go(fault.Guarded(l.close))
			return fmt.Errorf("near cache of %s: %w", s.Name, err)
		}
	}
	n.link.Store(l)
	return nil
}

// session returns the session, a new one after a loss.
func (n *Near) session() (*link, error) {
	l := n.link.Load()
	if l.alive() && n.sessions.gates[0].Ready() {
		return l, nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if l = n.link.Load(); l.alive() && n.sessions.gates[0].Ready() {
		return l, nil
	}
	if l.alive() {
		n.sessions.mending.Go(fault.Guarded(l.close))
	}
	if n.sessions.closed() {
		return nil, errClosed
	}
	if !n.sessions.gates[0].Ready() || time.Since(n.tried) < retryEvery {
		return nil, errAway
	}
	n.tried = time.Now()
	if err := n.open(context.Background()); err != nil {
		return nil, errAway
	}
	return n.link.Load(), nil
}

func (l *link) alive() bool {
	select {
	case <-l.lost:
		return false
	default:
		return true
	}
}

// Get reads one entry, and reports whether there is one.
func (n *Near) Get(ctx context.Context, s store.Space, key []byte) (bool, error) {
	k := textKey(key)
	got, err := n.read(ctx, "get", s, 1, func(ctx *asking, m nearReading) (found, error) {
		v, err := m.Get(ctx, k)
		if err != nil || v == nil {
			return found{}, err
		}
		if ctx.asked.Load() {
			return found{entries: 1}, nil
		}
		return found{entries: 1, hits: 1}, nil
	})
	return got == 1, err
}

// GetAll reads entries, and returns how many there are.
func (n *Near) GetAll(ctx context.Context, s store.Space, keys [][]byte) (int, error) {
	texts := make([]string, len(keys))
	for i, k := range keys {
		texts[i] = textKey(k)
	}
	slices.Sort(texts) // an entry that is requested twice is returned once
	texts = slices.Compact(texts)
	return n.read(ctx, "get all", s, len(texts), func(ctx *asking, m nearReading) (f found, err error) {
		for e := range m.GetAll(ctx, texts) { // those in memory come first
			if e.Err != nil {
				err = e.Err
				continue
			}
			f.entries++
			if !ctx.asked.Load() {
				f.hits++
			}
		}
		return f, err
	})
}

// found is the result of a read: entries, and how many of them were in memory.
type found struct{ entries, hits int }

func (n *Near) read(ctx context.Context, what string, s store.Space, keys int, f func(ctx *asking, m nearReading) (found, error)) (int, error) {
	name, err := cacheOf(s)
	if err != nil {
		return 0, err
	}
	l, err := n.session()
	if err != nil {
		return 0, wrap(what, name, err)
	}
	v, ok := n.caches.Load(name)
	if !ok {
		return 0, wrap(what, name, store.ErrUnsupported)
	}
	cache, began := v.(*nearCache), time.Now()
	got, err := callOn(ctx, n.sessions, l, func(context.Context, *link) (found, error) { return f(&asking{life: l.life}, cache.m) })
	if err != nil {
		return 0, wrap(what, name, err)
	}
	took := int64(time.Since(began))
	n.reads.Add(int64(keys))
	n.hits.Add(int64(got.hits))
	switch got.hits { // only clear cases count
	case 0:
		n.missNS.Add(took)
		n.missN.Add(int64(keys))
	case keys:
		n.hitNS.Add(took)
		n.hitN.Add(int64(keys))
	}
	return got.entries, nil
}

// Stats returns what the near caches have done so far.
func (n *Near) Stats() NearStats {
	out := NearStats{Reads: n.reads.Load(), Hits: n.hits.Load()}
	if c := n.hitN.Load(); c > 0 {
		out.Hit = time.Duration(n.hitNS.Load() / c)
	}
	if c := n.missN.Load(); c > 0 {
		out.Miss = time.Duration(n.missNS.Load() / c)
	}
	return out
}

// Close ends the session of the near caches.
func (n *Near) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.link.Load().close()
	return nil
}
