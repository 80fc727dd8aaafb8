package tui

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// fakeBench is a Bench without engine, store or disk. Its fields may be set
// before use; what was asked of it is kept.
type fakeBench struct {
	profiles []workload.Profile
	history  []rundir.Run
	folders  map[string]*rundir.Folder
	formats  []rundir.Format
	preview  func(screen.Request) (*Preview, error)
	pong     Pong
	pingErr  error
	startErr error
	next     *fakeRun // what Start returns

	mu       sync.Mutex
	started  []screen.Request
	exported []string
	saved    map[string][]workload.Value
}

func (b *fakeBench) Profiles() []workload.Profile { return b.profiles }

func (b *fakeBench) Presets(string) []Preset {
	return []Preset{{"small", "10 000 × 1 KiB"}, {"large", "1 000 000 × 1 KiB"}}
}

func (b *fakeBench) Stores() []StoreInfo {
	return []StoreInfo{
		{"embedded", "Embedded", "embedded:"},
		{"redis", "Redis", "redis://127.0.0.1:6379"},
		{"cassandra", "Cassandra", "cassandra://127.0.0.1/perfbench"},
		{"mysql", "MySQL", "mysql://root@127.0.0.1:3306/perfbench"},
	}
}

func (b *fakeBench) Recent() []string { return []string{"redis://127.0.0.1:6379"} }

func (b *fakeBench) Preview(r screen.Request) (*Preview, error) {
	if b.preview != nil {
		return b.preview(r)
	}
	return &Preview{
		Plan:       fakePlan(1),
		Settings:   []Setting{{"threads", "16", "preset small"}, {"payload", "1 KiB", "default"}},
		Parameters: []Setting{{"mode", "put", "default"}},
		Run:        []Setting{{"duration", "60s", "default"}, {"warmup", "5s", "default"}},
		Tracks:     []string{"fill: feed, 16 threads"},
		Writes:     []string{`10 000 entries into the map "eligibility"`}, Documents: []string{"json", "csv", "hlog"},
		Bytes: 10_000 << 10, Connections: 16,
	}, nil
}

func (b *fakeBench) Ping(context.Context, string, string) (Pong, error) { return b.pong, b.pingErr }

func (b *fakeBench) Start(_ context.Context, r screen.Request) (screen.Run, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.started = append(b.started, r)
	if b.startErr != nil {
		return nil, b.startErr
	}
	return b.next, nil
}

func (b *fakeBench) History() ([]rundir.Run, error) { return b.history, nil }

func (b *fakeBench) Load(id string) (*rundir.Folder, error) {
	if f, ok := b.folders[id]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("run %s: not found", id)
}

func (b *fakeBench) Formats(string) []rundir.Format { return b.formats }

func (b *fakeBench) Export(id string, formats []string, dir string) ([]string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []string
	for _, f := range formats {
		out = append(out, dir+"/"+id+"/report."+f)
	}
	b.exported = append(b.exported, out...)
	return out, nil
}

func (b *fakeBench) SavePreset(profile, name string, values []workload.Value) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.saved == nil {
		b.saved = map[string][]workload.Value{}
	}
	b.saved[profile+"/"+name] = values
	return "~/.config/perfbench/presets/" + profile + "/" + name + ".yaml", nil
}

func (b *fakeBench) Logs() []string { return []string{"11:40:02 INFO Connected store=redis"} }

// fakePlan has one or more tracks with two operations each.
func fakePlan(tracks int) *workload.Plan {
	p := &workload.Plan{Unit: "entries", Knobs: []workload.Knob{workload.Threads(), workload.Payload(), workload.Batch(), workload.Rate("entries")}}
	ph := workload.Phase{Name: "fill", Duration: time.Minute}
	for i := range tracks {
		name := []string{"feed", "profile", "claims"}[i%3]
		ph.Tracks = append(ph.Tracks, workload.Track{
			Name: name, Ops: []string{"putall", "verify"},
			Start: workload.Settings{Threads: 16, Payload: 1 << 10, Batch: 100},
		})
	}
	p.Phases = []workload.Phase{ph}
	return p
}

// fakeRun is a run whose store behaves as a formula says: throughput grows with
// the threads and levels off, latency grows when it does. Its clock moves by
// tick only.
type fakeRun struct {
	plan *workload.Plan
	info screen.RunInfo

	mu       sync.Mutex
	want     []workload.Settings
	stage    screen.Progress
	at       time.Duration // since measurement began
	second   int           // the open second
	changes  []measure.Change
	segments []measure.Segment
	calls    int
	marks    []measure.Mark
	judged   rundir.Verdict
	recent   [][]measure.Row
	line     [][]measure.Point
	ops      []measure.Totals
	errors   map[string]int64
	snap     *measure.Snapshot
	gone     bool // the store does not answer
	hang     time.Duration
	stopped  bool
	killed   bool
	outcome  screen.Outcome
	done     chan struct{}
}

