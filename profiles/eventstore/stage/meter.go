package stage

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/model"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
)

// stages are the stages in display order.
var stages = []string{facts.StageSend, facts.StageConfirm, facts.StageReceive, facts.StageWork, facts.StageStore, facts.StageDurable}

// maxSteps is how many steps have their own figures; later ones are added to the last
// one, so that a run whose knobs change all the time does not grow without limit.
const maxSteps = 200

// Meter counts what happens to batches, by the step of the run. It may be used from any
// goroutine: a batch costs a few short locks, however many events it has.
type Meter struct {
	mu    sync.Mutex
	steps []*step
	warm  *step // of the warm-up; not reported
	// Length is the duration of the load in nanoseconds, 0 if it has none.
	Length int64
	drain  *step

	Step    atomic.Int32 // the step in force
	Entered atomic.Bool  // measured work has begun
	LastDue atomic.Int64 // of the batch that became durable most recently
	errors  map[string]int64
	losses  facts.Losses
	others  *theirs // nil if there are none
}

// step is one step with the distributions of its stages.
type step struct {
	facts.Step
	stages map[string]*measure.Distribution
	// failed events have status FAILED; deadBatches were rejected or given up.
	failed, deadBatches int64
	news                bool // changed since the last report
}

func newStep() *step { return &step{stages: map[string]*measure.Distribution{}} }

// New returns a meter that has counted nothing.
func New() *Meter { return &Meter{warm: newStep(), errors: map[string]int64{}} }

// Enter notes the step in which a generator works, and its settings.
func (m *Meter) Enter(segment uint16, warm bool, set *workload.Settings, now int64) {
	if !warm && m.Entered.Load() && int(m.Step.Load()) == int(segment) {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if warm {
		return
	}
	m.Entered.Store(true)
	for _, s := range m.steps {
		s.rest()
	}
	for len(m.steps) <= int(segment) && len(m.steps) < maxSteps {
		if n := len(m.steps); n > 0 {
			m.steps[n-1].ToNs, m.steps[n-1].news = now, true
		}
		st := newStep()
		st.news = true
		st.FromNs = max(now, 0)
		st.Batch, st.Rate, st.Generators, st.Payload = set.Batch, set.Rate, set.Threads, set.Payload
		m.steps = append(m.steps, st)
	}
	m.Step.Store(int32(segment))
}

// BeginDrain makes the drain the current step.
func (m *Meter) BeginDrain(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drain != nil {
		return
	}
	m.drain = newStep()
	m.drain.FromNs = now
	if n := len(m.steps); n > 0 {
		m.steps[n-1].ToNs, m.steps[n-1].news = now, true
	}
}

// EndDrain ends the step that BeginDrain began.
func (m *Meter) EndDrain(now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.drain != nil && m.drain.ToNs == 0 {
		m.drain.ToNs = now
	}
}

// of returns the step in which a batch was generated. The caller holds m.mu.
func (m *Meter) of(meta transport.Meta) *step {
	if meta.Warm || len(m.steps) == 0 {
		return m.warm
	}
	s := m.steps[min(int(meta.Step), len(m.steps)-1)]
	s.news = true
	return s
}

// current returns the step in force. The caller holds m.mu.
func (m *Meter) current(warm bool) *step {
	switch {
	case warm, len(m.steps) == 0:
		return m.warm
	case m.drain != nil:
		return m.drain
	}
	s := m.steps[min(int(m.Step.Load()), len(m.steps)-1)]
	s.news = true
	return s
}

func (s *step) took(stage string, ns int64) {
	d := s.stages[stage]
	if d == nil {
		d = &measure.Distribution{}
		s.stages[stage] = d
	}
	d.Record(ns)
}

// rest reduces the memory of a step that is over. Its outstanding confirmations still
// count.
func (s *step) rest() {
	for _, d := range s.stages {
		d.Rest()
	}
}

// Made notes a batch that was generated, whether or not it was handed over.
func (m *Meter) Made(meta transport.Meta) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.of(meta).Offered.Add(int(meta.Count))
}

// Sent notes a batch that the transport has accepted.
func (m *Meter) Sent(meta transport.Meta) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(meta)
	s.Sent.Add(int(meta.Count))
	s.SentBytes += int64(meta.Size)
	s.took(facts.StageSend, meta.Sent-meta.Due)
}

// Confirmed notes a batch that the transport has confirmed.
func (m *Meter) Confirmed(meta transport.Meta, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.of(meta)
	s.Confirmed.Add(int(meta.Count))
	s.took(facts.StageConfirm, now-meta.Sent)
}

// Received notes a delivery to the store stage.
func (m *Meter) Received(d *transport.Delivery) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.current(d.Warm)
	s.Received.Add(int(d.Count))
	s.ReceivedBytes += int64(len(d.Body))
	s.MaxBatch = max(s.MaxBatch, int(d.Count))
	s.took(facts.StageReceive, d.Received-d.Sent)
}

