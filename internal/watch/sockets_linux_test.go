package watch

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDamagedAnswersOfTheKernelAreNoConnections(t *testing.T) {
	for _, b := range [][]byte{nil, make([]byte, 71), make([]byte, 72), append(make([]byte, 72), 3, 0, 2, 0), append(make([]byte, 72), 200, 0, 2, 0), append(make([]byte, 72), 4, 0, 2, 0)} {
		_, ok := parseSocket(b)
		assert.False(t, ok, "%d bytes", len(b))
	}
}