func newFakeRun(tracks int) *fakeRun {
	r := &fakeRun{
		plan: fakePlan(tracks), stage: screen.Progress{Stage: screen.Measuring}, errors: map[string]int64{}, done: make(chan struct{}),
		info: screen.RunInfo{
			Profile: "ingestion", Title: "Bulk ingestion", Store: "redis", Target: "redis://127.0.0.1:6379", Unit: "entries",
			Duration: time.Minute, Warmup: 5 * time.Second,
		},
		outcome: screen.Outcome{
			ID: "260503-114000-ingestion-redis", Dir: "results/260503-114000-ingestion-redis",
			Summary: "41.2k entries/s, p99 7.1 ms\n", Verification: workload.Verification{State: workload.Passed, Summary: "0 lost of 2 472 000"},
		},
	}
	for _, t := range r.plan.Tracks() {
		r.want = append(r.want, t.Start)
		for _, op := range t.Ops {
			r.ops = append(r.ops, measure.Totals{Operation: measure.Operation{Track: t.Name, Op: op}})
			r.recent, r.line = append(r.recent, nil), append(r.line, nil)
		}
	}
	r.at, r.second = -r.info.Warmup, int(-r.info.Warmup/time.Second)
	r.segments = []measure.Segment{{Ops: slices.Clone(r.ops)}}
	r.publish()
	return r
}

// tick moves the clock on by d in steps of 100 ms.
func (r *fakeRun) tick(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for ; d > 0; d -= 100 * time.Millisecond {
		r.at += 100 * time.Millisecond
		if s := int(math.Floor(r.at.Seconds())); s > r.second {
			r.finish()
			r.second = s
		}
	}
	r.publish()
}

func noise(x int) float64 {
	v := math.Sin(float64(x)*12.9898) * 43758.5453
	return v - math.Floor(v)
}

// finish closes the open second.
func (r *fakeRun) finish() {
	for i := range r.ops {
		track := i / 2
		s := r.want[track]
		n := noise(r.second*7 + i)
		rate := 48e3 * float64(s.Threads) / (float64(s.Threads) + 11) / float64(len(r.want)) * (0.95 + 0.1*n)
		if s.Rate > 0 {
			rate = min(rate, s.Rate)
		}
		p50 := 0.3e6 + 0.028e6*float64(s.Threads)
		p99 := p50 * (4 + 1.6*n)
		if r.second == 9 {
			p99 *= 1.8
		}
		if i%2 == 1 {
			rate, p50, p99 = 12+math.Floor(3*n), p50*0.6, p99*0.3
		}
		row := measure.Row{
			T: r.second, Op: i, Count: int64(rate), Seconds: 1,
			ResponseP50: int64(p50), ResponseP99: int64(p99), ResponseMax: int64(p99 * 1.7), ServiceP99: int64(p99),
			Gauge: r.gauge(track),
		}
		if s.Paused || r.hang > 0 || r.gone {
			row.Count, row.ResponseP50, row.ResponseP99, row.ResponseMax = 0, 0, 0, 0
		}
		if r.gone {
			row.Errors = int64(40 + 10*n)
			if r.second >= 0 {
				r.errors["unreachable"] += row.Errors
			}
		}
		r.recent[i] = append(slices.Clone(r.recent[i]), row)
		r.line[i] = append(slices.Clone(r.line[i]), measure.Point{
			T: row.T, Count: row.Count, Errors: row.Errors, Seconds: 1, ResponseP50: row.ResponseP50, ResponseP99: row.ResponseP99,
			ResponseMax: row.ResponseMax, Warmup: row.T < 0, Segment: len(r.segments) - 1,
		})
		if r.second >= 0 {
			seg := &r.segments[len(r.segments)-1]
			seg.Ops = slices.Clone(seg.Ops)
			for _, o := range []*measure.Totals{&r.ops[i], &seg.Ops[i]} {
				o.Count += row.Count
				o.Calls += row.Count/100 + 1
				o.Errors += row.Errors
				o.Active += time.Second
				o.Response = measure.Summary{
					Count: o.Calls, P50: int64(p50), P90: int64(p50 * 2.5), P95: int64(p50 * 3), P99: int64(p50 * 4.8), P999: int64(p50 * 8), P9999: int64(p50 * 9),
					Max: max(o.Response.Max, row.ResponseMax, int64(p50*9.5)),
				}
			}
		}
	}
	if r.hang > 0 {
		r.hang += time.Second
	}
}

