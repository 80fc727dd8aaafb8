package workload

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What reading back cannot decide is undecided, and no more is decided than there was in doubt.
func TestWritesWithoutAnAnswer(t *testing.T) {
	v := &Verification{}
	assert.Empty(t, v.Unanswered.Words(), "nobody counted them")
	v.Unsure(0, 0, 0)
	assert.Equal(t, &Unanswered{}, v.Unanswered)
	assert.Empty(t, v.Unanswered.Words())
	v.Unsure(10, 3, 6)
	v.Unsure(5, 9, 9)
	v.Unsure(2, -4, 1)
	assert.Equal(t, &Unanswered{Writes: 17, Stored: 8, Absent: 7, Undecided: 2}, v.Unanswered)
	assert.Equal(t, "17 writes had no answer: 8 are stored, 7 are not, of 2 it cannot be told", v.Unanswered.Words())
	one := &Unanswered{Writes: 1, Undecided: 1}
	assert.Equal(t, "1 write had no answer, and whether it is stored cannot be told", one.Words())
	all := &Unanswered{Writes: 60, Undecided: 60}
	assert.Equal(t, "60 writes had no answer, and whether they are stored cannot be told", all.Words())
}
