package padogrid

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/rundir"
)

// maxText is the size of the largest file that is considered as a result text.
const maxText = 1 << 20

// Found returns the result texts in a folder that is not a run's, such as PadoGrid's
// own results: one folder for each program with texts, ordered by when they were
// written. There may be none.
func Found(dir string) ([]*rundir.Folder, error) {
	names, err := filepath.Glob(filepath.Join(escaped(dir), "*-*.txt"))
	if err != nil {
		return nil, fault.Input(err, "")
	}
	type found struct {
		name    string
		written time.Time
	}
	var all []found
	for _, n := range names {
		if info, err := os.Stat(n); err == nil && info.Mode().IsRegular() && info.Size() <= maxText {
			all = append(all, found{n, info.ModTime()})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		return cmp.Or(a.written.Compare(b.written), strings.Compare(a.name, b.name))
	})
	var out []*rundir.Folder
	for _, x := range all {
		program, _, _ := strings.Cut(filepath.Base(x.name), "-")
		if _, ok := tables[program]; !ok {
			continue
		}
		data, err := infile.Read(infile.Settings, x.name)
		if err != nil {
			return nil, fault.Input(err, "")
		}
		i := slices.IndexFunc(out, func(f *rundir.Folder) bool { return f.Run.Profile == program })
		if i < 0 {
			i = len(out)
			out = append(out, &rundir.Folder{Dir: dir, Run: rundir.Run{Profile: program, Started: x.written}})
		}
		out[i].Found = append(out[i].Found, rundir.File{Name: filepath.Base(x.name), Data: data})
	}
	return out, nil
}

// escaped returns a path with pattern characters escaped.
func escaped(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
