// Package wire has the encodings of events: between generators and store stage, and as
// Cradle stores them, with their ids and codecs.
package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// The messages of th2's common.proto, in proto3 wire format. They are encoded and
// decoded field by field, without reflection and without allocating for each event:
// byte slices point into the encoded batch or into the generator's buffers.

// Stamp is a google.protobuf.Timestamp: seconds since 1970 and nanoseconds.
type Stamp struct {
	Sec   int64
	nanos int32
}

// StampOf converts nanoseconds since 1970 to a Stamp.
func StampOf(ns int64) Stamp { return Stamp{ns / 1e9, int32(ns % 1e9)} }

// NS returns the time in nanoseconds since 1970.
func (t Stamp) NS() int64 { return t.Sec*1e9 + int64(t.nanos) }

// EventID is the message EventID, which contains the start of an event.
type EventID struct {
	ID, Book, Scope []byte
	Start           Stamp
	// Set means that the message is present.
	Set bool
}

// Same reports whether two ids are of the same event.
func (i *EventID) Same(o *EventID) bool {
	return i.Start == o.Start && bytes.Equal(i.ID, o.ID) && bytes.Equal(i.Book, o.Book) && bytes.Equal(i.Scope, o.Scope)
}

// MessageID is the message MessageID.
type MessageID struct {
	Alias, Group, Book []byte
	// Second means the direction SECOND, outgoing.
	Second      bool
	Sequence    int64
	subsequence []uint32
	At          Stamp
}

// Event is the message Event. Its attached messages are a range of the batch's.
type Event struct {
	ID, Parent       EventID
	End              Stamp
	Failed           bool
	Name, Kind, Body []byte
	From, To         int32 // of batch.messages
}

// Batch is the message EventBatch. It is reused for the next one.
type Batch struct {
	Parent   EventID
	Events   []Event
	Messages []MessageID
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	b.Parent, b.Events, b.Messages = EventID{}, b.Events[:0], b.Messages[:0]
}

// Attached returns the message ids of an event.
func (b *Batch) Attached(e *Event) []MessageID { return b.Messages[e.From:e.To] }

func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// bytesLen returns the size of a length-delimited field with a tag of one byte, or 0 if
// it is empty and therefore not written.
func bytesLen(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + varintLen(uint64(n)) + n
}

// messageLen is like bytesLen, for a message that is written even if empty.
func messageLen(n int) int { return 1 + varintLen(uint64(n)) + n }

func intLen(v int64) int {
	if v == 0 {
		return 0
	}
	return 1 + varintLen(uint64(v))
}

func (t Stamp) size() int { return intLen(t.Sec) + intLen(int64(t.nanos)) }

func tag(field, kind int) byte { return byte(field<<3 | kind) }

func appendBytes(dst []byte, field int, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	dst = binary.AppendUvarint(append(dst, tag(field, 2)), uint64(len(v)))
	return append(dst, v...)
}

func appendHead(dst []byte, field, size int) []byte {
	return binary.AppendUvarint(append(dst, tag(field, 2)), uint64(size))
}

func appendInt(dst []byte, field int, v int64) []byte {
	if v == 0 {
		return dst
	}
	return binary.AppendUvarint(append(dst, tag(field, 0)), uint64(v))
}

func appendStamp(dst []byte, field int, t Stamp) []byte {
	dst = appendHead(dst, field, t.size())
	return appendInt(appendInt(dst, 1, t.Sec), 2, int64(t.nanos))
}

// Encoder encodes batches. It belongs to one goroutine and is reused: what events have in
// common with those before them is encoded once, and copied.
type Encoder struct {
	own, above place
	from       connection
	at         moment // of a message, with its book
	end        moment
}

// place is where an event is, and when it starts: all of an EventID but its text.
type place struct {
	book, scope []byte
	start       Stamp
	as          []byte
}

// of returns the encoded fields.
func (p *place) of(i *EventID) []byte {
	if len(p.as) == 0 || p.start != i.Start || !bytes.Equal(p.book, i.Book) || !bytes.Equal(p.scope, i.Scope) {
		p.book, p.scope, p.start = append(p.book[:0], i.Book...), append(p.scope[:0], i.Scope...), i.Start
		p.as = appendStamp(appendBytes(appendBytes(p.as[:0], 2, i.Book), 3, i.Scope), 4, i.Start)
	}
	return p.as
}

