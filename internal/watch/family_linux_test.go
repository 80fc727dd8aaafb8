package watch

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// server starts a process that gives a connection to a child and keeps none, as
// PostgreSQL does.
func server(t *testing.T, c net.Conn) (pid int) {
	t.Helper()
	file, err := c.(*net.TCPConn).File()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600 & exec 3<&-; echo ready; wait")
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{file}, &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // killed
	})
	require.NoError(t, file.Close())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	return cmd.Process.Pid
}

func TestAProcessForEachConnectionIsPartOfItsServer(t *testing.T) {
	_, near, far := pair(t)
	pid := server(t, far)
	alone, all := Sockets{}, Sockets{family: true}
	for _, s := range []*Sockets{&alone, &all} {
		_, _, err := s.Add(pid, "")
		require.NoError(t, err)
	}
	carry(t, near, far, 300_000)
	require.Eventually(t, func() bool {
		in, _, err := all.Add(pid, "")
		return err == nil && in == 300_000
	}, timeToTell, tick)
	in, _, err := alone.Add(pid, "")
	require.NoError(t, err)
	assert.Zero(t, in, "the connection is not that of the first process")

	p, err := ByPID(t.Context(), pid)
	require.NoError(t, err)
	assert.Empty(t, p.memoryNote())
	p.family = true
	assert.Contains(t, p.memoryNote(), "each of its processes")
	child := children(pid)
	require.Len(t, child, 1)
	first, ok := waited("/proc/" + strconv.Itoa(pid) + "/schedstat")
	require.True(t, ok)
	theirs, ok := waited("/proc/" + strconv.Itoa(child[0]) + "/schedstat")
	require.True(t, ok)
	queue, ok := familyQueued(pid)
	assert.True(t, ok)
	assert.GreaterOrEqual(t, queue, first+theirs, "all of them wait")
	_, ok = familyQueued(-1)
	assert.False(t, ok)
	require.Eventually(t, func() bool { // while they begin, it still grows
		s, err := p.Sample(t.Context())
		ours, known := memoryOf(pid)
		theirs, _ := memoryOf(child[0])
		return err == nil && known && *s.RSS == together([]resident{ours, theirs})
	}, timeToTell, tick)
}

func TestMemoryThatProcessesShareCountsOnce(t *testing.T) {
	assert.EqualValues(t, 1+2+4+800+90, together([]resident{{1, 100, 90}, {2, 800, 10}, {4, 700, 30}}))
	m, ok := memoryOf(os.Getpid())
	assert.True(t, ok)
	assert.Positive(t, m.alone)
	_, ok = memoryOf(-1)
	assert.False(t, ok)
}
