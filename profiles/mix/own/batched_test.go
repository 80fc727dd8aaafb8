package own_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/profiles/mix/own"
)

func TestOnlySetsThatAreReadAndWrittenInBatchesAreBatched(t *testing.T) {
	for operations, want := range map[string][]bool{
		"{look: {get: user, batch: 3}, write: {put: user, batch: 4}}":                   {true, false},
		"{look: {get: user, batch: 3}, write: {put: user}}":                             {false, false},
		"{look: {get: user}, write: {put: user, batch: 4}}":                             {false, false},
		"{look: {get: user, batch: 3}, write: {put: page, batch: 4}}":                   {false, false},
		"{look: [{get: page, batch: 3}, {get: user}], write: {put: page, batch: 1..4}}": {false, true},
	} {
		w, err := own.Read("test.yaml", "data: {user: {records: 9}, page: {records: 9}}\noperations: "+operations)
		require.NoError(t, err)
		assert.Equal(t, want, w.Batched(), operations)
	}
}
