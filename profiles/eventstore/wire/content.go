package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// The content of a stored batch in Cradle's format: all numbers are big-endian; an
// instant is int64 seconds and int32 nanoseconds (-1 and -1 if there is none); a string
// is an int32 length (-1 if there is none) and UTF-8.
const (
	batchMagic   = 0x39983091
	batchVersion = 2
	eventMagic   = 0xF3DE
	// ContentHead is the length of what precedes the records of a batch.
	ContentHead = 4 + 1 + 4
)

var be = binary.BigEndian

// RecordSize returns the length of an event's record with the int32 before it.
func RecordSize(e *Event) int {
	n := 4 + 2 + 12 + 4 + len(e.ID.ID) + 4 + len(e.Name) + 4 + len(e.Kind) + 12 + 4 + 12 + 1 + 4 + len(e.Body)
	if e.Parent.Set {
		n += len(e.Parent.ID)
	}
	return n
}

// ContentSize returns the length of the content of events.
func ContentSize(es []Event) int {
	n := ContentHead
	for i := range es {
		n += RecordSize(&es[i])
	}
	return n
}

func appendInstant(dst []byte, t Stamp) []byte {
	return be.AppendUint32(be.AppendUint64(dst, uint64(t.Sec)), uint32(t.nanos))
}

// AppendContent appends the content of events.
func AppendContent(dst []byte, es []Event) []byte {
	dst = append(be.AppendUint32(dst, batchMagic), batchVersion)
	dst = be.AppendUint32(dst, uint32(len(es)))
	for i := range es {
		e := &es[i]
		at, size := len(dst), RecordSize(e)
		dst = slices.Grow(dst, size)[:at+size]
		r := filling{dst[at:]}
		r.u32(uint32(size - 4))
		be.PutUint16(r.next(2), eventMagic)
		r.instant(e.ID.Start)
		r.text(e.ID.ID)
		r.text(e.Name)
		r.text(e.Kind)
		if e.Parent.Set {
			r.instant(e.Parent.Start)
			r.text(e.Parent.ID)
		} else {
			r.instant(Stamp{-1, -1})
			r.u32(0xFFFFFFFF)
		}
		r.instant(e.End)
		r.next(1)[0] = success(e)
		r.text(e.Body)
	}
	return dst
}

// success is the byte of an event's status.
func success(e *Event) byte {
	if e.Failed {
		return 0
	}
	return 1
}

// filling writes into bytes whose number was worked out before.
type filling struct{ b []byte }

func (f *filling) next(n int) []byte {
	v := f.b[:n]
	f.b = f.b[n:]
	return v
}

func (f *filling) u32(v uint32) { be.PutUint32(f.next(4), v) }

func (f *filling) instant(t Stamp) {
	v := f.next(12)
	be.PutUint64(v, uint64(t.Sec))
	be.PutUint32(v[8:], uint32(t.nanos))
}

func (f *filling) text(s []byte) {
	v := f.next(4 + len(s))
	be.PutUint32(v, uint32(len(s)))
	copy(v[4:], s)
}

// ErrContent is wrapped by errors about stored bytes that cannot be decoded.
var ErrContent = errors.New("the stored content is damaged")

// reading steps through stored bytes.
type reading struct {
	b   []byte
	bad bool
}

func (r *reading) next(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad = true
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reading) u8() byte {
	if v := r.next(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *reading) u16() uint16 {
	if v := r.next(2); v != nil {
		return be.Uint16(v)
	}
	return 0
}

func (r *reading) u32() uint32 {
	if v := r.next(4); v != nil {
		return be.Uint32(v)
	}
	return 0
}

func (r *reading) u64() uint64 {
	if v := r.next(8); v != nil {
		return be.Uint64(v)
	}
	return 0
}

func (r *reading) instant() Stamp { return Stamp{int64(r.u64()), int32(r.u32())} }

func (r *reading) text() []byte {
	if n := int32(r.u32()); n >= 0 {
		return r.next(int(n))
	}
	return nil
}

// short reads a string with a length of two bytes.
func (r *reading) short() []byte { return r.next(int(r.u16())) }

// ReadContent decodes content into the events of b, which point into raw. It contains
// neither book nor scope.
func (b *Batch) ReadContent(raw []byte) error {
	r := &reading{b: raw}
	if r.u32() != batchMagic || r.u8() != batchVersion {
		return fmt.Errorf("%w: it does not begin as a batch", ErrContent)
	}
	n := int(r.u32())
	for range n {
		p := &reading{b: r.next(int(r.u32()))}
		if r.bad || p.u16() != eventMagic {
			return fmt.Errorf("%w: event %d of %d", ErrContent, len(b.Events)+1, n)
		}
		e := Event{}
		e.ID.Set, e.ID.Start = true, p.instant()
		e.ID.ID, e.Name, e.Kind = p.text(), p.text(), p.text()
		e.Parent.Start = p.instant()
		e.Parent.ID = p.text()
		e.Parent.Set = e.Parent.Start != Stamp{-1, -1}
		if !e.Parent.Set {
			e.Parent = EventID{}
		}
		e.End = p.instant()
		e.Failed = p.u8() == 0
		e.Body = p.text()
		if p.bad || len(p.b) > 0 {
			return fmt.Errorf("%w: event %d of %d", ErrContent, len(b.Events)+1, n)
		}
		b.Events = append(b.Events, e)
	}
	if r.bad || len(r.b) > 0 {
		return fmt.Errorf("%w: %d bytes too many", ErrContent, len(r.b))
	}
	return nil
}
