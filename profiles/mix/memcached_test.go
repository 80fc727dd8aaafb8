package mix

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

const cache = `
data:
  page:    {records: 500, size: 20..2KiB, ttl: 1h}
  article: {records: 200, size: 100, cached: true}
  visits:  {records: 50, type: counter, start: 3}
operations:
  look:    {get: page, keys: zipf 0.99}
  many:    {get: page, batch: 2..5}
  change:  {put: page}
  rework:  {modify: page}
  through: {get: article, fill: true, hit: 90%}
  more:    {insert: note, size: 100}
  drop:    {delete: note, keys: sequential}
  count:   [{add: visits, by: -20..5}, {get: visits, keys: same}]
  some:    {get: visits, batch: 3}
`

func TestMemcached(t *testing.T) {
	t.Parallel()
	target := labtest.Memcached(t).URL()
	o := profiletest.Drive(t, caseOf(t, target, cache, "namespace=mixcache"))
	f := profiletest.Facts[run.Facts](t, o.Concluded)
	assert.Positive(t, f.ReadBack)
	require.NotNil(t, f.HitRatio)
	for text, says := range map[string]string{plain: "an item of Memcached has one value, and no fields", transaction: "Memcached has no transactions"} {
		_, err := caseOf(t, target, text, "namespace=mixcache").Start(t.Context(), t)
		require.ErrorContains(t, err, says)
	}
}
