package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
)

const (
	// tryPatience is how long all that is tried may take.
	tryPatience = 10 * time.Second
	// tried is how many entries a call of several has.
	tried = 100
	// large is the size of a value that is larger than a packet.
	large = 64 << 10
)

// databases are the drivers whose data are in a database, which nothing would remove if it
// were made for a try.
var databases = []string{"mysql", "postgres", "cassandra"}

// Try carries out everything that a run asks of a store, in a namespace of its own, which is
// removed again. The error has the code of bad input if the target is none to try, and that of
// a store if it failed at something.
func (s *Store) Try(ctx context.Context) (Section, error) {
	if slices.Contains(databases, s.Driver.Name) && s.Target.Path == "" {
		return Section{}, fault.Input(fmt.Errorf("doctor --try: %s names no database, and one made for this would remain", s.Target.Redacted()),
			"name one that exists: "+s.Driver.Example)
	}
	ctx, cancel := context.WithTimeout(ctx, tryPatience)
	defer cancel()
	t := trial{ctx: ctx, store: s, namespace: s.Namespace + "_try_" + store.Unlikely()[:6]}
	sec := func() Section { return Section{"tried in the namespace " + t.namespace, t.list} }
	conn, err := s.Driver.Open(ctx, s.Target, s.Options)
	if err != nil {
		return sec(), s.failed(&t.list, "log in", err)
	}
	defer func() { _ = conn.Close() }() // we have nothing left to write
	t.conn = conn
	t.all()
	return sec(), t.err
}

// trial is one try of a store.
type trial struct {
	ctx       context.Context
	store     *Store
	conn      store.Conn
	namespace string
	list      list
	err       error // the first
}

// step tries one ability, and notes how long it took.
func (t *trial) step(about, what string, f func(ctx context.Context) error) bool {
	began := time.Now()
	err := f(t.ctx)
	switch {
	case errors.Is(err, store.ErrUnsupported):
		t.list.unknown(about, "it has no such thing")
		return false
	case err != nil:
		err = t.store.failed(&t.list, about, err)
		if t.err == nil {
			t.err = err
		}
		return false
	}
	t.list.good(about, what+": "+units.Duration(time.Since(began)))
	return true
}

// all tries everything.
func (t *trial) all() {
	space := store.Space{Namespace: t.namespace, Name: "try", Shape: store.Map}
	grouped := space
	grouped.Grouped = true
	var claim *ownership.Claim
	if !t.step("claim", "the lease is taken, and two spaces are recorded", func(ctx context.Context) (err error) {
		claim, err = ownership.Take(ctx, t.conn, ownership.Want{
			Namespace: t.namespace, Profile: "doctor", Run: "doctor", Spaces: []ownership.Space{{Space: space}, {Space: grouped}},
		})
		return err
	}) {
		return
	}
	t.step("exclusive", "another is denied the lease", t.denied)
	maps, ok := store.Has[store.Maps](t.conn)
	if ok {
		t.entries(maps, space)
		t.groups(maps, grouped)
	} else {
		t.list.unknown("entries", "it has no maps")
	}
	t.step("clean up", "what was made is removed", func(ctx context.Context) error {
		ctx = context.WithoutCancel(ctx) // also if the time is up
		ctx, cancel := context.WithTimeout(ctx, tryPatience)
		defer cancel()
		if err := errors.Join(claim.Cleanup(ctx), claim.Release(ctx)); err != nil {
			return err
		}
		return t.gone(ctx, space)
	})
}

// denied asks for the lease as somebody else.
func (t *trial) denied(ctx context.Context) error {
	l, err := store.As[store.Leaser](t.conn)
	if err != nil {
		return err
	}
	_, how, err := l.Hold(ctx, t.namespace, store.Lease{Run: "another", Token: store.Unlikely()}, ownership.TTL)
	if err == nil && how != store.Denied {
		err = errors.New("somebody else got the lease that is held: two runs could write at once")
	}
	return err
}

// gone makes sure that nothing is left.
func (t *trial) gone(ctx context.Context, s store.Space) error {
	k, err := store.As[store.Keeper](t.conn)
	if err != nil {
		return err
	}
	found, err := k.Inspect(ctx, s)
	if err == nil && found.Exists {
		err = fmt.Errorf("%s is still there", ownership.Name(s))
	}
	return err
}

// same compares what was read with what was written.
func same(got, want []byte, there bool) error {
	switch {
	case !there:
		return errors.New("what was written is not there")
	case !bytes.Equal(got, want):
		return fmt.Errorf("%s were written, and others read", units.Size(int64(len(want))))
	}
	return nil
}

// entries tries the calls on one map.
func (t *trial) entries(m store.Maps, s store.Space) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	write := func(how func(ctx context.Context, s store.Space, key, val []byte) error, key, val []byte) func(context.Context) error {
		return func(ctx context.Context) error {
			if err := how(ctx, s, key, val); err != nil {
				return err
			}
			got, there, err := m.Get(ctx, s, key, nil)
			if err != nil {
				return err
			}
			return same(got, val, there)
		}
	}
	t.step("put, get", "a value of every byte, under a key of such", write(m.Put, every[:64], every))
	t.step("set, get", "another in its place", write(m.Set, every[:64], []byte("second")))
	t.step("large value", units.Size(large), write(m.Set, []byte("large"), bytes.Repeat(every, large/len(every))))
	var es []store.Entry
	var keys [][]byte
	for i := range tried {
		e := store.Entry{Key: strconv.AppendInt([]byte("k"), int64(i), 10), Val: every[:i]}
		es, keys = append(es, e), append(keys, e.Key)
	}
	t.step("putall", fmt.Sprintf("%d entries", tried), func(ctx context.Context) error { return m.PutAll(ctx, s, es) })
	t.step("getall", fmt.Sprintf("%d entries", tried), func(ctx context.Context) error {
		got, err := m.GetAll(ctx, s, keys)
		for i := range got {
			if err == nil {
				err = same(got[i], es[i].Val, got[i] != nil)
			}
		}
		return err
	})
	t.counts(m, s, tried+2)
}

// counts tries the count of a space.
func (t *trial) counts(m store.Counter, s store.Space, want int64) {
	about := "count"
	if s.Grouped {
		about = "group count"
	}
	t.step(about, fmt.Sprintf("%d entries", want), func(ctx context.Context) error {
		n, err := m.Count(ctx, s)
		if err == nil && n != want {
			err = fmt.Errorf("%d entries were written, and %d are counted", want, n)
		}
		return err
	})
}

// groups tries the calls on groups.
func (t *trial) groups(m store.GroupPutter, s store.Space) {
	es := []store.Entry{{Key: []byte("a"), Val: []byte("1")}, {Key: []byte("b"), Val: []byte("2")}}
	t.step("group put", "one entry", func(ctx context.Context) error { return m.PutGroup(ctx, s, []byte("x"), []byte("a"), []byte("0")) })
	t.step("groups put", "two groups of two entries", func(ctx context.Context) error {
		return m.PutGroups(ctx, s, []store.Group{{Name: []byte("x"), Entries: es}, {Name: []byte("y"), Entries: es}})
	})
	t.step("group get", "two entries of one", func(ctx context.Context) error {
		got, err := m.GetGroup(ctx, s, []byte("x"), [][]byte{[]byte("a"), []byte("b")})
		for i := range got {
			if err == nil {
				err = same(got[i], es[i].Val, got[i] != nil)
			}
		}
		return err
	})
	if c, ok := m.(store.Counter); ok {
		t.counts(c, s, 4)
	}
}
