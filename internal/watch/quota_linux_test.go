package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheTightestQuotaCounts(t *testing.T) {
	root := t.TempDir()
	put := func(dir, name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, dir, name), []byte(text), 0o600))
	}
	put("pod", "cpu.max", "150000 100000\n")
	put("pod", "cpu.stat", "usage_usec 5\nnr_periods 40\nnr_throttled 9\nthrottled_usec 2500000\n")
	put("pod/one", "cpu.max", "max 100000\n")
	put("pod/one", "cpu.stat", "usage_usec 5\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0\n")
	assert.Equal(t, Quota{Cores: 1.5, Periods: 40, Held: 9, HeldFor: 2500 * time.Millisecond, Known: true},
		in(root, "0::/pod/one\n"), "the quota of a group above")
	assert.Equal(t, Quota{}, in(root, "0::/elsewhere\n"), "no quota")

	put("cpu/box", "cpu.cfs_quota_us", "50000\n")
	put("cpu/box", "cpu.cfs_period_us", "100000\n")
	put("cpu/box", "cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 700000000\n")
	put("cpu", "cpu.cfs_quota_us", "-1\n")
	put("cpu", "cpu.cfs_period_us", "100000\n")
	assert.Equal(t, Quota{Cores: 0.5, Periods: 10, Held: 4, HeldFor: 700 * time.Millisecond, Known: true},
		in(root, "4:memory:/box\n3:cpu,cpuacct:/box\n"), "version 1")
}
