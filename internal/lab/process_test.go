//go:build linux || darwin

package lab

import (
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFreePortsLeaveRoomForTheBus(t *testing.T) {
	t.Parallel()
	const bus = 10000 // from the port of a cluster's node to its bus
	ports, err := FreePorts(50, bus)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, p := range ports {
		assert.False(t, seen[p], "%d comes once", p)
		seen[p] = true
		assert.Less(t, p+bus, 32768, "below the ports of outgoing connections")
	}
	assert.Len(t, seen, 50)
	if runtime.GOOS == "linux" {
		assert.False(t, reserve(ports[0]), "nobody else gets it, though nobody listens")
		assert.False(t, reserve(ports[0]+bus))
	}
}

func TestBirthTellsProcessesApart(t *testing.T) {
	t.Parallel()
	born := Birth(os.Getpid())
	require.NotEmpty(t, born)
	assert.Equal(t, born, Birth(os.Getpid()))
	assert.NotEqual(t, born, Birth(1), "a parent may be as young as we are")
	assert.True(t, IsAlive(Process{PID: os.Getpid(), Birth: born}))
	assert.False(t, IsAlive(Process{PID: os.Getpid(), Birth: born + "0"}))
	assert.False(t, IsAlive(Process{PID: os.Getpid()}))
}