// moment is a time, behind a book if there is one.
type moment struct {
	book []byte
	at   Stamp
	as   []byte
}

// of returns the encoded fields, of which the book is number 5.
func (m *moment) of(book []byte, field int, at Stamp) []byte {
	if len(m.as) == 0 || m.at != at || !bytes.Equal(m.book, book) {
		m.book, m.at = append(m.book[:0], book...), at
		m.as = appendStamp(appendBytes(m.as[:0], 5, book), field, at)
	}
	return m.as
}

// connection is where a message came from.
type connection struct{ alias, group, as []byte }

// of returns the encoded field.
func (c *connection) of(m *MessageID) []byte {
	if len(c.as) == 0 || !bytes.Equal(c.alias, m.Alias) || !bytes.Equal(c.group, m.Group) {
		c.alias, c.group = append(c.alias[:0], m.Alias...), append(c.group[:0], m.Group...)
		c.as = appendHead(c.as[:0], 1, bytesLen(len(m.Alias))+bytesLen(len(m.Group)))
		c.as = appendBytes(appendBytes(c.as, 1, m.Alias), 2, m.Group)
	}
	return c.as
}

func appendID(dst []byte, field int, i *EventID, place []byte) []byte {
	dst = appendHead(dst, field, bytesLen(len(i.ID))+len(place))
	return append(appendBytes(dst, 1, i.ID), place...)
}

func idLen(i *EventID, place []byte) int { return messageLen(bytesLen(len(i.ID)) + len(place)) }

func (m *MessageID) packed() (n int) {
	for _, s := range m.subsequence {
		n += varintLen(uint64(s))
	}
	return n
}

// messageLen returns the length of a message id without its field's head.
func (w *Encoder) messageLen(m *MessageID) int {
	n := len(w.from.of(m)) + intLen(m.Sequence) + bytesLen(m.packed()) + len(w.at.of(m.Book, 6, m.At))
	if m.Second {
		n += 2
	}
	return n
}

func (w *Encoder) appendMessage(dst []byte, m *MessageID) []byte {
	dst = appendHead(dst, 9, w.messageLen(m))
	dst = append(dst, w.from.of(m)...)
	if m.Second {
		dst = appendInt(dst, 2, 1)
	}
	dst = appendInt(dst, 3, m.Sequence)
	if n := m.packed(); n > 0 {
		dst = appendHead(dst, 4, n)
		for _, s := range m.subsequence {
			dst = binary.AppendUvarint(dst, uint64(s))
		}
	}
	return append(dst, w.at.of(m.Book, 6, m.At)...)
}

// appendEvent appends an event of a batch.
func (w *Encoder) appendEvent(dst []byte, b *Batch, e *Event) []byte {
	own, end := w.own.of(&e.ID), w.end.of(nil, 4, e.End)
	n := idLen(&e.ID, own) + len(end) + bytesLen(len(e.Name)) + bytesLen(len(e.Kind)) + bytesLen(len(e.Body))
	var above []byte
	if e.Parent.Set {
		above = w.above.of(&e.Parent)
		n += idLen(&e.Parent, above)
	}
	if e.Failed {
		n += 2
	}
	ms := b.Attached(e)
	for i := range ms {
		n += messageLen(w.messageLen(&ms[i]))
	}
	dst = appendID(appendHead(dst, 2, n), 1, &e.ID, own)
	if e.Parent.Set {
		dst = appendID(dst, 2, &e.Parent, above)
	}
	dst = append(dst, end...)
	if e.Failed {
		dst = appendInt(dst, 5, 1)
	}
	dst = appendBytes(appendBytes(appendBytes(dst, 6, e.Name), 7, e.Kind), 8, e.Body)
	for i := range ms {
		dst = w.appendMessage(dst, &ms[i])
	}
	return dst
}

// Begin appends what a batch in wire format begins with.
func (w *Encoder) Begin(dst []byte, b *Batch) []byte {
	if b.Parent.Set {
		dst = appendID(dst, 1, &b.Parent, w.above.of(&b.Parent))
	}
	return dst
}

// Events appends the events of a batch.
func (w *Encoder) Events(dst []byte, b *Batch) []byte {
	for i := range b.Events {
		dst = w.appendEvent(dst, b, &b.Events[i])
	}
	return dst
}

// ErrWire is wrapped by errors about bytes that are not a batch.
var ErrWire = errors.New("not a batch of events")
