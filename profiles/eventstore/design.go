package eventstore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
	"github.com/perfbench/perfbench/profiles/eventstore/stage"
)

// Names of phases, tracks and operations.
const (
	phaseLoad  = "load"
	phaseDrain = "drain"
	phaseQuery = "query"

	trackEvents  = "events"
	trackDrain   = "drain"
	trackQuery   = "query"
	trackReaders = "readers"
)

// Operations of a generator: handing over a batch; the journey of a batch from when it
// was due until it is durable; the events of the trees.
const (
	opPublish workload.Op = iota
	opDurable
	opTree
)

var (
	loadOps  = []string{"publish", "durable", "tree"}
	drainOps = []string{"durable"}
)

// Design works out the plan from values alone. All problems are returned joined,
// with the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, error) {
	s, r := readSpec(in)
	if err := r.Problems.Err(); err != nil {
		return nil, err
	}
	return s.plan(r, in), nil
}

// begin bases ids and page on the time and the run's id, so that two runs never share
// them.
func (s *spec) begin(runID string, at time.Time) {
	s.runID = runID
	s.Born = at.UnixNano()
	s.SequenceOfAlias0 = at.UnixMilli() * 1_000_000
	s.page = fmt.Sprintf("%s-%06x", cmp.Or(runID, "run"), uint32(s.Born/1000)&0xFFFFFF)
}

// unitsOf returns how many events one iteration of a generator covers: a batch or, with
// ticks, everything in a tick.
func (s *spec) unitsOf(set *workload.Settings) int {
	if s.load.pacing == pacingTicked && set.Rate > 0 {
		return max(int(set.Rate/float64(set.Threads)/float64(s.load.tickRate)), 1)
	}
	return max(set.Batch, 1)
}

func (s *spec) plan(r *values.Reader, in workload.Inputs) *workload.Plan {
	payload := workload.Payload()
	payload.Min, payload.Max, payload.Help = 2, maxBody, "size of the body of an event"
	if s.Kind == generate.BodyRandom {
		payload.Min, payload.Help = 0, "random bytes that the body of an event is made of"
	}
	batch := workload.Batch()
	batch.Max, batch.Unit, batch.Help = maxBatchEvents, "events", "events that go to the store together, at most"
	p := &workload.Plan{
		Unit: "events", Parameters: r.Shown, Binder: s, Sized: true,
		Knobs: []workload.Knob{workload.Threads(), workload.Rate("events"), payload, batch},
	}
	load := workload.Track{
		Name: trackEvents, Ops: loadOps, Counted: 1, Start: s.load.start, Units: s.unitsOf, Total: s.load.events, Relays: true,
	}
	drain := workload.Track{
		Name: trackDrain, Ops: drainOps, Counted: -1, Apart: true, Relays: true, Start: workload.Settings{Threads: 1, Batch: s.load.start.Batch, Payload: s.load.start.Payload},
	}
	for _, k := range p.Knobs {
		drain.Rest(k.Name, "the drain waits for what was sent")
	}
	tracks := []workload.Track{load}
	if s.query.when == queryDuring || s.query.when == queryBoth {
		tracks = append(tracks, s.queryTrack(trackReaders))
	}
	p.Stages = slices.Repeat(stage.Names, 2) // of steps, and of the drain
	p.Connections = s.query.threads + 18     // the writers of the store stage, and the one who keeps records
	p.Phases = []workload.Phase{
		{Name: phaseLoad, Duration: in.Duration, Tracks: tracks, NoCeiling: s.search.on}, // a search sets the pace
		{Name: phaseDrain, After: []string{phaseLoad}, Tracks: []workload.Track{drain}},
	}
	if s.query.when == queryAfter || s.query.when == queryBoth {
		p.Phases = append(p.Phases, workload.Phase{Name: phaseQuery, After: []string{phaseDrain}, Tracks: []workload.Track{s.queryTrack(trackQuery)}})
	}
	switch {
	case s.search.on:
		p.Ends = "search=on ends with the rate that it finds"
	case s.load.events > 0:
		p.Ends = "events says how many there are"
	}
	switch {
	case s.search.on:
		p.Evenly = "search=on"
	case s.load.pacing == pacingTicked:
		p.Evenly = "pacing=" + pacingTicked
	case s.Compat:
		p.Evenly = "compat=on"
	}
	if s.route.via != report.ViaDirect {
		p.Via = s.route.via
		p.Deletes = []string{"at the end the queues of this run, if they are empty"}
	}
	place := strconv.Quote(s.namespace)
	p.Writes = []string{fmt.Sprintf("events of book %s, scope %s, in batches of up to %d, as a page of its own, under the namespace %s", s.Book, s.Scope, s.load.start.Batch, place)}
	if s.load.events > 0 {
		p.Bytes = s.load.events * int64(float64(s.load.start.Payload+300)/s.Ratio)
	} else if s.load.start.Rate > 0 {
		p.Bytes = int64(s.load.start.Rate * in.Duration.Seconds() * float64(s.load.start.Payload+300) / s.Ratio)
	}
	if s.route.via != report.ViaDirect && s.route.publish == publishForget {
		p.Warnings = append(p.Warnings, "publish=fireAndForget: nothing confirms that messages arrive; what gets lost is counted")
	}
	if _, given := r.Values.Pick("payload"); s.Kind == generate.BodyTable && !given && r.Values["bodyDataLength"].Origin == workload.OriginFile && s.load.randomBody != documentedRandom {
		p.Warnings = append(p.Warnings, fmt.Sprintf("bodyDataLength=%d: bodies are tables of %d bytes, since %d made %d in the published test; --payload sets another size",
			s.load.randomBody, s.load.start.Payload, documentedRandom, generate.DocumentedBody))
	}
	return p
}

// queryTrack returns a track that reads, with its own settings.
func (s *spec) queryTrack(name string) workload.Track {
	return workload.Track{
		Name: name, Ops: report.QueryOps, OpUnits: []string{"events read", "events read", "events read"}, Counted: -1, Apart: true, Total: 0,
		Start: workload.Settings{Threads: s.query.threads, Rate: s.query.rate, Batch: s.load.start.Batch, Payload: s.load.start.Payload},
		Idle:  map[string]string{"payload": "queries write nothing", "batch": "queries write nothing"},
	}
}
