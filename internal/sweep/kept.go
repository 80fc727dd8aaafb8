package sweep

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Kept is a sweep kept in a folder.
type Kept struct {
	// ID is the name of the folder, When the time at which it was begun.
	ID   string
	When time.Time
	*Result
}

// List returns the sweeps below out, the newest first. Folders that cannot be read are
// left out.
func List(out string) []Kept {
	files, _ := filepath.Glob(filepath.Join(escaped(out), "*", File)) // the pattern is valid
	var list []Kept
	for _, f := range files {
		r, err := Load(filepath.Dir(f))
		if err != nil {
			continue
		}
		list = append(list, Kept{ID: filepath.Base(filepath.Dir(f)), When: begun(f), Result: r})
	}
	slices.SortStableFunc(list, func(a, b Kept) int { return cmp.Or(b.When.Compare(a.When), cmp.Compare(b.ID, a.ID)) })
	return list
}

// FolderTime is the layout, for time.Format, with which the name of a sweep's folder
// begins.
const FolderTime = "060102-150405"

// begun returns when a sweep was begun, from the name of its folder or otherwise from
// the time of its file.
func begun(file string) time.Time {
	name := filepath.Base(filepath.Dir(file))
	if t, err := time.ParseInLocation(FolderTime, name[:min(len(FolderTime), len(name))], time.Local); err == nil {
		return t
	}
	info, err := os.Stat(file)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// RunsOf returns the ids of the completed runs of a point, by round.
func (r *Result) RunsOf(point int) []string {
	done := slices.DeleteFunc(slices.Clone(r.Runs), func(d Run) bool { return d.Point != point })
	slices.SortStableFunc(done, func(a, b Run) int { return cmp.Compare(a.Round, b.Round) })
	var out []string
	for _, d := range done {
		out = append(out, d.ID)
	}
	return out
}
