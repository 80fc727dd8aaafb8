package replay

import (
	"context"
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
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/redis/link"
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
	// Load means that what is read before anything writes it is loaded first.
	Load bool
	// Snapshot is a server whose data are copied first, in place of what Load would load; without
	// a Scheme there is none.
	Snapshot store.Target
	// OntoSource allows the server that was recorded.
	OntoSource bool
	// KeepAnswers and ExpectAnswers are files: where answers are kept, and which they are compared
	// with. Both need the order by key.
	KeepAnswers, ExpectAnswers string
}

// Run is a replay at work. It is safe for use by several goroutines.
type Run struct {
	*Spec
	lanes  *lanes
	lines  *link.Lines
	prefix string
	claim  *ownership.Claim
	start  start
	// answers are kept or compared; nil: neither.
	answers *answers
	// server and identity are what the target calls itself.
	server, identity string

	total totals

	mu      sync.Mutex
	tallies []*tally
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

// SpaceOf is the space that the keys of replays are in.
func SpaceOf(namespace string) store.Space {
	return store.Space{Namespace: namespace, Name: "replay", Shape: store.Keys, Grouped: true}
}

// Bind connects a plan to a Redis and puts a replay to work on it. It changes nothing.
func Bind(ctx context.Context, s *Spec, c redis.Typed, p *workload.Bound) error {
	own := runIDOf(info(ctx, c))
	if err := s.elsewhere(own); err != nil {
		return err
	}
	space := SpaceOf(s.Namespace)
	r := &Run{server: serverOf(ctx, c), identity: own, Spec: s, lanes: newLanes(s.Recording, s.dealt(), s.moments()), lines: c.Lines(false), prefix: redis.KeyOf(space) + ":"}
	claim := ownership.Space{Space: space, Parts: []string{store.FormOf(store.AnyKind, `\d+:.*`)}}
	p.Claims, p.Parts = []ownership.Space{claim}, workload.Parts{r}
	t := &p.Phases[0].Tracks[0]
	t.Recorded, t.NewTask = r.lanes, r.newTask
	r.share(p.Shared)
	return nil
}

// elsewhere refuses the server that was recorded, which has its own work to do.
func (s *Spec) elsewhere(target string) error {
	if s.OntoSource || target == "" || target != s.Header.Identity {
		return nil
	}
	return fault.Input(fmt.Errorf("this is the server that %s was recorded from", s.Path), "choose another --target; or --set onto-source=on, if it can bear both: keys of others are not touched")
}

// runIDOf finds what a server calls itself in what it says of itself; "" if it does not.
func runIDOf(info string) string { return saidOf(info, "run_id:") }

// saidOf finds what a server says of one thing.
func saidOf(info, thing string) string {
	for line := range strings.Lines(info) {
		if text, is := strings.CutPrefix(strings.TrimSpace(line), thing); is {
			return text
		}
	}
	return ""
}

// info is what a server says of itself; "" if it does not.
func info(ctx context.Context, c redis.Typed) string {
	text, _ := c.Client().Info(ctx, "server").Result() // who does not say is not recognised
	return text
}

// serverOf names a server.
func serverOf(ctx context.Context, c redis.Typed) string {
	if version := saidOf(info(ctx, c), "redis_version:"); version != "" {
		return "Redis " + version
	}
	return "the earlier replay"
}

// openAnswers reads the answers that are expected, or sees to it that those of the run can be kept.
func (r *Run) openAnswers() (err error) {
	switch {
	case r.KeepAnswers != "":
		if _, err := os.Lstat(r.KeepAnswers); err == nil {
			return fault.Input(fmt.Errorf("keep-answers: %s is there already", r.KeepAnswers), "name another file, or compare with it by --expect-answers "+r.KeepAnswers)
		}
	case r.ExpectAnswers != "":
		r.answers, err = expectAnswers(r.ExpectAnswers, r.Recording, r.prefix, r.begins())
	}
	return err
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

// Settle ends the reading of the capture.
func (r *Run) Settle(context.Context) { r.lanes.close() }

// Verify compares how many calls were made again with how many there are. What the store has is
// what these made of it, so there is nothing else to compare.
func (r *Run) Verify(context.Context) workload.Verification {
	r.lanes.close()
	r.gather()
	made, through := r.total.made.Load(), r.total.through.Load() == int64(r.Threads)
	text := fmt.Sprintf("%d of %s made again, in the order of each %s", made, units.Plural(r.Items, "recorded call"), map[bool]string{false: "connection", true: "key"}[r.ByKey])
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
		Copied: r.start.copied.Load(), Loaded: r.start.loaded.Load(), Assumed: r.start.assumed.Load(), Unfilled: r.start.unfilled.Load(),
	}}
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
	// Copied is how many keys were copied from a snapshot first.
	Copied int64 `json:"copied,omitempty"`
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
	q link.Caller

	// in and call are the call of the last iteration, seq and warm which one that was: an iteration
	// that is tried again is about the same call.
	in   *chunk
	call *call
	seq  int64
	warm bool
}

