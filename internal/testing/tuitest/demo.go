package tuitest

import (
	"fmt"
	"testing/fstest"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/rundirtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// RunParams returns some of the parameters that every run has.
func RunParams() []workload.Param {
	return []workload.Param{
		{Name: "duration", Kind: workload.Duration, Help: "ends the run after this long; keys wrap"},
		{Name: "count", Kind: workload.Integer, Help: "ends the run after this many units"},
		{Name: "warmup", Kind: workload.Duration, Default: "0s", Help: "runs this long before measurement begins"},
		{Name: "seed", Kind: workload.Integer, Default: "1", Help: "everything random derives from it"},
		{Name: "namespace", Kind: workload.Text, Default: "perfbench", Help: "prefix of everything made"},
		{Name: "cleanup", Kind: workload.Switch, Default: "off", Help: "delete at the end what this run made"},
	}
}

// Day is the day of the fake runs; tests run at noon of that day.
var Day = time.Date(2026, 5, 3, 0, 0, 0, 0, time.UTC)

// demoFolders caches the runs made so far; nobody modifies them.
var demoFolders = map[string]*rundir.Folder{}

// NewDemo returns a bench with five profiles, of which two are implemented, and three
// runs.
func NewDemo() *Bench {
	on := func(drivers ...string) []workload.Binding {
		var out []workload.Binding
		for _, d := range drivers {
			out = append(out, workload.Binding{Driver: d})
		}
		return out
	}
	design := func(workload.Inputs) (*workload.Plan, error) { return NewPlan(1), nil }
	b := &Bench{
		Listed: []workload.Profile{
			{
				Name: "ingestion", Title: "Bulk ingestion", Summary: "Fills a map in batches, as a nightly feed does.", Unit: "entries", Reads: "ingestion.properties",
				Stores: on("embedded", "redis", "cassandra", "mysql"), Presets: fstest.MapFS{}, DefaultPreset: "small", Design: design,
				Read:   func([]workload.File) (workload.Values, workload.Found, error) { return nil, workload.Found{}, nil },
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
		CanWrite: []rundir.Format{
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
		pong:    screen.Pong{Info: store.Info{Name: "redis", Version: "7.2.4", Topology: "standalone"}, RoundTrip: 214 * time.Microsecond},
		folders: map[string]*rundir.Folder{},
		Next:    NewRun(1),
	}
	b.Previewed = demoPreview
	for i, r := range []struct {
		at      time.Duration
		threads int
		store   string
	}{{11*time.Hour + 52*time.Minute, 32, "redis"}, {11*time.Hour + 40*time.Minute, 16, "redis"}, {-24*time.Hour - 7*time.Hour + 5*time.Minute, 8, "mysql"}} {
		key := fmt.Sprint(r)
		if demoFolders[key] == nil {
			demoFolders[key] = rundirtest.NewFolder(Day.Add(r.at), r.store, r.threads, int64(i))
		}
		f := *demoFolders[key] // the fields are the caller's own, what they point to is shared
		b.folders[f.Run.ID] = &f
		b.Past = append(b.Past, f.Run)
	}
	b.Next.Came.ID = b.Past[0].ID
	return b
}

// demoPreview previews any request, and rejects an invalid number of threads.
func demoPreview(r request.Request) (*request.Preview, error) {
	plan := NewPlan(1)
	v := &request.Preview{
		Plan:       plan,
		Settings:   []request.Line{{Name: "threads", Text: "16", From: "preset small"}, {Name: "payload", Text: "1 KiB", From: "preset small"}, {Name: "batch", Text: "100", From: "default"}, {Name: "rate", Text: "0", From: "default"}},
		Parameters: []request.Line{{Name: "testCase", Text: "putall", From: "default"}},
		Run: []request.Line{
			{Name: "profile", Text: r.Profile, From: "flag"},
			{Name: "target", Text: r.Target, From: "default"},
			{Name: "preset", Text: "small", From: "default"},
			{Name: "duration", Text: "forever", From: "default"},
			{Name: "count", Text: "–", From: "not given"},
			{Name: "warmup", Text: "5s", From: "preset small"},
			{Name: "seed", Text: "1", From: "default"},
			{Name: "namespace", Text: "perfbench", From: "default"},
			{Name: "cleanup", Text: "off", From: "default"},
			{Name: "out", Text: "results", From: "default"},
		},
		Length: "no end: until you stop it",
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
		for _, list := range [][]request.Line{v.Settings, v.Parameters, v.Run} {
			for i := range list {
				if list[i].Name == val.Name {
					list[i].Text, list[i].From = val.Text, "flag"
				}
			}
		}
	}
	if r.Target == "nowhere" {
		problems.Add(fault.Field("target", fault.Input(fmt.Errorf("target: %q has no scheme", r.Target), "write it as redis://host:6379")))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return v, nil
}
