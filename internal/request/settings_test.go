package request_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
)

func TestSettingsAreThereNextTimeWithoutSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perfbench", "last.json")
	none, err := request.Last(path)
	require.NoError(t, err)
	assert.Empty(t, none)
	require.NoError(t, request.Keep(path, "tx", request.Settings{Preset: "saga"}))
	require.NoError(t, request.Keep(path, "event-store", request.Settings{
		Target: "redis://me:hush@db1/2?token=hush&protocol=3", Tags: []string{"build=7"},
		Values: map[string]string{"via": "amqp://me:hush@h:5672/v", "threads": "4", "ackLog": "acks.log", "password": "hush"},
	}))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "hush")
	got, err := request.Last(path)
	require.NoError(t, err)
	assert.Equal(t, "saga", got["tx"].Preset)
	assert.Equal(t, map[string]string{"threads": "4", "ackLog": "acks.log"}, got["event-store"].Values)
	assert.Contains(t, got["event-store"].Target, "db1/2?protocol=3")

	require.NoError(t, os.WriteFile(path, []byte("{odd"), 0o600))
	_, err = request.Last(path)
	require.ErrorContains(t, err, "the last settings are left out")
	require.NoError(t, request.Keep(path, "tx", request.Settings{Preset: "small"}))
	got, err = request.Last(path)
	require.NoError(t, err)
	assert.Equal(t, "small", got["tx"].Preset)
}
