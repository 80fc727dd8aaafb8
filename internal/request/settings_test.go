package request_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/workload"
)

// values returns values by pairs of name and text.
func values(pairs ...string) workload.Values {
	out := workload.Values{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = workload.Value{Name: pairs[i], Text: pairs[i+1], Origin: workload.OriginFlag}
	}
	return out
}

func TestSettingsAreThereNextTimeWithoutSecrets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "perfbench", "last.json")
	none, err := request.Last(path)
	require.NoError(t, err)
	assert.Empty(t, none)
	require.NoError(t, request.Keep(path, request.Request{Profile: "tx", Preset: "saga"}))
	require.NoError(t, request.Keep(path, request.Request{
		Profile: "event-store", Target: "redis://me:hush@db1/2?token=hush&protocol=3", Tags: []string{"build=7"}, Files: []string{"a.yaml", "b.yaml"},
		Values: values("via", "amqp://me:hush@h:5672/v", "threads", "4", "ackLog", "acks.log", "password", "hush"),
	}))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "hush")
	got, err := request.Last(path)
	require.NoError(t, err)
	assert.Equal(t, "saga", got["tx"].Preset)
	assert.Equal(t, values("threads", "4", "ackLog", "acks.log"), got["event-store"].Values)
	assert.Equal(t, []string{"a.yaml", "b.yaml"}, got["event-store"].Files)
	assert.Equal(t, []string{"build=7"}, got["event-store"].Tags)
	assert.Contains(t, got["event-store"].Target, "db1/2?protocol=3")

	require.NoError(t, os.WriteFile(path, []byte("{odd"), 0o600))
	_, err = request.Last(path)
	require.ErrorContains(t, err, "the last settings are left out")
	require.NoError(t, request.Keep(path, request.Request{Profile: "tx", Preset: "small"}))
	got, err = request.Last(path)
	require.NoError(t, err)
	assert.Equal(t, "small", got["tx"].Preset)
}
