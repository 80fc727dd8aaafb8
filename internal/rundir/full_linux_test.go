package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

// smallDisk mounts a file system of so many KiB.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("SKIPPED, A FULL DISK IS NOT TESTED: mounting a small file system needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// fillUp takes what room is left, a page at a time.
func fillUp(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "filler"))
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())
}

func TestFullDiskIsFoundBeforeTheRun(t *testing.T) {
	o := options(t)
	o.Out = filepath.Join(smallDisk(t, "512k"), "results")
	_, err := Create(o)
	require.Error(t, err)
	assert.Equal(t, fault.CodeOther, fault.CodeOf(err))
	assert.ErrorContains(t, err, "no room for a run folder: no space left on device")
	assert.Contains(t, fault.HintOf(err), "--out")
	left, err := os.ReadDir(o.Out)
	require.NoError(t, err)
	assert.Empty(t, left, "nothing is left behind")
}

func TestDiskThatFillsUpKeepsWhatWasMeasured(t *testing.T) {
	o := options(t)
	disk := smallDisk(t, "1536k")
	o.Out = filepath.Join(disk, "results")
	o.Formats = []Format{{ID: "note", Encode: func(f *Folder) ([]File, error) {
		return []File{{Name: "note.txt", Data: []byte(f.Run.EndedBy)}}, nil
	}}}
	j := start(t, o)
	f := newFakeRun(6)
	for s := range 3 {
		require.NoError(t, j.Second(f.second(s)))
	}
	settled(t, j)
	fillUp(t, disk)
	var full error
	for s := 3; full == nil; s++ { // the error of a write comes back on a later call
		full = j.Second(f.second(s))
	}
	require.ErrorIs(t, full, syscall.ENOSPC)
	assert.Equal(t, 1, strings.Count(full.Error(), j.Dir()), "the path is said once: %v", full)
	assert.Equal(t, fault.CodeOther, fault.CodeOf(full))
	assert.Contains(t, fault.HintOf(full), "the disk is full")

	r := j.Run()
	SetResult(&r, &f.total)
	r.EndedBy = "fault: " + full.Error()
	require.NoError(t, j.Finish(r), "the error was told already, and the room held back suffices")
	got, err := Load(j.Dir())
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(got.Run.EndedBy, "fault: "))
	assert.GreaterOrEqual(t, got.Run.Journal.Seconds, 3.0)
	assert.Contains(t, strings.Join(got.Run.Remarks(), " "), "could not be written")
	assert.FileExists(t, filepath.Join(j.Dir(), "note.txt"))
	consistent(t, got)
	require.NotErrorIs(t, err, syscall.ENOSPC)
}
