package crew

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

// opened is the socket of a run that waits for nobody less than an hour, and whose process has
// as many files as it may when the first one connects.
func opened(t *testing.T, dir string) *Local {
	t.Helper()
	l, err := bind(dir)
	require.NoError(t, err)
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

// What a killed run left is told from a run that has ended or that another user began, and hinders
// no other. Paths may be as long as they like.
func TestWhoCannotWatchIsToldWhy(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), strings.Repeat("long", 30))) // there is none, and no link would fit
	dir := filepath.Join(t.TempDir(), strings.Repeat("r", 90))
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.ErrorContains(t, Reach(dir), "it has ended, or does not measure yet")

	killed, err := bind(dir)
	require.NoError(t, err)
	require.NoError(t, killed.Close()) // the file stays
	require.ErrorContains(t, Reach(dir), "its process was killed")

	s, err := Listen(dir, func() *View { return &View{ID: "again"} }, func(Change) error { return nil })
	require.NoError(t, err, "in the place of the one that was left")
	t.Cleanup(s.Close)
	require.NoError(t, Reach(dir))
	info, err := os.Stat(filepath.Join(dir, rundir.SocketFile))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, files, 1, "nothing else is left in the folder of the run")
}

// What hinders is named, whoever runs this: root may open everything.
func TestWhatHindersWatchingIsNamed(t *testing.T) {
	for why, c := range map[string]struct {
		err   error
		alive bool
	}{
		"only the user who began it may open /r/run.sock": {fs.ErrPermission, true},
		"it goes on, and has no /r/run.sock":              {fs.ErrNotExist, true},
		"it has ended, or does not measure yet":           {fs.ErrNotExist, false},
		"its process was killed":                          {syscall.ECONNREFUSED, false},
		"too many open files":                             {syscall.EMFILE, true},
	} {
		err := unreached("/r", &net.OpError{Op: "dial", Err: c.err}, c.alive)
		require.ErrorContains(t, err, why)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
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
