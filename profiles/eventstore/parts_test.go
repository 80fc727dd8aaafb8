package eventstore

import (
	"bytes"
	"context"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bytes of a batch of one event, written out by hand from the documented format.
func TestContentAndLinksAreTheDocumentedBytes(t *testing.T) {
	b := batch{events: []event{{
		id:     eventID{id: []byte("e1"), book: []byte("b"), scope: []byte("sc"), start: stamp{1, 2}, set: true},
		parent: eventID{id: []byte("p"), start: stamp{0, 5}, set: true}, end: stamp{3, 4},
		name: []byte("n"), kind: []byte("ty"), body: []byte("{}"), to: 2,
	}}}
	b.messages = []messageID{{alias: []byte("a"), sequence: 7, at: stamp{9, 8}}, {alias: []byte("a"), second: true, sequence: 6, at: stamp{9, 8}}}
	const (
		one     = "000000000000000100000002" // start
		content = "39983091" + "02" + "00000001" + "00000043" + "f3de" + one + "000000026531" + "000000016e" + "000000027479" +
			"000000000000000000000005" + "0000000170" + "000000000000000300000004" + "01" + "000000027b7d"
		links = "0102" + "00000001" + "0001" + "000161" + "0000" + "00027363" + one + "00026531" + "00000002" +
			"0000" + "01" + "00000001" + "000000000000000900000008" + "0000000000000007" +
			"02" + "00000001" + "000000000000000900000008" + "0000000000000006" + "00"
		alone = "0101" + "00000001" + "000161" + "01" + "00000001" + "000000000000000900000008" + "0000000000000007" + "00"
	)
	got := appendContent(nil, b.events)
	assert.Equal(t, content, hex.EncodeToString(got))
	assert.Len(t, got, contentSize(b.events))
	l := &linker{}
	gotLinks := l.appendLinks(nil, &b, b.events)
	assert.Equal(t, links, hex.EncodeToString(gotLinks))
	assert.Equal(t, alone, hex.EncodeToString(appendSingleLinks(nil, b.messages[:1])))
	assert.Equal(t, "b:sc:19700101000001000000002:e1", string(appendFullID(nil, &b.events[0].id)))
	assert.Equal(t, `a\:b:\\:19700101000001000000002:x`, string(appendFullID(nil, &eventID{book: []byte("a:b"), scope: []byte(`\`), id: []byte("x"), start: stamp{1, 2}})))
	start, id, ok := splitFullID(`a\:b:\\:19700101000001000000002:x\:y`)
	assert.True(t, ok)
	assert.EqualValues(t, 1_000_000_002, start)
	assert.Equal(t, "x:y", id)

	var back batch
	require.NoError(t, back.readContent(got))
	require.NoError(t, back.readLinks(gotLinks))
	e := back.events[0]
	assert.Equal(t, b.events[0].body, e.body)
	assert.Equal(t, b.messages, back.attached(&e))
	for cut := range got {
		assert.ErrorIs(t, (&batch{}).readContent(got[:cut]), errContent)
	}
}

// A batch is restored from its compressed row, byte for byte, by every codec.
func TestCodecsGiveBackWhatTheyWereGiven(t *testing.T) {
	g := some(t, testShape(), 50, 500)
	content := appendContent(nil, g.b.events)
	for name, codec := range codecs {
		c, err := newCompressor(codec)
		require.NoError(t, err)
		for range 2 { // the second time with what the first has left
			small, err := c.append([]byte("before"), content)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(small, []byte("before")))
			back, err := expand(codec, []byte("x"), small[6:])
			require.NoError(t, err)
			assert.Equal(t, content, back[1:], name)
			if codec == codecLZ4 {
				assert.Equal(t, "004c5a34", hex.EncodeToString(small[6:10]))
				assert.EqualValues(t, len(content), be.Uint32(small[10:]))
			}
			if codec == codecZlib {
				assert.Equal(t, "789c", hex.EncodeToString(small[6:8]))
			}
			if codec != codecNone {
				_, err = expand(codec, nil, small[7:])
				assert.Error(t, err, name)
			}
		}
	}
}

// Whoever knows seed, generator and number of an event knows the event.
func TestEventsCanBeMadeAgain(t *testing.T) {
	for _, change := range []func(*shape){
		func(*shape) {}, func(s *shape) { s.kind = bodyRandom }, func(s *shape) { s.description = 30 },
		func(s *shape) { s.kind, s.description, s.failures = bodyRandom, 12, 300 }, func(s *shape) { s.compat = true },
	} {
		s := testShape()
		change(s)
		g := newGenerator(s, 3)
		require.NoError(t, g.plant(stampOf(s.born), 400, 1000, func(int64) error { return nil }))
		g.made = 1 // the first of compat is special
		first := g.fill(stampOf(s.born), 20, 400)
		again := newMaker(s, 3)
		for i := range g.b.events {
			e := &g.b.events[i]
			assert.True(t, again.same(e, first+int64(i)))
			assert.False(t, again.same(e, first+int64(i)+1))
			e.body[len(e.body)/2] ^= 1
			assert.False(t, again.same(e, first+int64(i)), "a changed body")
		}
		assert.NotEqual(t, again.prefix, newMaker(s, 4).prefix)
	}
}

func TestSetsOfNumbers(t *testing.T) {
	var s seqset
	assert.EqualValues(t, 100, s.add(65_500, 100), "over the end of a page")
	assert.EqualValues(t, 10, s.add(65_590, 20))
	assert.EqualValues(t, 3*pageBits-110, s.add(0, 3*pageBits))
	assert.Same(t, full, s.pages[1])
	assert.EqualValues(t, 3*pageBits, s.n)
	assert.True(t, s.has(0) && s.has(3*pageBits-1) && !s.has(3*pageBits))
	assert.Zero(t, s.add(5, 7))
}

func TestInvalidBatchesAreRefused(t *testing.T) {
	now := testShape().born + 2e9
	for want, spoil := range map[string]func(*batch){
		"the id of its parent is empty":   func(b *batch) { b.parent.id = nil },
		"is in it twice":                  func(b *batch) { b.events[2].id.id = b.events[1].id.id },
		"of another book or scope":        func(b *batch) { b.events[1].id.scope = []byte("other") },
		"neither the batch's nor earlier": func(b *batch) { b.events[1].parent.id = []byte("stranger") },
		"has no name":                     func(b *batch) { b.events[1].name = nil },
		"has no id":                       func(b *batch) { b.events[1].id.id = nil },
		"ends before it starts":           func(b *batch) { b.events[1].end.sec-- },
		"starts in the future":            func(b *batch) { b.events[1].id.start.sec += 100; b.events[1].end.sec += 100 },
		"attached message id":             func(b *batch) { b.messages[0].sequence = 0 },
	} {
		g := some(t, testShape(), 5, 100)
		v := newValidator()
		_, err := v.check(&g.b, now)
		require.NoError(t, err)
		spoil(&g.b)
		_, err = v.check(&g.b, now)
		require.ErrorIs(t, err, errInvalid)
		assert.ErrorContains(t, err, want)
	}
}

// What a receiver that crashed had not settled is delivered again, and nothing else.
func TestDirectDeliversAgain(t *testing.T) {
	ctx := context.Background()
	now := int64(0)
	d := newDirect(func() int64 { now++; return now }, 3, 1000)
	confirmed := 0
	p, err := d.Publisher(ctx, 0, func(Meta, error) { confirmed++ })
	require.NoError(t, err)
	for i := range 3 {
		e := newEnvelope()
		e.Body = append(e.Body, byte(i))
		e.First, e.Count = int64(i), 1
		require.NoError(t, p.Publish(ctx, e))
	}
	full, cancel := context.WithCancel(ctx)
	cancel()
	require.ErrorIs(t, p.Publish(full, newEnvelope()), context.Canceled, "there is no room")
	assert.Equal(t, 3, confirmed)
	r, err := d.Receiver(ctx, 2)
	require.NoError(t, err)
	a, err := r.Receive(ctx)
	require.NoError(t, err)
	b, err := r.Receive(ctx)
	require.NoError(t, err)
	_, err = r.Receive(full)
	require.ErrorIs(t, err, context.Canceled, "as many as prefetch are out")
	require.NoError(t, r.Ack(a))
	require.NoError(t, r.Close())
	require.NoError(t, r.Ack(b), "too late")
	r, err = d.Receiver(ctx, 9)
	require.NoError(t, err)
	got := map[byte]bool{}
	for range 2 {
		m, err := r.Receive(ctx)
		require.NoError(t, err)
		got[m.Body[0]] = m.Redelivered
		require.NoError(t, r.Ack(m))
	}
	assert.Equal(t, map[byte]bool{1: true, 2: false}, got)
	depth, err := d.Depth(ctx)
	require.NoError(t, err)
	assert.Equal(t, Depth{}, depth)
}
