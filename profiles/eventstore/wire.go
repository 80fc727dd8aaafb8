package eventstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
)

// The messages of th2's common.proto, in proto3 wire format. They are written and
// read field by field, without reflection and without allocating for each event:
// byte slices point into the encoded batch or into the generator's buffers.

// stamp is a google.protobuf.Timestamp: seconds since 1970 and nanoseconds.
type stamp struct {
	sec   int64
	nanos int32
}

func stampOf(ns int64) stamp { return stamp{ns / 1e9, int32(ns % 1e9)} }

// ns is the time in nanoseconds since 1970.
func (t stamp) ns() int64 { return t.sec*1e9 + int64(t.nanos) }

// eventID is the message EventID; the start of an event lives in it.
type eventID struct {
	id, book, scope []byte
	start           stamp
	// set says that the message is there at all.
	set bool
}

// same says whether two ids are of one event.
func (i *eventID) same(o *eventID) bool {
	return i.start == o.start && bytes.Equal(i.id, o.id) && bytes.Equal(i.book, o.book) && bytes.Equal(i.scope, o.scope)
}

// messageID is the message MessageID.
type messageID struct {
	alias, group, book []byte
	// second is the direction SECOND, outgoing.
	second      bool
	sequence    int64
	subsequence []uint32
	at          stamp
}

// event is the message Event. Its attached messages are a range of the batch's.
type event struct {
	id, parent       eventID
	end              stamp
	failed           bool
	name, kind, body []byte
	from, to         int32 // of batch.messages
}

// batch is the message EventBatch. It is reused from one to the next.
type batch struct {
	parent   eventID
	events   []event
	messages []messageID
}

func (b *batch) reset() {
	b.parent, b.events, b.messages = eventID{}, b.events[:0], b.messages[:0]
}

// attached returns the message ids of an event.
func (b *batch) attached(e *event) []messageID { return b.messages[e.from:e.to] }

func varintLen(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// bytesLen is the size of a length-delimited field with a tag of one byte, 0 when it
// is empty and so not written.
func bytesLen(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + varintLen(uint64(n)) + n
}

// messageLen is as bytesLen, for a message that is there even when empty.
func messageLen(n int) int { return 1 + varintLen(uint64(n)) + n }

func intLen(v int64) int {
	if v == 0 {
		return 0
	}
	return 1 + varintLen(uint64(v))
}

func (t stamp) size() int { return intLen(t.sec) + intLen(int64(t.nanos)) }

func (i *eventID) size() int {
	return bytesLen(len(i.id)) + bytesLen(len(i.book)) + bytesLen(len(i.scope)) + messageLen(i.start.size())
}

func (m *messageID) connection() int { return bytesLen(len(m.alias)) + bytesLen(len(m.group)) }

func (m *messageID) packed() (n int) {
	for _, s := range m.subsequence {
		n += varintLen(uint64(s))
	}
	return n
}

func (m *messageID) size() int {
	n := messageLen(m.connection()) + intLen(m.sequence) + bytesLen(m.packed()) + bytesLen(len(m.book)) + messageLen(m.at.size())
	if m.second {
		n += 2
	}
	return n
}

func (b *batch) eventSize(e *event) int {
	n := messageLen(e.id.size()) + messageLen(e.end.size()) + bytesLen(len(e.name)) + bytesLen(len(e.kind)) + bytesLen(len(e.body))
	if e.parent.set {
		n += messageLen(e.parent.size())
	}
	if e.failed {
		n += 2
	}
	for i := range b.attached(e) {
		n += messageLen(b.messages[int(e.from)+i].size())
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

func appendStamp(dst []byte, field int, t stamp) []byte {
	dst = appendHead(dst, field, t.size())
	return appendInt(appendInt(dst, 1, t.sec), 2, int64(t.nanos))
}

func appendID(dst []byte, field int, i *eventID) []byte {
	dst = appendHead(dst, field, i.size())
	dst = appendBytes(appendBytes(appendBytes(dst, 1, i.id), 2, i.book), 3, i.scope)
	return appendStamp(dst, 4, i.start)
}

func appendMessage(dst []byte, m *messageID) []byte {
	dst = appendHead(dst, 9, m.size())
	dst = appendHead(dst, 1, m.connection())
	dst = appendBytes(appendBytes(dst, 1, m.alias), 2, m.group)
	if m.second {
		dst = appendInt(dst, 2, 1)
	}
	dst = appendInt(dst, 3, m.sequence)
	if n := m.packed(); n > 0 {
		dst = appendHead(dst, 4, n)
		for _, s := range m.subsequence {
			dst = binary.AppendUvarint(dst, uint64(s))
		}
	}
	return appendStamp(appendBytes(dst, 5, m.book), 6, m.at)
}

func (b *batch) appendEvent(dst []byte, e *event) []byte {
	dst = appendHead(dst, 2, b.eventSize(e))
	dst = appendID(dst, 1, &e.id)
	if e.parent.set {
		dst = appendID(dst, 2, &e.parent)
	}
	dst = appendStamp(dst, 4, e.end)
	if e.failed {
		dst = appendInt(dst, 5, 1)
	}
	dst = appendBytes(appendBytes(appendBytes(dst, 6, e.name), 7, e.kind), 8, e.body)
	for i := range b.attached(e) {
		dst = appendMessage(dst, &b.messages[int(e.from)+i])
	}
	return dst
}

// encode appends the batch in wire format.
func (b *batch) encode(dst []byte) []byte {
	if b.parent.set {
		dst = appendID(dst, 1, &b.parent)
	}
	for i := range b.events {
		dst = b.appendEvent(dst, &b.events[i])
	}
	return dst
}

// errWire is wrapped by errors about bytes that are no batch.
var errWire = errors.New("not a batch of events")
