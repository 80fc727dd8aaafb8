// Package kept lists what is kept in a folder of results: runs, searches, sweeps, and runs that
// were repeated or compared. The command line and the workbench show, filter and judge it by
// this package, so that they agree.
package kept

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
)

// Item is one thing that is kept. Exactly one of Run, Sweep and Group is set.
type Item struct {
	// Dir is its folder, or the archive of a run; empty if that is not known.
	Dir   string
	Run   *rundir.Run
	Sweep *sweep.Kept
	Group *Group
	// Of are the runs of a sweep or a group that are still kept.
	Of []*rundir.Run
}

// What an item is, in a word.
const (
	OneRun  = "run"
	Search  = "find"
	Sweep   = "sweep"
	Compare = "compare"
	Repeat  = "repeat"
)

// Kinds are all words of Item.Kind.
var Kinds = []string{OneRun, Search, Sweep, Compare, Repeat}

// Kind says what the item is: one of Kinds.
func (i *Item) Kind() string {
	switch {
	case i.Sweep != nil:
		return Sweep
	case i.Group != nil:
		return i.Group.Kind
	case i.Run.Sought != nil, i.Run.EndedBy == rundir.StillRunning && (i.Run.Searched() || i.Run.Of == rundir.OfSearch):
		return Search
	}
	return OneRun
}

// Items returns what is kept, newest first; a sweep or a group comes before its first run.
func Items(runs []rundir.Run, sweeps []sweep.Kept, groups []Group) []Item {
	var out []Item
	byID := make(map[string]*rundir.Run, len(runs))
	for i := range runs {
		byID[runs[i].ID] = &runs[i]
	}
	of := func(ids []string) (out []*rundir.Run) {
		for _, id := range ids {
			if r := byID[id]; r != nil {
				out = append(out, r)
			}
		}
		return out
	}
	for i := range sweeps {
		out = append(out, Item{Sweep: &sweeps[i], Of: of(idsOf(&sweeps[i]))})
	}
	for i := range groups {
		out = append(out, Item{Group: &groups[i], Of: of(slices.Concat(groups[i].A, groups[i].B))})
	}
	for i := range runs {
		out = append(out, Item{Run: &runs[i]})
	}
	slices.SortStableFunc(out, func(a, b Item) int { return b.When().Compare(a.When()) })
	return out
}

// idsOf are the ids of the completed runs of a sweep.
func idsOf(s *sweep.Kept) (out []string) {
	for _, d := range s.Runs {
		out = append(out, d.ID)
	}
	return out
}

// ID is the name of its folder.
func (i *Item) ID() string {
	switch {
	case i.Sweep != nil:
		return i.Sweep.ID
	case i.Group != nil:
		return i.Group.ID
	}
	return i.Run.ID
}

// When returns when it began.
func (i *Item) When() time.Time {
	switch {
	case i.Sweep != nil:
		return i.Sweep.When
	case i.Group != nil:
		return i.Group.When
	}
	return i.Run.Started
}

// Profile returns its profile and, of a run or a group, the mode.
func (i *Item) Profile() (name, mode string) {
	switch {
	case i.Sweep != nil:
		return i.Sweep.Profile, ""
	case i.Group != nil:
		return i.Group.Profile, i.Group.Mode
	}
	return i.Run.Profile, i.Run.Mode
}

// Target returns its target, without secrets, and the kind of store; the target is empty if it
// has several.
func (i *Item) Target() (url, store string) {
	switch {
	case i.Sweep != nil:
		store, _, _ = strings.Cut(i.Sweep.Target, ":")
		if len(i.Of) > 0 && i.Sweep.Target != "" {
			store = i.Of[0].Store.Name
		}
		return i.Sweep.Target, store
	case i.Group != nil:
		return i.Group.Target, i.Group.Store
	}
	return i.Run.Target, i.Run.Store.Name
}

// Unit is what its throughput counts.
func (i *Item) Unit() string {
	switch {
	case i.Sweep != nil:
		return i.Sweep.Unit
	case i.Group != nil:
		return i.Group.Unit
	}
	return i.Run.Unit
}

// Tags returns those that it has; of a sweep or a group, those that all of its runs have.
func (i *Item) Tags() map[string]string {
	if i.Run != nil {
		return i.Run.Tags
	}
	var out map[string]string
	for n, r := range i.Of {
		if n == 0 {
			out = make(map[string]string, len(r.Tags))
			for k, v := range r.Tags {
				out[k] = v
			}
		}
		for k, v := range out {
			if got, ok := r.Tags[k]; !ok || got != v {
				delete(out, k)
			}
		}
	}
	return out
}

// Runs returns the ids of the runs that it is made of; none for a run.
func (i *Item) Runs() []string {
	switch {
	case i.Sweep != nil:
		return idsOf(i.Sweep)
	case i.Group != nil:
		return slices.Concat(i.Group.A, i.Group.B)
	}
	return nil
}

// Figures returns the throughput in units per second, the p99 of the response time in
// nanoseconds, and the errors: of a run, its own, but for the throughput and p99 of a search, which are those
// of the level that it found; of a sweep, those of the point that stands for it, with the errors of all runs. NaN and 0 mean unknown.
func (i *Item) Figures() (rate float64, p99, errors int64) {
	rate = math.NaN()
	switch {
	case i.Sweep != nil:
		for _, p := range i.Sweep.Points {
			errors += p.Errors
		}
		if at := i.stands(); at >= 0 {
			p99 = i.Sweep.Points[at].P99
			if done := i.Sweep.Points[at].Done; done != nil {
				rate = *done
			}
		}
	case i.Group != nil:
		rate = i.Group.Rate
		for _, r := range i.Of {
			errors += r.Failures()
		}
	default:
		h := i.Run.Headline()
		if rate = h.Rate; i.Run.Sought != nil { // whose calls are of many levels
			p99 = i.Run.Sought.P99
			if rate = i.Run.Sought.Done; rate == 0 {
				rate = math.NaN()
			}
		} else if len(h.Timed) > 0 {
			p99 = h.Response.P99
		}
		errors = i.Run.Failures()
	}
	if p99 == measure.Hidden {
		p99 = 0
	}
	return rate, p99, errors
}

// Order is what a list is sorted by.
type Order int

// The orders: newest first, or the highest value of a figure first, of throughput in each unit.
const (
	Newest Order = iota
	Throughput
	P99
	Errors
	Orders // how many there are
)

// String returns the word for it.
func (o Order) String() string { return [...]string{"when", "throughput", "p99", "errors"}[o] }

// Compare puts the greater of two items first, and unknown values last. Throughputs of one unit stand together.
func (o Order) Compare(a, b *Item) int {
	x, p, e := a.Figures()
	y, q, f := b.Figures()
	switch o {
	case Throughput:
		if !math.IsNaN(x) && !math.IsNaN(y) && a.Unit() != b.Unit() {
			return cmp.Compare(a.Unit(), b.Unit())
		}
		return cmp.Compare(y, x) // NaN is less than any
	case P99:
		return cmp.Compare(q, p)
	case Errors:
		return cmp.Compare(f, e)
	}
	return 0
}
