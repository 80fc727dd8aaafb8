// Package tuitest provides fakes for what screens show: a bench without engine, store
// or disk, a run whose clock is moved manually, finished runs, and a stage for a single
// screen. Only tests import it.
package tuitest

import (
	"cmp"
	"context"
	"fmt"
	"github.com/perfbench/perfbench/internal/compare"
	"maps"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/kept"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/tui/screen"
)

// Bench is the rest of the program without engine, store or disk. Its fields may be set
// before use; it records what was asked of it.
type Bench struct {
	Listed   []workload.Profile
	Past     []rundir.Run
	folders  map[string]*rundir.Folder
	CanWrite []rundir.Format
	// Previewed answers Preview if it is set.
	Previewed func(request.Request) (*request.Preview, error)
	// Plans are the plan files by their paths, PlanErr what is wrong with any.
	Plans     map[string]*request.File
	PlanErr   error
	pong      screen.Pong
	PingErr   error
	StartErr  error
	Next      *Run // what Start returns
	SweepErr  error
	Foreseen  *sweep.Result           // a sweep before any run; nil: unknown
	Unswept   func(sweep.Asked) error // why what is asked makes no sweep; nil: it does
	FindErr   error                   // what CanFind returns
	NextSweep *SweepRun               // what Sweep returns
	SuiteErr  error
	NextSuite *SuiteRun // what Suite returns
	// Planned are the runs that PlanOf was given last.
	Planned []string
	// FoundPlans are what PlanFiles returns.
	FoundPlans []screen.PlanFile
	// Again is what asks for each of PastSweeps again.
	Again *request.Run
	// PastSweeps are the earlier sweeps.
	PastSweeps []sweep.Kept
	// PastGroups are what earlier runs came to that were repeated or compared.
	PastGroups []kept.Group
	// KeepErr is the error of Remove, Pack, Annotate and Retag; Packed are the runs that were
	// archived.
	KeepErr error
	Packed  []string
	Dead    int            // how many runs a workbench that died had deleted
	gone    [][]rundir.Run // the runs that there were before each time that some were removed
	Watched *Run           // what Watch returns; nil: an error

	// Secrets are the passwords that targets were started with.
	Secrets map[string]string

	Mu        sync.Mutex
	Started   []request.Request
	Swept     []sweep.Asked
	Exported  []string
	ExportErr error            // what Export fails with
	Exports   request.Exported // what was exported last
	Saved     map[string]request.Request
	Kept      map[string]request.Request
	LastErr   error
	Latest    string // the profile that was used last
}

// Profiles returns those listed.
func (b *Bench) Profiles() []workload.Profile { return b.Listed }

// Presets returns two.
func (b *Bench) Presets(string) []screen.Preset {
	return []screen.Preset{{Name: "small", Summary: "10 000 × 1 KiB"}, {Name: "large", Summary: "1 000 000 × 1 KiB"}}
}

// Stores returns four.
func (b *Bench) Stores() []screen.StoreInfo {
	return []screen.StoreInfo{
		{Driver: "embedded", Title: "Embedded", Example: "embedded:"},
		{Driver: "redis", Title: "Redis", Example: "redis://127.0.0.1:6379"},
		{Driver: "cassandra", Title: "Cassandra", Example: "cassandra://127.0.0.1/perfbench"},
		{Driver: "mysql", Title: "MySQL", Example: "mysql://root@127.0.0.1:3306/perfbench"},
	}
}

// Last returns what was stored, and LastErr.
func (b *Bench) Last() (map[string]request.Request, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return maps.Clone(b.Kept), b.LastErr
}

// Newest returns Latest.
func (b *Bench) Newest() string { return b.Latest }

// Recent returns one target.
func (b *Bench) Recent() []string { return []string{"redis://127.0.0.1:6379"} }

// Labs returns three.
func (b *Bench) Labs() []string { return []string{"lab:redis", "lab:postgres", "lab:cassandra"} }

// Plan returns the plan of that path, or PlanErr; without either it is none.
func (b *Bench) Plan(path string) (*request.File, bool, error) {
	plan, is := b.Plans[path]
	return plan, is || b.PlanErr != nil, b.PlanErr
}

// Settle records the password of a target.
func (b *Bench) Settle(target, password string) {
	if b.Secrets == nil {
		b.Secrets = map[string]string{}
	}
	b.Secrets[target] = password
}

// Foresee computes what a run of a plan would do.
func (b *Bench) Foresee(r request.Request) (*request.Preview, error) { return demoPreview(r) }

// Preview answers as Previewed does, or always the same.
func (b *Bench) Preview(r request.Request) (*request.Preview, error) {
	if b.Previewed != nil {
		return b.Previewed(r)
	}
	return &request.Preview{
		Plan:       NewPlan(1),
		Settings:   []request.Line{{Name: "threads", Text: "16", From: "preset small"}, {Name: "payload", Text: "1 KiB", From: "default"}},
		Parameters: []request.Line{{Name: "mode", Text: "put", From: "default"}},
		Run:        []request.Line{{Name: "duration", Text: "60s", From: "default"}, {Name: "warmup", Text: "5s", From: "default"}},
		Tracks:     []string{"fill: feed, 16 threads"},
		Writes:     []string{`10 000 entries into the map "eligibility"`}, Documents: []string{"json", "csv", "hlog"},
		Bytes: 10_000 << 10, Connections: 16,
	}, nil
}

