package rundir

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
)

// Suffix is how the names of archives end.
const Suffix = ".zip"

// Limits on what is read of an archive, which may come from anywhere.
const (
	maxPacked   = 1 << 30
	maxUnpacked = 8 << 30
	maxFiles    = 10_000
)

// Is reports whether a path has the name of an archive, and is a file.
func IsArchive(name string) bool {
	info, err := os.Stat(name)
	return strings.HasSuffix(name, Suffix) && err == nil && info.Mode().IsRegular()
}

// View gives access to the content of an archive. It must be closed.
type ArchiveView struct {
	fs.FS
	file *zip.ReadCloser
}

// Close closes the archive.
func (v *ArchiveView) Close() error { return v.file.Close() }

// Open opens an archive of one run, which must contain a folder with a file named
// marker; the view is of that folder. Errors have the code of bad input.
func OpenArchive(name, marker string) (*ArchiveView, error) {
	input := func(err error) error {
		if _, is := errors.AsType[*fs.PathError](err); is { // which names it
			return fault.Input(infile.Plain(err), "perfbench history archive RUN makes archives of runs")
		}
		return fault.Input(fmt.Errorf("%s: %w", name, err), "perfbench history archive RUN makes archives of runs")
	}
	if info, err := os.Stat(name); err != nil {
		return nil, input(err)
	} else if info.Size() > maxPacked {
		return nil, input(fmt.Errorf("%d bytes are more than the %d that an archive of a run may have", info.Size(), maxPacked))
	}
	z, err := zip.OpenReader(name)
	if err != nil {
		return nil, input(err)
	}
	dir, err := folderIn(&z.Reader, marker)
	if err != nil {
		return nil, input(errors.Join(err, z.Close()))
	}
	sub, err := fs.Sub(&z.Reader, dir)
	if err != nil {
		return nil, input(errors.Join(err, z.Close()))
	}
	return &ArchiveView{sub, z}, nil
}

// within finds the folder of the run. The sizes are only what the archive claims, so
// they are checked again when files are read.
func folderIn(z *zip.Reader, marker string) (string, error) {
	var sum uint64
	var found []string
	for _, f := range z.File {
		sum += f.UncompressedSize64
		if sum > maxUnpacked || f.UncompressedSize64 > maxUnpacked {
			return "", fmt.Errorf("its content is more than the %d bytes that an archive of a run may hold", int64(maxUnpacked))
		}
		if fs.ValidPath(f.Name) && path.Base(f.Name) == marker && strings.Count(f.Name, "/") <= 1 {
			found = append(found, path.Dir(f.Name))
		}
	}
	switch {
	case len(z.File) > maxFiles:
		return "", fmt.Errorf("%d files are more than the %d that an archive of a run may hold", len(z.File), maxFiles)
	case len(found) != 1:
		return "", fmt.Errorf("it has %d runs, not one: a run is a folder with a %s", len(found), marker)
	}
	return found[0], nil
}

// Write packs the files of a folder, under its name, into a new archive, which appears
// only when it is complete. Hidden files, and anything but plain files, are left out.
func WriteArchive(dir, name string) (err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".pack-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(tmp.Name()) // the error that matters is returned
		}
	}()
	z := zip.NewWriter(tmp)
	for _, e := range entries {
		if e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") {
			if err := addFile(z, dir, e); err != nil {
				return errors.Join(err, tmp.Close())
			}
		}
	}
	if err := errors.Join(z.Close(), tmp.Sync(), tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	if _, err := os.Stat(name); err == nil {
		return fault.Input(fmt.Errorf("%s is there already", name), "delete it, or choose another folder with --out")
	}
	return os.Rename(tmp.Name(), name)
}

// add adds one file.
func addFile(z *zip.Writer, dir string, e fs.DirEntry) error {
	info, err := e.Info()
	if err != nil {
		return err
	}
	h, err := zip.FileInfoHeader(info)
	if err != nil {
		return err
	}
	h.Name, h.Method = path.Join(filepath.Base(dir), e.Name()), zip.Deflate
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, e.Name()))
	if err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return errors.Join(err, f.Close())
}

// Unpack writes the run of an archive as a folder of the name it had, beside the archive, and
// returns the path of that. The folder appears only when it is complete; the archive stays.
func Unpack(name string) (dir string, err error) {
	if !IsArchive(name) {
		return "", fault.Input(fmt.Errorf("%s is no archive", name), "perfbench history archive makes archives of runs")
	}
	view, err := OpenArchive(name, RunFile)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, view.Close()) }()
	dir = strings.TrimSuffix(name, Suffix)
	if _, err := os.Lstat(dir); err == nil {
		return "", fault.Input(fmt.Errorf("%s is there already", dir), "delete one of the two")
	}
	tmp, err := os.MkdirTemp(filepath.Dir(name), ".unpack-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(tmp))
		}
	}()
	entries, err := fs.ReadDir(view, ".")
	if err != nil {
		return "", err
	}
	left := int64(maxUnpacked)
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		n, err := unpackFile(view, e.Name(), filepath.Join(tmp, e.Name()), left)
		if err != nil {
			return "", err
		}
		left -= n
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	return dir, os.Rename(tmp, dir)
}

// unpackFile writes one file of an archive, of which at most so many bytes may be left, and
// returns its length.
func unpackFile(view fs.FS, name, to string, left int64) (int64, error) {
	in, err := view.Open(name)
	if err != nil {
		return 0, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return 0, errors.Join(err, in.Close())
	}
	n, err := io.Copy(out, io.LimitReader(in, left+1))
	if err == nil && n > left {
		err = fmt.Errorf("%s: more than the %d bytes that an archive of a run may hold", name, int64(maxUnpacked))
	}
	return n, errors.Join(err, out.Sync(), out.Close(), in.Close())
}

// ReadBeside reads a file of a kind from the folder of a run, or from an archive of one. It is
// fs.ErrNotExist if there is none.
func ReadBeside(dir, name string, k infile.Kind) ([]byte, error) {
	if !IsArchive(dir) {
		return infile.Read(k, filepath.Join(dir, name))
	}
	files, err := OpenArchive(dir, RunFile)
	if err != nil {
		return nil, err
	}
	data, err := infile.ReadFS(k, files, name)
	return data, errors.Join(err, files.Close())
}
