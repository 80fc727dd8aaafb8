package experiment

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
)

// What a crash has lost is a result. Anything else ends the sweep as ever.
func TestALossIsNoFailureOfASweep(t *testing.T) {
	of := func(code int) error { return fault.Code(errors.New("failed"), code) }
	both := func(a, b int) error { return fault.Code(errors.Join(of(a), of(b)), a) }
	for name, tt := range map[string]struct {
		state string
		lost  *int64
		err   error
		code  int
	}{
		"nothing lost":                 {workload.Passed, new(int64(0)), nil, fault.CodeOK},
		"some lost":                    {workload.Failed, new(int64(3)), of(fault.CodeVerification), fault.CodeOK},
		"some lost, a threshold too":   {workload.Failed, new(int64(3)), both(fault.CodeVerification, fault.CodeThreshold), fault.CodeThreshold},
		"something wrong, and no loss": {workload.Failed, new(int64(0)), of(fault.CodeVerification), fault.CodeVerification},
		"the server did not come back": {workload.Incomplete, nil, of(fault.CodeStore), fault.CodeOK},
		"interrupted":                  {workload.Incomplete, nil, of(fault.CodeInterrupted), fault.CodeInterrupted},
	} {
		o := &session.Concluded{Err: tt.err, Run: rundir.Run{Verification: workload.Verification{State: tt.state, Lost: tt.lost}}}
		assert.Equal(t, tt.code, crashed(o).Code(), name)
		assert.Equal(t, tt.err, o.Err, "%s: the outcome is left as it is", name)
	}
}

func TestWhatSettingsOfServersAreNotSweptWith(t *testing.T) {
	server := sweep.Axis{Name: "appendfsync", Values: []string{"always", "no"}, Server: true}
	require.NoError(t, together([]sweep.Axis{server, {Name: "threads", Values: []string{"1", "2"}}}))
	require.NoError(t, together([]sweep.Axis{{Name: sweep.Target}, {Name: "threads"}}))
	require.EqualError(t, together([]sweep.Axis{{Name: sweep.Target}, server}), "over appendfsync: is a setting of the servers of one target, and there are several")
	require.EqualError(t, together([]sweep.Axis{server, {Name: sweep.AutoKnob, Values: []string{sweep.Auto}}}), "over appendfsync: is a setting of servers, and the rates are yet to be found")
}
