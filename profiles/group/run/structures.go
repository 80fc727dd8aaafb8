package run

import (
	"strconv"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
)

// structures are the records of all structures that operations name.
type structures struct {
	all []*stock // in the order in which the operations first name them
	at  map[store.Space]*stock
}

// newStructures makes the records of all structures and of the keys that are written.
func newStructures(s *model.Spec) *structures {
	x := &structures{at: map[store.Space]*stock{}}
	for _, o := range s.Order {
		if o.Kind == model.KindSleep {
			continue
		}
		st := x.at[o.Space]
		if st == nil {
			st = &stock{op: o, space: o.Space, ledgers: map[string]*ledger{}}
			x.at[o.Space] = st
			x.all = append(x.all, st)
		}
		st.writes = st.writes || o.Writes()
		st.removes = st.removes || o.Removes()
	}
	type span struct{ lo, hi int64 }
	spans := map[store.Space]map[string]span{}
	widen := func(o *model.Op, lo, hi int64) {
		if spans[o.Space] == nil {
			spans[o.Space] = map[string]span{}
		}
		old, ok := spans[o.Space][o.Form()]
		if ok {
			lo, hi = min(lo, old.lo), max(hi, old.hi)
		}
		spans[o.Space][o.Form()] = span{lo, hi}
	}
	for _, g := range s.Groups {
		for _, o := range g.Ops {
			if o.Kind == model.KindSleep || !o.Action.Writes() {
				continue
			}
			lo, hi := o.Reach(g)
			widen(o, lo, hi)
			first, last := int64(1), hi-lo+1
			for r := o.Children; r != nil && r.Child.Kind != model.KindSleep; r = r.Child.Children {
				if last > maxWatched/r.Most {
					last = maxWatched
				}
				first, last = first*r.Most+1, last*r.Most+r.Most
				widen(r.Child, first, last)
			}
		}
	}
	for _, o := range s.Order {
		if sp, ok := spans[o.Space][o.Form()]; ok && o.Kind.Keyed() && (o.Action.Writes() || o.Parent != nil) {
			if st := x.at[o.Space]; st.ledgers[o.Form()] == nil {
				st.ledgers[o.Form()] = newLedger(o, sp.lo, sp.hi)
			}
		}
	}
	return x
}

// stock is the state of one structure. It is safe for use by several goroutines.
type stock struct {
	op      *model.Op // the first that names it
	space   store.Space
	ledgers map[string]*ledger
	// pushed and popped count elements of a list, queue or stream: acknowledged ones
	// and, with maybe, those of calls whose fate is unknown.
	pushed, popped, maybePushed, maybePopped atomic.Int64
	writes, removes                          bool
	// unanswered is how many elements were sent, or asked for, in calls that had no answer; over how
	// many of keys that were there already, of which nobody can see it.
	unanswered, over atomic.Int64

	made   bool  // an earlier run of ours created it
	filled bool  // there was something in it
	before int64 // its size then, if it is counted
	loaded int64
	seed   string // the seed with which it was made
	half   bool   // an earlier run began to load it and was cut short
	// was are the sizes of the values that an earlier run has left and that are still there; resizes
	// says that they are to be deleted and loaded again with those that this run asks for.
	was     ownership.Sizes
	resizes bool
}

// sizes are how large the values of a structure are: first those that are loaded to be read, and then
// those that operations write. There are none where a payload has no part in them.
func (w *work) sizes(st *stock) (sizes ownership.Sizes) {
	for _, reads := range []bool{true, false} {
		for _, o := range w.s.Order {
			if o.Space == st.space && o.Action.Reads() == reads && o.Sized() {
				sizes = sizes.With(strconv.Itoa(o.Payload))
			}
		}
	}
	for _, l := range st.ledgers {
		for _, n := range l.payloads.All() { // as somebody has changed them
			if len(sizes) > 0 {
				sizes = sizes.With(strconv.Itoa(n))
			}
		}
	}
	return sizes
}

// unknown is how many elements a process that was lost may have pushed or popped: any
// number.
const unknown = 1 << 40

// mostMoved is how many elements other processes may tell of: those of a coordinator that
// died hold what is unknown of each that it lost.
const mostMoved = workload.MaxProcesses * 2 * unknown

// lose takes for attempted all that may be done to a structure.
func (st *stock) lose() {
	if st.writes {
		st.maybePushed.Add(unknown)
	}
	if st.removes {
		st.maybePopped.Add(unknown)
	}
	for _, l := range st.ledgers {
		for n := range l.n {
			l.set(l.tried, l.lo+n)
		}
	}
}
