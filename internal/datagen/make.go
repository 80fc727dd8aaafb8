package datagen

import (
	"math/rand/v2"
	"time"
)

// Maker makes objects of one kind, one after the other. It belongs to one goroutine and
// allocates nothing once its buffers have grown.
type Maker struct {
	o    *Object
	seed int64
	now  int64

	dice    Dice
	rnd     *rand.Rand // draws from dice
	zipfs   []*Zipf
	cells   []cell
	buf     []byte
	payload int
}

// NewMaker returns a Maker for the objects of a seed; now is the value of fields with
// the generator now.
func (o *Object) NewMaker(seed int64, now time.Time) *Maker {
	m := &Maker{o: o, seed: seed, now: now.UnixMilli(), cells: make([]cell, len(o.Fields))}
	m.rnd = rand.New(&m.dice.rnd)
	for _, f := range o.Fields {
		if f.spread == spreadZipf {
			m.zipfs = append(m.zipfs, New(m.rnd, f.skew, f.hi))
		}
	}
	return m
}

// None is the link of an object that is written on its own rather than after its
// parent.
const None = -1

// Make makes the object with a number, replacing the previous one. Texts that follow
// the payload have that length. If link is the index of a field, rather than None, the
// object is the child of a parent with that key.
func (m *Maker) Make(n int64, link int, parent string, payload int) {
	m.buf, m.payload = m.buf[:0], payload
	for _, i := range m.o.order {
		f := m.o.Fields[i]
		c := &m.cells[i]
		c.from = len(m.buf)
		if i == link {
			m.buf = append(m.buf, parent...)
		} else {
			m.dice.throw(m.seed, f.hash, n)
			f.gen(m, f, n)
		}
		c.to = len(m.buf)
	}
}

// text returns the text of a field, valid until the next object.
func (m *Maker) text(i int) []byte { return m.buf[m.cells[i].from:m.cells[i].to] }

// Key returns the key of the object, valid until the next one.
func (m *Maker) Key() []byte { return m.text(m.o.key) }

// AppendKey appends the key with a number. It uses its own dice, so any goroutine may
// call it.
func (o *Object) AppendKey(dst []byte, seed, n int64) []byte {
	f := o.Fields[o.key]
	if f.Generator == genUUID {
		var d Dice
		d.throw(seed, f.hash, n)
		return appendUUID(dst, &d)
	}
	return f.appendSequence(dst, n)
}

// appendSequence appends the text of a sequence: its pattern with the number, never
// truncated, in place of the #, or the bare number.
func (f *Field) appendSequence(dst []byte, n int64) []byte {
	v := f.start + (n-1)*f.step
	if len(f.parts) == 0 {
		return appendInt(dst, v)
	}
	dst = append(dst, f.parts[0].text...)
	dst = padded(dst, v, f.pad)
	return append(dst, f.parts[1].text...)
}

const hex = "0123456789abcdef"

// appendUUID appends a UUID of version 4.
func appendUUID(dst []byte, d *Dice) []byte {
	hi, lo := d.Bits(), d.Bits()
	hi = hi&^0xF000 | 0x4000
	lo = lo&^(0xC<<60) | 0x8<<60
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		w := hi
		if i >= 16 {
			w = lo
		}
		dst = append(dst, hex[w>>(60-4*(i%16))&0xF])
	}
	return dst
}

// letters are the letters used in texts: 64, so that six bits choose one.
const letters = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789"

// appendText appends n letters. With the same dice, a shorter text is the beginning of
// a longer one.
func appendText(dst []byte, d *Dice, n int64) []byte {
	for n > 0 {
		bits := d.Bits()
		for range min(n, 10) {
			dst = append(dst, letters[bits&63])
			bits >>= 6
		}
		n -= 10
	}
	return dst
}

// weighted returns a random index, each as often as its weight.
func weighted(d *Dice, upTo []int64) int {
	at := d.Below(upTo[len(upTo)-1])
	for i, w := range upTo {
		if at < w {
			return i
		}
	}
	return 0
}
