// Package mix is the profile of any application whose calls can be listed: data, operations
// on them, and how often each is called. It reads YAML of its own and the files of other
// tools, chooses records by one distribution over all threads and workers, and checks what
// it reads.
//
// Its parts are structured as the table in CONTRIBUTING.md says. Besides them, own reads
// and writes our YAML, and foreign reads the files of other tools.
package mix

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/cassandra"
	"github.com/perfbench/perfbench/internal/store/coherence"
	"github.com/perfbench/perfbench/internal/store/memcached"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/internal/yaml"

	"github.com/perfbench/perfbench/profiles/mix/foreign"
	"github.com/perfbench/perfbench/profiles/mix/inmemory"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/oncassandra"
	"github.com/perfbench/perfbench/profiles/mix/oncoherence"
	"github.com/perfbench/perfbench/profiles/mix/onmemcached"
	"github.com/perfbench/perfbench/profiles/mix/onredis"
	"github.com/perfbench/perfbench/profiles/mix/onsql"
	"github.com/perfbench/perfbench/profiles/mix/own"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// Name is the profile's name.
const Name = "mix"

//go:embed presets
var presets embed.FS

// Profile returns the profile's description.
func Profile() workload.Profile {
	fsys, _ := fs.Sub(presets, "presets") // cannot fail: the name is valid
	return workload.Profile{
		Name:          Name,
		Title:         "Any mix of calls",
		Summary:       "The workload that you have: data, operations, and how often each is called with which keys.",
		Unit:          "operations",
		Reads:         "our own YAML; captures; memtier command lines and the suites that wrap them, YCSB properties, cassandra-stress profiles",
		Writes:        "run.json with the hit ratio",
		Thread:        "a client",
		Presets:       request.Overlay(fsys, foreign.TwitterPresets()),
		DefaultPreset: "shop",
		Params:        params(),
		Stores:        bindings(),
		Read:          Read,
		Inline:        []string{memtier},
		Replays:       true,
		Design:        Design,
	}
}

func bindings() []workload.Binding {
	return []workload.Binding{
		{Driver: "embedded"},
		{Driver: "redis"},
		{Driver: "memory"},
		{Driver: "null"},
		{Driver: "cassandra"},
		{Driver: "mysql"},
		{Driver: "postgres"},
		{Driver: "sqlite"},
		{Driver: "coherence", Note: "values, records and counters"},
		{Driver: "memcached", Note: "values and counters"},
		{Driver: "dtm", Refuse: "a dtm server coordinates transactions and stores no records; use redis:// or embedded:"},
		{Driver: "dtm-bench", Refuse: "it carries out sagas and stores no records; use redis:// or embedded:"},
	}
}

// Design works out the plan. It touches nothing; all problems are returned joined, with
// the code of bad input.
func Design(in workload.Inputs) (*workload.Plan, error) {
	if v, ok := in.Values[captureParam.Name]; ok && strings.TrimSpace(v.Text) != "" {
		d := newDesigner(in)
		p, _ := d.replayed(v)
		return p, d.Problems.Err()
	}
	p, s, err := design(in)
	if err != nil {
		return nil, err
	}
	p.Binder = &binder{s}
	return p, nil
}

// Read reads the files of --file: YAML of ours, which may have values of the run beside the
// workload, or the files of other tools. A workload becomes the text of our YAML.
func Read(files []workload.File) (workload.Values, workload.Found, error) {
	return values.Files(files, read)
}

func read(f workload.File) ([]workload.Value, workload.Found, error) {
	if f.Capture {
		return []workload.Value{{Name: captureParam.Name, Text: f.Path, Origin: workload.OriginFile, Where: f.Path}}, workload.Found{}, nil
	}
	w, notes, err := foreign.Read(f)
	if err != nil {
		return nil, workload.Found{}, err
	}
	if w == nil && len(notes) == 0 {
		return readOwn(f)
	}
	if err := foreign.Refusal(notes); err != nil {
		return nil, workload.Found{}, fault.Code(err, fault.CodeInput)
	}
	found := workload.Found{Keys: inOrder(notes)}
	for _, n := range found.Keys {
		if n.State == workload.KeyApproximated {
			found.Warnings = append(found.Warnings, fmt.Sprintf("%s: %s: %s", n.Where, n.Key, n.Text))
		}
	}
	if err := w.Complete(); err != nil {
		return nil, workload.Found{}, fault.Sentence(f.Path+": "+err.Error(), err)
	}
	return append(ofRun(f.Path, &w.Run), valueOf(f.Path, w)), found, nil
}

// inOrder sorts keys by their lines; a place may have none.
func inOrder(keys []workload.FileKey) []workload.FileKey {
	line := func(k workload.FileKey) int {
		n, _ := strconv.Atoi(k.Where[strings.LastIndexByte(k.Where, ':')+1:])
		return n
	}
	slices.SortStableFunc(keys, func(a, b workload.FileKey) int { return line(a) - line(b) })
	return keys
}

// valueOf is the value that a workload travels as.
func valueOf(path string, w *model.Workload) workload.Value {
	return workload.Value{Name: "workload", Text: own.Write(w), Origin: workload.OriginFile, Where: path}
}

