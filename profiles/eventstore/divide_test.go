package eventstore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
)

// Readers beside the load have no part in the queries that come after it.
func TestQueriesAreDividedOnce(t *testing.T) {
	t.Parallel()
	p, err := Design(workload.Inputs{Driver: "redis", Values: profiletest.Given(Profile().Params, "threads=4", "queries=90", "queryThreads=2", "query=both")})
	require.NoError(t, err)
	require.NoError(t, p.Divide(1, 2))
	assert.Equal(t, 45, p.Binder.(*spec).query.count)
}
