// Package histories keeps which calls wrote and read which versions of a few hot registers, such as
// the fields of a record, and when these calls began and ended. After a run it says whether one copy of
// each register could have answered so: whether they are linearizable.
package histories

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/units"
)

// Check is the word that users ask for histories with: --check linearizable.
const Check = "linearizable"

const (
	// mostEvents is how many calls are kept: 40 bytes each.
	mostEvents = 1 << 20
	// eventBlock is how many of them a client makes room for at a time.
	eventBlock = 1024
	// fewInWindow is how many calls a window has at least.
	fewInWindow = 32
	// mostInWindow is from how many calls on a window may end while a read is under way, which
	// is then left out.
	mostInWindow = 512
	// checkFor is how long histories are checked at most.
	checkFor = 10 * time.Second
)

// Missing is the version of what is not there. No value has it.
const Missing datagen.Version = 1 << 62

// unknown is the version of a register before anything is known of it.
const unknown datagen.Version = 1 << 63

// Event is one call on one register. Its times are those of Client.Now.
type Event struct {
	Call, Back int64
	Version    datagen.Version
	// Register is its number, of which there are as many as Follow gave out.
	Register int32
	Write    bool
	// Failed says of a write that nobody knows whether it took effect.
	Failed bool
}

// History is that of a few hot things, each of one or several registers. It is safe for use by
// several goroutines.
type History struct {
	noun  string
	began time.Time
	// things and registers are how many are followed.
	things, registers atomic.Int32

	mu      sync.Mutex
	clients []*Client

	room atomic.Int64 // how many blocks may still be made
	// full is when there was no room any more; calls that began later are left out.
	full atomic.Int64
	// blind says that something was written or read whose version nobody knows.
	blind atomic.Bool
	// found is what was found; nil until it has been checked.
	found atomic.Pointer[Outcome]
}

// New returns the history of things of that name, such as "hot record".
func New(noun string) *History {
	h := &History{noun: noun, began: time.Now()}
	h.room.Store(mostEvents / eventBlock)
	return h
}

// Follow adds a thing of so many registers, and returns the number of the first.
func (h *History) Follow(registers int) (first int32) {
	h.things.Add(1)
	return h.registers.Add(int32(registers)) - int32(registers)
}

// Blind notes that a version is not known, so that nothing can be said for certain.
func (h *History) Blind() { h.blind.Store(true) }

// Client is what one client has seen. Only one goroutine uses it.
type Client struct {
	all    *History
	blocks [][]Event
}

// Client returns the part of one more client; nil if there is no history.
func (h *History) Client() *Client {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	one := &Client{all: h}
	h.clients = append(h.clients, one)
	return one
}

// Now is the time of events in ns.
func (c *Client) Now() int64 { return int64(time.Since(c.all.began)) }

// Full reports whether a call that began then is not kept any more.
func (c *Client) Full(call int64) bool {
	full := c.all.full.Load()
	return full > 0 && call > full
}

// Note keeps a call. A read that failed is none.
func (c *Client) Note(e Event) {
	if c.Full(e.Call) {
		return
	}
	last := len(c.blocks) - 1
	if last < 0 || len(c.blocks[last]) == eventBlock {
		if c.all.room.Add(-1) < 0 {
			c.all.full.CompareAndSwap(0, max(e.Back, 1)) // calls under way must be known, too
		}
		c.blocks, last = append(c.blocks, make([]Event, 0, eventBlock)), last+1
	}
	c.blocks[last] = append(c.blocks[last], e)
}

// gather returns the history of each register, in the order in which calls began.
func (h *History) gather() map[int32][]Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	full, all := h.full.Load(), map[int32][]Event{}
	for _, c := range h.clients {
		for _, b := range c.blocks {
			for _, e := range b {
				if full == 0 || e.Call <= full {
					all[e.Register] = append(all[e.Register], e)
				}
			}
		}
	}
	for _, one := range all {
		slices.SortFunc(one, func(a, b Event) int { return cmp.Compare(a.Call, b.Call) })
	}
	if full > 0 { // a read that ended later may have found what is not known
		for f, one := range all {
			all[f] = slices.DeleteFunc(one, func(e Event) bool { return !e.Write && e.Back > full })
		}
	}
	return all
}

