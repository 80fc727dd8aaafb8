package rundir

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A search that tried no level to its end leaves the run one like others.
func TestASearchThatTriedNothing(t *testing.T) {
	assert.False(t, (*Sought)(nil).tried())
	assert.False(t, (&Sought{Over: "rate"}).tried())
	assert.True(t, (&Sought{Over: "rate", Found: 5}).tried())
	assert.True(t, (&Sought{Over: "rate", TooMuch: 5}).tried())
}
