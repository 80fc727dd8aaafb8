package rundir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// reserveFile occupies space that is freed when the disk is full, so that what was
// measured can still be written.
const (
	reserveFile  = ".reserve"
	reserveBytes = 1 << 20
)

// Options describe a new run directory.
type Options struct {
	// Out is the folder of all runs; created if missing.
	Out string
	// Run is what is known at the start. ID is chosen by Create; if Started is zero, it
	// becomes the current time.
	Run Run
	// Operations names the operations by the index that samples carry, for rows of the
	// series that precede the first result; may be nil.
	Operations []measure.Operation
	// Facts, when set, is called once a second for the profile's own record, which must
	// encode to JSON. It is called on the goroutine that calls Second, and by Finish.
	Facts func() any
	// Contacts, when set, is called once a second for what the client of the store did so far.
	Contacts func() Contacts
	// Explain, when set, is called at the end to say what held the run back. The folder
	// passed to it has series and samples, but no histograms.
	Explain func(*Folder) *Why
	// Open means that the length of the warm-up is not known yet: its seconds may still
	// be renumbered, and reach the disk with the first measured second, or with Finish.
	Open bool
	// Formats are the documents that Finish writes beside the journal.
	Formats []Format
	// Given is the content of the --facts file, kept with the run; nil if there is
	// none.
	Given []byte
	// dead is the run to be continued; nil for a new run.
	dead *Dead
}

// Create makes a run directory with the first run.json in it, and reserves some space
// on its disk. Call it before anything is started. An Out that is a file, or cannot be
// created or written to, is bad input; a full disk is fault.CodeOther. The caller must
// end the journal with Finish or Discard.
func Create(o Options) (*Journal, error) {
	if o.Run.Started.IsZero() {
		o.Run.Started = time.Now()
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, OutError(o.Out, err)
	}
	dir, err := makeDir(o)
	if err != nil {
		return nil, OutError(o.Out, err)
	}
	j, err := begin(dir, o)
	if err != nil {
		return nil, OutError(o.Out, errors.Join(err, os.RemoveAll(dir)))
	}
	return j, nil
}

// label returns the name of a run's folder: when, what, on what.
func label(r Run) string {
	name := func(s string) string {
		s = strings.Map(func(c rune) rune {
			if c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
				return c
			}
			return '_'
		}, s)
		return strings.TrimLeft(s, ".-")
	}
	return r.Started.Format("060102-150405") + "-" + name(r.Profile) + "-" + name(r.Store.Name)
}

// makeDir creates the first of NAME, NAME-2, NAME-3 … that does not exist. The folder
// appears with a run.json in it, in one step: however early its process dies, it is that
// of a run that measured nothing.
func makeDir(o Options) (string, error) {
	stage, err := os.MkdirTemp(o.Out, ".new-*")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(stage) }()
	made := filepath.Join(stage, "run")
	if err := os.Mkdir(made, 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		name := label(o.Run)
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		dir := filepath.Join(o.Out, name)
		if _, err := os.Lstat(dir); err == nil {
			continue
		}
		run := fresh(o.Run, name)
		data, err := EncodeRun(&run)
		if err == nil {
			err = Write(filepath.Join(made, RunFile), data, false)
		}
		if err != nil {
			return "", err
		}
		err = os.Rename(made, dir)
		if err == nil {
			return dir, nil
		}
		if _, gone := os.Lstat(dir); gone != nil { // otherwise somebody else was quicker
			return "", err
		}
	}
}

// fresh returns a run that has not begun, with what remains true if its process dies.
func fresh(r Run, id string) Run {
	r.ID = id
	r.Ended = r.Started
	r.EndedBy = CutShort
	r.Verification = workload.Verification{}
	r.settle()
	r.Verdict = r.Judge()
	return r
}

