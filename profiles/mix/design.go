package mix

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/histories"
	"github.com/perfbench/perfbench/internal/ownership"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/values"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// track is the name of the only track.
const track = "mix"

// memtier is the parameter whose text is read as a file of memtier_benchmark would be.
const memtier = "memtier"

// The parameters.
var (
	workloadParam = workload.Param{
		Name: "workload", Kind: workload.Text,
		Help: "data, operations and how often each is called, as YAML; a preset or --file gives it",
	}
	memtierParam = workload.Param{
		Name: memtier, Kind: workload.Text,
		Help: "a workload as options of memtier_benchmark: --ratio 1:10 --data-size-range 32-512",
	}
	recordsParam = workload.Param{
		Name: "records", Kind: workload.Integer, Unit: "records", Min: 1, Max: own.MostRecords,
		Help: "how many records each data set has that has any, in place of what the workload says",
	}
	loadParam = workload.Param{
		Name: "load", Kind: workload.Choice, Default: run.LoadAuto, Choices: []string{run.LoadAuto, run.LoadOnly, run.LoadSkip},
		Help: "auto loads the records that are missing before the run; only does that and nothing else, and measures it; skip loads nothing",
	}
	checkParam = workload.Param{
		Name: "check", Kind: workload.Choice, Default: checkValues, Choices: []string{checkValues, histories.Check},
		Help: "values checks each value as it is read; linearizable also keeps the histories of a few hot records, and checks them after the run",
	}
	loadersParam = workload.Param{
		Name: "loaders", Kind: workload.Integer, Default: "16", Unit: "clients", Min: 1, Max: workload.MaxThreads,
		Help: "clients that load at the same time before the run",
	}
)

// checkValues is the word for: nothing but the values is checked.
const checkValues = "values"

// callsParam is how many operations there are where nobody says how long the run lasts.
var callsParam = workload.Param{
	Name: "calls", Kind: workload.Integer, Default: "100000", Unit: "operations", Min: 1, Max: 1 << 53,
	Help: "how many operations there are without --count and --duration",
}

// params returns the parameters.
func params() []workload.Param {
	return append([]workload.Param{workloadParam, memtierParam, recordsParam, loadParam, loadersParam, checkParam, callsParam, captureParam, speedParam, orderParam, keepParam, expectParam, sourceParam, snapshotParam, schemaParam, ddlParam}, workload.SessionParams()...)
}

// spec is what was worked out, for the binding. It is not modified afterwards.
type spec struct {
	run.Spec
	Namespace, Driver string
}

// designer reads the values of a plan. It belongs to one call of Design.
type designer struct {
	*values.Reader
	s     *spec
	in    workload.Inputs
	users values.Users
}

func newDesigner(in workload.Inputs) *designer {
	return &designer{Reader: values.New(in.Values), in: in, s: &spec{Namespace: in.Namespace, Driver: in.Driver}}
}

// design works out the plan, without its binder. It touches nothing; all problems are
// returned joined, with the code of bad input.
func design(in workload.Inputs) (*workload.Plan, *spec, error) {
	d := newDesigner(in)
	s := d.s
	s.Seed, s.Count = in.Seed, in.Count
	s.Load = d.Choice(loadParam)
	s.LoadThreads = int(d.Whole(loadersParam))
	s.Wrap = in.Wraps()
	if n := d.Whole(callsParam); s.Count == 0 && !s.Wrap {
		s.Count = n
	}
	d.alone()
	if !d.work() {
		return nil, nil, d.Problems.Err()
	}
	d.check()
	start := d.start()
	d.visits()
	if err := d.Problems.Err(); err != nil {
		return nil, nil, err
	}
	p := d.plan(start)
	return p, s, d.users.In(p, func(*workload.Track) bool { return s.Load != run.LoadOnly })
}

// work reads the workload.
func (d *designer) work() bool {
	v := d.Pick(workloadParam, workloadParam.Name)
	if strings.TrimSpace(v.Text) == "" {
		d.Blame(workloadParam.Name, "--preset or --file", "workload: there is none")
		return false
	}
	w, err := own.Read(v.From(), v.Text)
	if err != nil {
		if v.Origin > workload.OriginFile { // its file has mistakes of its own
			err = fault.Field(workloadParam.Name, err)
		}
		d.Problems.Add(err)
		return false
	}
	d.s.Work = w
	name := w.Name
	if name == "" {
		name = strings.Join(operations(w), ", ")
	}
	d.Show(workloadParam.Name, name, v)
	if r, ok := d.Values[recordsParam.Name]; ok {
		n := d.Integer(recordsParam, r)
		d.Show(recordsParam.Name, strconv.FormatInt(n, 10), r)
		if n <= 0 {
			return true // it is wrong, and what the workload says is not
		}
		for i := range w.Data {
			if w.Data[i].Records > 0 {
				w.Data[i].Records = n
			}
		}
		d.Problems.Add(w.Complete())
	}
	return true
}

