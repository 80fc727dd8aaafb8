package infile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEachKindHasItsLimit(t *testing.T) {
	k, dir := Kind{"a test", 2048}, t.TempDir()
	path := filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(path, make([]byte, 2048), 0o600))
	data, err := Read(k, path)
	require.NoError(t, err)
	assert.Len(t, data, 2048)
	require.NoError(t, os.WriteFile(path, make([]byte, 2049), 0o600))
	_, err = Read(k, path)
	require.EqualError(t, err, path+" is larger than a test may be: 2 KiB")
	_, err = Open(k, path)
	require.EqualError(t, err, path+" is larger than a test may be: 2 KiB")
	_, err = ReadFS(k, Dir(dir), "x")
	require.ErrorContains(t, err, "larger than")
	_, err = Read(k, "/dev/zero")
	require.ErrorContains(t, err, "larger than")
	_, err = From(Plan, "-", strings.NewReader(strings.Repeat("x", 5<<20)))
	require.EqualError(t, err, "- is larger than a plan may be: 4 MiB")
}

// What is not a file neither hangs nor passes for one in a folder of a run.
func TestPipesAndDevices(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	data, err := Read(Plan, filepath.Join(dir, "pipe"))
	require.NoError(t, err)
	assert.Empty(t, data, "nobody writes to it")
	for _, name := range []string{"pipe", "zero"} {
		_, err := ReadFS(Note, Dir(dir), name)
		require.ErrorIs(t, err, ErrIrregular)
		_, err = Open(Batch, filepath.Join(dir, name))
		require.ErrorIs(t, err, ErrIrregular)
	}
	_, err = Dir(dir).Open("../x")
	require.Error(t, err)
}

func TestAnInterruptEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	started, cause := make(chan struct{}), errors.New("interrupted")
	go func() {
		<-started
		cancel(cause)
	}()
	_, err := While(ctx, func() (int, error) {
		close(started)
		select {}
	})
	require.ErrorIs(t, err, cause)
	n, err := While(t.Context(), func() (int, error) { return 1, nil })
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.PanicsWithValue(t, "oh", func() { _, _ = While(t.Context(), func() (int, error) { panic("oh") }) })
}

func TestFilesThatAreMadeUp(t *testing.T) {
	m := Memory{"a.yaml": "one", "b/c.yaml": "three"}
	names, err := fs.Glob(m, "*/*.yaml")
	require.NoError(t, err)
	assert.Equal(t, []string{"b/c.yaml"}, names)
	data, err := ReadFS(Settings, m, "b/c.yaml")
	require.NoError(t, err)
	assert.Equal(t, "three", string(data))
	f, err := m.Open("a.yaml")
	require.NoError(t, err)
	info, err := f.Stat()
	require.NoError(t, err)
	assert.Equal(t, int64(3), info.Size())
	assert.True(t, info.Mode().IsRegular())
	assert.NoError(t, f.Close())
	_, err = m.Open("b")
	assert.ErrorIs(t, err, fs.ErrNotExist)
	_, err = m.Glob("[")
	assert.ErrorIs(t, err, path.ErrBadPattern)
}
