package generate

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// A batch is restored from its compressed row, byte for byte, by every codec.
func TestCodecsGiveBackWhatTheyWereGiven(t *testing.T) {
	g := some(t, Documented(), 50, 500)
	content := wire.AppendContent(nil, g.Batch.Events)
	for name, codec := range wire.Codecs {
		c, err := wire.NewCompressor(codec)
		require.NoError(t, err)
		for range 2 { // the second time with what the first has left
			small, err := c.Append([]byte("before"), content)
			require.NoError(t, err)
			require.True(t, bytes.HasPrefix(small, []byte("before")))
			back, err := wire.Expand(codec, []byte("x"), small[6:])
			require.NoError(t, err)
			assert.Equal(t, content, back[1:], name)
			if codec == wire.LZ4 {
				assert.Equal(t, "004c5a34", hex.EncodeToString(small[6:10]))
				assert.EqualValues(t, len(content), binary.BigEndian.Uint32(small[10:]))
			}
			if codec == wire.Zlib {
				assert.Equal(t, "789c", hex.EncodeToString(small[6:8]))
			}
			if codec != wire.None {
				_, err = wire.Expand(codec, nil, small[7:])
				assert.Error(t, err, name)
			}
		}
	}
}

// It compresses as the library does, within 1 % for the documented event and 3 % for what
// is of the same kind.
func TestLZ4CompressesAsTheLibraryDoes(t *testing.T) {
	z, err := wire.NewCompressor(wire.LZ4)
	require.NoError(t, err)
	source, err := os.ReadFile("maker.go")
	require.NoError(t, err)
	noise := make([]byte, 100_000)
	d := Dice(1)
	for i := range noise {
		noise[i] = byte(d.Next())
	}
	for name, c := range map[string]struct {
		src   []byte
		worse float64
	}{
		"documented events":  {wire.AppendContent(nil, some(t, Documented(), 300, DocumentedBody).Batch.Events), 1.01},
		"batches of 400":     {wire.AppendContent(nil, some(t, Documented(), 400, DocumentedBody).Batch.Events), 1.01},
		"links":              {linksOf(some(t, Documented(), 300, DocumentedBody)), 1.03},
		"source code":        {source, 1.15},
		"does not compress":  {noise, 1.001},
		"one hundred events": {wire.AppendContent(nil, some(t, Documented(), 100, 400).Batch.Events), 1.03},
	} {
		t.Run(name, func(t *testing.T) {
			small, err := z.Append(nil, c.src)
			require.NoError(t, err)
			ours := len(small) - 8 // without its head
			room := make([]byte, lz4.CompressBlockBound(len(c.src)))
			theirs, err := lz4.CompressBlock(c.src, room, nil)
			require.NoError(t, err)
			assert.LessOrEqual(t, float64(ours), c.worse*float64(theirs), "ours %d, theirs %d of %d bytes", ours, theirs, len(c.src))
		})
	}
}

func linksOf(g *Generator) []byte { return (&wire.Linker{}).AppendLinks(nil, &g.Batch, g.Batch.Events) }
