package workload_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/proxy"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestFaultsAreReadAndWritten(t *testing.T) {
	for text, want := range map[string]proxy.State{
		"delay:5ms": {Delay: 5 * time.Millisecond}, "jitter:1.5ms": {Jitter: 1500 * time.Microsecond}, "loss:1%": {Loss: 0.01},
		"bandwidth:1KiB/s": {Bandwidth: 1024}, "half-open": {HalfOpen: true}, "refused": {Refused: true}, "pause": {Paused: true}, "pause:primary": {}, "kill:replica": {}, "power-cut:primary": {},
	} {
		kind, v, err := workload.ParseFault(text)
		require.NoError(t, err, text)
		var f workload.Faults
		f[kind] = v
		assert.Equal(t, want, f.Link(), text)
		k := &workload.FaultKinds()[kind]
		shown := k.Name
		if k.Format(v) != "on" {
			shown += ":" + k.Format(v)
		}
		assert.Equal(t, text, shown)
		assert.Equal(t, "none", k.Format(0))
		again, ok := workload.FaultSetting(k.Setting())
		assert.True(t, ok)
		assert.Equal(t, kind, again)
	}
	for text, want := range map[string]string{
		"delya:5ms": `"delya" is not one of delay`, "delay": "the time of delay is missing", "delay:5": "is not a time", "delay:2m": "is not a time up to 1m",
		"loss:1": "is not a share", "loss:101%": "is not a share", "bandwidth:0": "is not a size per second", "pause:2s": "is not primary or replica", "kill": "the role of kill is missing", "refused:1": "refused takes no value",
	} {
		_, _, err := workload.ParseFault(text)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.NotEmpty(t, fault.HintOf(err), text)
	}
}
