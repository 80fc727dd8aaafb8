package run

import "sync/atomic"

// slots remember of each value that this process writes which of its writes a read must
// not go back behind. Writes of a value that overlap are a cluster: whatever was
// acknowledged before a cluster began is overwritten once one of its writes has been
// acknowledged. Each slot is one word:
//
//	bits 0-23   how many writes have begun
//	bits 24-47  how many had begun before the last cluster
//	bits 48-60  how many are under way
//	bit 61      a write of the cluster was acknowledged
//	bit 62      it is not known what became of a write: it may take effect at any time
//	bit 63      there were more writes than can be counted
//
// They are safe for use by several goroutines.
type slots []atomic.Uint64

const (
	slotBegun   = 1<<24 - 1
	slotUnder   = 1 << 48
	slotUnders  = (1<<13 - 1) << 48
	slotAcked   = 1 << 61
	slotDoubt   = 1 << 62
	slotFull    = 1 << 63
	slotCluster = slotBegun << 24
)

// begin begins a write and returns its number; 0: it is not counted.
func (s slots) begin(i int64) uint32 {
	if i < 0 {
		return 0
	}
	w := &s[i]
	for {
		old := w.Load()
		begun := old & slotBegun
		now := old + 1
		switch {
		case old&slotFull != 0:
			return 0
		case begun == slotBegun || old&slotUnders == slotUnders:
			w.Or(slotFull)
			return 0
		case old&slotUnders == 0:
			now = now&^(slotCluster|slotAcked) | begun<<24
		}
		if w.CompareAndSwap(old, now+slotUnder) {
			return uint32(begun + 1)
		}
	}
}

// end ends a write that begin has counted.
func (s slots) end(i int64, acked bool) {
	if i < 0 {
		return
	}
	w := &s[i]
	for {
		old := w.Load()
		if old&slotUnders == 0 {
			return
		}
		now := old - slotUnder
		if acked {
			now |= slotAcked
		} else {
			now |= slotDoubt
		}
		if w.CompareAndSwap(old, now) {
			return
		}
	}
}

// doubt gives up on a value.
func (s slots) doubt(i int64) {
	if i >= 0 {
		s[i].Or(slotDoubt)
	}
}

// floor returns the oldest write that a read which begins now may find; 0: any.
func (s slots) floor(i int64) uint32 {
	if i < 0 {
		return 0
	}
	w := s[i].Load()
	if w&(slotDoubt|slotFull) != 0 || w&slotAcked == 0 {
		return 0
	}
	return uint32(w>>24&slotBegun) + 1
}
