package authz

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// tenant is one run of the original: its data and what has become of it.
type tenant struct {
	s             *spec
	name          string
	phase, number int

	once    sync.Once
	ids     []string
	load    loader
	cursors [8]atomic.Int64 // by test

	mu      sync.Mutex
	tallies map[string][]*tally
	wrong   []string
	wrongs  [2]int64 // denied though allowed, allowed though not
	changed map[string]string
}

// id is the full id of a principal.
func (t *tenant) id(p int32) string {
	t.once.Do(func() {
		t.ids = make([]string, len(t.s.model.local))
		for i := range t.ids {
			t.ids[i] = t.s.model.id(t.name, int32(i))
		}
	})
	return t.ids[p]
}

// tally is what one worker has done of one kind. The worker alone writes it.
type tally struct {
	count, errors, allowed, denied, statements, first, last atomic.Int64
	_                                                       [64]byte
}

func (t *tenant) tally(kind string) *tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tallies == nil {
		t.tallies = map[string][]*tally{}
	}
	k := &tally{}
	t.tallies[kind] = append(t.tallies[kind], k)
	return k
}

// note adds one operation, from and to in ns since measurement began.
func (k *tally) note(from, to, statements int64, err error) {
	if k.count.Load()+k.errors.Load() == 0 {
		k.first.Store(from)
	}
	k.last.Store(to)
	k.statements.Add(statements)
	if err != nil {
		k.errors.Add(1)
		return
	}
	k.count.Add(1)
}

func (k *tally) decided(ok bool) {
	if ok {
		k.allowed.Add(1)
	} else {
		k.denied.Add(1)
	}
}

// judge compares a decision with the oracle's.
func (t *tenant) judge(got, want bool, principal, resource, role string) {
	if got == want || t.s.driver == "null" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	word := "denied, and is allowed"
	if got {
		word = "allowed, and is not"
		t.wrongs[1]++
	} else {
		t.wrongs[0]++
	}
	if len(t.wrong) < 10 {
		t.wrong = append(t.wrong, fmt.Sprintf("%s as %s on %s: %s", principal, role, resource, word))
	}
}

// remember keeps the last acknowledged grant of a mix, for verification; an unknown
// outcome is forgotten.
func (t *tenant) remember(g grant, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = map[string]string{}
	}
	key := g.member + "\x00" + g.resource
	if err != nil {
		delete(t.changed, key)
		return
	}
	t.changed[key] = g.role
}

// kind is one step of a load.
type kind struct {
	name string
	n    int
	op   int
}

// loader hands out a tenant's load in batches, one kind after the other: a kind
// begins once every item of the one before is stored.
type loader struct {
	mu       sync.Mutex
	kinds    []kind
	size     int
	at, next int
	flying   int
	done     map[string]bool
	gate     chan struct{}
	before   int64 // items that an earlier run has stored
}

func (l *loader) begin(kinds []kind, size int, done map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds, l.size, l.done, l.gate = kinds, size, done, make(chan struct{})
	for _, k := range kinds {
		for b := 0; b*size < k.n; b++ {
			if done[batchName(k.name, b)] {
				l.before += int64(min(size, k.n-b*size))
			}
		}
	}
}

func batchName(kind string, batch int) string { return fmt.Sprintf("%s-%d", kind, batch) }

// batch is a stretch of one kind.
type batch struct {
	kind, number, from, to int
}

// claim returns the next batch that is not done, waiting for a kind to end where
// need be; false when there is no more.
func (l *loader) claim(ctx context.Context) (batch, bool) {
	for {
		l.mu.Lock()
		for l.at < len(l.kinds) {
			k := l.kinds[l.at]
			for l.next*l.size < k.n && l.done[batchName(k.name, l.next)] {
				l.next++
			}
			if l.next*l.size < k.n {
				b := batch{l.at, l.next, l.next * l.size, min((l.next+1)*l.size, k.n)}
				l.next++
				l.flying++
				l.mu.Unlock()
				return b, true
			}
			if l.flying > 0 {
				break
			}
			l.at, l.next = l.at+1, 0
		}
		over, gate := l.at >= len(l.kinds), l.gate
		l.mu.Unlock()
		if over {
			return batch{}, false
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return batch{}, false
		}
	}
}

// end gives a batch back as stored.
func (l *loader) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying--
	close(l.gate)
	l.gate = make(chan struct{})
}

// visibility maps what files hold to what the application knows.
func visibility(v string) (string, error) {
	switch v {
	case "public", "loggedin", "private":
		return v, nil
	case "contacts":
		return "private", nil
	case "everyone", "":
		return "public", nil
	}
	return "", fmt.Errorf("visibility %q is not one of public, loggedin, private, contacts, everyone", v)
}

// visible says whether a reader may see a section: "owner", "other" (logged in)
// or "anonymous".
func visible(visibility, reader string) bool {
	return reader == "owner" || visibility == "public" || visibility == "loggedin" && reader == "other"
}
