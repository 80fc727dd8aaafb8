package wire

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// random returns n bytes that do not compress.
func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)}).Read(b) // never fails
	return b
}

// lz4Back encodes a block and lets the library read it.
func lz4Back(t testing.TB, z *lz4Encoder, src []byte) (small []byte) {
	t.Helper()
	small = z.append([]byte("before"), src)
	require.Equal(t, "before", string(small[:6]))
	small = small[6:]
	require.LessOrEqual(t, len(small), lz4Bound(len(src)))
	back := make([]byte, len(src))
	n, err := lz4.UncompressBlock(small, back)
	require.NoError(t, err)
	require.Equal(t, len(src), n)
	require.True(t, bytes.Equal(src, back), "%d bytes", len(src))
	return small
}

// Whatever is encoded, the library decodes to the same.
func TestLZ4BlocksAreReadByTheLibrary(t *testing.T) {
	z := new(lz4Encoder)
	half := random(70_000)
	for name, src := range map[string][]byte{
		"empty":                            nil,
		"one byte":                         {7},
		"does not compress":                random(300_000),
		"one run":                          make([]byte, 1<<20),
		"a run behind random bytes":        append(random(100), make([]byte, 5000)...),
		"repeated beyond the window":       append(slices.Clip(half), half...),
		"repeated at the window's end":     append(half[:lz4Window:lz4Window], half[:40]...),
		"repeated one beyond the window":   append(half[:lz4Window+1:lz4Window+1], half[:40]...),
		"a period of one and a half words": bytes.Repeat([]byte("abcdefghijkl"), 1000),
		"text":                             []byte(strings.Repeat("the quick brown fox ", 9) + strings.Repeat("jumps over", 99)),
	} {
		t.Run(name, func(t *testing.T) { lz4Back(t, z, src) })
	}
	for n := range 600 { // every length of literals and matches around what lengths are made of
		lz4Back(t, z, append(random(n), bytes.Repeat([]byte{1, 2, 3}, n)...))
		lz4Back(t, z, bytes.Repeat([]byte{9}, n))
		lz4Back(t, z, random(n))
	}
	one := lz4Back(t, z, make([]byte, 1<<20))
	assert.Less(t, len(one), 1<<20/250, "a run is one match")
	assert.Equal(t, one, new(lz4Encoder).append(nil, make([]byte, 1<<20)), "the same whatever was encoded before")
}

// FuzzLZ4 encodes what it is given, a few times over at a distance.
func FuzzLZ4(f *testing.F) {
	for i, s := range []string{"", "a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", "abcabcabcabcabcabcabc", fmt.Sprint(string(random(200)))} {
		f.Add([]byte(s), uint8(i), uint16(i*3000))
	}
	z := new(lz4Encoder)
	f.Fuzz(func(t *testing.T, b []byte, times uint8, apart uint16) {
		lz4Back(t, z, b)
		var all []byte
		for range times % 8 {
			all = append(append(all, b...), random(int(apart))...)
		}
		lz4Back(t, z, all)
	})
}
