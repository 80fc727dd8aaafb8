package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is merged is what the library merges, and what it was merged from stays as it was.
func TestMergedHistogramsAreTheLibrarys(t *testing.T) {
	a, b, want := NewHistogram(), NewHistogram(), NewHistogram()
	for i := range int64(1000) {
		_ = a.RecordValue(i * i * i)
		_ = b.RecordValue(Highest - i*i)
	}
	want.Merge(a)
	want.Merge(b)
	assert.True(t, want.Equals(Merge(a, nil, b, NewHistogram())))
	assert.EqualValues(t, 1000, a.TotalCount())
	one := Merge(nil, a)
	_ = one.RecordValue(7)
	assert.EqualValues(t, 1000, a.TotalCount(), "the sum of one is a copy")
	assert.Nil(t, Merge(nil, nil))
}
