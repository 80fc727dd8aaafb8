package session_test

import (
	"context"
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
}
