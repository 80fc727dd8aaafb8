package wire

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The bytes of a batch of one event, written out by hand from the documented format.
func TestContentAndLinksAreTheDocumentedBytes(t *testing.T) {
	b := Batch{Events: []Event{{
		ID:     EventID{ID: []byte("e1"), Book: []byte("b"), Scope: []byte("sc"), Start: Stamp{1, 2}, Set: true},
		Parent: EventID{ID: []byte("p"), Start: Stamp{0, 5}, Set: true}, End: Stamp{3, 4},
		Name: []byte("n"), Kind: []byte("ty"), Body: []byte("{}"), To: 2,
	}}}
	b.Messages = []MessageID{{Alias: []byte("a"), Sequence: 7, At: Stamp{9, 8}}, {Alias: []byte("a"), Second: true, Sequence: 6, At: Stamp{9, 8}}}
	const (
		one     = "000000000000000100000002" // start
		content = "39983091" + "02" + "00000001" + "00000043" + "f3de" + one + "000000026531" + "000000016e" + "000000027479" +
			"000000000000000000000005" + "0000000170" + "000000000000000300000004" + "01" + "000000027b7d"
		links = "0102" + "00000001" + "0001" + "000161" + "0000" + "00027363" + one + "00026531" + "00000002" +
			"0000" + "01" + "00000001" + "000000000000000900000008" + "0000000000000007" +
			"02" + "00000001" + "000000000000000900000008" + "0000000000000006" + "00"
		alone = "0101" + "00000001" + "000161" + "01" + "00000001" + "000000000000000900000008" + "0000000000000007" + "00"
	)
	got := AppendContent(nil, b.Events)
	assert.Equal(t, content, hex.EncodeToString(got))
	assert.Len(t, got, ContentSize(b.Events))
	l := &Linker{}
	gotLinks := l.AppendLinks(nil, &b, b.Events)
	assert.Equal(t, links, hex.EncodeToString(gotLinks))
	assert.Equal(t, alone, hex.EncodeToString(AppendSingleLinks(nil, b.Messages[:1])))
	assert.Equal(t, "b:sc:19700101000001000000002:e1", string(AppendFullID(nil, &b.Events[0].ID)))
	assert.Equal(t, `a\:b:\\:19700101000001000000002:x`, string(AppendFullID(nil, &EventID{Book: []byte("a:b"), Scope: []byte(`\`), ID: []byte("x"), Start: Stamp{1, 2}})))
	start, id, ok := SplitFullID(`a\:b:\\:19700101000001000000002:x\:y`)
	assert.True(t, ok)
	assert.EqualValues(t, 1_000_000_002, start)
	assert.Equal(t, "x:y", id)

	var back Batch
	require.NoError(t, back.ReadContent(got))
	require.NoError(t, back.ReadLinks(gotLinks))
	e := back.Events[0]
	assert.Equal(t, b.Events[0].Body, e.Body)
	assert.Equal(t, b.Messages, back.Attached(&e))
	for cut := range got {
		assert.ErrorIs(t, (&Batch{}).ReadContent(got[:cut]), ErrContent)
	}
}
