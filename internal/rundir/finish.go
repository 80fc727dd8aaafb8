package rundir

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/infile"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Finish ends the journal: it writes the final run.json, the notices and the requested
// documents, and syncs everything to disk. run is the value that Run returned with the
// fields about the end filled in; its ID and extent are the journal's own.
//
// If an earlier write failed, the figures of run are replaced by the last ones on the
// disk, so that all documents agree with the histogram log. All errors are joined,
// except one that Second has already returned. From then on Run returns what is in
// run.json.
func (j *Journal) Finish(run Run) error {
	j.flush()
	failed := j.close()
	j.mu.Lock()
	told := j.told
	run.ID, run.Journal = j.run.ID, j.run.Journal
	if run.Measured.IsZero() {
		run.Measured = j.run.Measured
	}
	j.mu.Unlock()
	errs := []error{Remove(filepath.Join(j.dir, reserveFile))}
	if j.opts.Facts != nil && failed == nil {
		data, err := json.Marshal(j.opts.Facts())
		if err != nil {
			errs = append(errs, fmt.Errorf("encode the profile's facts: %w", err))
		} else {
			run.Facts = data
		}
	}
	if failed != nil {
		errs = append(errs, j.fallBack(&run))
		if !told {
			errs = append(errs, failed)
		}
	}
	run.settle()
	errs = append(errs, j.explain(&run), j.seal(&run))
	j.mu.Lock()
	j.run = run
	j.mu.Unlock()
	errs = append(errs, j.documents())
	if j.opts.dead != nil && failed == nil {
		errs = append(errs, os.RemoveAll(filepath.Join(j.dir, asideDir)))
	}
	return errors.Join(errs...)
}

// explain finds out what held the run back and what its faults cost, from what is on the disk.
func (j *Journal) explain(run *Run) error {
	f := &Folder{Dir: j.dir, Run: *run}
	if _, err := f.readSeconds(); err != nil {
		return err
	}
	j.mu.Lock()
	f.incidents = j.incidents.list
	j.mu.Unlock()
	run.Faults = FaultsOf(f)
	if j.opts.Explain != nil {
		run.Why = j.opts.Explain(f)
		run.Verdict = run.Judge() // its advice knows what held the run back
		run.Verdict.showing(run.Why)
	}
	return nil
}

// flush writes the samples taken since the last second, and what was held back.
func (j *Journal) flush() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if rows := j.release(); len(rows) > 0 || len(j.sampled) > 0 {
		j.push(nil, rows)
	}
}

// closeSamples syncs the samples to disk, if there are any.
func (j *Journal) closeSamples() error {
	if j.samples == nil {
		return nil
	}
	return errors.Join(j.samples.Sync(), j.samples.Close())
}

// fallBack gives run the figures of the last complete run.json and truncates the other
// files to match it.
func (j *Journal) fallBack(run *Run) error {
	var last Run
	if err := json.Unmarshal(j.durable, &last); err != nil {
		return fmt.Errorf("read back %s: %w", RunFile, err)
	}
	run.MeasuredS, run.Operations, run.Segments, run.Phases, run.Shares, run.Sessions = last.MeasuredS, last.Operations, last.Segments, last.Phases, last.Shares, last.Sessions
	run.Changes, run.Marks, run.Errors, run.Facts, run.Journal = last.Changes, last.Marks, last.Errors, last.Facts, last.Journal
	run.Notices = append(slices.Clip(run.Notices),
		fmt.Sprintf("The journal of this run could not be written beyond second %g; all figures cover what had been measured until then.", last.Journal.Seconds))
	errs := []error{j.hlog.Truncate(last.Journal.HlogBytes), j.series.Truncate(last.Journal.SeriesBytes)}
	if j.samples != nil {
		errs = append(errs, j.samples.Truncate(last.Journal.SamplesBytes))
	}
	return errors.Join(errs...)
}

// seal writes the last run.json and closes the files. latency.hlog, which carries the
// journal's lock, is closed last.
func (j *Journal) seal(run *Run) error {
	var errs []error
	if run.Journal.HlogBytes == 0 {
		head := hlog.Header(run.Started)
		if err := appendTo(j.hlog, head); err != nil {
			errs = append(errs, err)
		} else {
			run.Journal.HlogBytes = int64(len(head))
		}
	}
	errs = append(errs, j.series.Sync(), j.series.Close(), j.closeSamples())
	errs = append(errs, j.sealSeries(run))
	data, err := EncodeRun(run)
	if err == nil {
		err = Write(filepath.Join(j.dir, RunFile), data, true)
	}
	return errors.Join(append(errs, err, j.hlog.Sync(), j.hlog.Close())...)
}

// sealSeries joins what is left of the last second with the second before it, and removes
// the throughput if the run's verification failed.
func (j *Journal) sealSeries(run *Run) error {
	f := &Folder{Dir: j.dir, Run: *run}
	err := f.open(SeriesFile, run.Journal.SeriesBytes, func(r io.Reader, _ bool) (err error) {
		f.Series, _, err = readSeries(r)
		return err
	})
	if err != nil {
		return err
	}
	joined, err := f.joinTail()
	if err != nil {
		return err
	}
	if run.Failed() {
		for i := range f.Series {
			f.Series[i].Throughput = math.NaN()
		}
	}
	if !joined && !run.Failed() {
		return nil
	}
	data := SeriesCSV(f.Series)
	if err := Write(filepath.Join(j.dir, SeriesFile), data, true); err != nil {
		return err
	}
	run.Journal.SeriesBytes = int64(len(data))
	return nil
}

