//go:build linux || darwin

package lab

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfLinesFollowTheServersRule(t *testing.T) {
	t.Parallel()
	got, err := confLines([]string{"--save", "60", "1", "--appendonly", "yes", "--requirepass", `a"b\c` + "\n"})
	require.NoError(t, err)
	assert.Equal(t, []string{`save "60" "1"`, `appendonly "yes"`, `requirepass "a\"b\\c\x0a"`}, got)
}

func TestFreePortsLeaveRoomForTheBus(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(50, busOffset)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, p := range ports {
		assert.False(t, seen[p], "%d comes once", p)
		seen[p] = true
		assert.Less(t, p+busOffset, 32768, "below the ports of outgoing connections")
	}
	assert.Len(t, seen, 50)
}

func TestBirthTellsProcessesApart(t *testing.T) {
	t.Parallel()
	born := birth(os.Getpid())
	require.NotEmpty(t, born)
	assert.Equal(t, born, birth(os.Getpid()))
	assert.NotEqual(t, born, birth(os.Getppid()))
	assert.True(t, isAlive(Process{PID: os.Getpid(), Birth: born}))
	assert.False(t, isAlive(Process{PID: os.Getpid(), Birth: born + "0"}))
	assert.False(t, isAlive(Process{PID: os.Getpid()}))
}
