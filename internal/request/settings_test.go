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
	path, out := filepath.Join(t.TempDir(), "perfbench", "last.json"), t.TempDir()
	none, err := request.Last(path, out)
	require.NoError(t, err)
	assert.Empty(t, none)
	require.NoError(t, request.Keep(path, out, request.Request{Profile: "tx", Preset: "saga"}))
	require.NoError(t, request.Keep(path, out, request.Request{
		Profile: "event-store", Target: "redis://me:hush@db1/2?token=hush&protocol=3", Tags: []string{"build=7"}, Files: []string{"a.yaml", "b.yaml"},
		Values: values("via", "amqp://me:hush@h:5672/v", "threads", "4", "ackLog", "acks.log", "password", "hush"),
	}))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.NotContains(t, string(data), "hush")
	assert.Equal(t, "event-store", request.Newest(path, out))
	assert.Empty(t, request.Newest(path, t.TempDir()))
	got, err := request.Last(path, out)
	require.NoError(t, err)
	assert.Equal(t, "saga", got["tx"].Preset)
	assert.Equal(t, values("threads", "4", "ackLog", "acks.log"), got["event-store"].Values)
	assert.Equal(t, []string{"a.yaml", "b.yaml"}, got["event-store"].Files)
	assert.Equal(t, []string{"build=7"}, got["event-store"].Tags)
	assert.Contains(t, got["event-store"].Target, "db1/2?protocol=3")

	require.NoError(t, os.WriteFile(path, []byte("{odd"), 0o600))
	_, err = request.Last(path, out)
	require.ErrorContains(t, err, "the last settings are left out")
	require.NoError(t, request.Keep(path, out, request.Request{Profile: "tx", Preset: "small"}))
	got, err = request.Last(path, out)
	require.NoError(t, err)
	assert.Equal(t, "small", got["tx"].Preset)
}

// What was set is that of the results folder: another one has its own or none, and what is kept of a
// folder that is gone goes, too.
func TestEachResultsFolderHasItsOwnSettings(t *testing.T) {
	path, here, other := filepath.Join(t.TempDir(), "last.json"), t.TempDir(), filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.Mkdir(other, 0o755))
	require.NoError(t, request.Keep(path, here, request.Request{Profile: "mix", Target: "redis://db1", Out: "here"}))
	require.NoError(t, request.Keep(path, other, request.Request{Profile: "mix", Target: "redis://db2"}))
	for out, target := range map[string]string{here: "redis://db1", other: "redis://db2"} {
		got, err := request.Last(path, out)
		require.NoError(t, err)
		assert.Equal(t, target, got["mix"].Target)
		assert.Empty(t, got["mix"].Out, "it is the folder that it is kept for")
	}
	got, err := request.Last(path, t.TempDir())
	require.NoError(t, err)
	assert.Empty(t, got, "a new folder begins with the defaults")

	require.NoError(t, os.Remove(other))
	require.NoError(t, request.Keep(path, here, request.Request{Profile: "tx"}))
	got, err = request.Last(path, other)
	require.NoError(t, err)
	assert.Empty(t, got)
	got, err = request.Last(path, here)
	require.NoError(t, err)
	assert.Len(t, got, 2)
}
