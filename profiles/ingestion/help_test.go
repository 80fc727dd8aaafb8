package ingestion

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
)

// given makes values: "name=value" pairs of flags over the parameters' defaults.
func given(pairs ...[2]string) workload.Values {
	vs := workload.Values{}
	for _, p := range params() {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	for _, p := range pairs {
		vs.Set(workload.Value{Name: p[0], Text: p[1], Origin: workload.OriginFlag, Where: "--set"})
	}
	return vs
}

// withFile adds the values of a file to vs.
func withFile(t *testing.T, vs workload.Values, name, text string) (workload.Values, []string) {
	t.Helper()
	from, warnings, err := Read([]workload.File{{Path: name, Data: []byte(text)}})
	require.NoError(t, err)
	for _, v := range from {
		vs.Set(v)
	}
	return vs, warnings
}

// design makes a plan that must be possible.
func design(t *testing.T, in workload.Inputs) *workload.Plan {
	t.Helper()
	p, err := Design(in)
	require.NoError(t, err)
	return p
}

func specOf(p *workload.Plan) *spec { return p.Binder.(*spec) }

func open(t *testing.T, target string) store.Conn {
	t.Helper()
	return profiletest.Open(t, target)
}

// smallCase is a run on both maps with a few entries.
func smallCase(target string) profiletest.Case {
	return profiletest.Case{Profile: Profile(), Formats: []rundir.Format{Format()}, Target: target, Set: []string{
		"mapNames=eligibility,profile", "memberSetSize=5", "totalEntryCount=200", "threadCount=4", "batchSize=20", "payloadSize=32", "testCount=1", "testIntervalInMsec=0", "seed=7",
	}}
}

// samples is a recorder for tests. It belongs to one worker.
type samples struct {
	list []measure.Sample
	keep bool
}

func (s *samples) Add(v measure.Sample) {
	if s.keep {
		s.list = append(s.list, v)
	}
}
func (s *samples) Started(int64)              {}
func (s *samples) Ended()                     {}
func (s *samples) Failed(uint16, error) uint8 { return 1 }

// driver is a small engine: it runs the workers of a bound plan's tracks until
// they have no more work, without pacing.
type driver struct {
	t     *testing.T
	p     *workload.Plan
	epoch time.Time
	units map[string]int64
	mu    sync.Mutex
}

func newDriver(t *testing.T, p *workload.Plan) *driver {
	return &driver{t: t, p: p, epoch: time.Now(), units: map[string]int64{}}
}

// worker returns an iteration for one worker of a track, and its recorder.
func (d *driver) worker(track int, id int, set *workload.Settings) (*workload.Iteration, *samples) {
	rec := &samples{keep: true}
	it := &workload.Iteration{Worker: id, Settings: set}
	it.Bind(func() int64 { return int64(time.Since(d.epoch)) }, rec, track)
	return it, rec
}

// run runs all tracks to their end, each with threads workers; 0: as planned.
func (d *driver) run(ctx context.Context, threads int) {
	d.t.Helper()
	var wg sync.WaitGroup
	for i, tr := range d.p.Tracks() {
		set := tr.Start
		if threads > 0 {
			set.Threads = threads
		}
		for id := range set.Threads {
			task, err := tr.NewTask(id)
			require.NoError(d.t, err)
			it, rec := d.worker(i, id, &set)
			wg.Go(func() {
				for {
					it.Reset(math.MaxInt64)
					if err := task.Do(ctx, it); errors.Is(err, workload.ErrDone) || ctx.Err() != nil {
						break
					}
				}
				d.mu.Lock()
				defer d.mu.Unlock()
				for _, s := range rec.list {
					if s.Class == 0 {
						d.units[tr.Name] += int64(s.Units)
					}
				}
			})
		}
	}
	wg.Wait()
}

// bound designs a plan and binds it to a connection.
func bound(t *testing.T, c store.Conn, in workload.Inputs) *workload.Plan {
	t.Helper()
	return profiletest.Bind(t, Name, design(t, in), c, in, "run-1")
}

func setUp(t *testing.T, p *workload.Plan) {
	t.Helper()
	require.NoError(t, p.Setup(t.Context(), nil))
}
