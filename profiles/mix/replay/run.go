package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
)

// Spec is what a replay is to do.
type Spec struct {
	*Recording
	Namespace string
	// Threads are those of all processes; the zero part is all of them.
	Threads int
	part    dealing
	when    index
	// ByKey keeps the order of the calls of one key in place of that of one connection.
	ByKey bool
	// OneByOne means that each call waits for the answer to the one before it.
	OneByOne bool
	// Load means that what is read before anything writes it is loaded first.
	Load bool
	// Snapshot is a server whose data are copied first, in place of what Load would load; without
	// a Scheme there is none.
	Snapshot store.Target
	// Schema is a file of statements that make the tables that recorded ones name; empty: none.
	Schema string
	// OntoSource allows the server that was recorded.
	OntoSource bool
	// KeepAnswers and ExpectAnswers are files: where answers are kept, and which they are compared
	// with. Both need the order by key.
	KeepAnswers, ExpectAnswers string
}

// Run is a replay at work. It is safe for use by several goroutines.
type Run struct {
	*Spec
	// at is where the calls are made.
	at    place
	space store.Space
	lanes *lanes
	claim *ownership.Claim
	start start
	// answers are kept or compared; nil: neither.
	answers *answers
	// server is what the target calls itself.
	server string

	total totals

	mu      sync.Mutex
	tallies []*tally
	callers []caller
	// told are the made and through of the threads here that are among the totals. of tells which
	// capture the process has that prepared the run.
	told struct{ made, through int64 }
	of   answersOf
}

// totals are what the threads of all processes have done. Any goroutine may read them.
type totals struct {
	hits, misses          atomic.Int64
	foundThen, missedThen atomic.Int64
	foundNow, missedNow   atomic.Int64
	// made are calls that were made again, through are threads that came to the end.
	made, through atomic.Int64
}

// numbers are all of them.
func (t *totals) numbers() []*atomic.Int64 {
	return []*atomic.Int64{&t.hits, &t.misses, &t.foundThen, &t.missedThen, &t.foundNow, &t.missedNow, &t.made, &t.through}
}

// tally is what one thread has found and nobody has added up yet. Only the thread counts.
type tally struct {
	// Of all reads of one value, and of those of which it is recorded what they found.
	hits, misses          atomic.Int64
	foundThen, missedThen atomic.Int64
	foundNow, missedNow   atomic.Int64
	_                     [64]byte
}

// openAnswers reads the answers that are expected, or sees to it that those of the run can be kept.
func (r *Run) openAnswers() (err error) {
	switch {
	case r.KeepAnswers != "":
		if _, err := os.Lstat(r.KeepAnswers); err == nil {
			return fault.Input(fmt.Errorf("keep-answers: %s is there already", r.KeepAnswers), "name another file, or compare with it by --expect-answers "+r.KeepAnswers)
		}
	case r.ExpectAnswers != "":
		r.answers, err = expectAnswers(r.ExpectAnswers, r.Recording, r.begins())
	}
	return err
}

// newRun returns a replay of a plan whose store calls itself server. What it makes is in a space.
func newRun(s *Spec, server string, claim ownership.Space, p *workload.Bound) *Run {
	r := &Run{Spec: s, server: server, space: claim.Space, lanes: newLanes(s.Recording, s.dealt(), s.moments(), !s.pipelines())}
	p.Claims, p.Parts = []ownership.Space{claim}, workload.Parts{r}
	t := &p.Phases[0].Tracks[0]
	t.Recorded, t.NewTask = r.lanes, r.newTask
	r.share(p.Shared)
	return r
}

// Admit takes the claim.
func (r *Run) Admit(_ context.Context, c *ownership.Claim) error {
	if r.claim == nil {
		if err := r.openAnswers(); err != nil {
			return err
		}
	}
	r.claim = c
	return nil
}

// Setup deletes what an earlier replay has left, and puts in place what this one begins with.
func (r *Run) Setup(ctx context.Context, progress func(done, total int64)) (err error) {
	defer func() {
		if err != nil && r.answers != nil {
			err = errors.Join(err, r.answers.finish(false))
		}
	}()
	if err := r.claim.Renew(ctx, r.space); err != nil {
		return err
	}
	if r.KeepAnswers != "" {
		if r.answers, err = keepAnswers(r.KeepAnswers, r.Recording, r.server, r.begins()); err != nil {
			return err
		}
	}
	if r.answers != nil && r.Items > mostAnswers {
		return fault.Input(fmt.Errorf("answers: %s are more than can be compared", units.Plural(r.Items, "call")), fmt.Sprintf("capture fewer, up to %d", mostAnswers))
	}
	r.mu.Lock()
	r.of = r.answersOf()
	r.mu.Unlock()
	return r.at.begin(ctx, r.answers != nil, progress)
}

