//go:build unix

package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/layer"
	"github.com/perfbench/perfbench/profiles/eventstore/oncassandra"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// In Cradle's tables a batch is one statement, once its scope and a duration are
// written down, and takes as many bytes as were measured.
func TestCradleTakesOneStatementForABatch(t *testing.T) {
	p, conn := openRun(t, labtest.Cassandra(t).URL(), "schema=cradle", "failureRate=0", "namespace=statements")
	s := p.Binder.(*spec)
	typed, err := store.As[cassandra.Typed](conn)
	require.NoError(t, err)
	l, _ := oncassandra.NewCradle(s.options(), typed)
	tr, err := l.Prepare(t.Context())
	require.NoError(t, err)
	c, err := newComposer(&stage{s: s, traits: tr})
	require.NoError(t, err)
	g := generate.New(&s.Shape, 0)
	g.Next = 90_000_001
	require.NoError(t, g.Plant(wire.StampOf(s.Born), generate.DocumentedBody, 1000, func(int64) error { return nil }))
	for i := range 10 {
		g.Fill(wire.StampOf(s.Born+int64(i)*1e6), 300, generate.DocumentedBody)
		c.b = g.Batch
		r, err := c.item(&job{}, piece{to: 300}, g.Batch.Events)
		require.NoError(t, err)
		n, err := l.Store(t.Context(), []*layer.Record{&r.Record})
		require.NoError(t, err)
		if i == 0 {
			assert.Equal(t, 5, n, "the batch, two for its duration, the scope and the page's scope")
		} else {
			assert.Equal(t, 1, n)
		}
		assert.InEpsilon(t, 354, float64(len(r.Body)+len(r.Links))/300, 0.02)
		r.release()
	}
}
