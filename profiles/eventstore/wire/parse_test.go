package wire

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// alone decodes a batch as if each of its messages were the only one: nothing is taken
// over from another.
func alone(raw []byte) (b Batch, err error) {
	s, ok := scanner{b: raw}, true
	for s.next() {
		switch s.field {
		case 1:
			ok = new(shared).parseID(&b.Parent, s.v)
		case 2:
			ok = b.parseEvent(new(shared), s.v)
		}
		s.bad = s.bad || !ok
	}
	if s.bad {
		return b, ErrWire
	}
	return b, nil
}

// mixed is a batch whose events have this and that in common: i chooses what differs.
func mixed(n int) *Batch {
	pick := func(i int, of ...string) []byte { return []byte(of[i%len(of)]) }
	b := &Batch{Parent: EventID{ID: []byte("p"), Book: []byte("b"), Scope: []byte("s"), Start: Stamp{7, 8}, Set: true}}
	for i := range n {
		id := EventID{
			ID: fmt.Appendf(nil, "e%d", i), Book: pick(i/3, "b", "b", "", "c"), Scope: pick(i/5, "s", "s", "t", ""), Start: Stamp{int64(9 + i/4%2), int32(i / 7 % 3)}, Set: true,
		}
		parent := b.Parent
		if i%11 == 5 {
			parent = EventID{ID: id.ID[:1], Book: id.Book, Scope: id.Scope, Start: Stamp{-1, 3}, Set: true}
		}
		if i%13 == 6 {
			parent = EventID{}
		}
		from := int32(len(b.Messages))
		for k := range i % 4 {
			b.Messages = append(b.Messages, MessageID{
				Alias: pick(i/2, "a", "a", "z"), Group: pick(i/3, "g", ""), Book: pick(i+k, "b", "b", "b", "c"), Second: k == 1, Sequence: int64(i), At: id.Start, subsequence: []uint32{1, 300}[:k%3],
			})
		}
		b.Events = append(b.Events, Event{
			ID: id, Parent: parent, End: Stamp{int64(10 + i/2), 0}, Failed: i%5 == 0, Name: pick(i, "n", ""), Kind: []byte("k"), Body: make([]byte, i*9), From: from, To: int32(len(b.Messages)),
		})
	}
	return b
}

// encoded returns a batch in wire format.
func encoded(w *Encoder, b *Batch) []byte { return w.Events(w.Begin(nil, b), b) }

// What events have in common is encoded and decoded once, and is no different for that.
func TestWhatEventsShareIsWhatEachHas(t *testing.T) {
	b := mixed(60)
	w := &Encoder{}
	raw := encoded(w, b)
	var each []byte
	each = (&Encoder{}).Begin(each, b)
	for i := range b.Events {
		e := b.Events[i]
		one := Batch{Messages: b.Attached(&e)}
		e.From, e.To = 0, int32(len(one.Messages))
		one.Events = []Event{e}
		each = (&Encoder{}).Events(each, &one)
	}
	require.Equal(t, each, raw, "as if each had an encoder of its own")
	require.Equal(t, raw, encoded(w, b), "whatever was encoded before")
	var back Batch
	require.NoError(t, back.Decode(raw))
	want, err := alone(raw)
	require.NoError(t, err)
	assert.Equal(t, want, back)
	assert.Equal(t, raw, encoded(w, &back), "and encoded again it is the same")
}

// FuzzDecode decodes whatever it is given as if nothing were shared.
func FuzzDecode(f *testing.F) {
	raw := encoded(&Encoder{}, mixed(30))
	f.Add(raw)
	f.Add(raw[:len(raw)/2])
	for i := range 40 { // a byte is another, here and there
		spoiled := append([]byte(nil), raw...)
		spoiled[i*len(raw)/40] ^= byte(1 << (i % 8))
		f.Add(spoiled)
	}
	id := []byte("\n\x01x\x12\x01b\x1a\x01s")
	for _, more := range []string{"", "\n\x01y", "\x12\x01c", "\"\x02\x08\x05", "\"\x02\x08\x05\"\x00", "\x12", "\x0d1234"} { // an id that goes on behind what is shared
		ids := append(append([]byte(nil), id...), more...)
		event := append([]byte{0x0a, byte(len(ids))}, ids...)
		f.Add(append(append([]byte("\x12\x0b\n\x09"), id...), append([]byte{0x12, byte(len(event))}, event...)...))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b Batch
		want, err := alone(raw)
		require.Equal(t, err, b.Decode(raw))
		if err == nil {
			require.Equal(t, want, b)
		}
	})
}