// Check checks the histories, until ctx ends or for 10 s. All clients have ended.
func (h *History) Check(ctx context.Context) *Outcome {
	ctx, stop := context.WithTimeout(ctx, checkFor)
	defer stop()
	l := &Outcome{State: OK, Records: int(h.things.Load()), noun: h.noun}
	for _, one := range h.gather() {
		l.Calls += int64(len(one))
		checkHistory(ctx, one, l)
	}
	switch {
	case l.Violated > 0:
		l.State = Violated
	case h.things.Load() == 0:
		l.State, l.Why = Unknown, "nothing is both read and written whose versions can be followed"
	case h.blind.Load():
		l.State, l.Why = Unknown, "there were values of less than 16 bytes, or more of them than have a number, so nobody knows which one was read"
	case l.Calls == 0:
		l.State, l.Why = Unknown, "no "+h.noun+" was called"
	case l.Undecided > 0:
		l.State = Unknown
		l.Why = fmt.Sprintf("%s could not be decided in %s", units.Plural(l.Undecided, "window"), checkFor)
	case h.full.Load() > 0:
		l.Why = fmt.Sprintf("the first %s only", time.Duration(h.full.Load()).Round(time.Millisecond))
	}
	h.found.Store(l)
	return l
}

// checkHistory checks the history of one register. It is cut into windows where the value is known:
// after a write that was alone.
func checkHistory(ctx context.Context, all []Event, l *Outcome) {
	all = settle(all)
	state := unknown
	var window []Event
	under, wrote := int64(math.MinInt64), int64(math.MinInt64) // until when any call, and any write, is under way
	alone, last := false, unknown
	flush := func(next []Event) {
		if len(window) > 0 {
			l.Windows++
			switch porcupine.CheckOperationsTimeout(registerFrom(state), operations(window), left(ctx)) {
			case porcupine.Illegal:
				l.Violated++
				if l.Example == "" {
					l.Example = exampleOf(window)
				}
			case porcupine.Unknown:
				l.Undecided++
			}
			state = last
		}
		window = append(window[:0], next...)
	}
	for _, e := range all {
		// Before e begins no write is under way, and the last one overlapped with no other.
		switch known := alone && wrote < e.Call; {
		case known && under < e.Call && len(window) >= fewInWindow:
			flush(nil)
		case known && len(window) >= mostInWindow:
			n := len(window)
			window = slices.DeleteFunc(window, func(o Event) bool { return !o.Write && o.Back >= e.Call })
			l.LeftOut += int64(n - len(window))
			flush(nil)
			under = wrote
		}
		if e.Write {
			alone = e.Call > wrote
			wrote, last = max(wrote, e.Back), e.Version
		}
		under = max(under, e.Back)
		window = append(window, e)
	}
	flush(nil)
}

// left is for how long ctx goes on, at least a moment.
func left(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok || ctx.Err() != nil {
		return time.Nanosecond
	}
	return max(time.Until(end), time.Nanosecond)
}

// settle decides what became of writes that failed: one whose version was read took effect before
// that read ended; one that nobody has read may as well never have taken effect.
func settle(all []Event) []Event {
	read := map[datagen.Version]int64{}
	for _, e := range all {
		if back, is := read[e.Version]; !e.Write && (!is || e.Back < back) {
			read[e.Version] = e.Back
		}
	}
	kept := make([]Event, 0, len(all))
	for _, e := range all {
		if e.Write && e.Failed {
			back, is := read[e.Version]
			if !is || back < e.Call {
				continue
			}
			e.Back = back
		}
		kept = append(kept, e)
	}
	return kept
}

// registerFrom is what one copy of a register does that has a version at first; unknown: any.
func registerFrom(first datagen.Version) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return first },
		Step: func(state, input, output any) (bool, any) {
			if input.(bool) { // a write
				return true, output
			}
			return state == unknown || state == output, output
		},
	}
}

// operations are the calls of a window as the checker has them.
func operations(window []Event) []porcupine.Operation {
	ops := make([]porcupine.Operation, len(window))
	for i, e := range window {
		ops[i] = porcupine.Operation{Input: e.Write, Output: e.Version, Call: e.Call, Return: e.Back}
	}
	return ops
}

// exampleOf says what is in a window that is wrong.
func exampleOf(window []Event) string {
	reads := 0
	from, to := int64(math.MaxInt64), int64(math.MinInt64)
	for _, e := range window {
		from, to = min(from, e.Call), max(to, e.Back)
		if !e.Write {
			reads++
		}
	}
	return fmt.Sprintf("%s and %s of one register within %s, in no order that one copy could have had",
		units.Plural(int64(reads), "read"), units.Plural(int64(len(window)-reads), "write"), time.Duration(to-from))
}

// Found returns what Check has found; nil before, and of no history.
func (h *History) Found() *Outcome {
	if h == nil {
		return nil
	}
	return h.found.Load()
}

// OneProcess refuses histories of several processes, with the code of bad input.
func OneProcess(processes int) error {
	if processes <= 1 {
		return nil
	}
	return fault.Input(errors.New("check: the clocks of several workers cannot order the calls of one record"), "run without --workers, or without --check linearizable")
}