func (r *fakeRun) gauge(track int) measure.Gauge {
	s := r.want[track]
	g := measure.Gauge{
		Threads: s.Threads, Payload: s.Payload, Batch: s.Batch, Rate: s.Rate, Paused: s.Paused, Segment: len(r.segments) - 1,
		InFlight: s.Threads, Oldest: 9 * time.Millisecond, Running: true,
	}
	if s.Paused {
		g.InFlight, g.Oldest = 0, 0
	}
	if r.hang > 0 {
		g.Oldest = r.hang
	}
	if s.Rate > 0 && r.gone {
		g.Backlog = int64(s.Rate)
	}
	return g
}

func (r *fakeRun) publish() {
	s := &measure.Snapshot{Number: 1, At: r.at, Bucket: 1, Phases: []string{"fill"}}
	if r.snap != nil {
		s.Number = r.snap.Number + 1
	}
	for i, t := range r.plan.Tracks() {
		s.Tracks = append(s.Tracks, t.Name)
		s.Gauges = append(s.Gauges, r.gauge(i))
	}
	s.Ops, s.Recent, s.Timeline = slices.Clone(r.ops), slices.Clone(r.recent), slices.Clone(r.line)
	s.Changes, s.Marks, s.Segments = slices.Clone(r.changes), slices.Clone(r.marks), slices.Clone(r.segments)
	for _, o := range r.ops {
		s.Done += o.Count
	}
	if n := r.errors["unreachable"]; n > 0 {
		s.Errors = []measure.ErrorCount{{Operation: r.ops[0].Operation, Class: store.Unreachable.String(), Count: n}}
		s.Messages = []measure.Message{{Operation: r.ops[0].Operation, Class: "unreachable", Text: "dial tcp 127.0.0.1:6379: connection refused"}}
	}
	r.snap = s
}

func (r *fakeRun) Info() screen.RunInfo { return r.info }

func (r *fakeRun) Progress() screen.Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stage
}

func (r *fakeRun) Snapshot() *measure.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snap
}

func (r *fakeRun) Plan() *workload.Plan { return r.plan }

func (r *fakeRun) total() workload.Settings {
	s := r.want[0]
	for _, w := range r.want[1:] {
		s.Threads += w.Threads
		s.Rate += w.Rate
	}
	return s
}

func (r *fakeRun) Change(by string, track int, f func(workload.Settings) workload.Settings) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	before, prefix := r.total(), ""
	if track != screen.All {
		before = r.want[track]
		if len(r.want) > 1 {
			prefix = r.plan.Tracks()[track].Name + "."
		}
	}
	after := f(before)
	seg := len(r.segments)
	if n := len(r.changes); n > 0 && r.at-r.changes[n-1].At < 250*time.Millisecond {
		seg = r.changes[n-1].Segment
	}
	note := func(name string, from, to float64) {
		if from == to {
			return
		}
		if seg == len(r.segments) {
			fresh := make([]measure.Totals, len(r.ops))
			for i := range fresh {
				fresh[i].Operation = r.ops[i].Operation
			}
			r.segments = append(r.segments, measure.Segment{From: r.at, Ops: fresh})
		}
		r.changes = append(r.changes, measure.Change{At: r.at, Name: prefix + name, From: from, To: to, By: by, Segment: seg})
	}
	for _, k := range r.plan.Knobs {
		to := k.Clamp(k.Get(after))
		note(k.Name, k.Get(before), to)
		if to == k.Get(before) {
			continue
		}
		now := make([]int, len(r.want))
		for i, w := range r.want {
			now[i] = int(k.Get(w))
		}
		parts := workload.Spread(now, int(to))
		for i, t := range r.plan.Tracks() {
			if !t.Turns(k) {
				continue
			}
			switch {
			case track == screen.All && k.Sum:
				r.want[i] = k.Set(r.want[i], float64(parts[i]))
			case track == screen.All || track == i:
				r.want[i] = k.Set(r.want[i], to)
			}
		}
	}
	if before.Paused != after.Paused {
		note("paused", b2f(before.Paused), b2f(after.Paused))
		for i := range r.want {
			if track == screen.All || track == i {
				r.want[i].Paused = after.Paused
			}
		}
	}
	r.publish()
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (r *fakeRun) Settings(track int) workload.Settings {
	r.mu.Lock()
	defer r.mu.Unlock()
	if track == screen.All {
		return r.total()
	}
	return r.want[track]
}

func (r *fakeRun) Verdict() rundir.Verdict {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.judged.State == "" {
		return rundir.Verdict{State: verdict.Valid}
	}
	return r.judged
}

func (r *fakeRun) Mark(note string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.marks = append(r.marks, measure.Mark{At: r.at, Note: note})
	r.publish()
}

// Stop ends the run at once, as a run does whose operations are short.
func (r *fakeRun) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.stopped {
		r.stopped = true
		r.stage.Stage = screen.Ended
		close(r.done)
	}
}

func (r *fakeRun) Kill() {
	r.Stop()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.killed = true
}

func (r *fakeRun) Done() <-chan struct{} { return r.done }

func (r *fakeRun) Outcome() screen.Outcome { return r.outcome }
