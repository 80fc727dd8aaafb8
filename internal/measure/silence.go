package measure

import (
	"math/bits"
	"slices"
	"time"
)

const (
	// SilenceSlot is how finely it is noted when something was done.
	SilenceSlot = 10 * time.Millisecond
	// leastSilence is the shortest that is told, and mostSilences how many are.
	leastSilence = 100 * time.Millisecond
	mostSilences = 10_000
)

// Silence is a time in which something did not happen, such as that something was done that counts, to
// some hundredths of a second.
type Silence struct{ From, To time.Duration }

// Paused is for how much of a silence the process itself did not run.
func (q Silence) Paused(pauses []Pause) (sum time.Duration) {
	for _, p := range pauses {
		sum += max(min(time.Duration(p.At)+p.For, q.To)-max(time.Duration(p.At), q.From), 0)
	}
	return sum
}

// Own reports whether a silence so long is the process's own and not the store's: it did not run for most of it.
func Own[T ~int64 | ~float64](paused, long T) bool { return paused > long/2 }

// moments notes in which slots of the measured part something happened, such as that something was
// done: a bit for each, so a day takes a megabyte.
type moments struct {
	slots []uint64
	last  int // the slot that was set last, plus 1
	// from and to are the slots that span set last and has gone on with since, to excluded.
	from, to int64
}

// add notes that it happened, in nanoseconds since measurement began.
func (d *moments) add(at int64) {
	slot := int(at / int64(SilenceSlot))
	if at < 0 || slot+1 == d.last {
		return
	}
	d.last = slot + 1
	for len(d.slots) <= slot/64 {
		d.slots = append(d.slots, 0)
	}
	d.slots[slot/64] |= 1 << (slot % 64)
}

// span notes that it went on from one moment to another. Calls follow each other closely, so it takes no longer for one
// that lasted: what is set already is left alone.
func (d *moments) span(from, to int64) {
	if to < 0 {
		return
	}
	first, end := max(from, 0)/int64(SilenceSlot), to/int64(SilenceSlot)+1
	if first > d.to || end < d.from { // apart from the last one
		d.fill(first, end)
		if end > d.to {
			d.from, d.to = first, end
		}
		return
	}
	d.fill(first, d.from)
	d.fill(d.to, end)
	d.from, d.to = min(d.from, first), max(d.to, end)
}

// fill notes that it happened in each slot from one to before another.
func (d *moments) fill(from, to int64) {
	for ; from < to; from++ {
		d.add(from * int64(SilenceSlot))
	}
}

// within returns the part of each silence from when it first happened to when it last did: in a silence without any,
// it was not to be expected. It says nothing that it happened shortly before the end, as what breaks a silence does.
func (d *moments) within(silences []Silence) []Silence {
	if silences == nil {
		return nil
	}
	out := []Silence{}
	for _, q := range silences {
		first, to := int(q.From/SilenceSlot), int((q.To+SilenceSlot-1)/SilenceSlot)
		for first < to && !d.has(first) {
			first++
		}
		last := to - 1
		for last >= first && d.has(last) {
			last--
		}
		if to-1-last < int(leastSilence/SilenceSlot) { // too short: what was before that?
			for last >= first && !d.has(last) {
				last--
			}
			to = last + 1
		}
		if s := (Silence{max(q.From, time.Duration(first)*SilenceSlot), min(q.To, time.Duration(to)*SilenceSlot)}); s.To-s.From >= leastSilence {
			out = append(out, s)
		}
	}
	return out
}

// has reports whether it happened in a slot.
func (d *moments) has(slot int) bool {
	return slot/64 < len(d.slots) && d.slots[slot/64]&(1<<(slot%64)) != 0
}

// Of what parts tell of when something happened: how many seconds before and after theirs, as calls
// may be noted late or early.
const (
	doneBefore = 4
	doneAfter  = 4
)

// wordOf returns the word that has the first slot of a second, or 0.
func wordOf(second int) int { return max(second, 0) * int(time.Second/SilenceSlot) / 64 }

// part returns the words around a second, of which the first has the number from.
func (d *moments) part(second int) (from int, words []uint64) {
	from = wordOf(second - doneBefore)
	to := min(len(d.slots), wordOf(second+doneAfter)+1)
	if from >= to {
		return 0, nil
	}
	return from, slices.Clone(d.slots[from:to])
}

// fits reports whether words can be those of the part of a second.
func fits(second, from int, words []uint64) bool {
	return len(words) == 0 || from >= 0 && from <= wordOf(second+doneAfter) && from+len(words) <= wordOf(second+doneAfter)+1
}

// merge notes what another process has noted.
func (d *moments) merge(from int, words []uint64) {
	for len(d.slots) < from+len(words) {
		d.slots = append(d.slots, 0)
	}
	for i, w := range words {
		d.slots[from+i] |= w
	}
}

// or returns when one or the other happened.
func (d *moments) or(o *moments) moments {
	both := moments{slots: slices.Clone(d.slots)}
	both.merge(0, o.slots)
	return both
}

// silences returns when it did not happen in the first part of a run, which is empty if it never ceased
// to; nil if it never happened at all, as nothing is done in a process whose work others do.
func (d *moments) silences(measured time.Duration) []Silence {
	out := []Silence{}
	next, any := 0, false // next is the slot after the last in which it happened
	told := func(slot int) {
		if s := (Silence{time.Duration(next) * SilenceSlot, min(time.Duration(slot)*SilenceSlot, measured)}); s.To-s.From >= leastSilence && len(out) < mostSilences {
			out = append(out, s)
		}
	}
	for i, word := range d.slots {
		for ; word != 0; word &= word - 1 {
			slot := i*64 + bits.TrailingZeros64(word)
			told(slot)
			next, any = slot+1, true
		}
	}
	if !any {
		return nil
	}
	told(int((measured + SilenceSlot - 1) / SilenceSlot))
	return out
}
