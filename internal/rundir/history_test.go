package rundir_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func entry(id string, daysOld int, tags map[string]string) rundir.Entry {
	return rundir.Entry{Dir: id, Run: rundir.Run{
		ID: id, Profile: "tx", Target: "redis://host:6379", Store: rundir.Store{Name: "redis"}, Started: now.AddDate(0, 0, -daysOld), Tags: tags,
	}}
}

func ids(list []rundir.Entry) (out []string) {
	for _, e := range list {
		out = append(out, e.Run.ID)
	}
	return out
}

func TestPruned(t *testing.T) {
	list := []rundir.Entry{entry("a", 0, map[string]string{"x": "1", "y": "2"}), entry("b", 3, map[string]string{"x": "1"}), entry("c", 9, nil)}
	for _, c := range []struct {
		p    rundir.Prune
		want []string
	}{
		{rundir.Prune{Keep: 2}, []string{"c"}},
		{rundir.Prune{Keep: 9}, nil},
		{rundir.Prune{Before: now.AddDate(0, 0, -1)}, []string{"b", "c"}},
		{rundir.Prune{Before: now.AddDate(0, 0, -1), Keep: 2}, []string{"c"}},
	} {
		assert.Equal(t, c.want, ids(c.p.Of(list)), "%+v", c.p)
	}
}

func TestAgo(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), "36h": now.Add(-36 * time.Hour), "today": now.Truncate(24 * time.Hour), "yesterday": now.Truncate(24*time.Hour).AddDate(0, 0, -1), "7d": now.AddDate(0, 0, -7), "2w": now.AddDate(0, 0, -14),
	} {
		got, err := rundir.ParseAgo("since", text, now)
		require.NoError(t, err)
		assert.True(t, want.Equal(got), text)
	}
	for _, bad := range []string{"", "soon", "-3h", "7", "2026-13-01"} {
		_, err := rundir.ParseAgo("since", bad, now)
		assert.ErrorContains(t, err, "since: ")
	}
}

// Only what is a run of ours, and nothing but that, is deleted.
func TestOnlyRunsAreDeleted(t *testing.T) {
	formats := []rundir.Format{{Names: []string{"report.md", "*.hgrm"}}}
	folder := func(t *testing.T, name string) (rundir.Entry, string) {
		dir := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.Mkdir(dir, 0o755))
		for _, f := range []string{rundir.RunFile, rundir.HlogFile} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, f), []byte("{}"), 0o600))
		}
		e := entry("a", 0, nil)
		e.Dir = dir
		return e, dir
	}
	e, dir := folder(t, "a")
	require.NoError(t, rundir.Delete(e, formats))
	assert.NoDirExists(t, dir)

	e, dir = folder(t, "a")
	name := dir + rundir.Suffix
	require.NoError(t, rundir.WriteArchive(dir, name))
	e.Dir = name
	require.NoError(t, rundir.Delete(e, formats))
	assert.NoFileExists(t, name)
	assert.DirExists(t, dir)

	e, dir = folder(t, "a")
	t.Chdir(dir) // the path of a socket is short
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: rundir.SocketFile})
	require.NoError(t, err)
	l.SetUnlinkOnClose(false)
	require.NoError(t, l.Close())
	require.NoError(t, rundir.Delete(e, formats), "what a killed run left of its socket hinders nobody")
	assert.NoDirExists(t, dir)

	e, dir = folder(t, "renamed")
	assert.ErrorContains(t, rundir.Delete(e, formats), "it does not have the name of its run, a")
	assert.FileExists(t, filepath.Join(dir, rundir.HlogFile))

	e, dir = folder(t, "a")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "notes"), 0o755))
	assert.ErrorContains(t, rundir.Delete(e, formats), "notes in it is not a file of a run")
	assert.FileExists(t, filepath.Join(dir, rundir.HlogFile))

	for _, name := range []string{"report.docx", "my.md", "Makefile", ".profile", ".tmp", "run.json.bak"} {
		e, dir = folder(t, "a")
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o600))
		assert.ErrorContains(t, rundir.Delete(e, formats), name+" in it is not a file of a run")
		assert.FileExists(t, filepath.Join(dir, name))
		assert.FileExists(t, filepath.Join(dir, rundir.HlogFile))
	}
	e, dir = folder(t, "a")
	for _, name := range []string{"report.md", "put.response.hgrm", rundir.NoteFile, ".reserve", ".report.md.tmp", "find.svg"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	require.NoError(t, rundir.Delete(e, formats))
	assert.NoDirExists(t, dir)

	e, dir = folder(t, "a")
	e.Dir = filepath.Join(t.TempDir(), "a")
	require.NoError(t, os.Symlink(dir, e.Dir))
	assert.ErrorContains(t, rundir.Delete(e, formats), "it is a link to somewhere else")
	assert.FileExists(t, filepath.Join(dir, rundir.HlogFile))

	e, dir = folder(t, "a")
	f, err := os.OpenFile(filepath.Join(dir, rundir.HlogFile), os.O_RDWR, 0)
	require.NoError(t, err)
	defer f.Close()
	if rundir.Lock(f) {
		assert.ErrorContains(t, rundir.Delete(e, formats), "its run is still going")
	}
}

func TestANoteIsKeptWithItsRun(t *testing.T) {
	out := t.TempDir()
	dir := filepath.Join(out, "a")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, rundir.RunFile), []byte(`{"schema":1,"id":"a"}`), 0o600))
	kept := func() string {
		list, warnings, err := rundir.List(out)
		require.NoError(t, err)
		require.Empty(t, warnings)
		require.Len(t, list, 1)
		return list[0].Run.Note
	}
	require.NoError(t, rundir.Note(dir, " with the\nnew \x1b[31mindex"))
	assert.Equal(t, "with the new [31mindex", kept())
	assert.ErrorContains(t, rundir.Note(dir, strings.Repeat("x", 501)), "501 bytes are more than the longest note may have, 500")
	require.NoError(t, rundir.Retag(dir, map[string]string{"build": "7"}))
	require.NoError(t, rundir.Retag(dir, nil))
	require.NoError(t, rundir.Retag(dir, map[string]string{"build": "8", "a": "b=c"}))
	require.NoError(t, rundir.WriteArchive(dir, dir+rundir.Suffix))
	require.NoError(t, os.RemoveAll(dir))
	assert.Equal(t, "with the new [31mindex", kept(), "it goes with the run into its archive")
	list, _, err := rundir.List(out)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"build": "8", "a": "b=c"}, list[0].Run.Tags)
	assert.ErrorContains(t, rundir.Retag(dir+rundir.Suffix, nil), "is an archive, and archives are never changed")
	assert.ErrorContains(t, rundir.Note(dir+rundir.Suffix, "x"), "is an archive, and archives are never changed")
}
