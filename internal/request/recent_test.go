package request_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
)

func TestRecentTargetsHaveNoSecrets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	assert.Empty(t, request.Recent(dir))
	for _, url := range []string{"redis://bob:s3cretword@one:1/?sentinel_password=alsosecret&db=3", "memory:", "redis://two:2", "memory:"} {
		target, err := store.ParseTarget(url)
		require.NoError(t, err)
		require.NoError(t, request.Remember(dir, target))
	}
	assert.Equal(t, []string{"memory:", "redis://two:2", "redis://bob@one:1?db=3"}, request.Recent(dir))
	for i := range 30 {
		target, err := store.ParseTarget("redis://host" + string(rune('a'+i%26)) + "x:1")
		require.NoError(t, err)
		require.NoError(t, request.Remember(dir, target))
	}
	assert.Len(t, request.Recent(dir), request.MaxRecent)
}
