package foreign

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
)

func TestEveryClusterIsThereOrSaysWhyNot(t *testing.T) {
	presets, err := request.Presets(TwitterPresets())
	require.NoError(t, err)
	absent, err := request.Absent(TwitterPresets())
	require.NoError(t, err)
	assert.Len(t, presets, 51)
	require.Len(t, absent, 3)
	for i, want := range []string{"twitter/5: size of keys", "twitter/43: exponent", "twitter/46: exponent"} {
		assert.Equal(t, want[:len(absent[i].Name)], absent[i].Name)
		assert.Equal(t, "Twitter has published no "+want[len(absent[i].Name)+2:]+" of this cluster.", absent[i].Description)
	}
	for _, p := range presets {
		assert.Contains(t, p.Description, twitterSource, "the licence asks for the authors' names")
	}
	assert.Equal(t, "twitter/4", presets[3].Name)
	assert.Equal(t, `# A cache of Twitter for computation, at its rate of 5260/s: get:0.93 set:0.07 of 2439 bytes under keys of
# 67, by Zipf's law with an exponent of 1.1004; misses in production: 39.41 %. `+twitterSource+`
rate: 5260
threads: 64
duration: 10s
workload: |
  workload: twitter/4
  data:
    object: {records: 1000000, size: 2439, ttl: {60s: 39, 300s: 24, 1h: 13, 600s: 12, 4h: 9, 1d: 3}, key: {prefix: k, length: 67}, cached: on}
  operations:
    get: {get: object, keys: zipf 1.1004, fill: on}
    set: {put: object, keys: zipf 1.1004}
  mix: {get: 93, set: 7}
`, string(presets[3].Data))
}
