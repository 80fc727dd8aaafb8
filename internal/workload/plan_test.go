package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A check that counts what is wrong says of how many, unless it counts several of one.
func TestACheckSaysHowManyOfThoseCheckedAreWrong(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]Check{
		"51\u2009504 of the 95\u2009982 checked":   {Want: "0", Got: "51504", Of: 95_982},
		"0 of the 95\u2009982 checked":             {Want: "0", Got: "0", Of: 95_982},
		"expected 0, found 7":                      {Want: "0", Got: "7", Of: 3},
		"expected 12, found 7":                     {Want: "12", Got: "7"},
		"expected 0, found a few among 3":          {Want: "0", Got: "a few", Of: 3},
		"expected those of it, found 1 differ":     {Want: "those of it", Got: "1 differ"},
		"expected 1,200, found 7 among 4\u2009300": {Want: "1,200", Got: "7", Of: 4300},
	} {
		assert.Equal(t, want, c.Words())
	}
}
