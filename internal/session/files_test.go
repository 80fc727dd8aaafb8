package session_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
)

// However long a plan takes to be worked out, an interrupt ends the wait for it.
func TestAnInterruptEndsPreparation(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := workload.Profile{Name: "slow", Design: func(workload.Inputs) (*workload.Plan, error) {
		cancel(session.ErrInterrupted)
		select {}
	}, Stores: []workload.Binding{{Driver: "memory"}}}
	_, err := session.Prepare(ctx, session.Env{Profiles: []workload.Profile{p}}, session.Request{Profile: "slow", Target: "memory:"})
	require.ErrorIs(t, err, session.ErrInterrupted)
}

// What has no end is read up to the limit of what it ought to be.
func TestFilesHaveLimits(t *testing.T) {
	_, err := session.ReadPassword("/dev/zero")
	require.ErrorContains(t, err, "/dev/zero is larger than a file with a secret may be: 64 KiB")
	p := workload.Profile{Name: "p", Read: func([]workload.File) (workload.Values, workload.Found, error) { return nil, workload.Found{}, nil }}
	_, _, err = request.ReadFiles(&p, []string{"/dev/zero"}, nil)
	require.ErrorContains(t, err, "/dev/zero is larger than a file of settings may be: 16 MiB")

	// A capture is called one, whatever its size.
	path := filepath.Join(t.TempDir(), "large")
	require.NoError(t, os.WriteFile(path, []byte("\x28\xb5\x2f\xfd"), 0o600))
	for _, size := range []int64{4, 17 << 20} {
		require.NoError(t, os.Truncate(path, size))
		_, _, err = request.ReadFiles(&p, []string{path}, nil)
		require.ErrorContains(t, err, path+" is a capture, and profile ")
	}
}
