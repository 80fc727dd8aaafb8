package ledger

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

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
