package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
)

func TestCommandFindsTheKeeperAndItsExitCodeIsOurs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	code, err := run([]string{"sh", "-c", `test -S "$` + labtest.KeeperEnv + `" && exit 3`})
	require.NoError(t, err)
	assert.Equal(t, 3, code)
	code, err = run([]string{"sh", "-c", `kill -KILL $$`})
	require.NoError(t, err)
	assert.NotZero(t, code, "a command that was killed has failed")
}

func TestCommandThatCannotBe(t *testing.T) {
	for _, command := range [][]string{nil, {"/nowhere/at-all"}} {
		code, err := run(command)
		require.Error(t, err)
		assert.NotZero(t, code)
	}
}
