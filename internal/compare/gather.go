package compare

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/rundir"
)

// Set reads the runs that ref refers to: a single one as in rundir.Find, those whose
// folders match a pattern, relative to the folder out or to the current one, those in a
// folder, or those of a baseline file. Runs are ordered by when they began. Of several
// runs, those that cannot be read or are still going are left out and named in the
// warnings, one sentence each. Errors have the code of bad input.
func FindSet(out, ref string) (Set, []string, error) {
	set := Set{Name: ref}
	if info, err := os.Stat(ref); err == nil && info.Mode().IsRegular() && !rundir.Is(ref) {
		set.Runs, err = readBaseline(ref)
		return set, nil, err
	}
	dirs, err := matches(out, ref)
	if err != nil {
		return set, nil, err
	}
	if dirs == nil {
		dir, err := rundir.Find(out, ref)
		if err != nil {
			return set, nil, err
		}
		r, err := readRun(dir)
		set.Runs = []*Run{r}
		return set, nil, err
	}
	var left []string
	for _, dir := range dirs {
		r, err := readRun(dir)
		if err != nil {
			left = append(left, err.Error()+leftOut)
			continue
		}
		set.Runs = append(set.Runs, r)
	}
	if len(set.Runs) == 0 {
		if len(left) > 0 {
			what := "its one run cannot be compared"
			if len(left) > 1 {
				what = fmt.Sprintf("none of its %d runs can be compared", len(left))
			}
			return set, nil, fault.Input(fmt.Errorf("%s: %s: %s", ref, what, strings.TrimSuffix(left[0], leftOut)), "")
		}
		return set, nil, fault.Input(fmt.Errorf("there is no run in %s", ref), "name the folder of a run, a folder of runs, a pattern in quotes, or a baseline file")
	}
	slices.SortStableFunc(set.Runs, func(a, b *Run) int { return a.Conditions.Started.Compare(b.Conditions.Started) })
	return set, left, nil
}

// Earlier reads the runs in the folder out that are repeats of A's only one or of B's, and those of A's plan that
// KeepNoise has kept there, the oldest first, and no more than are worth reading; none if a
// side has several runs, which show by themselves how much runs differ. What cannot be read
// shows nothing.
func Earlier(out string, a, b Set) (runs []*Run) {
	if len(a.Runs) != 1 || len(b.Runs) != 1 {
		return nil
	}
	for _, own := range []*Run{a.Runs[0], b.Runs[0]} {
		for f := range kept(out, &own.Conditions) {
			if r, err := Of(f); err == nil {
				runs = append(runs, r)
			}
		}
	}
	return merged(keptNoise(out, &a.Runs[0].Conditions), runs)
}

// Kept reads what Earlier does, for a run that a report compares with another.
func Kept(out string, of *rundir.Folder) []*rundir.Folder {
	list := slices.Collect(kept(out, ConditionsOf(&of.Run)))
	slices.Reverse(list)
	return list
}

// kept reads the runs in the folder out that are repeats of one, the newest first, and no
// more than are worth reading.
func kept(out string, of *Conditions) iter.Seq[*rundir.Folder] {
	return func(yield func(*rundir.Folder) bool) {
		list, _, err := rundir.List(out)
		if err != nil {
			return
		}
		left := MostEarlier + 2 // the two sides may be among them
		for _, e := range list {
			r := &e.Run
			if r.Profile != of.Profile || r.Target != of.Target || r.EndedBy == rundir.StillRunning || !ConditionsOf(r).Repeats(of) {
				continue
			}
			f, err := rundir.Load(e.Dir)
			if err != nil || f.Run.EndedBy == rundir.StillRunning {
				continue
			}
			if left--; !yield(f) || left == 0 {
				return
			}
		}
	}
}

// leftOut ends the warning about a run that is left out of a side.
const leftOut = ": left out"

// Of makes a set of the runs in these folders; errors have the code of bad input.
func ReadRuns(name string, dirs []string) (Set, error) {
	set := Set{Name: name}
	for _, dir := range dirs {
		r, err := readRun(dir)
		if err != nil {
			return set, err
		}
		set.Runs = append(set.Runs, r)
	}
	return set, nil
}

// matches returns the folders of the runs that a pattern, or a folder, ref stands for;
// nil if it stands for a single run.
func matches(out, ref string) ([]string, error) {
	if strings.ContainsAny(ref, "*?[") {
		found := []string{}
		for _, pattern := range []string{ref, filepath.Join(out, ref)} {
			list, err := filepath.Glob(pattern)
			if err != nil {
				return nil, fault.Input(fmt.Errorf("%q is not a pattern", ref), "a [ needs its ]: write it like 'before-*'")
			}
			for _, dir := range list {
				if rundir.Is(dir) {
					found = append(found, dir)
				}
			}
			if len(found) > 0 {
				return found, nil
			}
		}
		return nil, fault.Input(fmt.Errorf("no run matches %q, neither here nor in %s", ref, out), "name the folder of your runs with --runs, and put the pattern in quotes")
	}
	if info, err := os.Stat(ref); err != nil || !info.IsDir() || rundir.Is(ref) {
		return nil, nil
	}
	entries, err := os.ReadDir(ref)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("read the runs in %s: %s", ref, rundir.Reason(err)), "")
	}
	found := []string{}
	for _, e := range entries {
		if dir := filepath.Join(ref, e.Name()); rundir.Is(dir) {
			found = append(found, dir)
		}
	}
	return found, nil
}

// read reads one run, which must have ended.
func readRun(dir string) (*Run, error) {
	f, err := rundir.Load(dir)
	if err != nil {
		return nil, err
	}
	if f.Run.EndedBy == rundir.StillRunning {
		return nil, fault.Input(fmt.Errorf("run %s is still going", dir), "compare it when it has ended")
	}
	return Of(f)
}

func readBaseline(path string) ([]*Run, error) {
	data, err := infile.Read(infile.Baseline, path)
	if err != nil {
		return nil, fault.Input(fmt.Errorf("read the baseline %s: %s", path, rundir.Reason(err)), "")
	}
	runs, err := ReadBaseline(data)
	switch {
	case errors.Is(err, ErrNoBaseline):
		return nil, fault.Input(fmt.Errorf("%s is neither a run folder nor a baseline", path), "perfbench report RUN... --format baseline makes one")
	case err != nil:
		return nil, fault.Input(fmt.Errorf("the baseline %s is damaged: %w", path, err), "make it again with perfbench report RUN... --format baseline")
	}
	return runs, nil
}
