package rundir_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// stored puts a run into a folder of runs.
func stored(t *testing.T, out string) rundir.Entry {
	t.Helper()
	const of = "../../testdata/runs/open-loop"
	f, err := rundir.Load(of)
	require.NoError(t, err)
	dir := filepath.Join(out, f.Run.ID)
	require.NoError(t, os.CopyFS(dir, os.DirFS(of)))
	return rundir.Entry{Dir: dir, Run: f.Run}
}

// What is deleted is in no list, comes back as it was, and its space is freed in the end.
func TestWhatIsDeletedComesBackUntilTheBinIsEmptied(t *testing.T) {
	out := t.TempDir()
	e := stored(t, out)
	listed := func() int {
		list, warnings, err := rundir.List(out)
		require.NoError(t, err)
		assert.Empty(t, warnings)
		return len(list)
	}
	var b rundir.Bin
	require.NoError(t, b.Put([]rundir.Entry{e}, nil))
	assert.Zero(t, listed())
	seen, err := filepath.Glob(filepath.Join(out, "*", rundir.RunFile))
	require.NoError(t, err)
	assert.NotContains(t, seen, e.Dir)
	require.Equal(t, 1, b.Len())
	n, err := b.Restore()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1}, []int{n, listed()})
	assert.Zero(t, b.Len())

	require.NoError(t, b.Put([]rundir.Entry{e}, nil))
	stored(t, out) // in its place
	_, err = b.Restore()
	require.ErrorContains(t, err, "there is another one")
	require.NoError(t, rundir.EmptyOld(out, time.Now().Add(-time.Hour), nil))
	assert.DirExists(t, filepath.Join(out, ".deleted"), "it may be of a process that lives")
	require.NoError(t, b.Empty(nil))
	assert.NoDirExists(t, filepath.Join(out, ".deleted"))

	require.NoError(t, b.Put([]rundir.Entry{e}, nil))
	require.NoError(t, rundir.EmptyOld(out, time.Now().Add(time.Hour), nil))
	assert.DirExists(t, filepath.Join(out, ".deleted"), "its process lives, however long ago that was")
	require.NoError(t, b.Empty(nil))

	e = stored(t, out)
	require.NoError(t, os.WriteFile(filepath.Join(e.Dir, "mine.txt"), nil, 0o600))
	require.ErrorContains(t, b.Put([]rundir.Entry{e}, nil), "not a file of a run")
	assert.Equal(t, 1, listed())
	assert.Zero(t, b.Len())
}

// What a process that died had deleted is taken over by the next one, which brings it back or leaves it where it is, until
// it is old; what one that lives has deleted is not.
func TestWhatADeadProcessHadDeletedComesBack(t *testing.T) {
	if !rundir.CanLock {
		t.Skip("this system cannot tell whether a process lives")
	}
	out := t.TempDir()
	var lives, b rundir.Bin
	require.NoError(t, lives.Put([]rundir.Entry{stored(t, out)}, nil))
	require.NoError(t, b.Adopt(out))
	assert.Zero(t, b.Len())
	require.NoError(t, lives.Empty(nil))

	bin := filepath.Join(out, ".deleted", "1")
	dead := func() {
		require.NoError(t, os.MkdirAll(bin, 0o755))
		stored(t, bin)
		require.NoError(t, os.WriteFile(filepath.Join(bin, ".lock"), nil, 0o600))
	}
	dead()
	require.NoError(t, b.Adopt(out))
	assert.Equal(t, []int{1, 1}, []int{b.Len(), b.Left()})
	var other rundir.Bin
	require.NoError(t, other.Adopt(out))
	assert.Zero(t, other.Len(), "one has taken it")
	require.NoError(t, b.Empty(nil))
	assert.DirExists(t, bin, "it is kept for a day")

	require.NoError(t, b.Adopt(out))
	n, err := b.Restore()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0}, []int{n, b.Len()})
	list, _, err := rundir.List(out)
	require.NoError(t, err)
	assert.Len(t, list, 1)
	assert.NoDirExists(t, filepath.Join(out, ".deleted"))
	require.NoError(t, b.Empty(nil))

	dead()
	require.NoError(t, rundir.EmptyOld(out, time.Now().Add(time.Hour), nil))
	assert.NoDirExists(t, filepath.Join(out, ".deleted"))
}
