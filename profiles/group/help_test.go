package group

import (
	"context"
	"encoding/json"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/preset"
	formats "github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/design"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/report"
	"github.com/perfbench/perfbench/profiles/padogrid"
)

// given makes values: names and values of flags over the parameters' defaults.
func given(pairs ...string) workload.Values {
	vs := workload.Values{}
	for _, p := range design.Params() {
		if p.Default != "" {
			vs.Set(workload.Value{Name: p.Name, Text: p.Default, Origin: workload.OriginDefault})
		}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		vs.Set(workload.Value{Name: pairs[i], Text: pairs[i+1], Origin: workload.OriginFlag, Where: "--set"})
	}
	return vs
}

// fromFile designs the plan of a properties file with flags over it.
func fromFile(t *testing.T, text string, flags ...string) (*workload.Plan, error) {
	t.Helper()
	vs := given(flags...)
	from, warnings, err := design.Read([]workload.File{{Path: "f.properties", Data: []byte(text)}})
	if err != nil {
		return nil, err
	}
	for _, v := range from {
		vs.Set(v)
	}
	p, err := plan(workload.Inputs{Values: vs, Seed: 1, Namespace: "perfbench", Driver: "redis"})
	if p != nil {
		p.Warnings = append(warnings, p.Warnings...)
	}
	return p, err
}

func specOf(t *testing.T, p *workload.Plan) *model.Spec {
	t.Helper()
	require.NotNil(t, p)
	return p.Binder.(binder).s
}

// runs carries out a whole run as the command does, and returns its outcome with
// the facts.
func runs(t *testing.T, target string, files []string, values ...string) (*session.Outcome, report.Facts) {
	t.Helper()
	o, err := try(t, target, files, values...)
	require.NoError(t, err)
	require.NoError(t, o.Err)
	var f report.Facts
	require.NoError(t, json.Unmarshal(o.Run.Facts, &f))
	return o, f
}

// timetable holds the live changes of the next run: see timed.
var timetable []string

func try(t *testing.T, target string, files []string, values ...string) (*session.Outcome, error) {
	t.Helper()
	return tryContext(t.Context(), t, target, files, values...)
}

func tryContext(ctx context.Context, t *testing.T, target string, files []string, values ...string) (*session.Outcome, error) {
	t.Helper()
	env := session.Env{
		Profiles: []workload.Profile{Profile()}, Formats: formats.All(Format(), padogrid.CSVFormat(Name, Format())), Version: "test", Log: slog.New(slog.DiscardHandler),
	}
	req := session.Request{Profile: Name, Target: target, Out: t.TempDir(), Values: workload.Values{}, Files: files, Formats: []string{"json", "hlog", "csv", FormatID, padogrid.CSVFormatID}}
	req.Timetable = timetable
	for i := 0; i+1 < len(values); i += 2 {
		if values[i] == "preset" {
			req.Preset = values[i+1]
			continue
		}
		req.Values.Set(workload.Value{Name: values[i], Text: values[i+1], Origin: workload.OriginFlag, Where: "--set"})
	}
	p, err := session.Prepare(ctx, env, req)
	if err != nil {
		return nil, err
	}
	l, err := p.Start(ctx, nil)
	if err != nil {
		return nil, err
	}
	<-l.Done()
	return l.Finish(context.WithoutCancel(ctx)), nil
}

// write makes a file in a folder of the test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func open(t *testing.T, target string) store.Conn {
	t.Helper()
	tg, _, err := drivers.Parse(target)
	require.NoError(t, err)
	c, err := drivers.Open(t.Context(), tg, store.OpenOptions{Threads: 8})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// errorless asserts that nothing failed and that what was stored was compared.
func errorless(t *testing.T, o *session.Outcome) {
	t.Helper()
	assert.Empty(t, o.Run.Errors)
	want := workload.Passed
	if o.Run.Parameters["preset"] == "get" { // it writes nothing
		want = workload.Skipped
	}
	assert.Equal(t, want, o.Run.Verification.State, "%+v", o.Run.Verification)
	assert.NotEmpty(t, o.Run.Operations)
}

func opOf(t *testing.T, o *session.Outcome, track, op string) rundir.Operation {
	t.Helper()
	for _, x := range o.Run.Operations {
		if x.Track == track && x.Op == op {
			return x
		}
	}
	require.Fail(t, "no such operation", "%s.%s", track, op)
	return rundir.Operation{}
}

func presetNames(t *testing.T) []string {
	t.Helper()
	all, err := preset.List(Profile().Presets)
	require.NoError(t, err)
	var out []string
	for _, p := range all {
		out = append(out, p.Name)
	}
	return out
}

// silent is a recorder that counts. It belongs to one worker.
type silent struct{ n int }

func (s *silent) Add(measure.Sample)         { s.n++ }
func (s *silent) Started(int64)              {}
func (s *silent) Ended()                     {}
func (s *silent) Failed(uint16, error) uint8 { return 1 }

// drive runs the first track of a bound plan with so many workers until none has
// work left, whatever number was planned.
func drive(t *testing.T, p *workload.Plan, threads int) {
	t.Helper()
	tr := p.Tracks()[0]
	set := tr.Start
	set.Threads = threads
	var wg sync.WaitGroup
	for id := range threads {
		task, err := tr.NewTask(id)
		require.NoError(t, err)
		it := &workload.Iteration{Worker: id, Settings: &set}
		epoch := time.Now()
		it.Bind(func() int64 { return int64(time.Since(epoch)) }, &silent{}, 0)
		wg.Go(func() {
			for {
				it.Reset(math.MaxInt64)
				if err := task.Do(t.Context(), it); err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
}
