package wire

import "encoding/binary"

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
	if len(s.b) >= 5 && s.b[4] < 0x80 && s.b[0]&s.b[1]&s.b[2]&s.b[3] >= 0x80 { // typical of times
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

func parseStamp(b []byte) (t Stamp, ok bool) {
	s := scanner{b: b}
	for s.next() {
		switch s.field {
		case 1:
			t.Sec = int64(s.n)
		case 2:
			t.nanos = int32(s.n)
		}
	}
	return t, !s.bad
}

func (i *EventID) parse(b []byte) bool {
	*i = EventID{Set: true}
	s := scanner{b: b}
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
			i.Start, ok = parseStamp(s.v)
			s.bad = s.bad || !ok
		}
	}
	return !s.bad
}

func (m *MessageID) parse(b []byte) bool {
	*m = MessageID{}
	s := scanner{b: b}
	for s.next() {
		switch s.field {
		case 1:
			c := scanner{b: s.v}
			for c.next() {
				switch c.field {
				case 1:
					m.Alias = c.v
				case 2:
					m.Group = c.v
				}
			}
			s.bad = s.bad || c.bad
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
			m.At, ok = parseStamp(s.v)
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

func (b *Batch) parseEvent(raw []byte) bool {
	b.Events = append(b.Events, Event{From: int32(len(b.Messages))})
	e := &b.Events[len(b.Events)-1]
	s := scanner{b: raw}
	ok := true
	for s.next() {
		switch s.field {
		case 1:
			ok = e.ID.parse(s.v)
		case 2:
			ok = e.Parent.parse(s.v)
		case 4:
			e.End, ok = parseStamp(s.v)
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
			ok = b.Messages[len(b.Messages)-1].parse(s.v)
		}
		s.bad = s.bad || !ok
	}
	e.To = int32(len(b.Messages))
	return !s.bad
}

// Decode decodes a batch; everything in it points into raw.
func (b *Batch) Decode(raw []byte) error {
	b.Reset()
	s := scanner{b: raw}
	ok := true
	for s.next() {
		switch s.field {
		case 1:
			ok = b.Parent.parse(s.v)
		case 2:
			ok = b.parseEvent(s.v)
		}
		s.bad = s.bad || !ok
	}
	if s.bad {
		return ErrWire
	}
	return nil
}