func (r *Run) newTask(int) (workload.Task, error) {
	k := &task{r: r, tally: &tally{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tallies = append(r.tallies, k.tally)
	return k, nil
}

// finds are the commands that find one value or nothing.
var finds = map[string]bool{"GET": true, "GETEX": true, "GETDEL": true, "HGET": true, "LINDEX": true, "ZSCORE": true}

// Do makes the next call of the thread again.
func (k *task) Do(ctx context.Context, it *workload.Iteration) error {
	if k.call == nil || k.seq != it.Seq || k.warm != it.Warmup {
		k.in, k.call = k.r.lanes.pop(it.Worker)
		k.seq, k.warm = it.Seq, it.Warmup
	}
	in, c := k.in, k.call
	if c == nil {
		if err := k.r.lanes.err(); err != nil {
			return workload.Fatal(err)
		}
		return workload.ErrDone
	}
	name := in.args[in.parts[c.from].from].Text
	k.write(in, c)
	m := it.Begin(workload.Op(c.op))
	k.q.Reply.Keep = k.r.answers != nil
	n, err := k.r.lines.Do(ctx, &k.q)
	if a := k.r.answers; a != nil {
		k.answer(a, in, c, err)
	}
	if err == nil && !c.transaction && finds[name] {
		k.note(c.found, n >= 0)
	}
	return it.End(m, 1, err)
}

// answer keeps or compares an answer. That of a transaction is that of its calls together: the
// first stands for them.
func (k *task) answer(a *answers, in *chunk, c *call, err error) {
	p := &in.parts[c.from]
	keys := p.keys
	a.record(c.number, in.args[p.from:p.to], keys, p.db, &k.q.Reply, err)
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

// write writes the request of a call.
func (k *task) write(in *chunk, c *call) {
	if c.transaction {
		k.q.Multi()
	} else {
		k.q.Reset()
	}
	for i := c.from; i < c.to; i++ {
		p := &in.parts[i]
		k.r.command(&k.q.Request, in.args[p.from:p.to], p.keys, p.db)
	}
	if c.transaction {
		k.q.Exec()
	}
}

// command appends a command, whose keys become keys of the run's own.
func (r *Run) command(q *link.Request, args []capture.Arg, keys []int, db int) {
	q.Next(args[0].Text)
	next := 0
	for i := range args[1:] {
		a := &args[i+1]
		if next < len(keys) && keys[next] == i+1 {
			if next == 0 {
				q.KeyAt(i + 1)
			}
			next++
			q.Text = r.key(q.Text, db, a.Text)
		} else {
			q.Text = content(q.Text, a)
		}
		q.End()
	}
}

// key appends a key.
func (r *Run) key(b []byte, db int, name string) []byte {
	b = append(b, r.prefix...)
	b = strconv.AppendInt(b, int64(db), 10)
	return append(append(b, ':'), name...)
}

// content appends an argument: what was recorded, or as many bytes. Short ones are numbers, so
// that they can be added to; those that were the same are the same again.
func content(b []byte, a *capture.Arg) []byte {
	const digits = "1234567890"
	switch a.Kind {
	case capture.Text:
		return append(b, a.Text...)
	case capture.Name:
		x := a.ID | 1
		for range a.Size {
			x = x*6364136223846793005 + 1442695040888963407
			b = append(b, 'a'+byte(x>>33)%26)
		}
		return b
	}
	for left := a.Size; left > 0; left -= len(digits) {
		b = append(b, digits[:min(left, len(digits))]...)
	}
	return b
}
