package workload_test

import (
	"strings"
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
		"bandwidth:1KiB/s": {Bandwidth: 1024}, "bandwidth:1MB/s": {Bandwidth: 1e6}, "bandwidth:1500KB/s": {Bandwidth: 1.5e6}, "bandwidth:1001/s": {Bandwidth: 1001}, "half-open": {HalfOpen: true}, "refused": {Refused: true}, "pause": {Paused: true}, "pause:primary": {}, "kill:replica": {}, "power-cut:primary": {}, "power-cut:torn": {}, "slow-fsync:50ms": {}, "address": {Moved: true},
		"via.delay:5ms": {Delay: 5 * time.Millisecond}, "via.pause": {Paused: true}, "via.power-cut:torn": {}, "via.slow-fsync:50ms": {},
	} {
		kind, v, err := workload.ParseFault(text, "", &workload.Commands{})
		require.NoError(t, err, text)
		var f workload.Faults
		f[kind] = v
		k := &workload.FaultKinds()[kind]
		assert.Equal(t, strings.HasPrefix(text, "via."), k.Via, text)
		assert.Equal(t, want, f.Link(k.Via), text)
		assert.Equal(t, proxy.State{}, f.Link(!k.Via), "%s: the other is left alone", text)
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
		"delya:5ms": `"delya" is not one of delay`, "delay": "the time of delay is missing", "via.delay": "the time of via.delay is missing", "via.exec:./x": `"via.exec" is not one of delay`, "via": `"via" is not one of delay`, "delay:5": "is not a time", "delay:2m": "is not a time up to 1m",
		"loss:1": "is not a share", "loss:101%": "is not a share", "bandwidth:0": "is not a size per second", "pause:2s": "is not primary or replica", "kill": "the role of kill is missing", "kill:torn": "is not primary or replica", "power-cut:half": "is not primary, replica or torn", "refused:1": "refused takes no value",
	} {
		_, _, err := workload.ParseFault(text, "", &workload.Commands{})
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.NotEmpty(t, fault.HintOf(err), text)
	}
}

func TestWordsAreSplitAndJoined(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, " a  b\tc ": {"a", "b", "c"}, `a 'b c' "d'e"`: {"a", "b c", "d'e"}, `x='1, 2' ''`: {"x=1, 2", ""}, `"'"' " '`: {`' " `},
	} {
		words, err := workload.SplitWords(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, words, text)
		again, err := workload.SplitWords(workload.JoinWords(words))
		require.NoError(t, err, text)
		assert.Equal(t, words, again, text)
	}
	_, err := workload.SplitWords("a 'b")
	require.ErrorContains(t, err, "a quote is not closed")
}

func TestACommandIsAFault(t *testing.T) {
	var c workload.Commands
	kind, v, err := workload.ParseFault("exec:./failover.sh --to '2 3'", "./back.sh", &c)
	require.NoError(t, err)
	k := &workload.FaultKinds()[kind]
	assert.Equal(t, workload.OfCommand, k.Means(v))
	assert.Equal(t, []workload.Command{{Run: []string{"./failover.sh", "--to", "2 3"}, Heal: []string{"./back.sh"}}}, c.All())
	assert.Equal(t, "./failover.sh --to '2 3'", workload.FaultSize(k, v, c.All()))
	assert.Equal(t, "command 1", k.Format(v), "where the command is not known")
	_, again, err := workload.ParseFault("exec:./failover.sh --to '2 3'", "./back.sh", &c)
	require.NoError(t, err)
	assert.InDelta(t, v, again, 0, "the same is one")
	_, other, err := workload.ParseFault("exec:./failover.sh", "", &c)
	require.NoError(t, err)
	assert.Greater(t, other, v)
	plan := workload.Plan{Commands: &c}
	one, ok := plan.Command(other)
	assert.True(t, ok)
	assert.Equal(t, []string{"./failover.sh"}, one.Run)
	_, ok = plan.Command(other + 1)
	assert.False(t, ok)
	_, ok = (&workload.Plan{}).Command(1)
	assert.False(t, ok)
}

// What a fault does has room beside its name in a dialog of 120 cells.
func TestWhatAFaultDoesIsALine(t *testing.T) {
	for _, k := range workload.FaultKinds() {
		assert.LessOrEqual(t, len(k.Help), 88, "%s: %s", k.Name, k.Help)
	}
}
