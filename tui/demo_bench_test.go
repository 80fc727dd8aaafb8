package tui

import (
	"fmt"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// TestPickerDemo begins at the picker, with runs of the past:
//
//	go test -c -o /tmp/demo ./tui && /tmp/demo -test.run TestPickerDemo -demo
func TestPickerDemo(t *testing.T) {
	if !*demo {
		t.Skip("for people: run with -demo")
	}
	b := newDemoBench()
	over := make(chan struct{})
	defer close(over)
	go func() { // ends with the test
		for {
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
				b.next.tick(100 * time.Millisecond)
			}
		}
	}()
	final, err := Show(t.Context(), demoOptions(), b)
	require.NoError(t, err)
	t.Log(final)
}

func demoOptions() Options {
	return Options{RunParams: []workload.Param{
		{Name: "duration", Kind: workload.Duration, Help: "ends the run after that long; keys wrap"},
		{Name: "count", Kind: workload.Integer, Help: "ends the run after that many units"},
		{Name: "warmup", Kind: workload.Duration, Default: "0s", Help: "runs that long before measurement begins"},
		{Name: "seed", Kind: workload.Integer, Default: "1", Help: "everything random derives from it"},
		{Name: "namespace", Kind: workload.Text, Default: "perfbench", Help: "prefix of everything made"},
		{Name: "cleanup", Kind: workload.Switch, Default: "off", Help: "delete at the end what this run made"},
	}}
}

// testDay is the day of the made-up runs; tests stand on its noon.
var testDay = time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)

// demoFolders are the runs made up before; nobody writes to them.
var demoFolders = map[string]*rundir.Folder{}

// newDemoBench has five profiles, of which two are built, and three runs.
func newDemoBench() *fakeBench {
	on := func(drivers ...string) []workload.Binding {
		var out []workload.Binding
		for _, d := range drivers {
			out = append(out, workload.Binding{Driver: d})
		}
		return out
	}
	design := func(workload.Inputs) (*workload.Plan, error) { return fakePlan(1), nil }
	b := &fakeBench{
		profiles: []workload.Profile{
			{
				Name: "ingestion", Title: "Bulk ingestion", Summary: "Fills a map in batches, as a nightly feed does.", Unit: "entries", Reads: "ingestion.properties",
				Stores: on("embedded", "redis", "cassandra", "mysql"), Presets: fstest.MapFS{}, DefaultPreset: "small", Design: design,
				Read:   func([]workload.File) (workload.Values, []string, error) { return nil, nil, nil },
				Params: []workload.Param{{Name: "testCase", Kind: workload.Choice, Choices: []string{"putall", "put", "get"}, Default: "putall", Help: "what the loaders do"}},
			},
			{
				Name: "group", Title: "Group workflow", Summary: "Runs groups of operations as a service does.", Unit: "groups", Design: design,
				Stores: append(on("embedded", "redis"), workload.Binding{Driver: "cassandra", Note: "map"}, workload.Binding{Driver: "mysql", Refuse: "no queues"}),
			},
			{Name: "tx", Title: "Tx and saga", Summary: "Moves money between accounts.", Stores: on("embedded", "redis", "mysql")},
			{Name: "authz", Title: "Authorisation", Summary: "Checks who may do what.", Stores: on("embedded", "redis", "cassandra", "mysql")},
			{Name: "event-store", Title: "Event store", Summary: "Writes and reads streams of events.", Stores: on("redis", "cassandra", "mysql")},
		},
		formats: []rundir.Format{
			{ID: "json", Title: "run.json, everything about the run"},
			{ID: "csv", Title: "series.csv, one row a second"},
			{ID: "hlog", Title: "HdrHistogram log"},
			{ID: "hgrm", Title: "percentile distribution"},
			{ID: "text", Title: "a page for people, with charts"},
			{ID: "markdown", Title: "tables for an issue or a wiki"},
			{ID: "html", Title: "one page with charts"},
			{ID: "junit", Title: "thresholds as test cases"},
			{ID: "padogrid", Title: "PadoGrid ingestion text", Profile: "ingestion"},
		},
		pong:    Pong{Info: store.Info{Name: "redis", Version: "7.2.4", Topology: "standalone"}, RoundTrip: 214 * time.Microsecond},
		folders: map[string]*rundir.Folder{},
		next:    newFakeRun(1),
	}
	b.preview = demoPreview
	for i, r := range []struct {
		at      time.Duration
		threads int
		store   string
	}{{11*time.Hour + 52*time.Minute, 32, "redis"}, {11*time.Hour + 40*time.Minute, 16, "redis"}, {-24*time.Hour - 7*time.Hour + 5*time.Minute, 8, "mysql"}} {
		key := fmt.Sprint(r)
		if demoFolders[key] == nil {
			demoFolders[key] = demoFolder(testDay.Add(r.at), r.store, r.threads, int64(i))
		}
		f := demoFolders[key]
		b.folders[f.Run.ID] = f
		b.history = append(b.history, f.Run)
	}
	b.next.outcome.ID = b.history[0].ID
	return b
}

