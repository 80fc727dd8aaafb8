package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClientsAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]Client{
		"":              {},
		"deadline=50ms": {Deadline: 50 * time.Millisecond},
		"retries=3":     {Retries: 3},
		"deadline=50ms,retries=3,backoff=10ms,budget=10%": {50 * time.Millisecond, 3, 10 * time.Millisecond, 0.1},
	} {
		got, err := ParseClient(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
		assert.Equal(t, text, got.String())
		assert.Equal(t, want.Retries == 0 && want.Deadline == 0, got.Patient())
	}
	for text, says := range map[string]string{
		"deadline=0":                    `deadline: "0" is not a time from 10us to 1h, such as 50ms`,
		"deadline":                      `deadline: "" is not a time`,
		"retries=-1":                    `retries: "-1" is not a number from 0 to 100`,
		"retries=3,budget=10":           `budget: "10" is not a share of the calls, such as 10%`,
		"retries=1,backoff=1m":          `backoff: "1m" is not a time up to 10s`,
		"backoff=10ms":                  `there are none: add retries=3`,
		"patience=3":                    `"patience" is not deadline, retries, backoff or budget`,
		"deadline=50ms,retries=3,retry": `"retry" is not deadline`,
	} {
		_, err := ParseClient(text)
		assert.ErrorContains(t, err, says)
	}
}

func TestPausesDoubleUpToALimit(t *testing.T) {
	c := Client{Retries: 100, Backoff: time.Second}
	assert.Equal(t, 500*time.Millisecond, c.Pause(0, 0.5))
	assert.Equal(t, 2*time.Second, c.Pause(2, 0.5))
	assert.Equal(t, 5*time.Second, c.Pause(99, 0.5))
	assert.Zero(t, c.Pause(3, 0))
}
