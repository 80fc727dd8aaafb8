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

// Names of the files of every run directory.
const (
	RunFile    = "run.json"
	SeriesFile = "series.csv"
	HlogFile   = "latency.hlog"
	NoticeFile = "NOTICE.txt"
	FactsFile  = "facts.yaml"
)

// reserveFile holds room that is given back when the disk is full, so that what
// was measured can still be written.
const (
	reserveFile  = ".reserve"
	reserveBytes = 1 << 20
)

// tmpSuffix marks files that are not complete; a leading dot hides them.
const tmpSuffix = ".tmp"

// writeFile puts data in place under its final name in one step: readers see the
// old file or the new one, whenever the process dies.
func writeFile(path string, data []byte, sync bool) error {
	tmp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+tmpSuffix)
	err := writeTo(tmp, data, sync)
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		if at, ok := errors.AsType[*fs.PathError](err); ok && at.Path == tmp {
			at.Path = path // nobody knows the other one
		}
		return diskError(errors.Join(err, drop(tmp)), "write "+path)
	}
	return nil
}

func writeTo(path string, data []byte, sync bool) error {
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

// drop removes a file of ours that may be missing.
func drop(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// isFull says that err means a disk or quota without room.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// diskError gives an error of writing its hint.
func diskError(err error, doing string) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(doing, at.Path) {
		err = at.Err // the path has been said
	}
	err = fmt.Errorf("%s: %w", doing, err)
	if isFull(err) {
		return fullHint(err)
	}
	return err
}

func fullHint(err error) error {
	return fault.Hint(fault.Code(err, fault.CodeOther), "the disk is full: make room there, or choose another place with --out")
}

// outError explains why a run directory cannot be made under out.
func outError(out string, err error) error {
	if isFull(err) {
		return fullHint(fmt.Errorf("--out %q: no room for a run folder: %s", out, reasonOf(err)))
	}
	reason, hint := err.Error(), "choose another folder with --out"
	switch {
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrExist):
		reason, hint = "it is a file, or lies below one", "name a folder with --out; it is made when missing"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		reason, hint = "it cannot be written to ("+reasonOf(err)+")", "choose a folder that you may write to with --out"
	}
	return fault.Input(fmt.Errorf("--out %q: %s", out, reason), hint)
}

// reasonOf is the operating system's word for err, without operation and path.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}
