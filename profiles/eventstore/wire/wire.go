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

func (i *EventID) size() int {
	return bytesLen(len(i.ID)) + bytesLen(len(i.Book)) + bytesLen(len(i.Scope)) + messageLen(i.Start.size())
}

func (m *MessageID) connection() int { return bytesLen(len(m.Alias)) + bytesLen(len(m.Group)) }

func (m *MessageID) packed() (n int) {
	for _, s := range m.subsequence {
		n += varintLen(uint64(s))
	}
	return n
}

func (m *MessageID) size() int {
	n := messageLen(m.connection()) + intLen(m.Sequence) + bytesLen(m.packed()) + bytesLen(len(m.Book)) + messageLen(m.At.size())
	if m.Second {
		n += 2
	}
	return n
}

func (b *Batch) eventSize(e *Event) int {
	n := messageLen(e.ID.size()) + messageLen(e.End.size()) + bytesLen(len(e.Name)) + bytesLen(len(e.Kind)) + bytesLen(len(e.Body))
	if e.Parent.Set {
		n += messageLen(e.Parent.size())
	}
	if e.Failed {
		n += 2
	}
	for i := range b.Attached(e) {
		n += messageLen(b.Messages[int(e.From)+i].size())
	}
	return n
}

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

func appendID(dst []byte, field int, i *EventID) []byte {
	dst = appendHead(dst, field, i.size())
	dst = appendBytes(appendBytes(appendBytes(dst, 1, i.ID), 2, i.Book), 3, i.Scope)
	return appendStamp(dst, 4, i.Start)
}

func appendMessage(dst []byte, m *MessageID) []byte {
	dst = appendHead(dst, 9, m.size())
	dst = appendHead(dst, 1, m.connection())
	dst = appendBytes(appendBytes(dst, 1, m.Alias), 2, m.Group)
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
	return appendStamp(appendBytes(dst, 5, m.Book), 6, m.At)
}

func (b *Batch) appendEvent(dst []byte, e *Event) []byte {
	dst = appendHead(dst, 2, b.eventSize(e))
	dst = appendID(dst, 1, &e.ID)
	if e.Parent.Set {
		dst = appendID(dst, 2, &e.Parent)
	}
	dst = appendStamp(dst, 4, e.End)
	if e.Failed {
		dst = appendInt(dst, 5, 1)
	}
	dst = appendBytes(appendBytes(appendBytes(dst, 6, e.Name), 7, e.Kind), 8, e.Body)
	for i := range b.Attached(e) {
		dst = appendMessage(dst, &b.Messages[int(e.From)+i])
	}
	return dst
}

// Encode appends the batch in wire format.
func (b *Batch) Encode(dst []byte) []byte {
	if b.Parent.Set {
		dst = appendID(dst, 1, &b.Parent)
	}
	for i := range b.Events {
		dst = b.appendEvent(dst, &b.Events[i])
	}
	return dst
}

// ErrWire is wrapped by errors about bytes that are not a batch.
var ErrWire = errors.New("not a batch of events")
