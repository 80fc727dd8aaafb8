package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/perfbench/perfbench/internal/fault"
)

// TmpSuffix marks files that are not complete; a leading dot hides them.
const TmpSuffix = ".tmp"

// Write puts data under its final name in one step: whenever the process dies, readers
// see either the old file or the new one.
func Write(path string, data []byte, sync bool) error {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+TmpSuffix)
	err := WriteTo(tmp, data, sync)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == tmp {
			at.Path = path // users do not know the temporary one
		}
		return DiskError(errors.Join(err, Remove(tmp)), "write "+path)
	}
	return nil
}

// WriteTo writes data to a file directly, without a temporary one.
func WriteTo(path string, data []byte, sync bool) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Remove removes a file of ours that may not exist.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IsFull reports whether err means that a disk or quota is full.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// Error adds a hint to an error of writing.
func DiskError(err error, doing string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(doing, at.Path) {
		err = at.Err // the path is already in the text
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if IsFull(err) {
		return fullHint(err)
	}
	return err
}

func fullHint(err error) error {
	return fault.Hint(fault.Code(err, fault.CodeOther), "the disk is full: make room there, or choose another place with --out")
}

// OutError explains why a run directory cannot be made under out.
func OutError(out string, err error) error {
	if IsFull(err) {
		return fullHint(fmt.Errorf("--out %q: no room for a run folder: %s", out, Reason(err)))
	}
	reason, hint := err.Error(), "choose another folder with --out"
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		reason, hint = "it is a file, or is inside one", "name a folder with --out; it is made when missing"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		reason, hint = "it cannot be written to ("+Reason(err)+")", "choose a folder that you may write to with --out"
	}
	return fault.Input(fmt.Errorf("--out %q: %s", out, reason), hint)
}

// Reason returns the operating system's text for err, without operation and path.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
