package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/disk"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// reserveFile holds room that is given back when the disk is full, so that what
// was measured can still be written.
const (
	reserveFile  = ".reserve"
	reserveBytes = 1 << 20
)

// Options say what a new run directory is for.
type Options struct {
	// Out is the folder of all runs; made when missing.
	Out string
	// Run is what is known at the start. ID is chosen here; Started is now when zero.
	Run Run
	// Operations names the operations by the index that samples carry, for rows of
	// the series that come before the first result; may be nil.
	Operations []measure.Operation
	// Facts, when set, is asked once a second for the profile's own record; it must
	// encode to JSON. Called on the goroutine that calls Second, and by Finish.
	Facts func() any
	// Observed, when set, is asked once a second for what was seen of the machine, on
	// the same goroutine.
	Observed func() *verdict.Observed
	// Explain, when set, is asked at the end what held the run back. The folder that it is
	// given has series and samples, and no histograms.
	Explain func(*Folder) *Why
	// Open says that the length of the warm-up is open: its seconds may still be numbered
	// anew, and reach the disk with the first that is measured, or with Finish.
	Open bool
	// Formats are the documents that Finish writes beside the journal.
	Formats []Format
	// Given is the file of --facts, kept with the run; nil: none.
	Given []byte
}

// Create makes a run directory, holding some room on its disk, and the first
// run.json in it. Call it before anything is started: an out that is a file,
// cannot be made or written to is bad input; a full disk is fault.CodeOther. The
// caller must end the journal with Finish or Discard.
func Create(o Options) (*Journal, error) {
	if o.Run.Started.IsZero() {
		o.Run.Started = time.Now()
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return nil, disk.OutError(o.Out, err)
	}
	dir, err := makeDir(o.Out, label(o.Run))
	if err != nil {
		return nil, disk.OutError(o.Out, err)
	}
	j, err := begin(dir, o)
	if err != nil {
		return nil, disk.OutError(o.Out, errors.Join(err, os.RemoveAll(dir)))
	}
	return j, nil
}

// label is the name of a run's folder: when, what, on what.
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

// makeDir makes the first folder of base, base-2, base-3 … that nobody has.
func makeDir(out, base string) (string, error) {
	for n := 1; ; n++ {
		name := base
		if n > 1 {
			name += "-" + strconv.Itoa(n)
		}
		dir := filepath.Join(out, name)
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
	}
}

func begin(dir string, o Options) (*Journal, error) {
	if err := disk.WriteTo(filepath.Join(dir, reserveFile), make([]byte, reserveBytes), true); err != nil {
		return nil, err
	}
	if o.Given != nil {
		if err := KeepFacts(dir, o.Given); err != nil {
			return nil, err
		}
	}
	j := &Journal{dir: dir, opts: o, run: o.Run, held: held{on: o.Open}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	j.run.ID = filepath.Base(dir)
	j.run.Ended = j.run.Started
	j.run.EndedBy = CutShort
	j.run.Verification = workload.Verification{}
	j.run.settle()
	j.run.Verdict = j.run.Judge() // what holds if the process dies
	var err error
	if j.hlog, err = create(filepath.Join(dir, HlogFile)); err != nil {
		return nil, err
	}
	disk.Lock(j.hlog)
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
	go j.writer()
	return j, nil
}

// chunk makes what one second adds to the files, with what was sampled meanwhile; the
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