// demoPreview previews any request, and refuses a number of threads that is none.
func demoPreview(r screen.Request) (*Preview, error) {
	plan := fakePlan(1)
	v := &Preview{
		Plan:       plan,
		Settings:   []Setting{{"threads", "16", "preset small"}, {"payload", "1 KiB", "preset small"}, {"batch", "100", "default"}, {"rate", "0", "default"}},
		Parameters: []Setting{{"testCase", "putall", "default"}},
		Run: []Setting{
			{"profile", r.Profile, "flag"},
			{"target", r.Target, "default"},
			{"preset", "small", "default"},
			{"duration", "60s", "default"},
			{"count", "–", "not given"},
			{"warmup", "5s", "preset small"},
			{"seed", "1", "default"},
			{"namespace", "perfbench", "default"},
			{"cleanup", "off", "default"},
			{"out", "results", "default"},
		},
		Tracks: []string{"feed: putall, verify with 16 threads, 10000 entries"},
		Writes: []string{`10 000 entries into the map "eligibility", which is emptied of what earlier runs of ours wrote`}, Documents: []string{"json", "csv", "hlog", "padogrid"},
		Bytes: 10_000 << 10, Connections: 16,
	}
	var problems workload.Problems
	for _, val := range r.Values {
		if k, ok := plan.Knob(val.Name); ok {
			n, err := val.Int(int64(k.Min), int64(k.Max))
			problems.Add(err)
			plan.Phases[0].Tracks[0].Start = k.Set(plan.Phases[0].Tracks[0].Start, float64(n))
		}
		switch val.Name {
		case "duration":
			_, err := val.Duration()
			problems.Add(err)
		case "cleanup":
			if val.Text == "on" {
				v.Deletes = []string{`the map "eligibility", at the end of the run`}
			}
		}
		for _, list := range [][]Setting{v.Settings, v.Parameters, v.Run} {
			for i := range list {
				if list[i].Name == val.Name {
					list[i].Text, list[i].From = val.Text, "flag"
				}
			}
		}
	}
	if r.Target == "nowhere" {
		problems.Add(fault.Input(fmt.Errorf("target: %q has no scheme", r.Target), "write it as redis://host:6379"))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return v, nil
}

// demoFolder makes up a run of a minute with a change after half of it.
func demoFolder(started time.Time, name string, threads int, seed int64) *rundir.Folder {
	const warm, length = 5, 60
	f := &rundir.Folder{Histograms: nil, Run: rundir.Run{
		Schema: 1, ID: started.Format("060102-150405") + "-ingestion-" + name, Profile: "ingestion", Unit: "entries", Target: name + "://127.0.0.1",
		Store:   rundir.Store{Name: name, Product: name, Version: "7.2.4", Topology: "standalone"},
		Started: started, Measured: started.Add(warm * time.Second), Ended: started.Add((warm + length) * time.Second), EndedBy: "duration", Seed: 1, WarmupS: warm, MeasuredS: length,
		Settings:     map[string]float64{"threads": float64(threads), "payload": 1024, "batch": 100, "rate": 0},
		Parameters:   map[string]string{"testCase": "putall"},
		Origins:      map[string]string{"threads": "preset small", "payload": "default", "testCase": "default"},
		Verification: workload.Verification{State: workload.Passed, Summary: "0 lost of 2 472 000", Checks: []workload.Check{{Name: "entries in eligibility", OK: true, Want: "2472000", Got: "2472000"}}},
		Verdict:      rundir.Verdict{State: "VALID"}, Environment: map[string]any{"cpus": 8, "go": "go1.26", "os": "linux"},
	}}
	f.Dir = "results/" + f.Run.ID
	ops := []measure.Operation{{Track: "feed", Op: "putall"}, {Track: "feed", Op: "verify"}}
	res := measure.Result{Measured: length * time.Second}
	f.Histograms = histogramsOf(f, &res, ops, threads, int(seed), warm, length)
	half := length / 2 * time.Second
	res.Segments = []measure.Segment{
		{To: half, Settings: map[string]float64{"threads": float64(threads), "payload": 1024}, Ops: res.Ops},
		{From: half, To: length * time.Second, Settings: map[string]float64{"threads": float64(threads) * 2, "payload": 1024}, Ops: res.Ops},
	}
	res.Changes = []measure.Change{{At: half, Name: "threads", From: float64(threads), To: float64(2 * threads), By: "workbench", Segment: 1}}
	res.Errors = []measure.ErrorCount{{Operation: ops[0], Class: "timeout", Count: 3}}
	res.Messages = []measure.Message{{Operation: ops[0], Class: "timeout", Text: "read tcp 127.0.0.1:6379: i/o timeout after 3s"}}
	settings, params := f.Run.Settings, f.Run.Parameters
	rundir.SetResult(&f.Run, &res)
	f.Run.Settings, f.Run.Parameters = settings, params
	f.Run.Marks = []rundir.Mark{{At: 41, Note: "backup began"}}
	return f
}

// rateOf and timeOf are what the made-up store does under so many threads.
func rateOf(threads int, n float64) float64 {
	return 48e3 * float64(threads) / (float64(threads) + 11) * (0.95 + 0.1*n)
}

func timeOf(threads int, n float64) float64 {
	return (0.3e6 + 0.028e6*float64(threads)) * math.Exp(1.1*math.Sqrt2*math.Erfinv(2*min(max(n, 1e-4), 1-1e-4)-1))
}
