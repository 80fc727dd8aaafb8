package rundir

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAnAmountIsWrittenInItsUnit(t *testing.T) {
	t.Parallel()
	for want, u := range map[string]Use{
		"0.89 of 1 processor":          {Used: 0.891, Of: 1, Unit: UsedProcessors},
		"1.5 of 4 processors":          {Used: 1.5, Of: 4, Unit: UsedProcessors},
		"0.6 processors":               {Used: 0.6, Unit: UsedProcessors},
		"20k of 20.1k entries/s":       {Used: 20000, Of: 20100, Unit: "entries/s"},
		"62 % of the time":             {Used: 0.62, Of: 1, Unit: UsedTime},
		"95.4 MiB of 119 MiB a second": {Used: 1e8, Of: 1.25e8, Unit: UsedBytes},
	} {
		assert.Equal(t, want, u.Amount())
	}
	u := Use{Used: 3, Of: 2}
	part, known := u.Part()
	assert.True(t, known)
	assert.InDelta(t, 1, part, 1e-9, "a bar ends where all was used")
	_, known = (&Use{Used: 3}).Part()
	assert.False(t, known)
}
