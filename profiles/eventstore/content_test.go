package eventstore

import (
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
