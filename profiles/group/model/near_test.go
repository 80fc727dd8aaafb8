package model

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTimesOfTheNearCacheHaveThreeDigits(t *testing.T) {
	f := NearFacts{Hits: 3, Misses: 1, HitRate: 0.75, HitNS: 1234, MissNS: 10_295_200, Improvement: 4}
	assert.Contains(t, f.Says(), "in 1.23 µs each instead of 10.3 ms")
}
