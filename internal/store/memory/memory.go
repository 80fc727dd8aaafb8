// Package memory keeps data in plain Go maps of this process. It is a store like the
// others, for demonstrations and for tests on a virtual clock; measurements on it are
// of the harness, not of a server.
package memory

import (
	"context"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/store"
)

// NoFigure is what reports say about a run on this store.
const NoFigure = "Values were kept in memory of perfbench itself; these numbers do not describe a real server."

// Driver opens stores in memory: memory: is a new one each time, and memory:NAME is one
// shared under that name within this process.
var Driver = store.Driver{
	Name:    "memory",
	Title:   "Memory of this process",
	Schemes: []string{"memory"},
	Example: "memory:",
	Breaks:  store.BreaksCalls,
	Fresh:   true,
	Params:  []string{"latency", "service", "servers", "stall", "stall_every"},
	Open:    open,
}

var _ store.Maps = (*Conn)(nil)

// Conn is a connection to a store in memory. It is safe for use by several
// goroutines.
type Conn struct {
	db     *database
	delay  delay
	proxy  *proxy.Proxy
	closed atomic.Bool
}

func open(ctx context.Context, t store.Target, o store.OpenOptions) (store.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.Store(err, "")
	}
	d, err := newDelay(t)
	if err != nil {
		return nil, err
	}
	return &Conn{db: databaseOf(t.Path), delay: d, proxy: o.Proxy}, nil
}

// Info describes the store. It never fails.
func (c *Conn) Info(context.Context) (store.Info, error) {
	return store.Info{Name: "memory", Topology: "in process", FreeBytes: store.FreeMemory(), NoFigure: NoFigure}, nil
}

// Close makes every later call fail as unreachable.
func (c *Conn) Close() error {
	c.closed.Store(true)
	return nil
}

// Probe accepts every write.
func (c *Conn) Probe(ctx context.Context, _ store.Space) error { return c.wait(ctx) }

var named struct {
	sync.Mutex
	byName map[string]*database
}

// databaseOf returns the database of that name, a new one for the empty name.
func databaseOf(name string) *database {
	if name == "" {
		return newDatabase()
	}
	named.Lock()
	defer named.Unlock()
	if named.byName == nil {
		named.byName = map[string]*database{}
	}
	if named.byName[name] == nil {
		named.byName[name] = newDatabase()
	}
	return named.byName[name]
}

// place identifies a table.
type place struct {
	namespace, name string
	grouped         bool
}

func placeOf(s store.Space) place { return place{s.Namespace, s.Name, s.Grouped} }

// database is all tables and the records of what was made. Tables are looked up without
// a lock: the map is replaced, never modified.
type database struct {
	tables atomic.Pointer[map[place]*table]

	mu     sync.Mutex
	made   map[place]store.Made
	leases map[string]held
}

// held says who has the lease of a namespace, and until when.
type held struct {
	store.Lease
	until time.Time
}

func newDatabase() *database {
	d := &database{made: map[place]store.Made{}, leases: map[string]held{}}
	d.tables.Store(&map[place]*table{})
	return d
}

func (d *database) table(s store.Space) *table { return (*d.tables.Load())[placeOf(s)] }

// tableFor returns the table of s, creating it if necessary.
func (d *database) tableFor(s store.Space) *table {
	if t := d.table(s); t != nil {
		return t
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if t := d.table(s); t != nil {
		return t
	}
	next := maps.Clone(*d.tables.Load())
	t := &table{}
	next[placeOf(s)] = t
	d.tables.Store(&next)
	return t
}

// drop removes the table of s.
func (d *database) drop(s store.Space) *table {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := maps.Clone(*d.tables.Load())
	t := next[placeOf(s)]
	delete(next, placeOf(s))
	d.tables.Store(&next)
	delete(d.made, placeOf(s))
	return t
}

func (d *database) record(m store.Made) {
	d.mu.Lock()
	defer d.mu.Unlock()
	m.Params, m.Parts = maps.Clone(m.Params), slices.Clone(m.Parts)
	d.made[placeOf(m.Space)] = m
}

func (d *database) recorded(s store.Space) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.made[placeOf(s)]
	return ok
}

func (d *database) madeIn(namespace string) []store.Made {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []store.Made
	for p, m := range d.made {
		if p.namespace == namespace {
			m.Params, m.Parts = maps.Clone(m.Params), slices.Clone(m.Parts)
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b store.Made) int {
		if a.Name == b.Name && a.Grouped != b.Grouped {
			if a.Grouped {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

var seed = maphash.MakeSeed()

const shards = 64

// table holds the entries of one space, by key, or by group and then by key. It is
// sharded so that workers rarely contend.
type table struct {
	shard [shards]shard
}

type shard struct {
	mu     sync.RWMutex
	groups map[string]map[string][]byte
	_      [64]byte // keeps neighbours off the same cache line
}

func (t *table) of(b []byte) *shard { return &t.shard[maphash.Bytes(seed, b)%shards] }

// set stores a copy of val.
func (s *shard) set(group, key, val []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := s.groups[string(group)]
	if entries == nil {
		if s.groups == nil {
			s.groups = map[string]map[string][]byte{}
		}
		entries = map[string][]byte{}
		s.groups[string(group)] = entries
	}
	if old, ok := entries[string(key)]; ok && cap(old) >= len(val) {
		entries[string(key)] = append(old[:0], val...)
		return
	}
	entries[string(key)] = append(make([]byte, 0, len(val)), val...)
}

// get appends a copy of the value to buf.
func (s *shard) get(group, key, buf []byte) ([]byte, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v, ok := s.groups[string(group)][string(key)]
	return append(buf, v...), ok
}

func (t *table) size() int64 {
	var n int64
	for i := range t.shard {
		s := &t.shard[i]
		s.mu.RLock()
		for _, g := range s.groups {
			n += int64(len(g))
		}
		s.mu.RUnlock()
	}
	return n
}
