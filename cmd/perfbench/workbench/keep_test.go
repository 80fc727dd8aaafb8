package workbench

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

// oneKept returns a results folder with one run, and that run.
func oneKept(t *testing.T) (*kept, *rundir.Folder) {
	t.Helper()
	const stored = "../../../testdata/runs/open-loop"
	f, err := rundir.Load(stored)
	require.NoError(t, err)
	b := &kept{surroundings: &surroundings{out: t.TempDir()}}
	require.NoError(t, os.CopyFS(filepath.Join(b.out, f.Run.ID), os.DirFS(stored)))
	return b, f
}

// What the list of runs asks for happens in the results folder: an archive takes the place
// of a folder, and what cannot be done of one run does not keep it from others.
func TestRunsAreArchivedInTheirPlaceAndDeleted(t *testing.T) {
	b, f := oneKept(t)
	id := f.Run.ID

	b.dirs.Store(id, filepath.Join(b.out, id)) // it was done in this workbench
	require.ErrorContains(t, b.Pack([]string{"nosuchrun", id}), "nosuchrun")
	assert.NoDirExists(t, filepath.Join(b.out, id))
	again, err := b.Load(id)
	require.NoError(t, err)
	assert.Equal(t, f.Run.Operations, again.Run.Operations)
	require.ErrorContains(t, b.Pack([]string{id}), "already an archive")

	require.ErrorContains(t, b.Remove([]string{"nosuchrun", id}), "nosuchrun")
	list, err := b.History()
	require.NoError(t, err)
	assert.Empty(t, list)

	require.Positive(t, b.Removed())
	n, err := b.Restore()
	require.NoError(t, err)
	list, err = b.History()
	require.NoError(t, err)
	assert.Equal(t, []int{1, 1}, []int{n, len(list)})
}

// What a workbench that died had deleted can be brought back in the next one.
func TestWhatADeadWorkbenchHadDeletedIsOffered(t *testing.T) {
	if !rundir.CanLock {
		t.Skip("this system cannot tell whether a workbench lives")
	}
	b, f := oneKept(t)
	bin := filepath.Join(b.out, ".deleted", "1")
	require.NoError(t, os.MkdirAll(bin, 0o755))
	require.NoError(t, os.Rename(filepath.Join(b.out, f.Run.ID), filepath.Join(bin, f.Run.ID)))
	require.NoError(t, os.WriteFile(filepath.Join(bin, ".lock"), nil, 0o600))
	b.tidy(time.Now())
	assert.Equal(t, []int{1, 1}, []int{b.Removed(), b.Left()})
	n, err := b.Restore()
	require.NoError(t, err)
	assert.Equal(t, 1, n)
	assert.DirExists(t, filepath.Join(b.out, f.Run.ID))
}

// A run is read once while nobody changes it, however many screens show it one after the other.
func TestARunIsReadOnce(t *testing.T) {
	b, f := oneKept(t)
	id := f.Run.ID
	first, err := b.Load(id)
	require.NoError(t, err)
	again, err := b.Load(id)
	require.NoError(t, err)
	assert.Same(t, first, again)
	require.NoError(t, b.Annotate(id, "colder"))
	noted, err := b.Load(id)
	require.NoError(t, err)
	assert.Equal(t, "colder", noted.Run.Note)
	require.NoError(t, b.Remove([]string{id}))
	_, err = b.Load(id)
	require.Error(t, err)
}
