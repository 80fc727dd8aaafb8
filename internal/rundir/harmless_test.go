package rundir

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is said of a run cannot control what shows it.
func TestANoticeIsHarmless(t *testing.T) {
	dir := t.TempDir()
	f := &Folder{Run: Run{Notices: []string{"a\x1b]0;x\x07b"}}}
	require.NoError(t, WriteNotice(dir, f))
	data, err := os.ReadFile(filepath.Join(dir, NoticeFile))
	require.NoError(t, err)
	assert.Contains(t, string(data), "a ]0;x b")
	assert.NotContains(t, string(data), "\x1b")
}

// No cell is a formula to a spreadsheet, and what was written is read back.
func TestCellsAreNoFormulas(t *testing.T) {
	row := SeriesRow{Track: "=HYPERLINK(1)", Op: "\x1b+put", Throughput: 1}
	text := string(SeriesCSV([]SeriesRow{row}))
	assert.Contains(t, text, "\n0,'=HYPERLINK(1), +put,")
	back, whole, err := readSeries(strings.NewReader(text))
	require.NoError(t, err)
	assert.True(t, whole)
	assert.Equal(t, "=HYPERLINK(1)", back[0].Track)

	text = string(SamplesCSV([]Sample{{1, OfStore, "@node", "-x", 2}}))
	assert.Contains(t, text, "1,store,'@node,'-x,2\n")
	samples, err := readSamples(strings.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, []Sample{{1, OfStore, "@node", "-x", 2}}, samples)
}

// A link or a pipe in a folder neither hangs whoever reads it nor leads to what it would
// truncate.
func TestOnlyFilesOfTheFolderAreTouched(t *testing.T) {
	dir, theirs := t.TempDir(), filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, os.WriteFile(theirs, []byte("precious"), 0o600))
	require.NoError(t, os.Symlink(theirs, filepath.Join(dir, SeriesFile)))
	require.NoError(t, os.Symlink(theirs, filepath.Join(dir, HlogFile)))
	f := &Folder{Dir: dir}
	f.repair()
	cut(filepath.Join(dir, SeriesFile), 0)
	data, err := os.ReadFile(theirs)
	require.NoError(t, err)
	assert.Equal(t, "precious", string(data))

	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, NoteFile)))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, RunFile), 0o600))
	for _, name := range []string{NoteFile, RunFile} {
		_, err := readFile(dir, name)
		require.ErrorContains(t, err, "not a regular file")
	}
}
