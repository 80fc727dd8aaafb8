package main

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/plan.schema.json anew")

const published = "../../docs/plan.schema.json"

// The schema in docs is the one that the program has.
func TestThePublishedSchemaIsTrue(t *testing.T) {
	want := doing(t, nil, "list", "plan-schema")
	if *update {
		require.NoError(t, os.WriteFile(published, []byte(want), 0o644))
	}
	got, err := os.ReadFile(published)
	require.NoError(t, err)
	assert.True(t, want == string(got), "docs/plan.schema.json is not that of the code; go test ./cmd/perfbench -run TestThePublishedSchema -update writes it")
}
