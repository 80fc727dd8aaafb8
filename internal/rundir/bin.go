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
// a folder of each process that has deleted some, and no list of runs has what is in it. Each has a file binLock, which
// its process holds as long as it lives.
const binFolder, binLock = ".deleted", ".lock"

// Bin takes the runs that a process deletes until they are deleted for good by Empty. The zero value is ready
// for use, by any goroutine.
type Bin struct {
	mu sync.Mutex
	// dirs are the folders of this process, each by the folder of the runs that it is for; gone are the runs
	// that are there, by where they were, as they were deleted: the last ones last.
	dirs map[string]string
	gone [][]binned
	// left are those that processes have left that died, of each at once, and locks the files that keep them ours.
	left  [][]binned
	locks []*os.File
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
		lock, err := os.Create(filepath.Join(dir, binLock))
		if err != nil {
			return "", err
		}
		Lock(lock) // where there are no locks, nobody takes what is left
		b.locks = append(b.locks, lock)
	}
	return filepath.Join(b.dirs[out], filepath.Base(e.Dir)), nil
}

// Len is how many runs can be brought back.
func (b *Bin) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return count(b.gone) + count(b.left)
}

// Left is how many of these were deleted by processes that died: Empty leaves them.
func (b *Bin) Left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return count(b.left)
}

func count(all [][]binned) (n int) {
	for _, runs := range all {
		n += len(runs)
	}
	return n
}

// Adopt takes over what processes that died have deleted in the folder of the runs out, so that Restore brings it back.
func (b *Bin) Adopt(out string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	dirs, err := filepath.Glob(filepath.Join(out, binFolder, "*"))
	errs := []error{err}
	for _, dir := range dirs {
		lock, is := free(dir)
		if !is {
			continue
		}
		b.locks = append(b.locks, lock)
		runs, _, err := List(dir)
		errs = append(errs, err)
		var all []binned
		for _, e := range runs {
			all = append(all, binned{from: filepath.Join(out, filepath.Base(e.Dir)), to: e.Dir})
		}
		if len(all) > 0 {
			b.left = append(b.left, all)
		}
	}
	return errors.Join(errs...)
}

// Restore brings back the runs that were deleted last, those of processes that died after all others, and returns how many.
func (b *Bin) Restore() (n int, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := &b.gone
	if len(*from) == 0 {
		from = &b.left
	}
	if len(*from) == 0 {
		return 0, nil
	}
	last := (*from)[len(*from)-1]
	*from = (*from)[:len(*from)-1]
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
	if from == &b.left {
		if rest, err := os.ReadDir(filepath.Dir(last[0].to)); err == nil && len(rest) == 1 { // its lock
			errs = append(errs, vanish(filepath.Dir(last[0].to)))
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
	for _, lock := range b.locks {
		errs = append(errs, lock.Close())
	}
	b.dirs, b.gone, b.left, b.locks = nil, nil, nil, nil
	return errors.Join(errs...)
}

// free takes the lock of a bin; free is false while its process lives, or if it cannot be told. The file is nil without a
// lock.
func free(dir string) (lock *os.File, free bool) {
	lock, err := os.OpenFile(filepath.Join(dir, binLock), os.O_RDWR, 0)
	if err != nil {
		return nil, false
	}
	if !Lock(lock) {
		_ = lock.Close() // nothing was written
		return nil, false
	}
	return lock, true
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
			dir := filepath.Join(all, d.Name())
			lock, is := free(dir)
			if _, err := os.Lstat(filepath.Join(dir, binLock)); err == nil && CanLock && !is {
				continue // its process lives
			}
			errs = append(errs, emptied(dir, formats))
			if is {
				errs = append(errs, lock.Close())
			}
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
	return vanish(dir)
}

// vanish removes a bin without runs, and the folder of all of them unless it has another.
func vanish(dir string) error {
	_ = os.Remove(filepath.Join(dir, binLock)) // if there is one
	err := os.Remove(dir)
	_ = os.Remove(filepath.Dir(dir))
	return err
}
