package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir/hlog"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Journal writes a run as it goes: after each second the histogram log grows, then the
// series, then the samples taken beside it, and then run.json is replaced. If the
// process dies between any two of these steps, run.json still knows how much of the
// other files belongs to it.
//
// Its methods may be called from any goroutine. Second does not wait for the disk: a
// goroutine that ends with Finish or Discard does the writing.
type Journal struct {
	dir  string
	opts Options
	enc  hlog.Encoder

	hlog, series *os.File
	samples      *os.File // nil until there are any; owned by the writer until done is closed
	wake, done   chan struct{}

	mu      sync.Mutex
	run     Run
	pending []chunk
	sampled []byte // written with the next chunk
	held    held
	// incidents are what the series does not have.
	incidents incidents
	// durable is the last run.json on the disk.
	durable []byte
	// observed, when set, says what was observed of the machine.
	observed func() *verdict.Observed
	failed   error
	told     bool
	closing  bool
}

// chunk is what one second adds.
type chunk struct{ hlog, series, samples, run []byte }

// held is what waits in memory while its seconds may still be renumbered: see
// Options.Open.
type held struct {
	on      bool
	rows    []SeriesRow
	samples []Sample
}

// Dir returns the run directory.
func (j *Journal) Dir() string { return j.dir }

// Run returns the current run. Its lists and maps are shared: replace them, never
// modify them.
func (j *Journal) Run() Run {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.run
}

// Update changes fields of the run and makes run.json be replaced. f is called once,
// under the journal's lock; it must replace lists and maps instead of modifying them.
// What comes from a result (operations, segments …) is overwritten by the next second.
func (j *Journal) Update(f func(*Run)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	id, extent := j.run.ID, j.run.Journal
	f(&j.run)
	j.run.ID, j.run.Journal = id, extent
	j.push(nil, nil)
}

// Second takes one finished second of the run: it is the engine's sink. It keeps no
// reference to s and returns without waiting for the disk. The error of an earlier
// write is returned by a later call, and from then on nothing more is written. Calls
// must be made one at a time, in order.
func (j *Journal) Second(s *measure.Second) error {
	var lines []byte
	if !s.Warmup {
		var err error
		if lines, err = j.enc.Intervals(nil, s); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failed != nil {
		j.told = true
		return j.failed
	}
	if s.Result != nil && !s.Warmup {
		SetResult(&j.run, s.Result)
		var now Contacts
		if j.opts.Contacts != nil {
			now = j.opts.Contacts()
		}
		j.incidents.second(s, &j.run, now)
	}
	var rows []byte
	if !s.Warmup {
		rows = j.release()
	}
	for _, r := range s.Rows {
		row := rowOf(r, j.operation(r.Op, s.Result), s.Warmup)
		if j.held.on {
			j.held.rows = append(j.held.rows, row)
			continue
		}
		rows = appendRow(rows, row)
	}
	if !s.Warmup {
		if j.run.Measured.IsZero() {
			j.run.Measured = time.Now().Add(-seconds(float64(s.T) + s.Length)).Truncate(time.Millisecond)
		}
		if j.run.Journal.HlogBytes == 0 {
			lines = append(hlog.Header(j.run.Measured), lines...)
		}
		j.run.Journal.Seconds = float64(s.T) + s.Length
	}
	j.run.Ended = time.Now()
	if j.observed != nil {
		j.run.Observed = j.observed()
	}
	j.facts()
	j.push(lines, rows)
	return nil
}

// Observe has f called with each second from now on, on the goroutine that calls Second, for
// what was observed of the machine.
func (j *Journal) Observe(f func() *verdict.Observed) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.observed = f
}

// Sampled takes the samples of a second. They reach the disk with the second that
// Second is given next, or with Finish.
func (j *Journal) Sampled(samples []Sample) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.held.on {
		j.held.samples = append(j.held.samples, samples...)
		return
	}
	for _, s := range samples {
		j.sampled = appendSample(j.sampled, s)
	}
}

// Renumber adds that many seconds to the numbers of everything received so far, which
// Options.Open has held back.
func (j *Journal) Renumber(by int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.held.rows {
		j.held.rows[i].T += by
	}
	for i := range j.held.samples {
		j.held.samples[i].T += by
	}
}

