package session

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/internal/workload"
)

// The ceiling of the harness is measured for ceilingTime after ceilingWarmup, and all
// of it takes no longer than ceilingLimit.
const (
	ceilingTime   = 250 * time.Millisecond
	ceilingWarmup = 50 * time.Millisecond
	ceilingLimit  = 600 * time.Millisecond
	ceilingTarget = "null:"
)

const ceilingFile = "ceilings.json"

// maxCeilings is how many figures are kept.
const maxCeilings = 500

// ceilingFigure is one figure of the file. PerS is 0 where none could be measured.
type ceilingFigure struct {
	PerS     float64   `json:"per_s"`
	Measured time.Time `json:"measured"`
}

// calibrate finds how many calls per second the harness alone does of this plan: what
// was measured on this machine before, or by running it against nothing at all. A
// ceiling that cannot be told is 0; nothing that goes wrong here is an error.
func (l *Live) calibrate(ctx context.Context) {
	if !l.calibrates() {
		return
	}
	key := l.ceilingKey(ctx)
	figure, ok := ceilings(l.env.CacheDir)[key]
	if !ok {
		figure, ok = l.measureCeiling(ctx, key)
	}
	if ok {
		l.setCeiling(figure.PerS)
	}
}

// recalibrate measures the ceiling again when the verdict would hold it against the
// run: a machine that was busy the first time gave too low a figure.
func (l *Live) recalibrate(ctx context.Context, run *rundir.Run) {
	if run.Observed == nil || !slices.Contains(run.Judge().Causes, string(verdict.Ceiling)) {
		return
	}
	if figure, ok := l.measureCeiling(ctx, l.ceilingKey(ctx)); ok && figure.PerS > run.Observed.Ceiling {
		l.setCeiling(figure.PerS)
		run.Observed = l.observedNow()
	}
}

func (l *Live) setCeiling(perS float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ceiling = perS
}

// calibrates says whether a ceiling means anything for this run. A plan of several
// phases has none: the share of each in the run is another than on nothing at all.
func (l *Live) calibrates() bool {
	if l.env.CacheDir == "" || l.Info.NoFigure != "" || len(l.Plan.Phases) != 1 {
		return false
	}
	for _, q := range l.Profile.Params {
		text := l.Inputs.Values[q.Name].Text
		if q.Kind == workload.Target && strings.Contains(text, ":") || q.Outside && text != "" {
			return false // it is no affair of another server, nor of a file that the run writes
		}
	}
	b, ok := l.Profile.Binding("null")
	return ok && b.Refuse == "" && b.Target == ""
}

// ceilingKey names everything that the ceiling depends on. Payloads count by powers
// of two.
func (l *Live) ceilingKey(ctx context.Context) string {
	h := sha256.New()
	for _, t := range l.Plan.Tracks() {
		s := t.Start
		fmt.Fprintln(h, t.Name, t.Ops, s.Threads, bits.Len(uint(max(s.Payload, 0))), s.Batch, s.Extra)
	}
	for _, v := range l.Plan.Parameters {
		fmt.Fprintln(h, v.Name, v.Text)
	}
	name := l.Profile.Name
	if l.Plan.Mode != "" {
		name += " " + l.Plan.Mode
	}
	return fmt.Sprintf("perfbench %s, %s | %s | %s %x", l.env.Version, runtime.Version(), watch.Processors(ctx), name, h.Sum(nil)[:8])
}

// measureCeiling measures and keeps the ceiling; false: it was interrupted. The file
// holds the highest figure, as whatever else runs meanwhile makes it lower only.
func (l *Live) measureCeiling(ctx context.Context, key string) (ceilingFigure, bool) {
	calls, err := l.runOnNothing(ctx)
	if ctx.Err() != nil {
		return ceilingFigure{}, false
	}
	if err != nil {
		l.env.Log.Debug("The ceiling could not be measured", "error", err)
	}
	figure := ceilingFigure{calls, time.Now().UTC().Truncate(time.Second)}
	all := ceilings(l.env.CacheDir)
	if old, ok := all[key]; ok && old.PerS > figure.PerS {
		figure.PerS = old.PerS
	}
	all[key] = figure
	if err := keepCeilings(l.env.CacheDir, all); err != nil {
		l.env.Log.Debug("The ceiling was not kept", "error", err)
	}
	return figure, true
}

