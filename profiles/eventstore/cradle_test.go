//go:build unix

package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

// In Cradle's tables a batch is one statement, once its scope and a duration are
// written down, and takes as many bytes as were measured.
func TestCradleTakesOneStatementForABatch(t *testing.T) {
	p, conn := openRun(t, labtest.Cassandra(t).URL(), "schema=cradle", "failureRate=0", "namespace=statements")
	s := p.Private.(*spec)
	l, _ := layerOf(s, conn)
	require.NoError(t, l.prepare(t.Context()))
	c, err := newComposer(&stage{s: s, traits: l.traits()})
	require.NoError(t, err)
	g := newGenerator(&s.shape, 0)
	g.next = 90_000_001
	require.NoError(t, g.plant(stampOf(s.born), documentedBody, 1000, func(int64) error { return nil }))
	for i := range 10 {
		g.fill(stampOf(s.born+int64(i)*1e6), 300, documentedBody)
		c.b = g.b
		r, err := c.record(&job{}, piece{to: 300}, g.b.events)
		require.NoError(t, err)
		n, err := l.store(t.Context(), []*record{r})
		require.NoError(t, err)
		if i == 0 {
			assert.Equal(t, 5, n, "the batch, two for its duration, the scope and the page's scope")
		} else {
			assert.Equal(t, 1, n)
		}
		assert.InEpsilon(t, 354, float64(len(r.body)+len(r.links))/300, 0.02)
		r.release()
	}
}
