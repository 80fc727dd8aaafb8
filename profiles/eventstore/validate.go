package eventstore

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
)

// aheadLimit is how far in the future an event may start.
const aheadLimit = 60e9

// errInvalid is wrapped by errors about batches that break a rule: retrying them is
// of no use.
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

// find looks for an event among those put in, -1 when it is not there. put adds it.
func (v *validator) find(es []event, id []byte, put int) int {
	mask := uint64(len(v.slots) - 1)
	for h := maphash.Bytes(v.seed, id) & mask; ; h = (h + 1) & mask {
		at := v.slots[h] - 1
		if at < 0 {
			if put >= 0 {
				v.slots[h] = int32(put + 1)
			}
			return -1
		}
		if bytes.Equal(es[at].id.id, id) {
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

// check says what is wrong with a batch. inner tells that events of it have parents
// within it.
func (v *validator) check(b *batch, now int64) (inner bool, err error) {
	if b.parent.set && len(b.parent.id) == 0 {
		return false, invalid("the id of its parent is empty")
	}
	if len(b.events) == 0 {
		return false, nil
	}
	first := &b.events[0].id
	if len(first.book) == 0 || len(first.scope) == 0 {
		return false, invalid("book or scope is empty")
	}
	v.begin(len(b.events))
	for i := range b.events {
		e := &b.events[i]
		if err := checkEvent(e, first, now); err != nil {
			return false, err
		}
		if b.parent.set && !e.parent.same(&b.parent) {
			at := -1
			if e.parent.set {
				at = v.find(b.events[:i], e.parent.id, -1)
			}
			if at < 0 || !b.events[at].id.same(&e.parent) {
				return false, invalid("event %q has a parent that is neither the batch's nor earlier in it", e.id.id)
			}
			inner = true
		}
		if v.find(b.events[:i], e.id.id, i) >= 0 {
			return false, invalid("event %q is in it twice", e.id.id)
		}
	}
	return inner, checkMessages(b)
}

// checkEvent says what is wrong with an event by itself.
func checkEvent(e *event, first *eventID, now int64) error {
	switch {
	case len(e.id.id) == 0:
		return invalid("an event has no id")
	case !bytes.Equal(e.id.book, first.book) || !bytes.Equal(e.id.scope, first.scope):
		return invalid("event %q is of another book or scope", e.id.id)
	case len(e.name) == 0:
		return invalid("event %q has no name", e.id.id)
	case e.end.ns() < e.id.start.ns():
		return invalid("event %q ends before it starts", e.id.id)
	case e.id.start.ns() > now+aheadLimit:
		return invalid("event %q starts in the future", e.id.id)
	case e.parent.set && e.parent.same(&e.id):
		return invalid("event %q is its own parent", e.id.id)
	case e.parent.set && !bytes.Equal(e.parent.book, e.id.book):
		return invalid("the parent of event %q is of another book", e.id.id)
	}
	return nil
}

// checkMessages says what is wrong with attached message ids.
func checkMessages(b *batch) error {
	for i := range b.messages {
		m := &b.messages[i]
		if len(bytes.TrimSpace(m.alias)) == 0 || m.sequence <= 0 || m.at == (stamp{}) || !bytes.Equal(m.book, b.events[0].id.book) {
			return invalid("an attached message id without alias, sequence, time, or of another book")
		}
	}
	return nil
}

// piece is a run of events that are stored together.
type piece struct {
	from, to int
	single   bool
}

// cut says how the events of a batch are stored: together; in several pieces when the
// content is over the limit; each alone when they have no common parent.
func cut(dst []piece, b *batch, inner bool, limit int) []piece {
	dst = dst[:0]
	alone := !b.parent.set || inner && contentSize(b.events) > limit
	from, size := 0, contentHead
	for i := range b.events {
		n := recordSize(&b.events[i])
		switch {
		case alone:
			dst = append(dst, piece{i, i + 1, true})
			continue
		case i > from && size+n > limit:
			dst = append(dst, piece{from, i, false})
			from, size = i, contentHead
		}
		size += n
	}
	if !alone && from < len(b.events) {
		dst = append(dst, piece{from, len(b.events), false})
	}
	for i := range dst { // one event over the limit has no batch to be in
		p := &dst[i]
		p.single = p.single || p.to-p.from == 1 && contentSize(b.events[p.from:p.to]) > limit
	}
	return dst
}
