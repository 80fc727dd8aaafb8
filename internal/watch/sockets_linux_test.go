package watch

import (
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDamagedAnswersOfTheKernelAreNoConnections(t *testing.T) {
	for _, b := range [][]byte{nil, make([]byte, 71), make([]byte, 72), append(make([]byte, 72), 3, 0, 2, 0), append(make([]byte, 72), 200, 0, 2, 0), append(make([]byte, 72), 4, 0, 2, 0)} {
		_, ok := parseSocket(b)
		assert.False(t, ok, "%d bytes", len(b))
	}
}

func TestWhoListensIsTheOldestOfTheFamilyThatStillDoes(t *testing.T) {
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	require.NoError(t, err)
	shared, err := l.File()
	require.NoError(t, err)
	child := exec.CommandContext(t.Context(), "sleep", "600")
	child.ExtraFiles = []*os.File{shared}
	require.NoError(t, child.Start())
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	for range 2 { // the second time it is known
		pid, err := listener(port)
		require.NoError(t, err)
		assert.Equal(t, os.Getpid(), pid)
	}
	require.NoError(t, l.Close())
	require.NoError(t, shared.Close())
	pid, err := listener(port)
	require.NoError(t, err)
	assert.Equal(t, child.Process.Pid, pid, "what was known is true no more")
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // killed
	pid, err = listener(port)
	require.NoError(t, err)
	assert.Zero(t, pid)
}

func BenchmarkListener(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	defer l.Close()
	addr := l.Addr().String()
	for _, known := range []bool{true, false} {
		b.Run(map[bool]string{true: "known", false: "unknown"}[known], func(b *testing.B) {
			for b.Loop() {
				if !known {
					owners.Clear()
				}
				_, err := ByAddr(b.Context(), addr)
				require.NoError(b, err)
			}
		})
	}
}