// Settle ends the reading of the capture, and lets go of what the threads had for themselves.
func (r *Run) Settle(context.Context) {
	r.lanes.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.callers {
		c.end()
	}
	r.callers = nil
}

// order says which order the calls have kept.
func (s *Spec) order() string {
	switch {
	case s.ByKey:
		return "in the order of each key"
	case s.Threads == 1 && s.Connections > 1:
		return "one after the other"
	}
	return "in the order of each connection"
}

// Verify compares how many calls were made again with how many there are. What the store has is
// what these made of it, so there is nothing else to compare.
func (r *Run) Verify(context.Context) workload.Verification {
	r.lanes.close()
	r.gather()
	made, through := r.total.made.Load(), r.total.through.Load() == int64(r.Threads)
	text := fmt.Sprintf("%d of %s made again, %s", made, units.Plural(r.Items, "recorded call"), r.order())
	answers := r.answers.result()
	if r.answers != nil {
		if err := r.answers.finish(made > 0); err != nil {
			return workload.Verification{State: workload.Incomplete, Summary: err.Error()}
		}
	}
	if !through && answers == nil {
		return workload.Verification{State: workload.Skipped, Summary: text + "; the run ended before the recording did"}
	}
	v := workload.Verification{State: workload.Passed, Summary: text, Checks: []workload.Check{
		{Name: "recorded calls made again", OK: made == r.Items, Want: strconv.FormatInt(r.Items, 10), Got: strconv.FormatInt(made, 10)},
	}}
	if !through {
		v.Checks, v.Summary = nil, text+", and then the run ended"
	}
	if answers != nil {
		v.Checks, v.Summary, v.Differ = append(v.Checks, answers.Check()), v.Summary+"; "+answers.Words(), &answers.Differ
	}
	v.Unlike = unlike(r.sums())
	for _, c := range v.Checks {
		if !c.OK {
			v.State = workload.Failed
		}
	}
	return v
}

// Status says which part of the reads has found something, and which did when they were recorded.
func (r *Run) Status() string {
	f := r.sums()
	var words []string
	if f.Hits+f.Misses > 0 {
		hits := "hits " + units.PartOf(f.Hits, f.Hits+f.Misses)
		if ratio := f.Replay.RecordedHitRatio; ratio != nil {
			hits += fmt.Sprintf(" (recorded %.4g %%)", 100**ratio)
		}
		words = append(words, hits)
	}
	if a := f.Replay.Answers; a != nil {
		words = append(words, fmt.Sprintf("%d answers differ", a.Differ))
	}
	return strings.Join(words, " · ")
}

// Answers is what came of comparing answers so far.
func (r *Run) Answers() *workload.Answers { return r.answers.result() }

// Facts returns the record of what has been done so far.
func (r *Run) Facts(*measure.Result) any { return r.sums() }

func (r *Run) sums() *Facts {
	r.gather()
	t := &r.total
	f := &Facts{Schema: 1, Data: []string{}, Replay: Replay{
		Capture: filepath.Base(r.Path), Source: r.Header.Source, How: r.Header.How, Recorded: r.Header.Started, Timing: r.Header.Timing,
		Calls: r.Items, Made: t.made.Load(), Connections: r.Connections, Rate: r.Rate(), LeftOut: r.Left,
		Transactions: r.Transactions(), Tables: r.start.tables.Load(), Copied: r.start.copied.Load(), Loaded: r.start.loaded.Load(), Assumed: r.start.assumed.Load(), Unfilled: r.start.unfilled.Load(),
	}}
	if left := r.start.left.Load(); left != nil {
		f.Replay.NotCopied = *left
	}
	f.Hits, f.Misses = t.hits.Load(), t.misses.Load()
	f.HitRatio, f.Replay.Answers = ratio(f.Hits, f.Misses), r.answers.result()
	f.Replay.RecordedHitRatio, f.Replay.ReplayedHitRatio = ratio(t.foundThen.Load(), t.missedThen.Load()), ratio(t.foundNow.Load(), t.missedNow.Load())
	return f
}

// mostGap is by how much the hit ratio may be another than the recorded one.
const mostGap = 0.01

// unlike says that the reads of which it is recorded what they found have found more, or less.
func unlike(f *Facts) string {
	then, now := f.Replay.RecordedHitRatio, f.Replay.ReplayedHitRatio
	if then == nil || now == nil || math.Abs(*then-*now) <= mostGap {
		return ""
	}
	return fmt.Sprintf("%.4g %% of the reads found something, and %.4g %% did when they were recorded: other data cost the store other work; see what was loaded first", 100**now, 100**then)
}

