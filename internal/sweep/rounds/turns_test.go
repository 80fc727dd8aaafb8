package rounds

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEveryRoundHasEveryone(t *testing.T) {
	order := Order(50, 3, 1)
	assert.Len(t, order, 150)
	first := map[int]int{}
	for round := range slices.Chunk(order, 3) {
		first[round[0]]++
		assert.ElementsMatch(t, []int{0, 1, 2}, round)
	}
	for who := range 3 {
		assert.Greater(t, first[who], 5, "nobody is always first")
	}
	assert.Equal(t, order, Order(50, 3, 1))
	assert.NotEqual(t, order, Order(50, 3, 2))
	assert.Equal(t, []int{0, 0}, Order(2, 1, 9))
}
