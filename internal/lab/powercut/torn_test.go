package powercut

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestATornCutLeavesSomeSectorsOldAndSomeNew(t *testing.T) {
	c := &content{path: filepath.Join(t.TempDir(), "1")}
	const sectors = 64
	require.NoError(t, c.write(bytes.Repeat([]byte{'o'}, sectors*Sector), 0))
	_, err := c.sync()
	require.NoError(t, err)
	require.NoError(t, c.write(bytes.Repeat([]byte{'n'}, sectors*Sector), 0))
	require.NoError(t, c.cut(rand.New(rand.NewPCG(1, 2))))
	b := make([]byte, sectors*Sector)
	n, err := c.read(b, 0)
	require.NoError(t, err)
	require.Equal(t, len(b), n)
	count := map[byte]int{}
	for at := 0; at < n; at += Sector {
		assert.Equal(t, bytes.Repeat(b[at:at+1], Sector), b[at:at+Sector], "a sector is whole")
		count[b[at]]++
	}
	assert.Equal(t, sectors, count['o']+count['n'])
	assert.Positive(t, count['o'])
	assert.Positive(t, count['n'])
}