func begin(dir string, o Options) (*Journal, error) {
	if err := WriteTo(filepath.Join(dir, reserveFile), make([]byte, reserveBytes), true); err != nil {
		return nil, err
	}
	if o.Given != nil {
		if err := KeepFacts(dir, o.Given); err != nil {
			return nil, err
		}
	}
	j := &Journal{dir: dir, opts: o, run: fresh(o.Run, filepath.Base(dir)), held: held{on: o.Open}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	var err error
	if j.hlog, err = create(filepath.Join(dir, HlogFile)); err != nil {
		return nil, err
	}
	Lock(j.hlog)
	j.sampled = o.dead.sampled()
	if j.series, err = create(filepath.Join(dir, SeriesFile)); err != nil {
		return nil, errors.Join(err, j.hlog.Close())
	}
	first, err := j.chunk(nil, []byte(SeriesColumns+"\n"))
	if err == nil {
		err = j.write(first)
	}
	if err != nil {
		return nil, errors.Join(err, j.hlog.Close(), j.series.Close())
	}
	j.durable = first.run
	fault.Go(j.writer)
	return j, nil
}

// chunk makes what one second adds to the files, including samples taken meanwhile. The
// caller holds the lock or is alone.
func (j *Journal) chunk(hlog, series []byte) (chunk, error) {
	j.run.Journal.HlogBytes += int64(len(hlog))
	j.run.Journal.SeriesBytes += int64(len(series))
	samples := j.sampled
	if j.sampled = nil; len(samples) > 0 && j.run.Journal.SamplesBytes == 0 {
		samples = append([]byte(SamplesColumns+"\n"), samples...)
	}
	j.run.Journal.SamplesBytes += int64(len(samples))
	data, err := EncodeRun(&j.run)
	if err != nil {
		return chunk{}, fmt.Errorf("encode %s: %w", RunFile, err)
	}
	return chunk{hlog, series, samples, data}, nil
}

// asideDir keeps the files of a journal whose process died, until the journal rewritten
// in its place is complete.
const asideDir = ".aside"

// Dead is the folder of a run whose process died, locked so that nobody else writes
// there.
type Dead struct {
	Dir string
	// Run is the run as it was left.
	Run Run

	samples []Sample
	hold    *os.File
}

// Take locks the folder of a run whose process died. Any other folder is refused as bad
// input.
func Take(dir string) (*Dead, error) {
	run, err := readRun(dir)
	if err != nil {
		return nil, err
	}
	if run.EndedBy != CutShort {
		return nil, fault.Input(fmt.Errorf("run %s has come to its end", run.ID), "perfbench report shows it")
	}
	d := &Dead{Dir: dir, Run: run}
	if d.hold, err = os.OpenFile(filepath.Join(dir, HlogFile), os.O_RDWR, 0); err != nil {
		return nil, fault.Input(fmt.Errorf("run %s: %s: %s", run.ID, HlogFile, Reason(err)), "name the folder of a run as its process left it")
	}
	if !Lock(d.hold) && CanLock {
		return nil, errors.Join(fault.Input(fmt.Errorf("run %s is still going: its process lives", run.ID), "end that first, or wait for its end"), d.hold.Close())
	}
	f := &Folder{Dir: dir, Run: run}
	if _, err := f.readSeconds(); err == nil {
		d.samples = f.Samples
	}
	return d, nil
}

// Sampled returns the last second for which there are samples; 0 if there are none.
func (d *Dead) Sampled() (last int) {
	for _, s := range d.samples {
		last = max(last, s.T)
	}
	return last
}

// sampled returns the samples in the form of store.csv.
func (d *Dead) sampled() (out []byte) {
	if d == nil {
		return nil
	}
	for _, s := range d.samples {
		out = appendSample(out, s)
	}
	return out
}

// Release unlocks the folder and leaves it as it is.
func (d *Dead) Release() error {
	if d.hold == nil {
		return nil
	}
	err := d.hold.Close()
	d.hold = nil
	return err
}

// Resume begins the journal of the run anew, from its first second. Its folder and id
// stay, and so does what was known of it before it began. Samples are kept, the other
// files only until Finish.
func (d *Dead) Resume(o Options) (*Journal, error) {
	o.dead, o.Out = d, filepath.Dir(d.Dir)
	r := &o.Run
	r.MeasuredS, r.Operations, r.Segments, r.Phases, r.Shares, r.Sessions, r.Changes, r.Marks, r.Errors = 0, nil, nil, nil, nil, nil, nil, nil, nil
	r.Workers, r.Verdict, r.Observed, r.Why, r.Facts, r.Journal = nil, Verdict{}, nil, nil, nil, Extent{}
	moved, err := d.aside()
	var j *Journal
	if err == nil {
		j, err = begin(d.Dir, o)
	}
	if err != nil {
		for _, name := range moved {
			err = errors.Join(err, os.Rename(filepath.Join(d.Dir, asideDir, name), filepath.Join(d.Dir, name)))
		}
		return nil, OutError(o.Out, err)
	}
	return j, d.Release()
}

// aside puts away the files that are rewritten. If the coordinator that died had itself
// resumed the run, the files of the first one are kept.
func (d *Dead) aside() (moved []string, err error) {
	to := filepath.Join(d.Dir, asideDir)
	_, there := os.Stat(to)
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	if there != nil {
		data, err := EncodeRun(&d.Run)
		if err == nil {
			err = Write(filepath.Join(to, RunFile), data, true)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, name := range []string{HlogFile, SeriesFile, SamplesFile} {
		from := filepath.Join(d.Dir, name)
		if there == nil {
			if err := Remove(from); err != nil {
				return moved, err
			}
			continue
		}
		switch err := os.Rename(from, filepath.Join(to, name)); {
		case err == nil:
			moved = append(moved, name)
		case !errors.Is(err, os.ErrNotExist):
			return moved, err
		}
	}
	return moved, nil
}