// check reads what is to be checked, and says why a workload has no histories that could be.
func (d *designer) check() {
	if d.s.Check = d.Choice(checkParam); d.s.Check != histories.Check {
		return
	}
	var why []string
	for i := range d.s.Work.Data {
		one := &d.s.Work.Data[i]
		because := run.Unchecked(d.s.Work, one)
		if because == "" {
			return
		}
		why = append(why, one.Name+": "+because)
	}
	d.Blame(checkParam.Name, "a data set of values or hashes that steps get and put", "check: no data set has histories that can be checked (%s)", strings.Join(why, "; "))
}

func operations(w *model.Workload) (out []string) {
	for i := range w.Operations {
		out = append(out, w.Operations[i].Name)
	}
	return out
}

// usualThreads is how many clients there are unless somebody says otherwise.
const usualThreads = 8

// start reads what the settings begin with, and makes the knobs.
func (d *designer) start() workload.Settings {
	w := d.s.Work
	start := d.Settings(usualThreads)
	k := payload()
	start.Payload = d.Payload(k, 0, "payload")
	d.s.Payload = start.Payload
	for _, k := range w.Knobs(&start) {
		v, ok := d.Values[k.Name]
		if !ok {
			continue
		}
		n, err := k.Parse(v.Text)
		d.Problems.Add(fault.Field(k.Name, err))
		start = k.Set(start, n)
	}
	sum := 0.0
	for i := range w.Operations {
		sum += w.WeightAt(&start, i)
	}
	if sum <= 0 {
		d.Problems.Add(fault.Input(errors.New("all weights are 0, so there is nothing to do"), "--set "+model.WeightKnob(w.Operations[0].Name)+"=1"))
	}
	return start
}

// visits reads what sessions of users are like, which the workload may say too.
func (d *designer) visits() {
	d.users = d.Users("", "")
	w := &d.s.Work.Session
	if !w.Length.Given() || d.s.Load == run.LoadOnly {
		return
	}
	s := workload.Sessions{Mean: mean(w.Length), Draw: func() (length, pause func(uint64) int64) {
		if d.users.Session == 0 {
			length = run.Draws(w.Length)
		}
		if w.Pause.Given() {
			pause = run.Draws(w.Pause)
		}
		return length, pause
	}}
	d.users.Usual = &s
}

// payload returns the knob for the size of values.
func payload() workload.Knob {
	k := workload.Payload()
	k.Help = "size of each value, of a hash of each field; 0: as the workload says"
	k.Zero = workload.AsPlanned
	return k
}

// payload returns it with what it stands for in this workload, which begins with one.
func (d *designer) payload(start int) workload.Knob {
	k, w := payload(), d.s.Work
	var sizes ownership.Sizes
	var usual, columns float64
	written := false
	for i := range w.Data {
		one := &w.Data[i]
		if !one.Size.Given() {
			continue
		}
		for range w.Writers(one) {
			written = true
			break
		}
		sizes = sizes.With(w.Sizes(one, start)[:1]...)
		for f := range one.Columns() {
			usual, columns = usual+mean(one.Field(f)), columns+1
		}
	}
	if columns > 0 {
		k.Usual = math.Round(usual / columns)
	}
	kept := "what is stored keeps " + sizes.Words()
	switch {
	case d.s.Load == run.LoadOnly:
		k.Keeps = "payload is the size of what is loaded from now on: " + kept
	case written:
		k.Keeps = "payload is the size of what is written from now on: " + kept
	default:
		k.Fixed = "this workload only reads, and " + kept
	}
	k.Help += "; during a run of new writes alone, as what is stored keeps its size"
	return k
}

// plan makes the plan.
func (d *designer) plan(start workload.Settings) *workload.Plan {
	s, w := d.s, d.s.Work
	p := &workload.Plan{Unit: "operations", Knobs: []workload.Knob{workload.Threads(), workload.Rate("operations")}, Parameters: d.Shown}
	if d.writes() {
		p.Knobs = append(p.Knobs, d.payload(start.Payload))
	}
	t := workload.Track{
		Name: track, Start: start,
		NewTask: func(int) (workload.Task, error) { return nil, errors.New("mix: not connected to a store") },
	}
	phase := workload.Phase{Name: track, Duration: d.in.Duration}
	if s.Load == run.LoadOnly {
		p.Unit, phase.Name = "records", "load"
		p.Knobs[1] = workload.Rate("records")
		t.Name, t.Ops = "load", []string{"load"}
		for i := range w.Data {
			t.Total += w.Data[i].Records
		}
		t.Units = func(*workload.Settings) int { return run.LoadRows(w, start.Payload) }
		if s.Wrap {
			t.Total = 0
		}
	} else {
		d.operations(p, &t)
	}
	phase.Tracks, phase.NoCeiling = []workload.Track{t}, t.Pauses // they set the pace, as users do
	p.Phases = []workload.Phase{phase}
	d.data(p, start)
	p.Warnings = append(p.Warnings, d.Warnings...)
	return p
}

