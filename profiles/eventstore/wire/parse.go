package wire

import (
	"bytes"
	"encoding/binary"
)

// scanner steps through the fields of a message without a call per field.
type scanner struct {
	b     []byte
	field int
	v     []byte
	n     uint64
	bad   bool
}

// next moves to the next field and reports whether there is one.
func (s *scanner) next() bool {
	b := s.b
	if len(b) < 2 || s.bad {
		return s.slow()
	}
	if key, size := b[0], int(b[1]); key < 0x80 && key > 7 && key&7 == 2 && size < 0x80 && size <= len(b)-2 {
		s.field, s.n, s.v, s.b = int(key>>3), 0, b[2:size+2:size+2], b[size+2:]
		return true // most fields are strings and messages of fewer than 128 bytes
	}
	return s.slow()
}

func (s *scanner) slow() bool {
	if len(s.b) == 0 || s.bad {
		return false
	}
	key := s.uvarint()
	if s.bad || key>>3 == 0 || key>>3 > 1<<28 {
		s.bad = true
		return false
	}
	s.field, s.v, s.n = int(key>>3), nil, 0
	switch key & 7 {
	case 0:
		s.n = s.uvarint()
	case 1:
		s.skip(8)
	case 2:
		size := s.uvarint()
		if s.bad || size > uint64(len(s.b)) {
			s.bad = true
			return false
		}
		s.v, s.b = s.b[:size:size], s.b[size:]
	case 5:
		s.skip(4)
	default:
		s.bad = true
	}
	return !s.bad
}

func (s *scanner) uvarint() uint64 {
	var v uint64
	n := 5
	if len(s.b) >= 2 && s.b[1] < 0x80 && s.b[0] >= 0x80 { // of lengths
		v, n = uint64(s.b[0]&0x7F)|uint64(s.b[1])<<7, 2
	} else if len(s.b) >= 5 && s.b[4] < 0x80 && s.b[0]&s.b[1]&s.b[2]&s.b[3] >= 0x80 { // typical of times
		v = uint64(s.b[0]&0x7F) | uint64(s.b[1]&0x7F)<<7 | uint64(s.b[2]&0x7F)<<14 | uint64(s.b[3]&0x7F)<<21 | uint64(s.b[4])<<28
	} else if v, n = binary.Uvarint(s.b); n <= 0 {
		s.bad = true
		return 0
	}
	s.b = s.b[n:]
	return v
}

func (s *scanner) skip(n int) {
	if len(s.b) < n {
		s.bad = true
		return
	}
	s.b, s.field = s.b[n:], 0 // none of our fields has a fixed size
}

// shared is what the messages of a batch were decoded to whose bytes most of its events
// have in common: what is written the same is decoded once. That is a comparison of bytes
// in place of a parse, and what it yields points to the same memory, so that rules about
// it are checked as fast.
type shared struct {
	parent []byte // the batch's parent
	place  []byte // book and scope of an id, one after the other
	book   []byte
	scope  []byte
	time   []byte // a stamp
	stamp  Stamp
	from   []byte // a connection
	alias  []byte
	group  []byte
	// touched is there so that touching has a result.
	touched byte
}

// touch reads a byte of each line of the processor's caches, so that all of them are
// fetched at once. A batch that has waited has left the caches, and a decoder reads few
// bytes of many lines, each at a place that the one before it tells. In a queue of 160
// batches that was a quarter of an event's cost.
func (h *shared) touch(b []byte) {
	const line = 64
	sum := byte(0)
	for i := 0; i < len(b); i += line {
		sum += b[i]
	}
	h.touched = sum
}

// parseStamp decodes a time.
func (h *shared) parseStamp(b []byte) (t Stamp, ok bool) {
	if len(b) > 0 && bytes.Equal(b, h.time) {
		return h.stamp, true
	}
	s := scanner{b: b}
	for s.next() {
		switch s.field {
		case 1:
			t.Sec = int64(s.n)
		case 2:
			t.nanos = int32(s.n)
		}
	}
	if s.bad {
		return t, false
	}
	h.time, h.stamp = b, t
	return t, true
}

// parseID decodes an id.
func (h *shared) parseID(i *EventID, b []byte) bool {
	*i = EventID{Set: true}
	s := scanner{b: b}
	if n := textLen(b, 1); n > 0 && len(h.place) > 0 && bytes.HasPrefix(b[n:], h.place) {
		i.ID, i.Book, i.Scope = b[2:n:n], h.book, h.scope
		s.b = b[n+len(h.place):]
	} else {
		h.learn(b)
	}
	for s.next() {
		switch s.field {
		case 1:
			i.ID = s.v
		case 2:
			i.Book = s.v
		case 3:
			i.Scope = s.v
		case 4:
			var ok bool
			i.Start, ok = h.parseStamp(s.v)
			s.bad = s.bad || !ok
		}
	}
	return !s.bad
}

