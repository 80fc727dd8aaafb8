package embedded

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A clock that takes long to advance, as it does with many keys, is advanced so seldom that the server
// has nearly all of the time to itself; it loses none.
func TestTheClockLeavesTimeToTheServer(t *testing.T) {
	for name, takes := range map[string]time.Duration{"few keys": 0, "many keys": 80 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				began, busy, passed, most := time.Now(), time.Duration(0), time.Duration(0), time.Duration(0)
				keepTime(ctx, func(d time.Duration) {
					time.Sleep(takes)
					busy, passed, most = busy+takes, passed+d, max(most, d)
				})
				assert.InDelta(t, time.Since(began), passed, float64(most+takes))
				assert.LessOrEqual(t, busy, time.Minute/clockParts)
				if takes == 0 {
					assert.Equal(t, tick, most)
				}
			})
		})
	}
}
