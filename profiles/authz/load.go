package authz

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// kind is one step of a load.
type kind struct {
	name string
	n    int
	op   int
}

// loader hands out a tenant's load item by item, one kind after the other: a kind
// begins once every item of the one before is stored. Workers hold nothing between two
// items, so a worker that leaves strands nothing. Items are marked as stored batch by
// batch, in the store.
type loader struct {
	mu       sync.Mutex
	kinds    []kind
	size     int
	have     [][]bool // by kind and batch: what an earlier run has stored
	at, next int
	flying   int
	again    []item      // items that failed
	missing  map[int]int // for the batches begun: how many items are not stored
	gate     chan struct{}
	failing  int64     // since when nothing has worked; 0: something has
	since    time.Time // the same in wall clock time
	before   int64     // items that an earlier run has stored
	ended    int       // items that were returned
	seen     int       // the value of ended when stuck last looked
	quiet    time.Time // since when it has had that value
	endless  bool      // items are stored repeatedly, until the phase's time is up
	silent   []int64   // by kind: how many items are stored that another process has measured
	// elsewhere holds which processes, out of the given number, have ended their parts
	// of the load; 0 means that this process does all of it.
	elsewhere map[int]bool
	processes int
}

// item is one item of a kind. If it is already stored, only the mark of its batch
// failed.
type item struct {
	kind, i int
	stored  bool
	silent  bool // it has been measured
}

// begin sets up what is to be loaded and which of it is done.
func (l *loader) begin(kinds []kind, size int, done map[string]bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kinds, l.size, l.gate, l.missing = kinds, size, make(chan struct{}), map[int]int{}
	l.have, l.before, l.silent = nil, 0, make([]int64, len(kinds))
	for _, k := range kinds {
		have := make([]bool, (k.n+size-1)/size)
		for b := range have {
			if have[b] = done[batchName(k.name, b)]; have[b] {
				l.before += int64(min(size, k.n-b*size))
			}
		}
		l.have = append(l.have, have)
	}
	l.turn()
}

func batchName(kind string, batch int) string { return fmt.Sprintf("%s-%d", kind, batch) }

// turn skips what is done, and moves to the next kind when all of this one is stored.
// The caller holds the lock.
func (l *loader) turn() {
	for l.at < len(l.kinds) {
		have, n := l.have[l.at], l.kinds[l.at].n
		for l.next < n && have[l.next/l.size] {
			l.next = min(n, (l.next/l.size+1)*l.size)
		}
		if l.next < n || l.flying > 0 || len(l.again) > 0 {
			return
		}
		l.at, l.next = l.at+1, 0
		if l.endless && l.at == len(l.kinds) && slices.ContainsFunc(l.kinds, func(k kind) bool { return k.n > 0 }) {
			l.at = 0
		}
	}
}

// over reports whether everything is stored.
func (l *loader) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.kinds) > 0 && l.at >= len(l.kinds) || l.processes > 0 && len(l.elsewhere) == l.processes
}

// done notes that one of that many processes has ended its part of the load.
func (l *loader) done(process, of int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.elsewhere == nil {
		l.elsewhere = map[int]bool{}
	}
	l.elsewhere[process], l.processes = true, of
}

// leave leaves to other processes their batches, right after begin.
func (l *loader) leave(mine *site) {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := false
	for _, have := range l.have {
		from, to := mine.stretch(int64(len(have)))
		for b := range have {
			have[b] = have[b] || int64(b) < from || int64(b) >= to
			some = some || !have[b]
		}
	}
	l.endless = l.endless && some
	l.at, l.next = 0, 0
	l.turn()
}

// lacking is how many items of a kind are in its batches between from and to that are not there, with to
// excluded. The caller holds the lock.
func (l *loader) lacking(kind int, from, to int64) (n int64) {
	for b := from; b < to; b++ {
		if !l.have[kind][b] {
			n += int64(min(l.size, l.kinds[kind].n-int(b)*l.size))
		}
	}
	return n
}

// missingOf is how many items of a kind were not there when the run began, of those that a process has.
func (l *loader) missingOf(kind int, stretch func(n int64) (from, to int64)) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	from, to := stretch(int64(len(l.have[kind])))
	return l.lacking(kind, from, to)
}

