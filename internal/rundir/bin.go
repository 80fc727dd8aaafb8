package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

// binFolder is the folder, in that of the runs, of those that were deleted and can be brought back. It holds
// a folder of each process that has deleted some, and no list of runs has what is in it.
const binFolder = ".deleted"

// Bin takes the runs that a process deletes until they are deleted for good by Empty. The zero value is ready
// for use, by any goroutine.
type Bin struct {
	mu sync.Mutex
	// dirs are the folders of this process, each by the folder of the runs that it is for; gone are the runs
	// that are there, by where they were, as they were deleted: the last ones last.
	dirs map[string]string
	gone [][]binned
}

// binned is a run that was deleted: where it was, and where it is now.
type binned struct{ from, to string }

// Put deletes runs that are Deletable so that Restore brings all of them back at once. The error names those
// that could not be deleted; the others are.
func (b *Bin) Put(entries []Entry, formats []Format) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	var gone []binned
	for _, e := range entries {
		to, err := b.place(e, formats)
		if err == nil {
			err = os.Rename(e.Dir, to)
		}
		if errs = append(errs, err); err == nil {
			gone = append(gone, binned{e.Dir, to})
		}
	}
	if len(gone) > 0 {
		b.gone = append(b.gone, gone)
	}
	return errors.Join(errs...)
}

// place returns where a run goes to that is to be deleted.
func (b *Bin) place(e Entry, formats []Format) (string, error) {
	if err := Deletable(e, formats); err != nil {
		return "", err
	}
	out := filepath.Dir(e.Dir)
	if b.dirs[out] == "" {
		all := filepath.Join(out, binFolder)
		if err := os.MkdirAll(all, 0o755); err != nil {
			return "", err
		}
		dir, err := os.MkdirTemp(all, "")
		if err != nil {
			return "", err
		}
		if b.dirs == nil {
			b.dirs = map[string]string{}
		}
		b.dirs[out] = dir
	}
	return filepath.Join(b.dirs[out], filepath.Base(e.Dir)), nil
}

// Len is how many runs can be brought back.
func (b *Bin) Len() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, runs := range b.gone {
		n += len(runs)
	}
	return n
}

// Restore brings back the runs that were deleted last, and returns how many.
func (b *Bin) Restore() (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.gone) == 0 {
		return 0, nil
	}
	last := b.gone[len(b.gone)-1]
	b.gone = b.gone[:len(b.gone)-1]
	var errs []error
	for _, r := range last {
		if _, err := os.Lstat(r.from); err == nil {
			errs = append(errs, fault.Input(fmt.Errorf("%s is not brought back: there is another one", r.from), "it is in "+r.to))
			continue
		}
		err := os.Rename(r.to, r.from)
		if errs = append(errs, err); err == nil {
			n++
		}
	}
	return n, errors.Join(errs...)
}

// Empty deletes for good what is in the bin.
func (b *Bin) Empty(formats []Format) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for _, dir := range b.dirs {
		errs = append(errs, emptied(dir, formats))
	}
	b.dirs, b.gone = nil, nil
	return errors.Join(errs...)
}

// EmptyOld deletes for good what processes have left that died, in bins of the folder of the runs out that
// nothing was put into since then.
func EmptyOld(out string, then time.Time, formats []Format) error {
	all := filepath.Join(out, binFolder)
	dirs, err := os.ReadDir(all)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, d := range dirs {
		if info, err := d.Info(); err == nil && d.IsDir() && info.ModTime().Before(then) {
			errs = append(errs, emptied(filepath.Join(all, d.Name()), formats))
		}
	}
	return errors.Join(errs...)
}

// emptied deletes the runs of a bin, and the folders that are empty then.
func emptied(dir string, formats []Format) error {
	runs, _, err := List(dir)
	errs := []error{err}
	for _, e := range runs {
		errs = append(errs, Delete(e, formats))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	err = os.Remove(dir)
	_ = os.Remove(filepath.Dir(dir)) // unless it has another bin
	return err
}
