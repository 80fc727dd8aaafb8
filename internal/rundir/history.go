package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
)

var days = regexp.MustCompile(`^([0-9]{1,5})([dw])$`)

// ParseAgo parses a moment in the past: a date (2026-11-01, or today or yesterday), or how long
// ago it was (36h, 7d, 4w). what is the flag for messages. Errors have the code of bad input.
func ParseAgo(what, text string, now time.Time) (time.Time, error) {
	if at, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		return at, nil
	}
	if back := slices.Index([]string{"today", "yesterday"}, text); back >= 0 {
		return time.Date(now.Year(), now.Month(), now.Day()-back, 0, 0, 0, 0, now.Location()), nil
	}
	if m := days.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // only a few digits
		if m[2] == "w" {
			n *= 7
		}
		return now.AddDate(0, 0, -n), nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fault.Input(fmt.Errorf("%s: %q is neither a date nor how long ago", what, text), "write it like 2026-11-01, yesterday, 36h, 7d or 4w")
}

// Prune selects the runs to be removed: those that began before Before, unless that is
// zero, and are not among the newest Keep.
type Prune struct {
	Before time.Time
	Keep   int
}

// Of returns the runs to be removed from a list, newest first.
func (p Prune) Of(list []Entry) (out []Entry) {
	for _, e := range list[min(p.Keep, len(list)):] {
		if p.Before.IsZero() || e.Run.Started.Before(p.Before) {
			out = append(out, e)
		}
	}
	return out
}

// Deletable says why a run must not be deleted; nil if everything there is ours, with
// documents in these formats, and nobody needs it any more.
func Deletable(e Entry, formats []Format) error {
	keep := func(why string) error { return fmt.Errorf("%s is left alone: %s", e.Dir, why) }
	if Base(e.Dir) != e.Run.ID {
		return keep("it does not have the name of its run, " + e.Run.ID)
	}
	info, err := os.Lstat(e.Dir)
	switch {
	case err != nil:
		return keep(err.Error())
	case info.Mode().IsRegular():
		return nil
	case !info.IsDir():
		return keep("it is a link to somewhere else")
	case Alive(e.Dir):
		return keep("its run is still going")
	}
	files, err := os.ReadDir(e.Dir)
	if err != nil {
		return keep(err.Error())
	}
	for _, f := range files {
		if f.Name() == SocketFile && f.Type() == fs.ModeSocket { // of a run that was killed
			continue
		}
		if !f.Type().IsRegular() || !Belongs(f.Name(), formats) {
			return keep(f.Name() + " in it is not a file of a run")
		}
	}
	return nil
}

// Delete deletes a run that is Removable. The file that identifies it as a run is
// deleted last, so that an interrupted removal can be completed the next time.
func Delete(e Entry, formats []Format) error {
	if err := Deletable(e, formats); err != nil {
		return err
	}
	if IsArchive(e.Dir) {
		return os.Remove(e.Dir)
	}
	files, err := os.ReadDir(e.Dir)
	var errs []error
	for _, f := range files {
		if f.Name() != RunFile {
			errs = append(errs, os.Remove(filepath.Join(e.Dir, f.Name())))
		}
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	return errors.Join(os.Remove(filepath.Join(e.Dir, RunFile)), os.Remove(e.Dir))
}

// SocketFile is, in the folder of a run that goes, the socket through which the user who began
// it watches and changes it from other processes of this machine.
const SocketFile = "run.sock"

// longestNote is the length of the longest note in bytes.
const longestNote = 500

// Note writes a note next to the files of a run, replacing the previous one; an empty
// text removes it. The error has the code of bad input if the run is archived or the
// note is too long.
func Note(dir, text string) error {
	text = OneLine(text)
	path := filepath.Join(dir, NoteFile)
	switch {
	case IsArchive(dir):
		return archived(dir)
	case len(text) > longestNote:
		return fault.Input(fmt.Errorf("note: %d bytes are more than the longest note may have, %d", len(text), longestNote), "")
	case text == "":
		return Remove(path)
	}
	return Write(path, []byte(text+"\n"), false)
}

func archived(dir string) error {
	return fault.Input(fmt.Errorf("%s is an archive, and archives are never changed", dir), "change a run before it is archived, or take it out of its archive first")
}

// Retag writes the tags of a run next to its files, in place of those that it began with or was
// given since; nil: it has none. The error has the code of bad input if the run is archived.
func Retag(dir string, tags map[string]string) error {
	if IsArchive(dir) {
		return archived(dir)
	}
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		b.WriteString(OneLine(name+"="+tags[name]) + "\n")
	}
	return Write(filepath.Join(dir, TagsFile), []byte(b.String()), false)
}

// tagsIn reads the lines that Retag writes; nil if there is none.
func tagsIn(text string) map[string]string {
	var out map[string]string
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(OneLine(line), "=")
		if !ok {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[name] = value
	}
	return out
}

// Archive puts the run of a folder into an archive in folder out, or next to it if out
// is empty, and reads it back. It returns the archive, and the run in it.
func Archive(dir, out string) (string, Run, error) {
	none := Run{}
	if IsArchive(dir) {
		return "", none, fault.Input(fmt.Errorf("%s is already an archive", dir), "")
	}
	if Alive(dir) {
		return "", none, fault.Input(fmt.Errorf("run %s is still going", dir), "archive it when it has ended")
	}
	before, err := Load(dir) // repairs a run that was cut short
	if err != nil {
		return "", none, err
	}
	whole, err := filepath.Abs(dir) // "." has no name
	if err != nil {
		return "", none, err
	}
	if out == "" {
		out = filepath.Dir(whole)
		if !filepath.IsAbs(dir) {
			out = filepath.Dir(filepath.Clean(dir))
		}
	}
	name := filepath.Join(out, filepath.Base(whole)+Suffix)
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", none, fault.Input(err, "name another folder with --out")
	}
	if err := WriteArchive(whole, name); err != nil {
		return "", none, err
	}
	after, err := Load(name)
	if err == nil && (after.Run.ID != before.Run.ID || len(after.Series) != len(before.Series) || len(after.Histograms) != len(before.Histograms)) {
		err = errors.New("its content differs from that of the folder")
	}
	if err != nil {
		return "", none, errors.Join(fmt.Errorf("the archive could not be read back: %w", err), os.Remove(name))
	}
	return name, after.Run, nil
}

// Size returns how many bytes a run takes up on disk, as far as that can be determined.
func Size(e Entry) (sum int64) {
	if info, err := os.Stat(e.Dir); err == nil && info.Mode().IsRegular() {
		return info.Size()
	}
	files, err := os.ReadDir(e.Dir)
	if err != nil {
		return 0
	}
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
