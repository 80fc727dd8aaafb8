package workbench

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/compare"
	"github.com/perfbench/perfbench/internal/fault"
	keptlist "github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/tui/screen"
)

// kept are the runs and sweeps of the results folder.
type kept struct {
	*surroundings
	// dirs are the folders of the runs that were done here, by id: they may be elsewhere.
	dirs sync.Map
	// listing guards list, which reads again only what is new.
	listing sync.Mutex
	list    keptlist.Lister
	// reading guards read, which Load read last, and what its files were then.
	reading sync.Mutex
	read    *rundir.Folder
	files   string
	// bin has the runs that were deleted here, until the workbench closes.
	bin rundir.Bin
}

// History lists the runs of the results folder, newest first.
func (k *kept) History() ([]rundir.Run, error) {
	k.listing.Lock()
	defer k.listing.Unlock()
	list, _, err := k.list.Runs(k.out)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	out := make([]rundir.Run, len(list))
	for i, e := range list {
		out[i] = e.Run
	}
	return out, err
}

// Sweeps lists the sweeps of the results folder.
func (k *kept) Sweeps() []sweep.Kept { return sweep.List(k.out) }

// Groups lists what runs of the results folder came to that were repeated or compared.
func (k *kept) Groups() []keptlist.Group {
	k.listing.Lock()
	defer k.listing.Unlock()
	return k.list.Groups(k.out)
}

// Load reads a run, unless it is the one that was read last and its files are as they were: what is opened has
// just been shown below the list of runs.
func (k *kept) Load(id string) (*rundir.Folder, error) {
	var dir string
	if known, ok := k.dirs.Load(id); ok {
		dir, _ = known.(string)
	} else {
		var err error
		if dir, err = rundir.Find(k.out, id); err != nil {
			return nil, err
		}
	}
	k.reading.Lock()
	defer k.reading.Unlock()
	files := filesOf(dir)
	if f := k.read; f != nil && f.Dir == dir && k.files == files && f.Run.EndedBy != rundir.StillRunning {
		return f, nil
	}
	f, err := rundir.Load(dir)
	if err == nil {
		k.read, k.files = f, files
	}
	return f, err
}

// filesOf names the files of a folder, or an archive, with their sizes and when they were written.
func filesOf(dir string) string {
	var out strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not there
		if err == nil {
			if info, err := d.Info(); err == nil {
				fmt.Fprintln(&out, path, info.Size(), info.ModTime().UnixNano())
			}
		}
		return nil
	})
	return out.String()
}

func (k *kept) Remove(ids []string) error {
	var errs []error
	var gone []rundir.Entry
	for _, id := range ids {
		dir, err := rundir.Find(k.out, id)
		if err == nil {
			var f *rundir.Folder
			if f, err = rundir.Load(dir); err == nil {
				gone = append(gone, rundir.Entry{Dir: dir, Run: f.Run})
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(append(errs, k.bin.Put(gone, cli.Formats()))...)
}

// Removed is how many runs Restore can bring back.
func (k *kept) Removed() int { return k.bin.Len() }

// Left is how many of these a workbench that died had deleted.
func (k *kept) Left() int { return k.bin.Left() }

// Restore brings back what was deleted last.
func (k *kept) Restore() (int, error) { return k.bin.Restore() }

// oldBin is for how long what a workbench that died had deleted is kept: another one may be open.
const oldBin = 24 * time.Hour

// tidy deletes for good what workbenches that died had deleted long ago, and takes over what they have deleted since.
func (k *kept) tidy(now time.Time) {
	if err := rundir.EmptyOld(k.out, now.Add(-oldBin), cli.Formats()); err != nil {
		k.env.Log.Warn("What was deleted earlier is still there", "error", err)
	}
	if err := k.bin.Adopt(k.out); err != nil {
		k.env.Log.Warn("What was deleted earlier cannot be brought back", "error", err)
	}
}

func (k *kept) Pack(ids []string) error {
	var errs []error
	for _, id := range ids {
		dir, err := rundir.Find(k.out, id)
		if err == nil {
			var run rundir.Run
			if _, run, err = rundir.Archive(dir, ""); err == nil {
				err = rundir.Delete(rundir.Entry{Dir: dir, Run: run}, cli.Formats())
			}
			k.dirs.Delete(id) // where it was written, there is nothing now
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (k *kept) Unpack(ids []string) error {
	var errs []error
	for _, id := range ids {
		name, err := rundir.Find(k.out, id)
		if err == nil {
			_, err = rundir.Unpack(name)
		}
		if err == nil {
			err = os.Remove(name)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (k *kept) Annotate(id, note string) error {
	dir, err := rundir.Find(k.out, id)
	if err != nil {
		return err
	}
	return rundir.Note(dir, note)
}

func (k *kept) Retag(id string, words []string) error {
	tags, err := request.Tags(words)
	if err != nil {
		return err
	}
	dir, err := rundir.Find(k.out, id)
	if err != nil {
		return err
	}
	return rundir.Retag(dir, tags)
}

// Formats returns those that describe a run: of its profile, and of its mode.
func (k *kept) Formats(f *rundir.Folder) []rundir.Format {
	var out []rundir.Format
	for _, format := range k.env.Formats {
		if format.Profile == "" || format.Profile == f.Run.Profile && format.Describes(f) {
			out = append(out, format)
		}
	}
	return out
}

func (k *kept) Export(id string, formats []string, dir string) ([]string, error) {
	f, err := k.Load(id)
	if err != nil {
		return nil, err
	}
	picked, err := rundir.Pick(k.env.Formats, formats, f.Run.Profile)
	if err != nil {
		return nil, err
	}
	dir = k.path(dir)
	if dir == "" {
		if err := f.Writable(); err != nil {
			return nil, fault.Hint(err, "name another folder: tab goes to it")
		}
	}
	given := dir
	if given != "" { // the next workbench may begin elsewhere
		if given, err = filepath.Abs(given); err != nil {
			return nil, err
		}
	}
	names, err := report.Write(f, picked, dir)
	if dir == "" {
		dir = f.Dir
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
		if name == report.PlanName && dir != f.Dir {
			if err := request.RememberPlan(k.state, names[i]); err != nil {
				k.env.Log.Warn("The plan could not be kept for the list of plans", "error", err)
			}
		}
	}
	if err == nil && k.state != "" {
		if err := request.KeepExported(k.state, request.Exported{Formats: formats, Dir: given}); err != nil {
			k.env.Log.Warn("What was chosen could not be kept for the next export", "error", err)
		}
	}
	return names, err
}

// LastExported returns what the user exported last.
func (k *kept) LastExported() request.Exported {
	if k.state == "" {
		return request.Exported{}
	}
	return request.LastExported(k.state)
}

// KeepNoise keeps what runs show of how much runs differ here, beside them.
func (k *kept) KeepNoise(s compare.Set) error {
	_, err := compare.KeepNoise(k.out, s)
	return err
}

// Watch returns a run that another process of this machine drives.
func (k *kept) Watch(id string) (screen.Access, error) {
	dir, err := rundir.Find(k.out, id)
	if err != nil {
		return screen.Access{}, err
	}
	r, err := watchRun(k.soft, k, cli.Watched{Dir: dir})
	if err != nil {
		return screen.Access{}, err
	}
	return r.access(), nil
}
