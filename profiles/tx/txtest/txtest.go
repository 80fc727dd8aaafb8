// Package txtest holds what the tests of the modes of tx share. It is for tests only.
package txtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
	"github.com/perfbench/perfbench/profiles/tx/shared"
)

// Mode is a mode under test.
type Mode struct {
	// Params are its parameters, but for those that it shares; Design makes its plans.
	Params []workload.Param
	Design func(r *values.Reader, in workload.Inputs) (*workload.Plan, error)
}

// Plan designs a plan.
func (m Mode) Plan(in workload.Inputs) (*workload.Plan, error) {
	r := values.New(in.Values)
	p, err := m.Design(r, in)
	if err != nil {
		return nil, err
	}
	p.Parameters, p.Warnings = r.Shown, r.Warnings
	return p, nil
}

// Given makes values: "name=value" texts of flags over the parameters' defaults.
func (m Mode) Given(pairs ...string) workload.Values {
	vs := workload.Values{}
	for _, p := range append(slices.Clip(m.Params), shared.Zipf) {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	for _, p := range pairs {
		name, text, _ := strings.Cut(p, "=")
		vs.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag, Where: "--set"})
	}
	return vs
}

var runs atomic.Int64

// Inputs are those of a run that is alone in its namespace.
func Inputs(vs workload.Values) workload.Inputs {
	return workload.Inputs{Values: vs, Seed: 1, Namespace: "t"}
}

// Alone are inputs in a namespace of its own, for a server that others use too.
func Alone(vs workload.Values) workload.Inputs {
	in := Inputs(vs)
	in.Namespace = "pg_t" + // as careless patterns may take for the database's own
		strconv.FormatInt(runs.Add(1), 10)
	return in
}

// Open opens a target for the time of the test.
func Open(t testing.TB, target string) store.Conn {
	t.Helper()
	tg, _, err := drivers.Parse(target)
	require.NoError(t, err)
	c, err := drivers.Open(t.Context(), tg, store.OpenOptions{Threads: 64})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Bound designs a plan and binds it, as a run of its own, to a connection of the
// target's driver.
func (m Mode) Bound(t testing.TB, c store.Conn, driver string, in workload.Inputs) *workload.Plan {
	t.Helper()
	in.Driver = driver
	p, err := m.Plan(in)
	require.NoError(t, err)
	return profiletest.Bind(t, "tx", p, c, in, fmt.Sprint(time.Now(), runs.Add(1)))
}

// DriverOf is the driver's name of a target.
func DriverOf(t testing.TB, target string) string {
	t.Helper()
	_, d, err := drivers.Parse(target)
	require.NoError(t, err)
	return d.Name
}

// Ready opens a target, and binds and sets up a plan on it.
func (m Mode) Ready(t testing.TB, target string, in workload.Inputs) (*workload.Plan, store.Conn) {
	t.Helper()
	c := Open(t, target)
	p := m.Bound(t, c, DriverOf(t, target), in)
	require.NoError(t, p.Setup(t.Context(), nil))
	return p, c
}

// Samples is a recorder for tests.
type Samples struct {
	mu   sync.Mutex
	list []measure.Sample
	// Errs are those of operations.
	Errs []error
}

// Add keeps a sample.
func (s *Samples) Add(v measure.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, v)
}

// Started does nothing.
func (s *Samples) Started(int64) {}

// Ended does nothing.
func (s *Samples) Ended() {}

// Failed keeps an error.
func (s *Samples) Failed(_ uint16, err error) uint8 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Errs = append(s.Errs, err)
	return 1
}

// Ops counts the Samples without and with an error by operation.
func (s *Samples) Ops(op workload.Op) (good, bad int) {
	for _, v := range s.list {
		if v.Op != uint16(op) {
			continue
		}
		if v.Class == 0 {
			good++
		} else {
			bad++
		}
	}
	return good, bad
}

// Drive runs the workers of one phase without pacing until they have no more
// work, the track has its iterations, or stop says so.
func Drive(ctx context.Context, t testing.TB, p *workload.Plan, stop func() bool) *Samples {
	t.Helper()
	rec, err := Work(ctx, p, stop)
	require.NoError(t, err)
	return rec
}

// Work is Drive for a goroutine that is not the test's.
func Work(ctx context.Context, p *workload.Plan, stop func() bool) (*Samples, error) {
	rec := &Samples{}
	for _, ph := range p.Phases {
		if err := workPhase(ctx, &ph, rec, stop); err != nil {
			return rec, err
		}
	}
	return rec, nil
}

func workPhase(ctx context.Context, ph *workload.Phase, rec *Samples, stop func() bool) error {
	began := time.Now()
	var wg sync.WaitGroup
	for i := range ph.Tracks {
		tr := &ph.Tracks[i]
		var seq atomic.Int64
		for w := range tr.Start.Threads {
			task, err := tr.NewTask(w)
			if err != nil {
				return err
			}
			wg.Go(func() {
				it := &workload.Iteration{Worker: w, Settings: &tr.Start}
				it.Bind(func() int64 { return int64(time.Since(began)) }, rec, 0)
				for {
					n := seq.Add(1)
					if tr.Iterations > 0 && n > tr.Iterations || ctx.Err() != nil || stop != nil && stop() {
						return
					}
					it.Seq = n - 1
					it.Reset(math.MaxInt64)
					if err := task.Do(ctx, it); errors.Is(err, workload.ErrDone) {
						return
					} else if err != nil {
						time.Sleep(time.Millisecond) // as the engine does when a store is away
					}
				}
			})
		}
	}
	wg.Wait()
	return nil
}

// TypedSQL opens a database.
func TypedSQL(t testing.TB, url string) sqlstore.Typed {
	t.Helper()
	c, ok := Open(t, url).(sqlstore.Typed)
	require.True(t, ok)
	return c
}

// Rand draws the same numbers each time.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) } //nolint:gosec // no secret