// release ends holding back. It returns the lines of the rows that were held; the
// samples go with the next chunk. The caller holds the lock.
func (j *Journal) release() (rows []byte) {
	for _, r := range j.held.rows {
		rows = appendRow(rows, r)
	}
	for _, s := range j.held.samples {
		j.sampled = appendSample(j.sampled, s)
	}
	j.held = held{}
	return rows
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func (j *Journal) operation(op int, res *measure.Result) measure.Operation {
	switch {
	case res != nil && op < len(res.Ops):
		return res.Ops[op].Operation
	case op < len(j.opts.Operations):
		return j.opts.Operations[op]
	}
	return measure.Operation{Op: fmt.Sprintf("op%d", op)}
}

// facts asks the profile for its record; if it cannot be encoded, the previous one is
// kept. The caller holds the lock.
func (j *Journal) facts() {
	if j.opts.Facts == nil {
		return
	}
	if data, err := json.Marshal(j.opts.Facts()); err == nil {
		j.run.Facts = data
	}
}

// push queues what one second adds. The queue is unbounded, since the engine must never
// wait for a disk; one second is a few kilobytes. The caller holds the lock.
func (j *Journal) push(hlog, series []byte) {
	if j.failed != nil || j.closing {
		return
	}
	j.run.settle()
	j.run.Verdict = j.run.Judge() // what it stays if the process dies now
	c, err := j.chunk(hlog, series)
	if err != nil {
		j.failed = err
		return
	}
	j.pending = append(j.pending, c)
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// writer writes what is queued to disk until the journal is closed.
func (j *Journal) writer() {
	defer close(j.done)
	for {
		j.mu.Lock()
		todo, closing, failed := j.pending, j.closing, j.failed
		j.pending = nil
		j.mu.Unlock()
		if len(todo) > 0 && failed == nil {
			all := merge(todo)
			err := j.write(all)
			j.mu.Lock()
			if err != nil {
				j.failed = err
			} else {
				j.durable = all.run
			}
			j.mu.Unlock()
			continue
		}
		if closing {
			return
		}
		<-j.wake
	}
}

func merge(todo []chunk) chunk {
	all := todo[0]
	for _, c := range todo[1:] {
		all.hlog = append(all.hlog, c.hlog...)
		all.series = append(all.series, c.series...)
		all.samples = append(all.samples, c.samples...)
		all.run = c.run
	}
	return all
}

// write appends and replaces, in the order that readers rely on. What a full disk has
// taken only part of is cut off again.
func (j *Journal) write(c chunk) error {
	if err := appendTo(j.hlog, c.hlog); err != nil {
		return err
	}
	if err := appendTo(j.series, c.series); err != nil {
		return err
	}
	if err := j.writeSamples(c.samples); err != nil {
		return err
	}
	return Write(filepath.Join(j.dir, RunFile), c.run, false)
}

// writeSamples creates their file once there are some.
func (j *Journal) writeSamples(data []byte) (err error) {
	if len(data) == 0 {
		return nil
	}
	if j.samples == nil {
		if j.samples, err = create(filepath.Join(j.dir, SamplesFile)); err != nil {
			return err
		}
	}
	return appendTo(j.samples, data)
}

// create creates a file to be appended to.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o644)
}

func appendTo(f *os.File, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	if _, err := f.Write(data); err != nil {
		return DiskError(err, "append to "+f.Name())
	}
	return nil
}

// EncodeRun encodes a run as it is stored in run.json.
func EncodeRun(r *Run) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(r)
	return b.Bytes(), err
}

// close ends the writer once everything is queued, and returns the error if not all was
// written.
func (j *Journal) close() error {
	j.mu.Lock()
	j.closing = true
	j.mu.Unlock()
	select {
	case j.wake <- struct{}{}:
	default:
	}
	<-j.done
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failed
}

// Discard removes the run directory of a run that measured nothing. After it, neither
// Discard nor Finish may be called.
func (j *Journal) Discard() error {
	_ = j.close()
	return errors.Join(j.hlog.Close(), j.series.Close(), j.closeSamples(), os.RemoveAll(j.dir))
}