func ratio(hits, misses int64) *float64 {
	if hits+misses == 0 {
		return nil
	}
	x := float64(hits) / float64(hits+misses)
	return &x
}

// Facts is the record of a replay in run.json. See docs/mix.md.
type Facts struct {
	Schema int `json:"schema"`
	// Hits and Misses count the reads of one value that found one and did not.
	Hits     int64    `json:"hits"`
	Misses   int64    `json:"misses"`
	HitRatio *float64 `json:"hit_ratio,omitempty"`
	Data     []string `json:"data"` // a replay has no data sets
	Replay   Replay   `json:"replay"`
}

// Replay says what was made again of which recording.
type Replay struct {
	Capture  string         `json:"capture"`
	Source   string         `json:"source"`
	How      string         `json:"how"`
	Recorded time.Time      `json:"recorded"`
	Timing   capture.Timing `json:"timing"`
	// Calls is how many calls can be made again, Made how many were. A transaction is one.
	Calls       int64   `json:"calls"`
	Made        int64   `json:"made"`
	Connections int64   `json:"connections"`
	Rate        float64 `json:"recorded_rate,omitempty"`
	// LeftOut counts the calls that were not made again, by why.
	LeftOut map[string]int64 `json:"left_out,omitempty"`
	// Transactions is how many transactions of several statements there are.
	Transactions int64 `json:"transactions,omitempty"`
	// Tables is how many tables of a snapshot were copied first, or how many statements made some.
	Tables int64 `json:"tables,omitempty"`
	// Copied is how many keys, or rows, were copied from a snapshot first, and NotCopied what its
	// tables have beside.
	Copied    int64    `json:"copied,omitempty"`
	NotCopied []string `json:"not_copied,omitempty"`
	// Loaded is how many values were loaded first because they are read before they are
	// written. Of those that were Assumed, nobody knows whether they were there. Unfilled are keys that
	// are read first and have other structures, which are not made up.
	Loaded   int64 `json:"loaded"`
	Assumed  int64 `json:"assumed,omitempty"`
	Unfilled int64 `json:"unfilled,omitempty"`
	// RecordedHitRatio and ReplayedHitRatio are over the same reads: those of which it is recorded
	// what they found.
	RecordedHitRatio *float64 `json:"recorded_hit_ratio,omitempty"`
	ReplayedHitRatio *float64 `json:"replayed_hit_ratio,omitempty"`
	// Answers is what came of comparing answers; absent if they were not compared.
	Answers *workload.Answers `json:"answers,omitempty"`
}

// task is one thread.
type task struct {
	r *Run
	*tally
	by caller

	// in and calls are those of the last iteration that have not been made, seq and warm which one
	// that was: an iteration that is tried again is about the same calls.
	in    *chunk
	calls []call
	seq   int64
	warm  bool
	sent  sent
}

func (r *Run) newTask(int) (workload.Task, error) {
	k := &task{r: r, tally: &tally{}, by: r.at.caller()}
	if by, is := k.by.(sender); is {
		k.sent = sent{by: by, told: k.told}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tallies, r.callers = append(r.tallies, k.tally), append(r.callers, k.by)
	return k, nil
}

// Do makes the next call of the thread again, or the next calls that were sent at once.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.calls == nil || k.seq != it.Seq || k.warm != it.Warmup {
		k.in, k.calls = k.r.lanes.pop(it.Worker)
		k.seq, k.warm = it.Seq, it.Warmup
	}
	if len(k.calls) == 0 {
		if err := k.r.lanes.err(); err != nil {
			return workload.Fatal(err)
		}
		return workload.ErrDone
	}
	if len(k.calls) > 1 {
		return k.together(ctx, it)
	}
	in, c := k.in, &k.calls[0]
	if err := k.by.ready(ctx, in, c); err != nil {
		return err
	}
	m := it.Begin(workload.Op(c.op))
	err := k.by.do(ctx, k.r.answers != nil)
	if a := k.r.answers; a != nil {
		if got, came := k.by.answer(err); came {
			a.record(c.number, in.args[in.parts[c.from].from].Text, got, func() (string, string) { return k.by.describe(err) })
		}
	}
	if hit, is := k.by.found(); is && err == nil {
		k.note(c.found, hit)
	}
	err = it.End(m, 1, err)
	k.by.after(ctx)
	return err
}

// note counts what a read has found.
func (t *tally) note(then capture.Found, hit bool) {
	count(hit, &t.hits, &t.misses)
	if then.Known {
		count(then.Hit, &t.foundThen, &t.missedThen)
		count(hit, &t.foundNow, &t.missedNow)
	}
}

func count(hit bool, hits, misses *atomic.Int64) {
	if !hit {
		hits = misses
	}
	hits.Add(1)
}
