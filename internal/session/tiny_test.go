package session_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"testing"
	"testing/fstest"
	"time"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/memory"
	"github.com/perfbench/perfbench/internal/store/null"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/workload"
)

// tiny is a small but complete profile: two tracks that each store values in a
// map of their own and verify their number.
var tiny = workload.Profile{
	Name: "tiny", Title: "Tiny", Unit: "entries", DefaultPreset: "small", Formats: []string{"tiny"},
	Presets: fstest.MapFS{
		"small.yaml": {Data: []byte("# A small one.\nthreads: 2\ncount: 100\ncolour: green\n")},
		"large.yaml": {Data: []byte("# A large one.\nthreads: 8\nduration: 10s\n")},
	},
	Params: []workload.Param{
		{Name: "colour", Kind: workload.Text, Default: "red", Track: true},
		{Name: "lose", Kind: workload.Integer, Default: "0"},
	},
	Read: func(files []workload.File) (workload.Values, workload.Found, error) {
		vs := workload.Values{}
		for _, f := range files {
			vs.Set(workload.Value{Name: "colour", Text: string(f.Data), Origin: workload.OriginFile, Where: f.Path + ":1"})
		}
		return vs, workload.Found{Warnings: []string{"this file is tiny"}}, nil
	},
	Stores: []workload.Binding{
		{Driver: "memory"},
		{Driver: "null", Refuse: "it keeps nothing"},
	},
	Design: designTiny,
}

func designTiny(in workload.Inputs) (*workload.Plan, error) {
	plan := &workload.Plan{
		Unit: "entries", Knobs: []workload.Knob{workload.Threads(), workload.Rate("entries"), workload.Payload()},
		Writes: []string{"two maps"}, Bytes: 1 << 20,
	}
	var problems workload.Problems
	ph := workload.Phase{Name: "all", Duration: in.Duration}
	for i, name := range []string{"left", "right"} {
		tr := workload.Track{Name: name, Ops: []string{"put"}, Start: workload.Settings{Threads: 1, Payload: 16, Batch: 1}}
		for _, k := range plan.Knobs {
			v, ok := in.Values.Pick(name+"."+k.Name, k.Name)
			if !ok {
				continue
			}
			f, err := k.Parse(v.Text)
			if err != nil && i == 0 {
				problems.Add(fmt.Errorf("%s (%s): %w", v.Name, v.From(), err))
			}
			if k.Sum && v.Name == k.Name {
				f = float64(workload.Split(int(f), 2, i))
			}
			tr.Start = k.Set(tr.Start, max(f, k.Min))
		}
		if in.Count > 0 {
			tr.Iterations = int64(workload.Split(int(in.Count), 2, i))
			tr.Total = tr.Iterations
		}
		colour, _ := in.Values.Pick(name+".colour", "colour")
		plan.Parameters = append(plan.Parameters, workload.Value{Name: name + ".colour", Text: colour.Text, Origin: colour.Origin, Where: colour.Where})
		ph.Tracks = append(ph.Tracks, tr)
		plan.Spaces = append(plan.Spaces, store.Space{Namespace: in.Namespace, Name: name, Shape: store.Map})
	}
	plan.Phases = []workload.Phase{ph}
	lose, err := in.Values["lose"].Int(0, 100)
	problems.Add(err)
	plan.Binder = binder(func(ctx context.Context, b *workload.Bound) error { return bindTiny(ctx, b, lose) })
	return plan, problems.Err()
}

// binder connects a plan to any store.
type binder workload.Connector

func (c binder) Connector(string) workload.Connector { return workload.Connector(c) }

