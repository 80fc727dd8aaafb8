package remote

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Roster owns who has joined a run, and what is known of each: first the workers, in the order in
// which they joined, then the heirs of those that were lost. Its methods may be called from any
// goroutine; those of small letters want mu held, unless they say otherwise.
type Roster struct {
	o *Options

	mu      sync.Mutex
	members []*member
	at      time.Time     // when the run began
	failed  error         // why it cannot begin
	changed chan struct{} // closed and replaced when a member has joined, is ready, or stands otherwise
}

func newRoster(o *Options) *Roster {
	r := &Roster{o: o, changed: make(chan struct{})}
	if o.Past != nil {
		r.at = o.Past.At
		for _, k := range o.Past.Workers {
			m := newMember(k.Hello)
			m.ready, m.Offset, m.Trip, m.part = true, k.Offset, k.Trip, len(r.members)
			r.members = append(r.members, m)
		}
	}
	return r
}

// find finds the member whose id and number a subject ends with; nil: there is none.
func (r *Roster) find(subject string) (int, *member) {
	at := strings.LastIndex(subject, ".")
	i, err := strconv.Atoi(subject[at+1:])
	if err != nil || i < 0 || i >= len(r.members) || at < 0 {
		return 0, nil
	}
	if m := r.members[i]; m.Hello.ID != "" && strings.HasSuffix(subject[:at], "."+m.Hello.ID) {
		return i, m
	}
	return 0, nil
}

// address is how subjects name a member, by its id and its number. It takes mu itself.
func (r *Roster) address(i int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.members[i].Hello.ID + "." + strconv.Itoa(i)
}

// enrol gives a worker its number; false: there is none left.
func (r *Roster) enrol(h Hello) (int, bool) {
	if i := slices.IndexFunc(r.members, func(m *member) bool { return m.Hello.ID == h.ID }); i >= 0 {
		return i, true
	}
	if r.full() {
		return 0, false
	}
	i := r.add(newMember(h))
	r.members[i].part = i
	r.wake()
	return i, true
}

// add gives a member its number.
func (r *Roster) add(m *member) int {
	r.members = append(r.members, m)
	return len(r.members) - 1
}

// full says that all who must join have.
func (r *Roster) full() bool { return len(r.members) >= r.o.Workers }

// wake wakes who waits for members.
func (r *Roster) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// notice has an event change how a member stands, says so, and reports whether it did.
func (r *Roster) notice(i int, e event) bool {
	m := r.members[i]
	if !m.standing.on(e) {
		return false
	}
	say := m.standing.now
	if e == outwaited {
		say = GivenUp
	}
	r.say(i, say)
	return true
}

// say tells of a member, once the run has begun.
func (r *Roster) say(i int, what State) {
	if r.o.Noticed != nil && !r.at.IsZero() {
		host := r.members[i].Hello.Host
		fault.Go(func() { r.o.Noticed(i, host, what) }) // it may ask us
	}
}

// begun is when the run began; zero: it has not. It takes mu itself.
func (r *Roster) begun() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at
}

// all is how many members there are, heirs included. It takes mu itself.
func (r *Roster) all() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.members)
}

// answered takes that a member put what it was told then into force, at a time of its clock, for
// a segment.
func (r *Roster) answered(i, segment int, told time.Time, theirs int64) {
	m := r.members[i]
	took, at := time.Duration(theirs-told.Add(m.Offset).UnixNano()), time.Duration(theirs-r.at.Add(m.Offset).UnixNano())
	m.Slowest = max(m.Slowest, min(took, workload.Elapsed(told)+mostApart))
	m.applied[segment] = max(min(at, workload.Elapsed(r.at)+mostApart), 0)
}

// Members tells of all members.
func (r *Roster) Members() (out []Member) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		out = append(out, m.report())
	}
	return out
}

// Arrivals tells how the calls of each member came in open loop. tracks are the names of the
// run's tracks.
func (r *Roster) Arrivals(tracks []string) (out [][]measure.SegmentArrivals) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		out = append(out, m.came.All(tracks))
	}
	return out
}

