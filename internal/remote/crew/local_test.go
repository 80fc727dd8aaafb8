package crew

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// opened is the socket of a run that waits for nobody less than an hour, and whose process has
// as many files as it may when the first one connects.
func opened(t *testing.T, dir string) *Local {
	t.Helper()
	var l *net.UnixListener
	require.NoError(t, reach(dir, func(short string) (err error) {
		l, err = net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
		return err
	}))
	l.SetUnlinkOnClose(false)
	s := serve(&failing{Listener: l}, filepath.Join(dir, rundir.SocketFile), time.Hour, func() *View { return &View{ID: "r"} }, func(Change) error { return nil })
	t.Cleanup(s.Close)
	return s
}

// Those who connect and say nothing, or do not listen, keep neither others from watching nor
// the run from ending. A process that may open no more files is watched again when it may.
func TestSilentWatchersHoldUpNothing(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, dir)
	var silent []net.Conn
	for range mostAtOnce - 1 {
		c, err := dial(t.Context(), dir)
		require.NoError(t, err)
		silent = append(silent, c)
	}
	_, err := WatchLocal(dir).Ask(t.Context())
	require.NoError(t, err, "there is a place left")
	s.Close()
	for _, c := range silent {
		require.NoError(t, c.SetReadDeadline(time.Now().Add(time.Minute)))
		_, err := c.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF, "the run hangs up, and waits for nobody")
		assert.NoError(t, c.Close())
	}
	assert.NoFileExists(t, filepath.Join(dir, rundir.SocketFile))
}

// Changes of several who watch are made one after the other, and no text of theirs controls a
// terminal.
func TestSeveralChangeARunInTurn(t *testing.T) {
	dir := t.TempDir()
	var changed []string // by one at a time
	s, err := Listen(dir, func() *View { return &View{ID: "r"} }, func(c Change) error {
		changed = append(changed, c.Mark)
		if c.Mark == "no" {
			return errors.New("there is no \x1b[31mroom")
		}
		return nil
	})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			w := WatchLocal(dir)
			for range 20 {
				assert.NoError(t, w.Change(t.Context(), Change{Mark: "a\x1b[2Jb"}))
				_, err := w.Ask(t.Context())
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	assert.Len(t, changed, 100)
	assert.NotContains(t, changed[0], "\x1b")
	err = WatchLocal(dir).Change(t.Context(), Change{Mark: "no"})
	require.ErrorContains(t, err, "room")
	assert.NotContains(t, err.Error(), "\x1b")
}

// failing is a listener whose first call fails for want of a file.
type failing struct {
	net.Listener
	failed bool
}

func (f *failing) Accept() (net.Conn, error) {
	if !f.failed {
		f.failed = true
		return nil, syscall.EMFILE
	}
	return f.Listener.Accept()
}
