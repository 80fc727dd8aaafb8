package fault_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/fault"
)

func TestTheWorstCode(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{
		{[]int{0, 0}, 0}, {[]int{5, 0}, 5}, {[]int{5, 4, 0}, 4}, {[]int{3, 5}, 3}, {[]int{1, 3}, 1}, {[]int{0, 1, 130}, 130},
	} {
		var list []error
		for _, code := range c.codes {
			if code != 0 {
				list = append(list, fault.Code(errors.New("x"), code))
			}
		}
		assert.Equal(t, c.want, fault.Worst(list), c.codes)
	}
}
