package rundir_test

import (
	"archive/zip"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
)

func TestWhatIsPackedIsThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a-run")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "folder"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), []byte("{}"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".hidden"), []byte("x"), 0o600))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	name := dir + rundir.Suffix
	require.NoError(t, rundir.WriteArchive(dir, name))
	assert.True(t, rundir.IsArchive(name))
	assert.False(t, rundir.IsArchive(dir))

	view, err := rundir.OpenArchive(name, "run.json")
	require.NoError(t, err)
	defer view.Close()
	files, err := fs.Glob(view, "*")
	require.NoError(t, err)
	assert.Equal(t, []string{"run.json"}, files)
	data, err := fs.ReadFile(view, "run.json")
	require.NoError(t, err)
	assert.Equal(t, "{}", string(data))

	require.ErrorContains(t, rundir.WriteArchive(dir, name), "is there already")
	_, err = rundir.Unpack(name)
	require.ErrorContains(t, err, "is there already")
	require.NoError(t, os.RemoveAll(dir))
	back, err := rundir.Unpack(name)
	require.NoError(t, err)
	assert.Equal(t, dir, back)
	data, err = os.ReadFile(filepath.Join(dir, "run.json"))
	require.NoError(t, err)
	assert.Equal(t, "{}", string(data))
	_, err = rundir.Unpack(dir)
	require.ErrorContains(t, err, "is no archive")
	left, err := os.ReadDir(filepath.Dir(dir))
	require.NoError(t, err)
	assert.Len(t, left, 2, "the folder and the archive")
}

// Whatever an archive has in it, it leads nowhere and is bounded.
func TestArchivesOfOthersDoNoHarm(t *testing.T) {
	for what, files := range map[string][]zip.FileHeader{
		"it has 0 runs":                       {{Name: "../run.json"}},
		"it has 0 runs, ":                     {{Name: "/etc/run.json"}},
		"it has 0 runs, not one":              {{Name: "a/b/run.json"}},
		"it has 2 runs":                       {{Name: "a/run.json"}, {Name: "b/run.json"}},
		"bytes that an archive of a run may ": {{Name: "a/run.json", UncompressedSize64: 9 << 30}},
		"its content is more than":            {{Name: "a/run.json"}, {Name: "a/x", UncompressedSize64: 1<<64 - 1}},
	} {
		name := filepath.Join(t.TempDir(), "x"+rundir.Suffix)
		f, err := os.Create(name)
		require.NoError(t, err)
		z := zip.NewWriter(f)
		for _, h := range files {
			_, err := z.CreateRaw(&h)
			require.NoError(t, err)
		}
		require.NoError(t, z.Close())
		require.NoError(t, f.Close())
		_, err = rundir.OpenArchive(name, "run.json")
		require.ErrorContains(t, err, what)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
	name := filepath.Join(t.TempDir(), "x"+rundir.Suffix)
	require.NoError(t, os.WriteFile(name, []byte("not an archive"), 0o600))
	_, err := rundir.OpenArchive(name, "run.json")
	assert.ErrorContains(t, err, "not a valid zip file")
}

// An archive that is not there is told as such, and named once.
func TestAnArchiveThatIsNotThereIsToldPlainly(t *testing.T) {
	name := filepath.Join(t.TempDir(), "gone.zip")
	_, err := rundir.OpenArchive(name, "run.json")
	require.EqualError(t, err, name+": there is no such file")
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