// Ping answers at once.
func (b *Bench) Ping(context.Context, string, string) (screen.Pong, error) { return b.pong, b.PingErr }

// Start returns the next run, or StartErr.
func (b *Bench) Start(_ context.Context, r request.Request) (screen.Access, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.Started = append(b.Started, r)
	if b.StartErr != nil {
		return screen.Access{}, b.StartErr
	}
	return b.Next.Access(), nil
}

// History returns the earlier runs.
func (b *Bench) History() ([]rundir.Run, error) { return b.Past, nil }

// Load returns one of them.
func (b *Bench) Load(id string) (*rundir.Folder, error) {
	if f, ok := b.folders[id]; ok {
		return f, nil
	}
	return nil, fmt.Errorf("run %s: not found", id)
}

// Remove removes earlier runs, or fails with KeepErr if that is set.
func (b *Bench) Remove(ids []string) error {
	if b.KeepErr == nil {
		b.gone = append(b.gone, b.Past)
		b.Past = slices.DeleteFunc(slices.Clone(b.Past), func(r rundir.Run) bool { return slices.Contains(ids, r.ID) })
	}
	return b.KeepErr
}

// Removed is how many earlier runs were removed, Dead among them.
func (b *Bench) Removed() int {
	if len(b.gone) == 0 {
		return b.Dead
	}
	return b.Dead + len(b.gone[0]) - len(b.Past)
}

// Left is Dead.
func (b *Bench) Left() int { return b.Dead }

// Restore brings back those that were removed last.
func (b *Bench) Restore() (int, error) {
	last := len(b.gone) - 1
	n := len(b.gone[last]) - len(b.Past)
	b.Past, b.gone = b.gone[last], b.gone[:last]
	return n, b.KeepErr
}

// Pack records which runs were archived.
func (b *Bench) Pack(ids []string) error {
	b.archived(ids, true)
	b.Packed = append(b.Packed, ids...)
	return b.KeepErr
}

// Watch returns Watched, if that is set.
func (b *Bench) Watch(id string) (screen.Access, error) {
	if b.Watched == nil {
		return screen.Access{}, fmt.Errorf("run %s cannot be watched", id)
	}
	return screen.Access{Run: b.Watched, Control: b.Watched}, nil
}

// PlanName is plan.yaml.
func (*Bench) PlanName() string { return "plan.yaml" }

// PlanOf returns a plan of as many runs.
func (b *Bench) PlanOf(ids []string, name string) (screen.Suite, error) {
	b.Planned = ids
	file := &request.File{Suite: len(ids) > 1}
	for range ids {
		file.Runs = append(file.Runs, request.Run{Request: request.Request{Profile: "ingestion"}})
	}
	return screen.Suite{Path: name, File: file}, nil
}

// archived marks runs as archived, or no longer.
func (b *Bench) archived(ids []string, are bool) {
	for i := range b.Past {
		if slices.Contains(ids, b.Past[i].ID) {
			b.Past[i].Archived = are
		}
	}
}

// Unpack takes runs out of those that were archived.
func (b *Bench) Unpack(ids []string) error {
	b.archived(ids, false)
	b.Packed = slices.DeleteFunc(b.Packed, func(id string) bool { return slices.Contains(ids, id) })
	return b.KeepErr
}

// Annotate sets a note on an earlier run, unless KeepErr is set.
func (b *Bench) Annotate(id, note string) error {
	b.Past = slices.Clone(b.Past)
	for i := range b.Past {
		if b.Past[i].ID == id && b.KeepErr == nil {
			b.Past[i].Note = note
		}
	}
	return b.KeepErr
}

// Retag sets the tags of an earlier run, unless KeepErr is set.
func (b *Bench) Retag(id string, words []string) error {
	tags, err := request.Tags(words)
	if err := cmp.Or(err, b.KeepErr); err != nil {
		return err
	}
	b.Past = slices.Clone(b.Past)
	for i := range b.Past {
		if b.Past[i].ID == id {
			b.Past[i].Tags = tags
		}
	}
	return nil
}

// Keep sets the directory of an earlier run.
func (b *Bench) Keep(id, dir string) {
	f := *b.folders[id]
	f.Dir = dir
	b.folders[id] = &f
}

// Formats returns those that can be written.
func (b *Bench) Formats(*rundir.Folder) []rundir.Format { return b.CanWrite }

// Export returns what it would have written.
func (b *Bench) Export(id string, formats []string, dir string) ([]string, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.ExportErr != nil {
		return nil, b.ExportErr
	}
	var out []string
	for _, f := range formats {
		out = append(out, dir+"/"+id+"/report."+f)
	}
	b.Exported = append(b.Exported, out...)
	b.Exports = request.Exported{Formats: formats, Dir: dir}
	return out, nil
}

// LastExported returns what the last Export was given.
func (b *Bench) LastExported() request.Exported { return b.Exports }

// SavePreset stores the run in Saved.
func (b *Bench) SavePreset(name string, r request.Request) (string, error) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	if b.Saved == nil {
		b.Saved = map[string]request.Request{}
	}
	b.Saved[r.Profile+"/"+name] = r
	return "~/.config/perfbench/presets/" + r.Profile + "/" + name + ".yaml", nil
}

// Logs returns one line.
func (b *Bench) Logs() []string { return []string{"11:40:02 INFO Connected store=redis"} }

// KeepNoise keeps nothing.
func (b *Bench) KeepNoise(compare.Set) error { return nil }
