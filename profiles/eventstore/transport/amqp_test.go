package transport

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAHeaderHoldsAllOfABatch(t *testing.T) {
	m := Meta{Generator: 1, First: 1 << 40, Count: 10, Step: 3, Warm: true, Due: 5, Sent: 7, Size: 2000}
	header := m.pack()
	assert.Len(t, header, metaSize)
	assert.Equal(t, m, unpack(header, 2000))
}
