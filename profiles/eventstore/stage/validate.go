package stage

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// aheadLimit is how far in the future an event may start.
const aheadLimit = 60e9

// errInvalid is wrapped by errors about batches that violate a rule: retrying them is
// pointless.
var errInvalid = errors.New("not a valid batch")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}

// validator checks the rules of batches. It belongs to one goroutine and is reused.
type validator struct {
	seed  maphash.Seed
	slots []int32 // of event numbers + 1, by hash of the id
}

func newValidator() *validator { return &validator{seed: maphash.MakeSeed()} }

// find looks for an event among those added, -1 if it is not there. put adds it.
func (v *validator) find(es []wire.Event, id []byte, put int) int {
	mask := uint64(len(v.slots) - 1)
	for h := maphash.Bytes(v.seed, id) & mask; ; h = (h + 1) & mask {
		at := v.slots[h] - 1
		if at < 0 {
			if put >= 0 {
				v.slots[h] = int32(put + 1)
			}
			return -1
		}
		if bytes.Equal(es[at].ID.ID, id) {
			return int(at)
		}
	}
}

func (v *validator) begin(n int) {
	size := 16
	for size < 2*n {
		size *= 2
	}
	if cap(v.slots) < size {
		v.slots = make([]int32, size)
		return
	}
	v.slots = v.slots[:size]
	clear(v.slots)
}

// check returns what is wrong with a batch. inner means that some of its events have
// parents within it.
func (v *validator) check(b *wire.Batch, now int64) (inner bool, err error) {
	if b.Parent.Set && len(b.Parent.ID) == 0 {
		return false, invalid("the id of its parent is empty")
	}
	if len(b.Events) == 0 {
		return false, nil
	}
	first := &b.Events[0].ID
	if len(first.Book) == 0 || len(first.Scope) == 0 {
		return false, invalid("book or scope is empty")
	}
	v.begin(len(b.Events))
	for i := range b.Events {
		e := &b.Events[i]
		if err := checkEvent(e, first, now); err != nil {
			return false, err
		}
		if b.Parent.Set && !e.Parent.Same(&b.Parent) {
			at := -1
			if e.Parent.Set {
				at = v.find(b.Events[:i], e.Parent.ID, -1)
			}
			if at < 0 || !b.Events[at].ID.Same(&e.Parent) {
				return false, invalid("event %q has a parent that is neither the batch's nor earlier in it", e.ID.ID)
			}
			inner = true
		}
		if v.find(b.Events[:i], e.ID.ID, i) >= 0 {
			return false, invalid("event %q is in it twice", e.ID.ID)
		}
	}
	return inner, checkMessages(b)
}

// checkEvent returns what is wrong with an event by itself.
func checkEvent(e *wire.Event, first *wire.EventID, now int64) error {
	switch {
	case len(e.ID.ID) == 0:
		return invalid("an event has no id")
	case !bytes.Equal(e.ID.Book, first.Book) || !bytes.Equal(e.ID.Scope, first.Scope):
		return invalid("event %q is of another book or scope", e.ID.ID)
	case len(e.Name) == 0:
		return invalid("event %q has no name", e.ID.ID)
	case e.End.NS() < e.ID.Start.NS():
		return invalid("event %q ends before it starts", e.ID.ID)
	case e.ID.Start.NS() > now+aheadLimit:
		return invalid("event %q starts in the future", e.ID.ID)
	case e.Parent.Set && e.Parent.Same(&e.ID):
		return invalid("event %q is its own parent", e.ID.ID)
	case e.Parent.Set && !bytes.Equal(e.Parent.Book, e.ID.Book):
		return invalid("the parent of event %q is of another book", e.ID.ID)
	}
	return nil
}

// checkMessages returns what is wrong with attached message ids.
func checkMessages(b *wire.Batch) error {
	for i := range b.Messages {
		m := &b.Messages[i]
		if len(bytes.TrimSpace(m.Alias)) == 0 || m.Sequence <= 0 || m.At == (wire.Stamp{}) || !bytes.Equal(m.Book, b.Events[0].ID.Book) {
			return invalid("an attached message id without alias, sequence, time, or of another book")
		}
	}
	return nil
}

// piece is a range of events that are stored together.
type piece struct {
	from, to int
	single   bool
}

// cut decides how the events of a batch are stored: together; in several pieces if the
// content exceeds the limit; or each alone if they have no common parent.
func cut(dst []piece, b *wire.Batch, inner bool, limit int) []piece {
	dst = dst[:0]
	alone := !b.Parent.Set || inner && wire.ContentSize(b.Events) > limit
	from, size := 0, wire.ContentHead
	for i := range b.Events {
		n := wire.RecordSize(&b.Events[i])
		switch {
		case alone:
			dst = append(dst, piece{i, i + 1, true})
			continue
		case i > from && size+n > limit:
			dst = append(dst, piece{from, i, false})
			from, size = i, wire.ContentHead
		}
		size += n
	}
	if !alone && from < len(b.Events) {
		dst = append(dst, piece{from, len(b.Events), false})
	}
	for i := range dst { // an event over the limit is not stored in a batch
		p := &dst[i]
		p.single = p.single || p.to-p.from == 1 && wire.ContentSize(b.Events[p.from:p.to]) > limit
	}
	return dst
}