// boundBy is a profile whose plans another one connects to the stores of these drivers,
// with the help of their own.
func boundBy(p workload.Profile, connect func(ctx context.Context, b *workload.Bound, own workload.Connector) error, drivers ...string) workload.Profile {
	p.Stores = nil
	for _, d := range drivers {
		p.Stores = append(p.Stores, workload.Binding{Driver: d})
	}
	design := p.Design
	p.Design = func(in workload.Inputs) (*workload.Plan, error) {
		plan, err := design(in)
		if plan != nil {
			own := plan.Binder.Connector("")
			plan.Binder = binder(func(ctx context.Context, b *workload.Bound) error { return connect(ctx, b, own) })
		}
		return plan, err
	}
	return p
}

func bindTiny(_ context.Context, b *workload.Bound, lose int64) error {
	p := b.Plan
	db, err := store.As[store.Setter](b.Conn)
	if err != nil {
		return err
	}
	keep, err := store.As[store.Keeper](b.Conn)
	if err != nil {
		return err
	}
	val := make([]byte, 64)
	tracks := p.Tracks()
	for i, tr := range tracks {
		tr.NewTask = func(int) (workload.Task, error) {
			return workload.TaskFunc(func(ctx context.Context, it *workload.Iteration) error {
				m := it.Begin(0)
				time.Sleep(100 * time.Microsecond)
				return it.End(m, 1, db.Set(ctx, p.Spaces[i], strconv.AppendInt(nil, it.Seq, 10), val[:it.Settings.Payload]))
			}), nil
		}
	}
	p.Parts = workload.Parts{&tinyData{p.Spaces, keep, lose}}
	return nil
}

// verifying and removing are parts of a plan that do nothing else.
type (
	verifying func(ctx context.Context) workload.Verification
	removing  func(ctx context.Context) error
)

func (f verifying) Verify(ctx context.Context) workload.Verification { return f(ctx) }

func (f removing) Teardown(ctx context.Context) error { return f(ctx) }

// tinyData is what a tiny plan stores.
type tinyData struct {
	spaces []store.Space
	keep   store.Keeper
	lose   int64
}

func (d *tinyData) Setup(_ context.Context, progress func(done, total int64)) error {
	progress(1, 1)
	return nil
}

func (d *tinyData) Verify(context.Context) workload.Verification {
	if d.lose > 0 {
		return workload.Verification{State: workload.Failed, Summary: fmt.Sprintf("%d entries are missing", d.lose)}
	}
	return workload.Verification{State: workload.Passed, Summary: "all there"}
}

func (d *tinyData) Teardown(ctx context.Context) error {
	for _, s := range d.spaces {
		if _, err := d.keep.Drop(ctx, s, nil); err != nil {
			return err
		}
	}
	return nil
}

var document = rundir.Format{ID: "tiny", Profile: "tiny", Encode: func(f *rundir.Folder) ([]rundir.File, error) {
	return []rundir.File{{Name: "tiny.txt", Data: []byte(f.Run.ID + "\n")}}, nil
}}

func none(*rundir.Folder) ([]rundir.File, error) { return nil, nil }

func env(t *testing.T, environ ...string) session.Env {
	t.Helper()
	return session.Env{
		Profiles: []workload.Profile{tiny},
		Formats: []rundir.Format{
			{ID: "json", Encode: none}, {ID: "csv", Encode: none}, {ID: "hlog", Encode: none}, document,
		},
		Drivers: store.Drivers{redis.Driver, memory.Driver, null.Driver}, Environ: environ, Version: "test", Log: slog.New(slog.DiscardHandler),
	}
}

func asked(t *testing.T, flags ...string) session.Request {
	t.Helper()
	r := session.Request{Profile: "tiny", Target: "memory:", Out: t.TempDir(), Values: workload.Values{}}
	for i := 0; i+1 < len(flags); i += 2 {
		r.Values.Set(workload.Value{Name: flags[i], Text: flags[i+1], Origin: workload.OriginFlag, Where: "--" + flags[i]})
	}
	return r
}

func hints(err error) []string {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		var out []string
		for _, e := range many.Unwrap() {
			out = append(out, hints(e)...)
		}
		return out
	}
	if h := fault.HintOf(err); h != "" {
		return []string{h}
	}
	return nil
}