// runOnNothing runs the plan as fast as it goes against a store that does nothing and
// returns how many calls it made per second.
func (l *Live) runOnNothing(ctx context.Context) (perS float64, err error) {
	ctx, cancel := context.WithTimeout(ctx, ceilingLimit)
	defer cancel()
	defer runtime.GC() // the run begins without what this has left
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v", r)
		}
	}()
	plan, classify, err := l.onNothing(ctx)
	if err != nil {
		return 0, err
	}
	if plan.Keeps != nil {
		defer func() { _ = plan.Keeps.Close() }() // a temporary one of this process
	}
	run, err := engine.Start(ctx, engine.Options{
		Plan: plan, Warmup: ceilingWarmup, Classify: classify,
		Classes: store.ClassNames, Timeout: uint8(store.Timeout), Grace: ceilingTime,
	})
	if err != nil {
		return 0, err
	}
	res, _ := run.Wait() // a time-out is as good an end as any
	if plan.Verify != nil {
		_ = plan.Verify(ctx) // ends what the plan has going
	}
	if res == nil || res.Measured < ceilingTime/2 {
		return 0, fmt.Errorf("it had no time")
	}
	calls := int64(0)
	for _, op := range res.Ops {
		calls += op.Calls
	}
	return float64(calls) / res.Measured.Seconds(), nil
}

// onNothing designs the plan for a store that does nothing, without an end or a rate
// of its own, and sets it up.
func (l *Live) onNothing(ctx context.Context) (*workload.Plan, func(error) uint8, error) {
	target, driver, err := drivers.Parse(ceilingTarget)
	if err != nil {
		return nil, nil, err
	}
	conn, err := driver.Open(ctx, target, store.OpenOptions{Threads: l.Threads(), Log: l.env.Log})
	if err != nil {
		return nil, nil, err
	}
	in := l.Inputs
	in.Values = maps.Clone(in.Values) // as it was when the run's own plan was designed
	in.Driver, in.Hosts, in.Agent, in.RunID = driver.Name, nil, "", "ceiling"
	in.Duration, in.Count, in.Warmup = ceilingTime, 0, ceilingWarmup
	plan, err := l.Profile.Design(in)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range plan.Tracks() {
		t.Start.Rate = 0
	}
	b, _ := l.Profile.Binding(driver.Name)
	if err := b.New(ctx, conn, plan); err != nil {
		return nil, nil, err
	}
	if plan.Setup != nil {
		if err := plan.Setup(ctx, func(int64, int64) {}); err != nil {
			return nil, nil, err
		}
	}
	return plan, func(err error) uint8 {
		if engine.IsPanic(err) {
			return uint8(store.Panicked)
		}
		return uint8(conn.Classify(err))
	}, ctx.Err()
}

// ceilings returns the figures kept; never nil. A file that is missing or cannot be
// read has none.
func ceilings(dir string) map[string]ceilingFigure {
	out := map[string]ceilingFigure{}
	data, err := os.ReadFile(filepath.Join(dir, ceilingFile))
	if err != nil || json.Unmarshal(data, &out) != nil || out == nil {
		return map[string]ceilingFigure{}
	}
	return out
}

// keepCeilings writes the newest figures. Two processes at once may lose one of
// theirs, never the file.
func keepCeilings(dir string, all map[string]ceilingFigure) error {
	for len(all) > maxCeilings {
		oldest := ""
		for key, f := range all {
			if oldest == "" || f.Measured.Before(all[oldest].Measured) {
				oldest = key
			}
		}
		delete(all, oldest)
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return replace(filepath.Join(dir, ceilingFile), append(data, '\n'))
}
