package wire

import (
	"bytes"
	"fmt"
)

// Linker encodes the attached message ids of a batch in Cradle's format. It is reused.
type Linker struct{ aliases [][]byte }

// note assigns the next number to an alias if it is new.
func (l *Linker) note(alias []byte) {
	for _, a := range l.aliases {
		if bytes.Equal(a, alias) {
			return
		}
	}
	l.aliases = append(l.aliases, alias)
}

func appendShort(dst, s []byte) []byte {
	return append(be.AppendUint16(dst, uint16(len(s))), s...)
}

// linked returns how many events have message ids.
func (b *Batch) linked(es []Event) (n int) {
	for i := range es {
		if es[i].From < es[i].To {
			n++
		}
	}
	return n
}

// AppendLinks appends the links of a batch's events; nothing if there are none.
func (l *Linker) AppendLinks(dst []byte, b *Batch, es []Event) []byte {
	n := b.linked(es)
	if n == 0 {
		return dst
	}
	l.aliases = l.aliases[:0]
	for i := range es {
		for _, m := range b.Attached(&es[i]) {
			l.note(m.Alias)
		}
	}
	dst = be.AppendUint32(append(dst, 1, 2), uint32(n))
	dst = be.AppendUint16(dst, uint16(len(l.aliases)))
	for i, a := range l.aliases {
		dst = be.AppendUint16(appendShort(dst, a), uint16(i))
	}
	for i := range es {
		e := &es[i]
		ids := b.Attached(e)
		if len(ids) == 0 {
			continue
		}
		dst = appendShort(dst, e.ID.Scope)
		dst = appendShort(appendInstant(dst, e.ID.Start), e.ID.ID)
		dst = be.AppendUint32(dst, uint32(len(ids)))
		for k := range l.aliases {
			dst = l.appendAlias(dst, ids, k)
		}
	}
	return dst
}

// appendAlias appends the ids of one alias, by direction; nothing if there are none.
func (l *Linker) appendAlias(dst []byte, ids []MessageID, k int) []byte {
	begun := false
	for d := byte(1); d <= 2; d++ {
		n := 0
		for i := range ids {
			if ids[i].Second == (d == 2) && bytes.Equal(ids[i].Alias, l.aliases[k]) {
				n++
			}
		}
		if n == 0 {
			continue
		}
		if !begun {
			dst, begun = be.AppendUint16(dst, uint16(k)), true
		}
		dst = be.AppendUint32(append(dst, d), uint32(n))
		for i := range ids {
			if ids[i].Second == (d == 2) && bytes.Equal(ids[i].Alias, l.aliases[k]) {
				dst = be.AppendUint64(appendInstant(dst, ids[i].At), uint64(ids[i].Sequence))
			}
		}
	}
	if begun {
		dst = append(dst, 0)
	}
	return dst
}

// AppendSingleLinks appends the links of an event that is stored alone.
func AppendSingleLinks(dst []byte, ids []MessageID) []byte {
	if len(ids) == 0 {
		return dst
	}
	dst = be.AppendUint32(append(dst, 1, 1), uint32(len(ids)))
	l := Linker{}
	for _, m := range ids {
		l.note(m.Alias)
	}
	for k, a := range l.aliases {
		part := l.appendAlias(nil, ids, k)
		dst = append(appendShort(dst, a), part[2:]...) // the alias by name, not by number
	}
	return dst
}

// ReadLinks decodes links into the events of b, which have been decoded from the
// content: they are in the same order.
func (b *Batch) ReadLinks(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	r := &reading{b: raw}
	if r.u8() != 1 || r.u8() != 2 {
		return fmt.Errorf("%w: links of another version", ErrContent)
	}
	n := int(r.u32())
	aliases := map[uint16][]byte{}
	for range int(r.u16()) {
		a := r.short()
		aliases[r.u16()] = a
	}
	at := 0
	for range n {
		scope, start, id := r.short(), r.instant(), r.short()
		for at < len(b.Events) && (!bytes.Equal(b.Events[at].ID.ID, id) || b.Events[at].ID.Start != start) {
			at++
		}
		if r.bad || at == len(b.Events) {
			return fmt.Errorf("%w: links of an event that is not in the batch", ErrContent)
		}
		e := &b.Events[at]
		e.ID.Scope = scope
		e.From = int32(len(b.Messages))
		left := int(r.u32())
		for left > 0 && !r.bad {
			left -= b.readAlias(r, aliases[r.u16()])
		}
		e.To = int32(len(b.Messages))
	}
	if r.bad || len(r.b) > 0 {
		return fmt.Errorf("%w: links", ErrContent)
	}
	return nil
}

// readAlias decodes the ids of one alias and returns how many there are.
func (b *Batch) readAlias(r *reading, alias []byte) (n int) {
	for d := r.u8(); d != 0 && !r.bad; d = r.u8() {
		for range r.u32() {
			if r.bad {
				return n
			}
			at := r.instant()
			b.Messages = append(b.Messages, MessageID{Alias: alias, Second: d == 2, At: at, Sequence: int64(r.u64())})
			n++
		}
	}
	return n
}
