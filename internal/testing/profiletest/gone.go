package profiletest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Gone carries out a run on a Redis that is killed in its middle and stays dead. The run
// has far more to do than can fail in any test's time, and no duration: it must end
// because the store is gone, once nothing has worked for the drain.
func (c Case) Gone(t *testing.T) {
	t.Helper()
	srv := labtest.Redis(t)
	c.Target = srv.URL()
	l, err := c.With("drain=1s").Start(t.Context(), t)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Snapshot().Done > 0 }, enough, time.Millisecond)
	srv.Kill()
	o := Finish(t, l)
	require.ErrorContains(t, o.Err, "(--drain)")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(o.Err))
	assert.Less(t, l.Snapshot().Done, l.Snapshot().Total)
}
