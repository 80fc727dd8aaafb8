package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// Is reports whether there is a run at a path: its folder, or an archive.
func Is(path string) bool {
	_, err := os.Stat(filepath.Join(path, RunFile))
	return path != "" && err == nil || IsArchive(path)
}

// Base returns the name of the run's folder, even if it is in an archive.
func Base(dir string) string {
	return strings.TrimSuffix(filepath.Base(filepath.Clean(dir)), Suffix)
}

// Entry is one run in a list: its folder or archive, and its run.json.
type Entry struct {
	Dir string
	Run Run
}

// List returns the runs below out, newest first, reading only their run.json, unless
// their other files are shorter than it says. Folders
// that cannot be read are left out and named in the warnings. If out does not exist,
// there are no runs.
func List(out string) ([]Entry, []string, error) { return new(Lister).List(out) }

// Lister lists runs again and again, and reads only those of which something is new. The zero
// value is ready for use, by one goroutine at a time.
type Lister struct{ known map[string]listed }

// listed is a run that had ended, as it was read, and when its files were written.
type listed struct {
	run     Run
	written [len(listedFiles)]time.Time // by listedFiles; zero without one
}

// listedFiles are the files from which a run is listed.
var listedFiles = [...]string{RunFile, NoteFile, TagsFile, FoundFile}

// writtenAt returns when a file of a folder was written; the zero time if it is not there.
func writtenAt(dir, name string) time.Time {
	info, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// List is like the function of that name.
func (l *Lister) List(out string) ([]Entry, []string, error) {
	dirs, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fault.Input(fmt.Errorf("list the runs in %s: %s", out, Reason(err)), "name the folder of your runs with --runs")
	}
	var runs []Entry
	var warnings []string
	known := l.known
	l.known = map[string]listed{}
	for _, d := range dirs {
		dir := filepath.Join(out, d.Name())
		if !Is(dir) || IsArchive(dir) && Is(strings.TrimSuffix(dir, Suffix)) { // the folder exists too
			continue
		}
		var written [len(listedFiles)]time.Time
		for i, name := range listedFiles {
			written[i] = writtenAt(dir, name)
		}
		if k, ok := known[dir]; ok && k.written == written {
			runs = append(runs, Entry{dir, k.run})
			l.known[dir] = k
			continue
		}
		r, err := readRun(dir)
		if err != nil {
			warnings = append(warnings, err.Error())
			continue
		}
		if r.EndedBy == CutShort && Alive(dir) {
			r.EndedBy = StillRunning
			rejudge(&r)
		}
		r = leftOf(dir, r)
		if r.EndedBy != CutShort && r.EndedBy != StillRunning && !written[0].IsZero() {
			l.known[dir] = listed{r, written}
		}
		runs = append(runs, Entry{dir, r})
	}
	slices.SortStableFunc(runs, func(a, b Entry) int {
		return cmp.Or(b.Run.Started.Compare(a.Run.Started), cmp.Compare(b.Dir, a.Dir))
	})
	return runs, warnings, nil
}

// leftOf returns the run of a folder as Load would, if its files are shorter than its
// run.json says; nothing is repaired.
func leftOf(dir string, r Run) Run {
	short := func(name string, want int64) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return want > 0 && (errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() < want)
	}
	if IsArchive(dir) || !short(HlogFile, r.Journal.HlogBytes) && !short(SeriesFile, r.Journal.SeriesBytes) {
		return r
	}
	f := &Folder{Dir: dir, Run: r}
	if f.read() != nil || !f.damaged {
		return r
	}
	f.Run.Verdict = judgeDamaged(&f.Run)
	return f.Run
}

// Find returns the folder or archive of the run that ref names: a path, the id of a run
// below out, "latest" or -1 for the newest one there, -2 for the one before it, and so
// on.
func Find(out, ref string) (string, error) {
	if Is(ref) {
		return ref, nil
	}
	runs, _, err := List(out)
	if err != nil {
		return "", err
	}
	back, isNumber := 1, ref == "latest"
	if n, err := strconv.Atoi(ref); err == nil && n < 0 {
		back, isNumber = -n, true
	}
	if isNumber {
		if back > len(runs) {
			count := fmt.Sprintf("are %d runs", len(runs))
			if len(runs) == 1 {
				count = "is one run"
			}
			return "", fault.Input(fmt.Errorf("run %s: there %s in %s", ref, count, out), "name the folder of a run, or the folder of your runs with --runs")
		}
		return runs[back-1].Dir, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = Base(r.Dir)
		if ids[i] == ref || r.Run.ID == ref || filepath.Base(r.Dir) == ref {
			return r.Dir, nil
		}
	}
	if info, err := os.Stat(ref); err == nil && info.IsDir() {
		return "", fault.Input(fmt.Errorf("%s is not a run folder: it has no %s", ref, RunFile), "")
	}
	hint := "a run is named by its folder, its id, latest, -1, -2 …; runs are looked for in --runs"
	if n := fault.Nearest(ref, ids); n != "" {
		hint = "did you mean " + n + "?"
	}
	return "", fault.Input(fmt.Errorf("there is no run %q in %s", ref, out), hint)
}