// textLen returns the length of the field of up to 127 bytes that b begins with, 0 if it
// begins with something else than that field.
func textLen(b []byte, field int) int {
	if len(b) < 2 || b[0] != tag(field, 2) || b[1] >= 0x80 || int(b[1]) > len(b)-2 {
		return 0
	}
	return 2 + int(b[1])
}

// learn notes book and scope of an id if they follow its text.
func (h *shared) learn(b []byte) {
	b = b[textLen(b, 1):]
	n := textLen(b, 2)
	m := textLen(b[n:], 3)
	if n > 0 && m > 0 {
		h.place, h.book, h.scope = b[:n+m], b[2:n:n], b[n+2:n+m:n+m]
	}
}

// parseConnection decodes where a message came from.
func (h *shared) parseConnection(m *MessageID, b []byte) bool {
	first := m.Alias == nil && m.Group == nil
	if first && len(b) > 0 && bytes.Equal(b, h.from) {
		m.Alias, m.Group = h.alias, h.group
		return true
	}
	s := scanner{b: b}
	for s.next() {
		switch s.field {
		case 1:
			m.Alias = s.v
		case 2:
			m.Group = s.v
		}
	}
	if first && !s.bad {
		h.from, h.alias, h.group = b, m.Alias, m.Group
	}
	return !s.bad
}

// parseMessage decodes the id of an attached message.
func (h *shared) parseMessage(m *MessageID, b []byte) bool {
	*m = MessageID{}
	s := scanner{b: b}
	for s.next() {
		switch s.field {
		case 1:
			s.bad = s.bad || !h.parseConnection(m, s.v)
		case 2:
			m.Second = s.n == 1
		case 3:
			m.Sequence = int64(s.n)
		case 4:
			m.sub(&s)
		case 5:
			m.Book = s.v
		case 6:
			var ok bool
			m.At, ok = h.parseStamp(s.v)
			s.bad = s.bad || !ok
		}
	}
	return !s.bad
}

// sub decodes the subsequence, packed or one number at a time.
func (m *MessageID) sub(s *scanner) {
	if s.v == nil {
		m.subsequence = append(m.subsequence, uint32(s.n))
		return
	}
	p := scanner{b: s.v}
	for len(p.b) > 0 && !p.bad {
		m.subsequence = append(m.subsequence, uint32(p.uvarint()))
	}
	s.bad = s.bad || p.bad
}

// parseEvent decodes an event.
func (b *Batch) parseEvent(h *shared, raw []byte) bool {
	b.Events = append(b.Events, Event{})
	e := &b.Events[len(b.Events)-1]
	e.From = int32(len(b.Messages))
	s := scanner{b: raw}
	ok := true
	for s.next() {
		switch s.field {
		case 1:
			ok = h.parseID(&e.ID, s.v)
		case 2:
			if len(h.parent) > 0 && bytes.Equal(s.v, h.parent) {
				e.Parent = b.Parent
			} else {
				ok = h.parseID(&e.Parent, s.v)
			}
		case 4:
			e.End, ok = h.parseStamp(s.v)
		case 5:
			e.Failed = s.n == 1
		case 6:
			e.Name = s.v
		case 7:
			e.Kind = s.v
		case 8:
			e.Body = s.v
		case 9:
			b.Messages = append(b.Messages, MessageID{})
			ok = h.parseMessage(&b.Messages[len(b.Messages)-1], s.v)
		}
		s.bad = s.bad || !ok
	}
	e.To = int32(len(b.Messages))
	return !s.bad
}

// Decode decodes a batch; everything in it points into raw.
func (b *Batch) Decode(raw []byte) error {
	b.Reset()
	var h shared
	s := scanner{b: raw}
	ok := true
	for s.next() {
		switch s.field {
		case 1:
			ok = h.parseID(&b.Parent, s.v)
			h.parent = s.v
		case 2:
			// What follows is as long, as a rule; it arrives while this one is decoded.
			h.touch(s.b[:min(len(s.v), len(s.b))])
			ok = b.parseEvent(&h, s.v)
		}
		s.bad = s.bad || !ok
	}
	if s.bad {
		return ErrWire
	}
	return nil
}
