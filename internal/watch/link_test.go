package watch

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a device carries is known of those that are made of wire and say so.
func TestTheSpeedOfADevice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"eth0": "1000\n", "virtio": "-1\n", "silent": ""} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "device"), 0o755))
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name, "speed"), []byte(text), 0o644))
		}
	}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "veth0"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "veth0", "speed"), []byte("10000\n"), 0o644))
	for name, want := range map[string]float64{"eth0": 125e6, "virtio": 0, "silent": 0, "veth0": 0, "lo": 0} {
		assert.InDelta(t, want, speed(dir, name), 0, name)
	}
}

func TestTheBusiestDeviceIsTheOneNearestToItsLimit(t *testing.T) {
	t.Parallel()
	before := map[string]linkSums{"a": {100, 100, 1000}, "b": {0, 0, 100}, "again": {900, 0, 10}}
	now := map[string]linkSums{"a": {1100, 300, 1000}, "b": {20, 160, 100}, "again": {100, 0, 10}, "new": {1e6, 1e6, 10}}
	assert.Equal(t, &Link{In: 10, Out: 80, Carries: 100}, busiest(before, now, 2))
	assert.Nil(t, busiest(nil, now, 2))
}
