package run

import (
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
)

// set is a data set at work. It is safe for use by several goroutines.
type set struct {
	*model.Data
	at      int
	columns int
	content
	// seed is that of the choice of records: the same for all steps on the data set.
	seed int64

	// base is how many records calls choose from when the work begins; inserts begin with
	// that number. loaded is how many of them are known to be there.
	base, loaded int64
	// issued is how many numbers of inserts were given out here, and acked how many of
	// these were acknowledged.
	issued, acked atomic.Int64
	// inserted has the records that were inserted here, by the number that was given out;
	// gone those that somebody tried to delete or to expire, by their number.
	inserted, gone marks
	// lost are those of which something that had been acknowledged was found to be lost, by their
	// number, each of them once.
	lost marks

	// slots follow the values of every stride-th of the first tracked records; none of them
	// if nothing is written.
	slots   slots
	stride  int64
	tracked int64

	// absent means that a record that was there may be gone by itself.
	absent bool
	// sum is what acknowledged additions come to, and low and high what those of unknown
	// fate may have added.
	sum, low, high atomic.Int64
	// unanswered counts the writes that had no answer, unsureAdds those of them that added, and unsure
	// has those that inserted, by their number.
	unanswered, unsureAdds atomic.Int64
	unsure                 marks
}

// mostSlots is how many values are followed one by one, with 8 bytes each.
const mostSlots = 1 << 22

// track makes room to follow the values, once base is known.
func (s *set) track(written bool) {
	if !written || s.Type != model.Value && s.Type != model.Hash {
		return
	}
	room := int64(mostSlots / s.columns)
	s.tracked = s.base + 1<<16
	s.stride = max((s.tracked+room-1)/room, 1)
	s.slots = make(slots, (s.tracked+s.stride-1)/s.stride*int64(s.columns))
}

// slot returns the slot of a field of a record, or -1.
func (s *set) slot(record int64, field int) int64 {
	if s.slots == nil || record >= s.tracked || record%s.stride != 0 {
		return -1
	}
	return record/s.stride*int64(s.columns) + int64(field)
}

// records is how many there are for all this process knows.
func (s *set) records(k *workload.Stake) int64 {
	return s.base + s.acked.Load()*int64(max(k.Of, 1))
}

// next gives out the record of an insert, with the number by which this process knows it.
func (s *set) next(k *workload.Stake) (record, number int64) {
	number = s.issued.Add(1) - 1
	return s.base + number*int64(max(k.Of, 1)) + int64(k.Process), number
}

// own returns the number that next gave out with a record; false if another process, or
// nobody, has inserted it.
func (s *set) own(k *workload.Stake, record int64) (int64, bool) {
	of := int64(max(k.Of, 1))
	at := record - s.base
	if at < 0 || at%of != int64(k.Process) {
		return 0, false
	}
	return at / of, true
}

// left reports whether a record may be gone again.
func (s *set) left(record int64) bool { return s.absent || s.gone.has(record) }

// there reports whether a record has been stored, by all that was acknowledged until now.
func (s *set) there(k *workload.Stake, record int64) bool {
	if record < s.base {
		return record < s.loaded
	}
	number, ok := s.own(k, record)
	return ok && s.inserted.has(number)
}

// mine reports whether this process is the one that accounts for a record that any of them may have
// found to be lost.
func (s *set) mine(k *workload.Stake, record int64) bool {
	if record >= s.base {
		_, ok := s.own(k, record)
		return ok
	}
	return record%int64(max(k.Of, 1)) == int64(k.Process)
}

// owner is the owner of a field's value.
func owner(key []byte, field int) datagen.Owner { return datagen.Of(key, field) }

// marks is a set of numbers from 0 on that grows. It is safe for use by several goroutines.
type marks struct {
	chunks [1 << 12]atomic.Pointer[chunk]
}

const chunkBits = 1 << 20

type chunk [chunkBits / 64]atomic.Uint64

// set adds a number, and reports whether it was not there; one that is too large is left out.
func (b *marks) set(n int64) bool {
	i := n / chunkBits
	if i >= int64(len(b.chunks)) {
		return false
	}
	c := b.chunks[i].Load()
	if c == nil {
		b.chunks[i].CompareAndSwap(nil, new(chunk))
		c = b.chunks[i].Load()
	}
	bit := uint64(1) << (n % 64)
	return c[n%chunkBits/64].Or(bit)&bit == 0
}

// has reports whether a number was added.
func (b *marks) has(n int64) bool {
	i := n / chunkBits
	if i >= int64(len(b.chunks)) {
		return false
	}
	c := b.chunks[i].Load()
	return c != nil && c[n%chunkBits/64].Load()&(1<<(n%64)) != 0
}

// loads reports whether the records are there before the work begins.
func (s *set) loads() bool {
	switch s.Type {
	case model.List, model.Set, model.Sorted, model.Stream:
		return s.Length.Given()
	}
	return !s.Cached || s.Warm
}
