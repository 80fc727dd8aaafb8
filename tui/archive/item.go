package archive

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/widget"
)

// Item is a kept run, or a sweep.
type Item struct {
	Run   *rundir.Run
	Sweep *sweep.Kept
}

// Items returns runs and sweeps, newest first; a sweep comes before its first runs.
func Items(runs []rundir.Run, sweeps []sweep.Kept) []Item {
	var out []Item
	for i := range sweeps {
		out = append(out, Item{Sweep: &sweeps[i]})
	}
	for i := range runs {
		out = append(out, Item{Run: &runs[i]})
	}
	slices.SortStableFunc(out, func(a, b Item) int { return b.When().Compare(a.When()) })
	return out
}

// ID returns that of the run or the sweep.
func (i *Item) ID() string {
	if i.Sweep != nil {
		return i.Sweep.ID
	}
	return i.Run.ID
}

// When returns when it began.
func (i *Item) When() time.Time {
	if i.Sweep != nil {
		return i.Sweep.When
	}
	return i.Run.Started
}

// holds reports whether an item contains every word.
func (i *Item) holds(sought string, now time.Time) bool {
	if i.Run != nil {
		return widget.HasWords(strings.Join(words(i.Run, now), " "), sought)
	}
	parts := append(dates(i.Sweep.When, now), i.Sweep.ID, "sweep", i.Sweep.Profile, i.Sweep.Target)
	for _, a := range i.Sweep.Axes {
		parts = append(parts, a.Name)
	}
	return widget.HasWords(strings.Join(parts, " "), sought)
}

// Figures returns the throughput, the p99 and the errors of a run; for a sweep those of
// its best point, and the errors of all. NaN and 0 mean unknown.
func (i *Item) Figures() (rate float64, p99, errors int64) {
	if i.Run != nil {
		f := widget.FiguresOf(i.Run)
		return f.Rate, f.P99, f.Errors
	}
	rate = math.NaN()
	for _, p := range i.Sweep.Points {
		errors += p.Errors
		if p.Done != nil && !(rate >= *p.Done) {
			rate, p99 = *p.Done, p.P99
		}
	}
	return rate, p99, errors
}

// Order is what a list is sorted by.
type Order int

// The orders: newest first, or the highest value of a figure first.
const (
	Newest Order = iota
	Throughput
	P99
	Errors
	orders
)

// String returns the head of the column that it sorts by.
func (o Order) String() string { return [...]string{"when", "throughput", "p99", "errors"}[o] }

// Head marks the head of the column that is sorted by, except for time, which is the
// expected order.
func (o Order) Head(name string) string {
	if o != Newest && o.String() == name {
		return name + " ▾"
	}
	return name
}

// compare puts the greater first, and unknown values last.
func (o Order) compare(a, b *Item) int {
	x, p, e := a.Figures()
	y, q, f := b.Figures()
	switch o {
	case Throughput:
		return cmp.Compare(y, x) // NaN is less than any
	case P99:
		return cmp.Compare(q, p)
	case Errors:
		return cmp.Compare(f, e)
	}
	return 0
}
