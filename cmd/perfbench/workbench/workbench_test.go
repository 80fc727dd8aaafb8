package workbench

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/fault"
)

func TestADumbTerminalIsTurnedAway(t *testing.T) {
	a := &cli.Call{Env: cli.Env{Environ: []string{"TERM=dumb"}, StdinTerminal: true, StdoutTerminal: true}}
	err := Open(t.Context(), a)
	require.ErrorContains(t, err, "TERM says dumb")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.Contains(t, fault.HintOf(err), "perfbench run")
}