// owe has that many items of a kind stored and measured, right after leave, of those that this process
// has. Others that are not there are stored first.
func (l *loader) owe(kind int, items int64, stretch func(n int64) (from, to int64)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	have := l.have[kind]
	from, to := stretch(int64(len(have)))
	missing := l.lacking(kind, from, to)
	for b := to - 1; b >= from && missing < items; b-- { // it is marked, and figures do not have it
		if have[b] {
			have[b] = false
			missing += int64(min(l.size, l.kinds[kind].n-int(b)*l.size))
		}
	}
	l.silent[kind] = missing - items
	l.at, l.next = 0, 0
	l.turn()
	return items >= 0 && items <= missing
}

// claim returns an item that is not stored, if necessary after waiting for a kind to
// end; false if there are no more.
func (l *loader) claim(ctx context.Context) (item, bool) {
	for {
		l.mu.Lock()
		if it, ok := l.nextItem(); ok {
			l.mu.Unlock()
			return it, true
		}
		over, gate := l.at >= len(l.kinds), l.gate
		l.mu.Unlock()
		if over {
			return item{}, false
		}
		select {
		case <-gate:
		case <-ctx.Done():
			return item{}, false
		}
	}
}

func (l *loader) nextItem() (item, bool) {
	if l.at >= len(l.kinds) {
		return item{}, false
	}
	if n := len(l.again); n > 0 {
		it := l.again[n-1]
		l.again = l.again[:n-1]
		l.flying++
		return it, true
	}
	if l.next >= l.kinds[l.at].n {
		return item{}, false
	}
	it := item{kind: l.at, i: l.next, silent: l.silent[l.at] > 0}
	if it.silent {
		l.silent[l.at]--
	}
	if b := it.i / l.size; it.i%l.size == 0 {
		l.missing[b] = min(l.size, l.kinds[l.at].n-it.i)
	}
	l.next++
	l.flying++
	l.turn() // the next batch may be done already
	return it, true
}

// stored notes that an item is stored, and reports whether its batch is now complete
// and must be marked.
func (l *loader) stored(it item) (batch int, complete bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	batch = it.i / l.size
	if !it.stored {
		l.missing[batch]--
	}
	return batch, l.missing[batch] == 0
}

// end returns an item. A failed one is handed out again, to be stored or, if only its
// batch could not be marked, for the mark. It returns the time since which nothing has
// worked, 0 if something has.
func (l *loader) end(it item, now int64, stored bool, err error) (failing int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flying--
	l.ended++
	if err != nil {
		it.stored = stored
		l.again = append(l.again, it)
		if l.failing == 0 {
			l.failing, l.since = max(now, 1), time.Now()
		}
		l.open()
		return l.failing
	}
	l.failing = 0
	if b := it.i / l.size; l.missing[b] == 0 {
		delete(l.missing, b)
	}
	at := l.at
	if l.turn(); l.at != at {
		l.open()
	}
	return 0
}

// silence is how long no item may end before the store counts as silent.
const silence = time.Second

// stuck returns how many items keep failing or get no answer, and since when nothing
// has worked. It detects silence between two calls.
func (l *loader) stuck() (kind string, items int, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.at >= len(l.kinds) {
		return "", 0, time.Time{}
	}
	if l.failing == 0 {
		if l.flying == 0 || l.ended != l.seen || l.quiet.IsZero() {
			l.seen, l.quiet = l.ended, time.Now()
		}
		if time.Since(l.quiet) < silence {
			return "", 0, time.Time{}
		}
		return l.kinds[l.at].name, l.flying, l.quiet
	}
	return l.kinds[l.at].name, len(l.again) + l.flying, l.since
}

// UnderWay names the loads that wait for a failing store, once the run's time is up.
func (b *binding) UnderWay() (what []string, since time.Time) {
	if b.s.duration == 0 {
		return nil, since
	}
	for _, tenants := range b.site.tenants {
		for _, t := range tenants {
			for i := range t.loads {
				kind, n, at := t.loads[i].stuck()
				if n == 0 {
					continue
				}
				what = append(what, fmt.Sprintf("%d %s of tenant %s that the store does not accept", n, kind, t.name))
				if since.IsZero() || at.Before(since) {
					since = at
				}
			}
		}
	}
	return what, since
}

// open wakes those who wait. The caller holds the lock.
func (l *loader) open() {
	close(l.gate)
	l.gate = make(chan struct{})
}
