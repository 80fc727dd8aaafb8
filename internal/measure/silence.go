package measure

import (
	"math/bits"
	"time"
)

const (
	// silenceSlot is how finely it is noted when something was done.
	silenceSlot = 10 * time.Millisecond
	// leastSilence is the shortest that is told, and mostSilences how many are.
	leastSilence = 100 * time.Millisecond
	mostSilences = 10_000
)

// Silence is a time in which nothing was done that counts, to some hundredths of a second.
type Silence struct{ From, To time.Duration }

// doneAt notes in which slots of the measured part something was done: a bit for each, so a day takes
// a megabyte.
type doneAt struct {
	slots []uint64
	last  int // the slot that was set last, plus 1
}

// add notes that something was done, in nanoseconds since measurement began.
func (d *doneAt) add(at int64) {
	slot := int(at / int64(silenceSlot))
	if at < 0 || slot+1 == d.last {
		return
	}
	d.last = slot + 1
	for len(d.slots) <= slot/64 {
		d.slots = append(d.slots, 0)
	}
	d.slots[slot/64] |= 1 << (slot % 64)
}

// silences returns the silences of the first part of a run; none if nothing was done at all, as in a
// process whose work others do.
func (d *doneAt) silences(measured time.Duration) []Silence {
	var out []Silence
	next, any := 0, false // next is the slot after the last in which something was done
	told := func(slot int) {
		if s := (Silence{time.Duration(next) * silenceSlot, min(time.Duration(slot)*silenceSlot, measured)}); s.To-s.From >= leastSilence && len(out) < mostSilences {
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
	told(int((measured + silenceSlot - 1) / silenceSlot))
	return out
}
