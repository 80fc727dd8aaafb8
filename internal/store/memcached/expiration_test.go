package memcached

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestExpirationsAreWholeSecondsOrMoments(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0)
	for ttl, want := range map[time.Duration]int32{
		0: 0, time.Millisecond: 1, time.Second: 1, 1500 * time.Millisecond: 2, longest: 30 * 24 * 3600,
		longest + time.Second: 1_800_000_000 + 30*24*3600 + 1, // the server takes what is longer for a time of day
	} {
		assert.Equal(t, want, expiration(ttl, now), ttl)
	}
}
