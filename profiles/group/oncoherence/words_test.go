package oncoherence

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/profiles/group/model"
)

func TestTimesOfTheNearCacheHaveThreeDigits(t *testing.T) {
	f := model.NearFacts{Hits: 3, Misses: 1, HitRate: 0.75, HitNS: 1234, MissNS: 10_295_200, Improvement: 4}
	assert.Contains(t, sentence(&f), "in 1.23 µs each instead of 10.3 ms")
}
