package eventstore

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
				assert.EqualValues(t, len(content), binary.BigEndian.Uint32(small[10:]))
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

// It compresses as the library does, within 1 % for the documented event.
func TestLZ4CompressesAsTheLibraryDoes(t *testing.T) {
	z, err := newCompressor(codecLZ4)
	require.NoError(t, err)
	source, err := os.ReadFile("maker.go")
	require.NoError(t, err)
	noise := make([]byte, 100_000)
	d := dice(1)
	for i := range noise {
		noise[i] = byte(d.next())
	}
	for name, c := range map[string]struct {
		src   []byte
		worse float64
	}{
		"documented events":  {appendContent(nil, some(t, testShape(), 300, documentedBody).b.events), 1.01},
		"batches of 400":     {appendContent(nil, some(t, testShape(), 400, documentedBody).b.events), 1.01},
		"links":              {linksOf(some(t, testShape(), 300, documentedBody)), 1.01},
		"source code":        {source, 1.15},
		"does not compress":  {noise, 1.001},
		"one hundred events": {appendContent(nil, some(t, testShape(), 100, 400).b.events), 1.01},
	} {
		t.Run(name, func(t *testing.T) {
			small, err := z.append(nil, c.src)
			require.NoError(t, err)
			ours := len(small) - 8 // without its head
			room := make([]byte, lz4.CompressBlockBound(len(c.src)))
			theirs, err := lz4.CompressBlock(c.src, room, nil)
			require.NoError(t, err)
			assert.LessOrEqual(t, float64(ours), c.worse*float64(theirs), "ours %d, theirs %d of %d bytes", ours, theirs, len(c.src))
		})
	}
}

func linksOf(g *generator) []byte { return (&linker{}).appendLinks(nil, &g.b, g.b.events) }
