package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
)

// Names of the files of every run directory.
const (
	RunFile    = "run.json"
	FoundFile  = "find.json" // of a search
	SeriesFile = "series.csv"
	// SamplesFile exists only if something was sampled.
	SamplesFile = "store.csv"
	HlogFile    = "latency.hlog"
	NoticeFile  = "NOTICE.txt"
	FactsFile   = "facts.yaml"
	// NoteFile exists only if somebody has written a note.
	NoteFile = "note.txt"
	// TagsFile exists only if somebody has changed the tags: it has all of them, NAME=VALUE, a
	// line each.
	TagsFile = "tags.txt"
)

// Folder is a loaded run directory: the model, the series and the histograms.
type Folder struct {
	// Dir is its path: a folder, or an archive of one.
	Dir    string
	Run    Run
	Series []SeriesRow
	// Samples are those of the store and of processes, second by second; empty in
	// folders of older versions.
	Samples []Sample
	// Histograms are those of the whole measured run, by tag: "<track>.<op>.response",
	// "….service", "….wait", "….lateness".
	Histograms map[string]*hdrhistogram.Histogram
	// Given is the --facts file as it was given; nil if there is none.
	Given []byte
	// Against is an earlier run beside which documents for people show this one; nil if
	// there is none.
	Against *Folder
	// Kept are other runs of the plan of Against on its machine, the oldest first: what they
	// differ by is what chance does.
	Kept []*Folder
	// Found are documents of other programs, found in a folder that is not a run's; Run
	// then has nothing but a profile and a start time.
	Found []File

	// incidents are known of a run that is just ending.
	incidents []incident

	// damaged means that the figures of Run were recomputed from what was left.
	damaged bool
}

// Load reads a run directory. If the run was cut short, it first truncates the files to
// what its run.json covers, unless the run is still going or the files cannot be
// written; the returned folder is truncated in any case. If files hold less than
// run.json covers, the figures are recomputed from what is left, and the notices say
// so.
func Load(dir string) (*Folder, error) {
	run, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Dir: dir, Run: run}
	if err := f.read(); err != nil {
		return nil, fmt.Errorf("run %s: %w", dir, err)
	}
	if f.Given, err = readFile(dir, FactsFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("run %s: %w", dir, err)
	}
	if f.damaged {
		f.Run.Verdict = judgeDamaged(&f.Run)
	}
	if run.EndedBy == CutShort && f.repair() {
		f.Run.EndedBy = StillRunning
		rejudge(&f.Run)
	}
	return f, nil
}

func readRun(dir string) (Run, error) {
	var r Run
	path := filepath.Join(dir, RunFile)
	data, err := readFile(dir, RunFile)
	if errors.Is(err, fs.ErrNotExist) {
		return r, fault.Input(fmt.Errorf("%s is not a run folder: it has no %s", dir, RunFile), "perfbench writes run folders below --out")
	}
	if err != nil {
		return r, fault.Input(err, "")
	}
	if err := json.Unmarshal(infile.Harmless(data), &r); err != nil {
		return r, fault.Input(fmt.Errorf("%s: %w", path, err), "the file is damaged; restore it from a copy")
	}
	if r.Schema != Schema {
		return r, fault.Input(fmt.Errorf("%s: schema %d, and this perfbench reads %d", path, r.Schema, Schema), "use the perfbench that wrote it, or a newer one")
	}
	if r.EndedBy == StillRunning {
		r.EndedBy = CutShort
	}
	if note, err := readFile(dir, NoteFile); err == nil {
		r.Note = OneLine(string(note))
	}
	r.Archived = IsArchive(dir)
	if tags, err := readFile(dir, TagsFile); err == nil {
		r.Tags = tagsIn(string(tags))
	}
	if s, err := ReadSought(dir); err == nil && s.tried() { // a list needs no more than the run itself; comparisons say what is wrong
		r.Sought = s
	}
	r.settle()
	rejudge(&r)
	return r, nil
}

// OneLine returns a text as one line, without control characters.
func OneLine(text string) string {
	text = strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || unicode.IsSpace(c) {
			return c
		}
		return -1
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// read reads series and histograms within the extent of the run.
func (f *Folder) read() error {
	whole, err := f.readSeconds()
	if err != nil {
		return err
	}
	m := hlog.NewMerger()
	err = f.open(HlogFile, f.Run.Journal.HlogBytes, func(r io.Reader, full bool) error {
		whole = whole && full
		return hlog.Each(r, m.Add)
	})
	if errors.Is(err, hlog.ErrCorrupt) || !whole {
		return f.salvage()
	}
	f.Histograms = m.Histograms()
	return err
}

// readSeconds reads the per-second files, and reports whether the series is complete.
func (f *Folder) readSeconds() (whole bool, err error) {
	err = f.open(SeriesFile, f.Run.Journal.SeriesBytes, func(r io.Reader, full bool) error {
		var err error
		f.Series, whole, err = readSeries(r)
		whole = whole && full
		return err
	})
	if err != nil {
		return whole, err
	}
	err = f.open(SamplesFile, f.Run.Journal.SamplesBytes, func(r io.Reader, _ bool) (err error) {
		f.Samples, err = readSamples(r)
		return err
	})
	if err != nil || !whole {
		return whole, err
	}
	_, err = f.joinTail()
	if errors.Is(err, hlog.ErrCorrupt) {
		return false, nil
	}
	return whole, err
}

// open calls use with a reader of the first size bytes of a file, and with whether it
// has that many; a missing file counts as empty.
func (f *Folder) open(name string, size int64, use func(r io.Reader, full bool) error) error {
	return within(f.Dir, func(files fs.FS) error {
		file, err := files.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			return use(eof{}, size == 0)
		}
		if err != nil {
			return err
		}
		info, err := file.Stat()
		if err == nil {
			err = use(io.LimitReader(file, size), info.Size() >= size)
		}
		return errors.Join(err, file.Close())
	})
}