// operations makes the track one of operations.
func (d *designer) operations(p *workload.Plan, t *workload.Track) {
	w := d.s.Work
	p.Knobs, p.KeySpreads = append(p.Knobs, w.Knobs(&workload.Settings{})...), spreads(w)
	t.Ops = operations(w)
	t.Counted = len(t.Ops)
	t.OpUnits = make([]string, len(t.Ops))
	for i := range w.Operations {
		for _, name := range run.Parts(&w.Operations[i]) {
			t.Ops, t.OpUnits = append(t.Ops, name), append(t.OpUnits, "calls")
		}
	}
	for i := range w.Operations {
		t.Pauses = t.Pauses || slices.ContainsFunc(w.Operations[i].Steps, func(st model.Step) bool { return st.Do == model.Think })
	}
	t.Spares = t.Pauses
	depth, _ := w.Pipelined() // it has been checked
	t.Iterations, t.Total = run.Iterations(d.s.Count, depth), d.s.Count
	if depth > 1 {
		t.Units = func(*workload.Settings) int { return depth }
	}
}

// writes reports whether the workload has values whose size can be set.
func (d *designer) writes() bool {
	return slices.ContainsFunc(d.s.Work.Data, func(one model.Data) bool { return one.Size.Given() })
}

// data says what is stored where, and how much.
func (d *designer) data(p *workload.Plan, start workload.Settings) {
	w := d.s.Work
	var resized, removed, expiring []string
	loaded := 0
	for i := range w.Data {
		one := &w.Data[i]
		p.Spaces = append(p.Spaces, store.Space{Namespace: d.s.Namespace, Name: one.Name, Shape: store.Keys, Grouped: true})
		size := bytesOf(one, start.Payload)
		p.Bytes += one.Records * size
		about := ""
		if size > 0 {
			about = ", each about " + units.Size(size)
		}
		text := fmt.Sprintf("%s: %s of type %s%s", ownership.Name(p.Spaces[i]), units.Plural(one.Records, "record"), one.Type, about)
		switch loads := d.s.Load == run.LoadAuto && (!one.Cached || one.Warm); {
		case one.Records == 0:
			text = fmt.Sprintf("%s: what is inserted, of type %s%s", ownership.Name(p.Spaces[i]), one.Type, about)
		case loads:
			loaded++
		case d.s.Load == run.LoadAuto:
			text += ", not loaded first"
		}
		p.Writes = append(p.Writes, text)
		if one.Size.Given() && d.s.Load != run.LoadSkip {
			resized = append(resized, one.Name)
		}
		if d.s.Load != run.LoadOnly && w.Does(one, model.Delete, model.Pop, model.Exclude) {
			removed = append(removed, one.Name)
		}
		if w.Expires(one) {
			expiring = append(expiring, one.Name)
		}
		p.Cleanup = append(p.Cleanup, fmt.Sprintf("at the end %s, unless an earlier run made it (--cleanup)", one.Name))
	}
	switch {
	case d.s.Load == run.LoadOnly:
		p.Writes = append(p.Writes, "by "+units.Plural(start.Threads, "client"))
	case loaded > 0:
		p.Writes = append(p.Writes, "records that are missing are loaded first, by "+units.Plural(d.s.LoadThreads, "client"))
	}
	p.Deletes = ownership.MayResize(resized)
	if len(removed) > 0 {
		p.Deletes = append(p.Deletes, "during the run what operations delete of "+units.Listed(removed))
	}
	if len(expiring) > 0 {
		p.Deletes = append(p.Deletes, "during the run what expires of "+units.Listed(expiring))
	}
}

// bytesOf is about how large a record is.
func bytesOf(d *model.Data, payload int) int64 {
	if !d.Size.Given() {
		return 0
	}
	total := 0.0
	for i := range d.Columns() {
		n := d.Field(i)
		if payload > 0 {
			n = model.One(int64(payload))
		}
		total += mean(n)
	}
	if d.Length.Given() {
		total *= mean(d.Length)
	}
	return int64(math.Round(total))
}

// mean is about what a number is on average.
func mean(n model.Number) float64 {
	if n.Kind != model.Weighted {
		return float64(n.Min+n.Max) / 2
	}
	sum, weights := 0.0, 0.0
	for _, c := range n.Table {
		sum, weights = sum+c.Weight*float64(c.Min+c.Max)/2, weights+c.Weight
	}
	return sum / weights
}