// Wrote notes a stored record with that many events with status FAILED, the size of its
// links before compression, and how long it took to make.
func (m *Meter) Wrote(warm bool, r *model.Record, failed, rawLinks int, worked int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.current(warm)
	s.RawBytes += int64(r.Raw)
	s.CompressedBytes += int64(len(r.Body))
	s.LinkBytes += int64(rawLinks)
	s.StoredBytes += int64(len(r.Body) + len(r.Links) + len(r.ID) + len(r.Parent))
	s.Rows++
	s.failed += int64(failed)
	s.Stored.Events += int64(r.Count)
	s.took(facts.StageWork, worked)
}

// Called notes a call of the store, with its number of statements.
func (m *Meter) Called(warm bool, statements int, ns int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.current(warm)
	s.Statements += int64(statements)
	s.took(facts.StageStore, ns)
}

// Acked notes a batch that is entirely durable.
func (m *Meter) Acked(d transport.Meta, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.current(d.Warm)
	s.Stored.Batches++
	s.Acked.Add(int(d.Count))
	s.took(facts.StageDurable, now-d.Due)
	m.LastDue.Store(max(m.LastDue.Load(), d.Due))
}

// Refused notes a batch that was rejected or given up.
func (m *Meter) Refused(d transport.Meta) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.current(d.Warm)
	s.DeadLettered += int64(d.Count)
	s.deadBatches++
}

// Note changes figures of the current step.
func (m *Meter) Note(warm bool, f func(*facts.Step)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.current(warm).Step)
}

// Lose counts losses of compat.
func (m *Meter) Lose(f func(*facts.Losses)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.losses)
}

// maxErrors is how many different errors are counted separately.
const maxErrors = 50

// Failed counts an error by its text.
func (m *Meter) Failed(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text := err.Error()
	if _, known := m.errors[text]; !known && len(m.errors) >= maxErrors {
		text = "others"
	}
	m.errors[text]++
}

// Report fills in what the meter knows; now is the time by the clock of facts.
func (m *Meter) Report(f *facts.Facts, now int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list, drain, losses, errors := m.all()
	if list = slices.Clone(list); drain != nil {
		list = append(list, drain)
	}
	f.Steps = make([]facts.Step, 0, len(list))
	for i, s := range list {
		out := s.Step
		out.Failed, out.DeadBatches = new(s.failed), new(s.deadBatches)
		out.Name = strconv.Itoa(i + 1)
		if s == drain {
			out.Name = facts.DrainStep
		}
		if out.ToNs == 0 {
			out.ToNs = now
		}
		if out.Rate > 0 { // due by the schedule, whether made or not
			to := out.ToNs
			if m.Length > 0 { // nothing falls due after the end, however late that is noticed
				to = max(min(to, m.Length), out.FromNs)
			}
			out.Offered.Events = max(out.Offered.Events, int64(out.Rate*float64(to-out.FromNs)/1e9))
		}
		out.Latency = []facts.StageLatency{}
		for _, name := range stages {
			if d := s.stages[name]; d != nil {
				out.Latency = append(out.Latency, latencyOf(name, d.Summary()))
			}
		}
		f.Steps = append(f.Steps, out)
	}
	f.Losses = losses
	f.Errors = nil
	for text, n := range errors {
		f.Errors = append(f.Errors, facts.Error{Text: text, Count: n})
	}
	slices.SortFunc(f.Errors, func(a, b facts.Error) int { return int(b.Count - a.Count) })
}

func latencyOf(name string, s measure.Summary) facts.StageLatency {
	return facts.StageLatency{Stage: name, Count: s.Count, Mean: int64(s.Mean), P50: s.P50, P95: s.P95, P99: s.P99, P999: s.P999, Max: s.Max}
}

// Excused returns how many events may be given up without failing the run.
func (m *Meter) Excused(compat bool) int64 {
	if !compat {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	_, _, l, _ := m.all()
	return l.RootRejected + l.Rejected + l.Exhausted + l.Oversized
}

// Calls returns how many statements of the store have worked, and how many errors there
// were, of all processes.
func (m *Meter) Calls() (worked, failed int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	steps, drain, _, errors := m.all()
	for _, s := range steps {
		worked += s.Statements
	}
	if drain != nil {
		worked += drain.Statements
	}
	for _, n := range errors {
		failed += n
	}
	return worked, failed
}

// Sums are the totals over all steps at a moment.
type Sums struct {
	At                                      int64
	Offered, Sent, Received, Stored         int64
	Batches, ReceivedBytes, Raw, Compressed int64
}

// Add adds the totals of another process.
func (t *Sums) Add(o *Sums) {
	t.Offered += o.Offered
	t.Sent += o.Sent
	t.Received += o.Received
	t.Stored += o.Stored
	t.Batches += o.Batches
	t.ReceivedBytes += o.ReceivedBytes
	t.Raw += o.Raw
	t.Compressed += o.Compressed
}

// Totals returns the sums so far.
func (m *Meter) Totals() (t Sums) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.steps
	if m.drain != nil {
		list = append(slices.Clip(list), m.drain)
	}
	for _, s := range list {
		t.Offered += s.Offered.Events
		t.Sent += s.Sent.Events
		t.Received += s.Received.Events
		t.Stored += s.Stored.Events
		t.Batches += s.Received.Batches
		t.ReceivedBytes += s.ReceivedBytes
		t.Raw += s.RawBytes
		t.Compressed += s.CompressedBytes
	}
	return t
}
