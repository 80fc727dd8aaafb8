// Package infile reads files that come from outside: what users write, and folders of
// runs, which may come from anybody. Each file has a limit by what it is, no open waits
// for somebody at the other end of a pipe, and an interrupt ends the wait for whatever is
// being read and understood.
package infile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/perfbench/perfbench/internal/fault"
)

// Kind is what a file is, and how many bytes one of that kind has at most.
type Kind struct {
	What string
	Max  int64
}

const kib, mib, gib = 1 << 10, 1 << 20, 1 << 30

// The kinds of files that are read. This is the only table of their limits.
var (
	Plan        = Kind{"a plan", 4 * mib}
	Settings    = Kind{"a file of settings", 16 * mib}
	Secret      = Kind{"a file with a secret", 64 * kib}
	Certificate = Kind{"a file of certificates", mib}
	Note        = Kind{"a note", 64 * kib}
	Notice      = Kind{"a notice", mib}
	OfRun       = Kind{"a file of a run", 256 * mib}
	Journal     = Kind{"the histogram log of a run", 64 * gib}
	Found       = Kind{"the result of a search or sweep", 64 * mib}
	Baseline    = Kind{"a baseline", 64 * mib}
	State       = Kind{"what perfbench keeps for itself", 4 * mib}
	Batch       = Kind{"a batch of a model loader", gib}
	Recorded    = Kind{"what a store was asked", 1024 * gib}
)

// MaxKeys is how many keys a file of settings, or a plan, has at most.
const MaxKeys = 10_000

// ErrIrregular means that something is not a regular file.
var ErrIrregular = errors.New("it is not a regular file")

// open opens a file for reading. A pipe that nobody writes to reads as empty.
func open(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	return f, Plain(err)
}

// Plain returns an error about a file in words for those who named it, without the call of the
// system that found out; any other error is returned as it is. errors.Is and errors.As find the
// cause all the same.
func Plain(err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok || err.Error() != at.Error() {
		return err
	}
	switch {
	case errors.Is(at.Err, fs.ErrNotExist):
		return fault.Sentence(at.Path+": there is no such file", err)
	case errors.Is(at.Err, fs.ErrPermission):
		return fault.Sentence(at.Path+": it may not be read", err)
	case errors.Is(at.Err, syscall.EISDIR):
		return fault.Sentence(at.Path+": it is a folder", err)
	}
	return err
}

// Open opens a regular file.
func Open(k Kind, path string) (*os.File, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = &fs.PathError{Op: "read", Path: path, Err: ErrIrregular}
	case info.Size() > k.Max:
		err = k.tooLarge(path)
	default:
		return f, nil
	}
	return nil, errors.Join(err, f.Close())
}

// Read reads a file, a pipe or a device.
func Read(k Kind, path string) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	data, err := From(k, path, f)
	return data, errors.Join(Plain(err), f.Close())
}

// From reads what is there to the end. The name is for the error.
func From(k Kind, name string, r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, k.Max+1))
	if err == nil && int64(len(data)) > k.Max {
		return nil, k.tooLarge(name)
	}
	return data, err
}

// ReadFS is Read of a file in a file system.
func ReadFS(k Kind, files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := From(k, name, f)
	return data, errors.Join(err, f.Close())
}

// tooLarge says what a file of a kind may have.
func (k Kind) tooLarge(name string) error {
	size, unit := k.Max/kib, "KiB"
	if k.Max >= mib {
		size, unit = k.Max/mib, "MiB"
	}
	return fmt.Errorf("%s is larger than %s may be: %d %s", name, k.What, size, unit)
}

// Dir is the regular files and the folders of a folder.
type Dir string

// Open implements fs.FS.
func (d Dir) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	f, err := open(filepath.Join(string(d), filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrIrregular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// While returns what f returns, or the cause of ctx as soon as ctx ends: f, which may
// only read and compute, is left to itself then. A panic in f is passed on.
func While[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value    T
		err      error
		panicked any
	}
	done := make(chan result, 1) // one value: the sender never waits
	fault.Go(func() {
		var r result
		defer func() {
			r.panicked = recover()
			done <- r
		}()
		r.value, r.err = f()
	})
	select {
	case r := <-done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.value, r.err
	case <-ctx.Done():
		var zero T
		return zero, context.Cause(ctx)
	}
}