// documents writes NOTICE.txt and the requested formats independently of each other, so
// that the failure of one does not affect the others.
func (j *Journal) documents() error {
	f, err := Load(j.dir)
	if err != nil {
		return err
	}
	errs := []error{WriteNotice(j.dir, f)}
	for _, format := range j.opts.Formats {
		files, err := format.Documents(f)
		if err != nil {
			errs = append(errs, fmt.Errorf("format %s: %w", format.ID, err))
			continue
		}
		errs = append(errs, WriteFiles(j.dir, files))
	}
	return errors.Join(errs...)
}

// WriteFiles writes documents into a folder, each completely or not at all. Names must
// stay inside the folder. A file that already has the same content is left alone.
func WriteFiles(dir string, files []File) error {
	var errs []error
	for _, file := range files {
		if !filepath.IsLocal(file.Name) {
			errs = append(errs, fmt.Errorf("document %q: its name leads out of the folder", file.Name))
			continue
		}
		path := filepath.Join(dir, file.Name)
		old, err := infile.ReadFS(infile.OfRun, infile.Dir(dir), filepath.ToSlash(filepath.Clean(file.Name))) // a pipe would make it wait
		if err == nil && string(old) == string(file.Data) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, Write(path, file.Data, true))
	}
	return errors.Join(errs...)
}

// KeepFacts writes a --facts file into the folder of a run, replacing any other.
func KeepFacts(dir string, data []byte) error {
	return WriteFiles(dir, []File{{Name: FactsFile, Data: data}})
}

// WriteNotice writes NOTICE.txt into dir if there is something to say.
func WriteNotice(dir string, f *Folder) error {
	notices := append(f.Run.Misgivings(), f.Run.Remarks()...)
	if f.Run.Failed() { // the documents beside it have no other place to say so
		notices = append(notices, f.Run.Verification.Summary)
	}
	if len(notices) == 0 {
		return nil
	}
	return WriteFiles(dir, []File{{Name: NoticeFile, Data: []byte(infile.Clean(strings.Join(notices, "\n")) + "\n")}})
}

// Ending says what ended the run, in words that continue a sentence. who stands for the
// person who stopped it from the workbench: "you", or "the user" if others read it.
func (r *Run) Ending(who string) string {
	if why, ok := strings.CutPrefix(r.EndedBy, "fault: "); ok {
		return "ended early by a fault: " + why
	}
	switch r.EndedBy {
	case "user":
		return "stopped by " + who
	case "interrupt":
		return "interrupted"
	case "until":
		return "ended by --until"
	case "threshold":
		return "ended by a threshold"
	case "search":
		return "ended by the search"
	case CutShort, StillRunning:
		return r.EndedBy
	}
	return "ended by " + r.EndedBy
}

// Cut says after how much of its time a person ended the run, as "ended by hand after 12 s of 60 s"; empty
// if none did, or the run had no other end.
func (r *Run) Cut() string {
	words := map[string]string{"user": "ended by hand", "interrupt": "interrupted"}[r.EndedBy]
	asked := r.Parameters["duration"]
	if words == "" || asked == workload.Forever {
		return ""
	}
	text := words + " after " + units.Length(seconds(r.MeasuredS).Round(100*time.Millisecond))
	if d, err := time.ParseDuration(asked); err == nil {
		text += " of " + units.Length(d)
	}
	return text
}

// ThroughProxy is the notice of a run whose connections could be broken.
const ThroughProxy = "The connections go through perfbench's own proxy, which adds some tens of microseconds to each call: compare only with runs through it."

// Remarks returns the sentences that every report must repeat: the run's notices, and
// what follows from how it ended.
func (r *Run) Remarks() []string {
	out := append([]string(nil), r.Notices...)
	switch r.EndedBy {
	case StillRunning:
		out = append(out, fmt.Sprintf("This run is still going. All figures cover its first %g s.", r.Journal.Seconds))
	case CutShort:
		out = append(out, fmt.Sprintf("This run was cut short: its process ended without a report. All figures cover the %g s measured until then, and nothing was verified.", r.Journal.Seconds))
	}
	if text := r.Mixed(); text != "" {
		out = append(out, text)
	}
	out = append(out, r.Asides()...)
	if r.Failed() {
		out = append(out, "The verification of this run failed, so it has no throughput.")
	}
	return out
}

// Mixed says what the figures of the whole run mix; "" if nothing was changed while it went.
func (r *Run) Mixed() string {
	parts := r.MixedSegments()
	if parts == "" {
		return ""
	}
	what := cmp.Or(r.Changed("mid-run"), "Settings changed mid-run")
	return fmt.Sprintf("%s: figures of the whole run mix what came before and after; those of %s do not.", units.Capital(what), parts)
}

// Misgivings returns a sentence for each thing that keeps the run from being valid.
func (r *Run) Misgivings() []string {
	var out []string
	for _, why := range r.Verdict.Why() {
		out = append(out, r.Verdict.State+": "+why+".")
	}
	return out
}
