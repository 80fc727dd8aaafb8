package coherence

import (
	"context"
	"encoding/json"
	"fmt"

	client "github.com/oracle/coherence-go-client/v2/coherence"
	"github.com/oracle/coherence-go-client/v2/coherence/filters"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// madeKey is the key of a space in the records.
func madeKey(s store.Space) string {
	key := store.RecordKey(s)
	if s.Shape == QueueShape {
		key += ":queue"
	}
	return key
}

// QueueShape is the shape of a space that is a queue.
const QueueShape store.Shape = "queue"

// Records are what was made under each namespace, in a cache next to the data.
type Records struct {
	sessions *sessions
	maps     *Maps
	queues   *Queues
}

// Inspect looks at the cache or queue of a space. An empty one counts as absent: the
// server creates it when somebody looks, so its owner cannot be determined.
func (r *Records) Inspect(ctx context.Context, s store.Space, _ ...string) (store.Found, error) {
	n, kind, err := r.sizeOf(ctx, s)
	if err != nil || n == 0 {
		return store.Found{}, err
	}
	return store.Found{Exists: true, Kind: kind, Size: n}, nil
}

func (r *Records) sizeOf(ctx context.Context, s store.Space) (int64, string, error) {
	if s.Shape == QueueShape {
		n, err := r.queues.Size(ctx, s)
		return n, "queue", err
	}
	n, err := r.maps.Count(ctx, s)
	return n, "cache", err
}

// recordCache is what is used of the cache of records, clearing of one that is dropped.
type (
	recordCache interface {
		Get(ctx context.Context, key string) (*Value, error)
		EntrySetFilter(ctx context.Context, filter filters.Filter) <-chan *client.StreamedEntry[string, Value]
		ContainsKey(ctx context.Context, key string) (bool, error)
		Put(ctx context.Context, key string, v Value) (*Value, error)
		Remove(ctx context.Context, key string) (*Value, error)
	}
	clearing interface {
		Clear(ctx context.Context) error
	}
)

// recorded reports whether a space is recorded as ours.
func (r *Records) recorded(ctx context.Context, s store.Space) (bool, error) {
	return onCache(ctx, r.sessions, "read", madeName(s.Namespace), func(ctx context.Context, m recordCache) (bool, error) {
		return m.ContainsKey(ctx, madeKey(s))
	})
}

// Record records that we made a space.
func (r *Records) Record(ctx context.Context, m store.Made) error {
	if m.Shape != QueueShape {
		if _, err := cacheOf(m.Space); err != nil {
			return err
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("record of %s: %w", m.Name, err)
	}
	_, err = onCache(ctx, r.sessions, "write", madeName(m.Namespace), func(ctx context.Context, made recordCache) (none, error) {
		_, err := made.Put(ctx, madeKey(m.Space), text)
		return none{}, err
	})
	return err
}

// Made lists what is recorded under a namespace, by name.
func (r *Records) Made(ctx context.Context, namespace string) ([]store.Made, error) {
	name := madeName(namespace)
	texts, err := onCache(ctx, r.sessions, "read", name, func(ctx context.Context, m recordCache) (map[string][]byte, error) {
		out := map[string][]byte{}
		var first error
		for e := range m.EntrySetFilter(ctx, filters.Always()) {
			if e.Err != nil && first == nil {
				first = e.Err
			} else if e.Err == nil {
				out[e.Key] = e.Value
			}
		}
		return out, first
	})
	if err != nil {
		return nil, err
	}
	out, wrong := store.AppendRecords(nil, namespace, texts, madeKey)
	if wrong != "" {
		return nil, store.NotOurs(fmt.Sprintf("coherence: %q in %s", wrong, name), "record")
	}
	return out, nil
}

// Drop removes the entries of a space that is recorded as ours, and the record, and
// returns how many entries were removed. The cache itself stays, empty: destroying or
// truncating it is an event for every session, and such an event deadlocks a client
// that is just looking up another cache.
func (r *Records) Drop(ctx context.Context, s store.Space, progress func(done int64)) (int64, error) {
	recorded, err := r.recorded(ctx, s)
	if err != nil {
		return 0, err
	}
	if !recorded {
		return 0, fault.Input(fmt.Errorf("coherence: %s was not made by perfbench", s.Name), "only what perfbench made is deleted")
	}
	n, _, err := r.sizeOf(ctx, s)
	if err != nil {
		return 0, err
	}
	if s.Shape == QueueShape {
		err = r.queues.Clear(ctx, s)
	} else {
		_, err = on(ctx, r.sessions, "clear", s, func(ctx context.Context, m clearing) (none, error) { return none{}, m.Clear(ctx) })
	}
	if err != nil {
		return 0, err
	}
	if progress != nil {
		progress(n)
	}
	_, err = onCache(ctx, r.sessions, "write", madeName(s.Namespace), func(ctx context.Context, m recordCache) (none, error) {
		_, err := m.Remove(ctx, madeKey(s))
		return none{}, err
	})
	return n, err
}

// Prober tries whether the server would accept the writes of a run.
type Prober struct{ sessions *sessions }

// Probe reports whether the server would accept a run's writes to s: it writes into
// a cache of our own under a drawn key, reads the entry back, and removes it.
func (p *Prober) Probe(ctx context.Context, s store.Space) error {
	if s.Shape != QueueShape && s.Name != "" {
		if _, err := cacheOf(s); err != nil {
			return err
		}
	}
	key := store.Unlikely()
	_, err := onCache(ctx, p.sessions, "probe", prefixed(s.Namespace, "perfbench-probe"), func(ctx context.Context, m recordCache) (none, error) {
		if _, err := m.Put(ctx, key, []byte(key)); err != nil {
			return none{}, err
		}
		v, err := m.Get(ctx, key)
		if err == nil && v == nil {
			err = client.ErrDestroyed
		}
		if err != nil {
			return none{}, err
		}
		_, err = m.Remove(ctx, key)
		return none{}, err
	})
	return p.sessions.explain(ctx, err)
}