// Lost says of each member whether it has been silent for so long that nobody waits for it.
func (r *Roster) Lost() (out []bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		out = append(out, m.standing.lost)
	}
	return out
}

// PartOf is the number of the part that a member has or had, and how many had it before.
func (r *Roster) PartOf(member int) (part, again int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	part = r.members[member].part
	for _, m := range r.members[:member] {
		if m.part == part {
			again++
		}
	}
	return part, again
}

// Parts is the part of each member that is there, -1 of one whose part is done by another.
func (r *Roster) Parts() (out []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		if m.duty.passedOn() {
			out = append(out, -1)
			continue
		}
		out = append(out, m.part)
	}
	return out
}

// Elapsed is how long the run has gone on.
func (r *Roster) Elapsed() time.Duration { return time.Since(r.begun()) }

// Past tells another coordinator what it must know. The run has begun.
func (r *Roster) Past() Restored {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Restored{At: r.at}
	for _, m := range r.members {
		p.Workers = append(p.Workers, Known{m.Hello, m.Offset, m.Trip})
	}
	return p
}

// gathered is how many have joined, how many of these are ready, and why the run cannot begin;
// changed is closed when that is old. It takes mu itself.
func (r *Roster) gathered() (joined, ready int, changed <-chan struct{}, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	err = r.failed
	for _, m := range r.members {
		if m.ready {
			ready++
		}
		if m.standing.now == Gone && err == nil {
			err = fault.Code(fmt.Errorf("a worker (%s) went away before the run began", m.Hello.Host), fault.CodeOther)
		}
	}
	return len(r.members), ready, r.changed, err
}

// missing says which workers a run that has not begun is waiting for, with what else is in the
// way; empty: nothing. It takes mu itself.
func (r *Roster) missing(cut string) string {
	var silent, busy []int
	r.mu.Lock()
	joined := len(r.members)
	for i, m := range r.members {
		switch {
		case m.ready:
		case m.standing.now == Stalled:
			silent = append(silent, i+1)
		default:
			busy = append(busy, i+1)
		}
	}
	r.mu.Unlock()
	left := r.o.Workers - joined
	out := fmt.Sprintf("%d of %s: ", left+len(silent)+len(busy), units.Plural(r.o.Workers, "worker"))
	var why []string
	add := func(workers []int, one, several string) {
		switch len(workers) {
		case 0:
		case 1:
			why = append(why, units.Numbered("worker", workers)+" "+one)
		default:
			why = append(why, units.Numbered("worker", workers)+" "+several)
		}
	}
	if cut != "" {
		why = append(why, cut)
	}
	switch {
	case left == 1:
		why = append(why, "1 has not joined")
	case left > 1:
		why = append(why, fmt.Sprintf("%d have not joined", left))
	}
	add(busy, "has joined and is not ready", "have joined and are not ready")
	add(silent, "has joined and is silent", "have joined and are silent")
	return out + strings.Join(why, ", ")
}

// together is the error of what was done with each member: one sentence for all that failed for
// the same reason. doing is what, as in "compare clocks with". It takes mu itself.
func (r *Roster) together(doing string, errs []error) error {
	var order []string
	of := map[string][]int{}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if of[err.Error()] == nil {
			order = append(order, err.Error())
		}
		of[err.Error()] = append(of[err.Error()], i)
	}
	var out []error
	for _, text := range order {
		who := of[text]
		numbers := make([]int, len(who))
		for k, i := range who {
			numbers[k] = i + 1
		}
		name := units.Numbered("worker", numbers)
		if len(who) == 1 {
			r.mu.Lock()
			name += " (" + r.members[who[0]].Hello.Host + ")"
			r.mu.Unlock()
		}
		out = append(out, fmt.Errorf("%s %s: %w", doing, name, errs[who[0]]))
	}
	return errors.Join(out...)
}
