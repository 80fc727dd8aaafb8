package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestArrivalsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]Arrivals{
		"":                     {},
		"even":                 {},
		"poisson":              {Poisson: true},
		"bursts=10x,1s,9s":     {Poisson: true, Factor: 10, Burst: time.Second, Calm: 9 * time.Second},
		"bursts=1.5x, 20ms,1h": {Poisson: true, Factor: 1.5, Burst: 20 * time.Millisecond, Calm: time.Hour},
	} {
		got, err := ParseArrivals(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
		again, err := ParseArrivals(got.String())
		require.NoError(t, err, got.String())
		assert.Equal(t, want, again, got.String())
	}
	for text, want := range map[string]string{
		"random":                   `"random": arrivals are even, poisson or bursts=10x,1s,9s`,
		"bursts":                   `arrivals are`,
		"bursts=10x":               `a factor, the mean length of a burst`,
		"bursts=10,1s,9s":          `"10" is not a factor above 1x and up to 1000x`,
		"bursts=1x,1s,9s":          `"1x" is not a factor`,
		"bursts=NaNx,1s,9s":        `"NaNx" is not a factor`,
		"bursts=2000x,1s,9s":       `"2000x" is not a factor`,
		"bursts=10x,1ms,9s":        `"1ms" is not a length from 10ms to 24h`,
		"bursts=10x,1s,forever":    `"forever" is not a length`,
		"bursts=10x,1s,-5s":        `"-5s" is not a length`,
		"bursts=10x,1s,9s,poisson": `a factor, the mean length of a burst`,
	} {
		_, err := ParseArrivals(text)
		assert.ErrorContains(t, err, want, text)
	}
}