// ofRun are the values of how a file wants its workload run.
func ofRun(path string, r *model.Run) (out []workload.Value) {
	add := func(name, text string) {
		out = append(out, workload.Value{Name: name, Text: text, Origin: workload.OriginFile, Where: path})
	}
	if r.Threads > 0 {
		add("threads", strconv.Itoa(r.Threads))
	}
	if r.Rate > 0 {
		add("rate", strconv.FormatFloat(r.Rate, 'f', -1, 64))
	}
	if r.Count > 0 {
		add("count", strconv.FormatInt(r.Count, 10))
	}
	if r.Duration > 0 {
		add("duration", units.Typed(r.Duration))
	}
	return out
}

// readOwn reads YAML of ours.
func readOwn(f workload.File) ([]workload.Value, workload.Found, error) {
	top, err := own.Form.Parse(f.Path, f.Data)
	if err != nil || top.Kind() == yaml.Nothing {
		return nil, workload.Found{}, err
	}
	var vs []workload.Value
	r, some := own.NewReader(), false
	known := append(slices.Clone(f.Run), "threads", "rate", "payload", "zipf", "hit")
	for _, p := range params() {
		known = append(known, p.Name)
	}
	top.Each(yaml.Keys{What: "a workload", Names: append(slices.Clone(own.Keys), known...)}, func(key, v yaml.Node) {
		switch {
		case slices.Contains(own.Keys, key.Text()) && (key.Text() != "workload" || v.Kind() == yaml.Scalar):
			some = true
			r.Key(key, v)
		case v.Kind() == yaml.List:
			if items, ok := v.Texts(key.Text()); ok {
				one := key.Value(key.Text(), workload.OriginFile)
				one.Text = strings.Join(items, ",")
				vs = append(vs, one)
			}
		case v.Kind() == yaml.Scalar:
			vs = append(vs, v.Value(key.Text(), workload.OriginFile))
		default:
			v.Fail("", "%s is not a plain value", key.Text())
		}
	})
	if some {
		vs = append(vs, valueOf(f.Path, r.Workload(top)))
	}
	return vs, workload.Found{}, top.Err()
}

// binder connects a plan to stores.
type binder struct{ *spec }

// Connector returns the function that connects the plan to the stores of a driver.
func (b *binder) Connector(driver string) workload.Connector {
	switch driver {
	case "memory", "null":
		return func(_ context.Context, p *workload.Bound) error {
			return b.bind(p, inmemory.New(b.Work, driver == "null", store.Serve(p.Conn)))
		}
	case "redis", "embedded":
		return workload.On(func(_ context.Context, c redis.Typed, p *workload.Bound) error {
			return b.bind(p, onredis.New(c, b.Work, b.Namespace))
		})
	case "mysql", "postgres", "sqlite":
		return workload.On(func(_ context.Context, c sqlstore.Typed, p *workload.Bound) error {
			a, err := onsql.New(c, b.Work, b.Namespace)
			return b.kept(p, a, err)
		})
	case "cassandra":
		return workload.On(func(ctx context.Context, c cassandra.Typed, p *workload.Bound) error {
			a, err := oncassandra.New(ctx, c, b.Work, b.Namespace)
			return b.kept(p, a, err)
		})
	case "memcached":
		return workload.On(func(_ context.Context, c *memcached.Conn, p *workload.Bound) error {
			return b.bind(p, onmemcached.New(c, b.Work, b.Namespace))
		})
	case "coherence":
		return workload.On(func(_ context.Context, c *coherence.Conn, p *workload.Bound) error {
			a, err := oncoherence.New(c, b.Work, b.Namespace)
			return b.kept(p, a, err)
		})
	}
	return nil
}

// kept is bind where err says which data the store cannot keep.
func (b *binder) kept(p *workload.Bound, l *model.Adapter, err error) error {
	if err != nil {
		return err
	}
	return b.bind(p, l)
}

// bind refuses what the store cannot do, and puts a run to work.
func (b *binder) bind(p *workload.Bound, l *model.Adapter) error {
	if b.Load != run.LoadOnly {
		if err := run.Fits(b.Work, l); err != nil {
			return fault.Code(err, fault.CodeInput)
		}
	}
	run.New(&b.Spec, l, p.Conn, p.RunID).Bind(p)
	return nil
}

// Share gives process i of n its part of the clients and of the operations, or of the
// records that are to be loaded.
func (b *binder) Share(p *workload.Plan, i, n int) error {
	if b.Check == histories.Check {
		if err := histories.OneProcess(n); err != nil {
			return err
		}
	}
	workload.Own(p)
	t := &p.Phases[0].Tracks[0]
	all := t.Start.Threads
	from, to, err := workload.Divide(t, "profile mix", all, i, n, n)
	if err != nil {
		return err
	}
	s := *b.spec
	s.Stake = workload.Stake{Process: i, Of: n, From: from, To: to, All: all}
	if s.Count > 0 && s.Load != run.LoadOnly {
		depth, _ := s.Work.Pipelined() // it has been checked
		t.Total = run.Part(s.Count, i, n)
		t.Iterations = run.Iterations(t.Total, depth)
	}
	p.Binder = &binder{&s}
	return nil
}

// Passes says that any client can carry out what another has left.
func (b *binder) Passes() error {
	if b.Load == run.LoadOnly {
		return errors.New("each worker loads a part of the records that no other knows")
	}
	return nil
}