// Writable returns an error if documents cannot be written next to what was loaded:
// nothing is written into an archive.
func (f *Folder) Writable() error {
	if !IsArchive(f.Dir) {
		return nil
	}
	return fault.Input(fmt.Errorf("%s is an archive, and archives are never changed", f.Dir), "name a folder for documents with --out DIR, or print one with --out -")
}

// within calls use with the files of a run, from its folder or from an archive of it.
func within(dir string, use func(files fs.FS) error) error {
	if !IsArchive(dir) {
		return use(infile.Dir(filepath.Clean(dir)))
	}
	view, err := OpenArchive(dir, RunFile)
	if err != nil {
		return err
	}
	return errors.Join(use(view), view.Close())
}

// readFile reads a whole file of a run.
func readFile(dir, name string) (data []byte, err error) {
	kind := infile.OfRun
	switch name {
	case NoteFile, TagsFile:
		kind = infile.Note
	case NoticeFile:
		kind = infile.Notice
	}
	err = within(dir, func(files fs.FS) error {
		data, err = infile.ReadFS(kind, files, name)
		return err
	})
	return data, err
}

type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// Hlog returns the histogram log of the run: its latency.hlog without what its run.json
// does not cover.
func (f *Folder) Hlog() ([]byte, error) {
	var data []byte
	err := f.open(HlogFile, f.Run.Journal.HlogBytes, func(r io.Reader, _ bool) (err error) {
		data, err = io.ReadAll(r)
		return err
	})
	return data, err
}

// Between adds up, by tag, the histograms of the seconds that begin in [from, until),
// counted as in series.csv.
func (f *Folder) Between(from, until float64) (map[string]*hdrhistogram.Histogram, error) {
	m := hlog.NewMerger()
	err := f.Intervals(func(iv hlog.Interval) error {
		if iv.T < from || iv.T >= until {
			return nil
		}
		return m.Add(iv)
	})
	return m.Histograms(), err
}

// Intervals calls each with the histogram of every second and tag, in the order of the
// log, with times as in series.csv.
func (f *Folder) Intervals(each func(hlog.Interval) error) error {
	return f.open(HlogFile, f.Run.Journal.HlogBytes, func(r io.Reader, _ bool) error { return hlog.Each(r, each) })
}

// repair truncates the files of a dead run to what its run.json covers, and rewrites
// run.json if it was recomputed. Failure to write is ignored: the loaded folder is
// right all the same. A run that is still going is not touched; repair then returns
// true.
func (f *Folder) repair() (alive bool) {
	if info, err := os.Lstat(filepath.Join(f.Dir, HlogFile)); err == nil && !info.Mode().IsRegular() {
		return false
	}
	hlog, err := os.OpenFile(filepath.Join(f.Dir, HlogFile), os.O_RDWR, 0)
	if err != nil {
		return Alive(f.Dir)
	}
	defer func() { _ = hlog.Close() }()
	if !Lock(hlog) {
		return CanLock
	}
	if f.damaged {
		data, err := EncodeRun(&f.Run)
		if err == nil {
			err = Write(filepath.Join(f.Dir, SeriesFile), SeriesCSV(f.Series), true)
		}
		if err == nil && len(f.Samples) > 0 {
			err = Write(filepath.Join(f.Dir, SamplesFile), SamplesCSV(f.Samples), true)
		}
		if err != nil || Write(filepath.Join(f.Dir, RunFile), data, true) != nil {
			return false
		}
	}
	cut(hlog.Name(), f.Run.Journal.HlogBytes)
	cut(filepath.Join(f.Dir, SeriesFile), f.Run.Journal.SeriesBytes)
	cut(filepath.Join(f.Dir, SamplesFile), f.Run.Journal.SamplesBytes)
	_ = Remove(filepath.Join(f.Dir, reserveFile))
	_ = Remove(filepath.Join(f.Dir, "."+RunFile+TmpSuffix))
	return false
}

// cut truncates a file of the folder, and nothing that a link there leads to.
func cut(path string, size int64) {
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > size {
		_ = os.Truncate(path, size)
	}
}

// Alive reports whether the run of a folder is still going, as far as this system can
// tell.
func Alive(dir string) bool {
	file, err := infile.Open(infile.Journal, filepath.Join(dir, HlogFile))
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return CanLock && !Lock(file)
}
