package measure

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// A sum goes on after it was read, and leaves what was added as it is.
func TestASumGoesOn(t *testing.T) {
	t.Parallel()
	var sum Sum
	assert.Nil(t, sum.Histogram())
	one := NewHistogram()
	require.NoError(t, one.RecordValues(1000, 3))
	sum.Add(nil)
	sum.Add(one)
	assert.EqualValues(t, 3, sum.Histogram().TotalCount())
	sum.Add(one)
	sum.Add(NewHistogram())
	got := sum.Histogram()
	assert.EqualValues(t, 6, got.TotalCount())
	assert.EqualValues(t, one.Max(), got.Max())
	assert.EqualValues(t, 3, one.TotalCount())
}

// BenchmarkSecondsOfSums is what a second costs that is added to a sum of many.
func BenchmarkSecondsOfSums(b *testing.B) {
	one, whole := NewHistogram(), NewHistogram()
	for i := range int64(2000) {
		_ = one.RecordValue(1000 + 997*i)
	}
	b.Run("merged", func(b *testing.B) {
		for b.Loop() {
			whole = Merge(whole, one)
		}
	})
	b.Run("added", func(b *testing.B) {
		var sum Sum
		for b.Loop() {
			sum.Add(one)
		}
	})
}
