package mix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/store/sqlstore"
	"github.com/perfbench/perfbench/internal/store/sqlstore/sqltext"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/replay"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// The parameters of a replay.
var (
	captureParam = workload.Param{
		Name: "capture", Kind: workload.Text,
		Help: "a file of perfbench capture, whose calls are made again in place of a workload; --file gives it, too",
	}
	speedParam = workload.Param{
		Name: speed, Kind: workload.Text,
		Help: "of a replay: how many times as fast as recorded, or unlimited",
	}
	orderParam = workload.Param{
		Name: "order", Kind: workload.Choice, Default: orderConnection, Choices: []string{orderConnection, "key", orderAll},
		Help: "of a replay: which calls keep their order, those of each connection, those of each key, or all, one after the other",
	}
	keepParam = workload.Param{
		Name: keepAnswers, Kind: workload.Text,
		Help: "of a replay: a file that keeps the answers, for a later replay to be compared with",
	}
	expectParam = workload.Param{
		Name: expectAnswers, Kind: workload.Text,
		Help: "of a replay: a file of answers that an earlier replay has kept, which those of this one are compared with",
	}
	snapshotParam = workload.Param{
		Name: "snapshot", Kind: workload.Target,
		Help: "of a replay: a store that holds the data to begin with, such as one that was started from a snapshot; they are copied first, of a database the tables that statements name, and nothing is written there",
	}
	schemaParam = workload.Param{
		Name: "schema", Kind: workload.Text,
		Help: "of a replay of statements: a file of the statements that make its tables, such as a dump without data, in place of a snapshot",
	}
	ddlParam = workload.Param{
		Name: "ddl", Kind: workload.Choice, Default: "off", Choices: []string{"off", "on"},
		Help: "of a replay of statements: make those again, too, that make, change and remove tables",
	}
	sourceParam = workload.Param{
		Name: "onto-source", Kind: workload.Choice, Default: "off", Choices: []string{"off", "on"},
		Help: "of a replay: allow the server that was recorded as the target",
	}
)

const (
	keepAnswers     = "keep-answers"
	expectAnswers   = "expect-answers"
	speed           = "speed"
	orderConnection = "connection"
	orderAll        = "all"
	// mostFolded is how many threads a replay has if nobody says how many, if it has as many
	// connections.
	mostFolded = 64
)

// replayed is the design of a replay.
func (d *designer) replayed(v workload.Value) (*workload.Plan, *replay.Spec) {
	d.Show(captureParam.Name, v.Text, v)
	s := &replay.Spec{Namespace: d.in.Namespace}
	s.OntoSource = d.Choice(sourceParam) == "on"
	d.apart()
	ddl := d.Choice(ddlParam) == "on"
	r, err := replay.Open(v.Text, replay.Options{DDL: ddl})
	if err != nil {
		d.Problems.Add(fault.Field(captureParam.Name, err))
		return nil, nil
	}
	s.Recording = r
	order := d.Choice(orderParam)
	s.ByKey = order == "key"
	s.Load = d.Choice(loadParam) == run.LoadAuto
	serial := d.answers(s) || order == orderAll
	s.OneByOne = serial
	d.snapshot(s)
	d.statements(s, ddl)
	if r.Header.Anonymised && s.Snapshot.Scheme != "" {
		d.Blame(snapshotParam.Name, "capture without --anonymise", "snapshot: what the capture says is anonymised, and what the snapshot has is not")
	}
	usual := max(int(min(r.Connections, mostFolded)), 1)
	switch {
	case serial:
		usual = 1
	case s.ByKey:
		usual = usualThreads
	}
	start := d.Settings(usual)
	if serial && start.Threads > 1 {
		d.Blame("threads", "leave it out", "threads: one call after the other is made by one thread, and %d were asked for", start.Threads)
	}
	if s.Threads = start.Threads; s.Threads > replay.MaxThreads {
		d.Blame("threads", fmt.Sprintf("--threads %d", replay.MaxThreads), "threads: a replay has at most %d, and %d were asked for", replay.MaxThreads, s.Threads)
	}
	d.pace(r, &start)
	if d.Problems.Err() != nil {
		return nil, nil
	}
	return d.replayPlan(s, start), s
}

// answers reads what becomes of answers. They are decided by the order of the calls of each key, or
// where calls have no keys by that of all, so these keep it; all: that is so.
func (d *designer) answers(s *replay.Spec) (all bool) {
	for name, to := range map[string]*string{keepAnswers: &s.KeepAnswers, expectAnswers: &s.ExpectAnswers} {
		if v, ok := d.Values[name]; ok && v.Text != "" {
			if *to = v.Text; v.Where != "--against" { // what a comparison asks for is no difference of its sides
				d.Show(name, v.Text, v)
			}
		}
	}
	given := d.Values[orderParam.Name]
	chosen := given.Origin != workload.OriginDefault
	if s.Keyless() && s.ByKey {
		d.Blame(orderParam.Name, "--order all, or leave it out", "order=key (%s): statements have no keys", given.From())
	}
	switch {
	case s.KeepAnswers == "" && s.ExpectAnswers == "":
		return false
	case s.KeepAnswers != "" && s.ExpectAnswers != "":
		d.Blame(keepAnswers, "give one of them", "keep-answers and expect-answers do not go together")
	case given.Text == orderConnection && chosen && s.Keyless():
		d.Blame(orderParam.Name, "--order all", "order=connection (%s): answers follow from the order of all statements, so they can be compared only with order=all", given.From())
	case given.Text == orderConnection && chosen:
		d.Blame(orderParam.Name, "--order key", "order=connection (%s): answers follow from the order of the calls of each key, so they can be compared only with order=key", given.From())
	}
	if s.Keyless() || given.Text == orderAll {
		return true
	}
	s.ByKey = true
	return false
}

// statements reads what is about statements alone, and refuses what they cannot begin with.
func (d *designer) statements(s *replay.Spec, ddl bool) {
	r := s.Recording
	schema := d.Values[schemaParam.Name]
	if !r.Keyless() {
		for _, name := range []string{schemaParam.Name, ddlParam.Name} {
			if v := d.Values[name]; v.Origin != workload.OriginDefault && v.Text != "" {
				d.Blame(name, "leave it out", "%s (%s): it is about statements, and %s has calls of %s", name, v.From(), r.Path, r.Title())
			}
		}
		return
	}
	if s.Schema = schema.Text; s.Schema != "" {
		d.Show(schemaParam.Name, s.Schema, schema)
		if s.Snapshot.Scheme != "" {
			d.Blame(schemaParam.Name, "give one of them", "schema and snapshot both say with which tables the replay begins")
		}
		d.Problems.Add(s.CheckSchema())
	}
	switch {
	case r.Valueless() > 0:
		d.Blame(captureParam.Name, "perfbench capture --from LOG --values FILE", "capture: %s has no values of its statements, so they cannot be made again", r.Path)
	case s.Schema == "" && s.Snapshot.Scheme == "" && !ddl:
		d.Blame(captureParam.Name, "--set snapshot=URL of a database that has them, or --set schema=FILE with the statements that make them; or --set ddl=on if the recording makes them itself",
			"capture: the statements of %s need tables (%s), and nothing says what these are like", r.Path, list(r.Tables()))
	}
}

// list lists the first of some names.
func list(names []string) string {
	const most = 5
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}

// snapshot reads where the data are that the replay begins with.
func (d *designer) snapshot(s *replay.Spec) {
	v, given := d.Values[snapshotParam.Name]
	if !given || v.Text == "" {
		return
	}
	t, err := store.ParseTarget(v.Text)
	switch {
	case err != nil:
		d.Problems.Add(fault.Field(snapshotParam.Name, fmt.Errorf("snapshot: %w", err)))
		return
	case !s.CanCopy(t.Scheme):
		d.Blame(snapshotParam.Name, "the URL of a server that was started from the snapshot", "snapshot: %s is no %s, which was recorded", t.Redacted(), s.Title())
		return
	}
	if of := d.Values[loadParam.Name]; of.Text == run.LoadAuto && of.Origin > workload.OriginPreset {
		d.Blame(snapshotParam.Name, "leave load out", "snapshot: what a replay begins with is copied, and load=auto (%s) would make it up", of.From())
	}
	s.Snapshot = t
	v.Text = t.Redacted()
	d.Show(snapshotParam.Name, v.Text, v)
}

// alone refuses what is about a recording, where there is none.
func (d *designer) alone() {
	for _, name := range []string{speed, orderParam.Name, sourceParam.Name, snapshotParam.Name, schemaParam.Name, ddlParam.Name, keepAnswers, expectAnswers} {
		if v, ok := d.Values[name]; ok && v.Origin != workload.OriginDefault {
			d.Blame(name, "--file FILE with a file of perfbench capture", "%s (%s): it is about a replay, and no capture was named", name, v.From())
		}
	}
}

// apart refuses what is about a workload and not about a recording.
func (d *designer) apart() {
	for _, name := range []string{memtier, recordsParam.Name, loadersParam.Name, checkParam.Name, callsParam.Name, "payload", workloadParam.Name} {
		v, ok := d.Values[name]
		if ok && v.Origin != workload.OriginDefault && v.Origin != workload.OriginPreset {
			d.Blame(name, "leave it out", "%s (%s): a replay makes the calls that were recorded, whatever that says", name, v.From())
		}
	}
	if d.in.Count > 0 {
		d.Blame("count", "leave it out, or give --duration", "count: a replay makes as many calls as were recorded")
	}
	if v, ok := d.Values[loadParam.Name]; ok && v.Text == run.LoadOnly {
		d.Blame(loadParam.Name, "load=auto or load=skip", "load: a replay does not only load")
	}
}

// speedKnob is the rate in terms of that of the recording.
func speedKnob(recorded float64) workload.Knob {
	return workload.Knob{
		Name: speed, Unit: "× recorded", Help: "how many times as fast as recorded", Min: 0, Max: 1000, Step: 0.1, Log: true, Zero: units.Unlimited,
		Get: func(s workload.Settings) float64 { return s.Rate / recorded },
		Set: func(s workload.Settings, v float64) workload.Settings { s.Rate = v * recorded; return s },
	}
}

// pace decides how fast the calls come: as recorded, unless somebody says otherwise.
func (d *designer) pace(r *replay.Recording, start *workload.Settings) {
	v, given := d.Values[speed]
	given = given && v.Text != ""
	_, rated := d.Values["rate"]
	switch recorded := r.Rate(); {
	case given && rated:
		d.Blame(speed, "give one of them", "speed and rate both say how fast calls come")
	case recorded == 0 && given:
		d.Blame(speed, "--rate N, or nothing for as fast as possible", "speed: only the order of the calls was recorded, not when they were made")
	case given:
		k := speedKnob(recorded)
		n, err := k.Parse(v.Text)
		d.Problems.Add(fault.Field(speed, err))
		*start = k.Set(*start, n)
	case !rated:
		start.Rate = recorded
	}
}

func (d *designer) replayPlan(s *replay.Spec, start workload.Settings) *workload.Plan {
	r := s.Recording
	p := &workload.Plan{
		Unit: "calls", Parameters: d.Shown, Replays: true, Knobs: []workload.Knob{workload.Threads(), workload.Rate("calls")},
		Ends: "the recording has an end", Warnings: d.replayWarnings(r),
	}
	if recorded := r.Rate(); recorded > 0 {
		p.Knobs = append(p.Knobs, speedKnob(recorded))
	}
	t := workload.Track{
		Name: "replay", Start: start, Ops: r.Ops, Total: r.Items, Idle: map[string]string{"threads": "a replay calls from as many threads as the recording has"},
		NewTask: func(int) (workload.Task, error) { return nil, errors.New("mix: not connected to a store") },
	}
	p.Phases = []workload.Phase{{Name: "replay", Duration: d.in.Duration, Tracks: []workload.Track{t}, NoCeiling: true}}
	space, where, what := replay.KeysOf(s.Namespace), "", "the keys"
	if r.Keyless() {
		space, what = replay.SchemaOf(s.Namespace), "the statements"
		where = sqltext.TableName(space.Namespace, space.Name)
	} else {
		where = redis.KeyOf(space)
	}
	p.Spaces = append(p.Spaces, space)
	p.Writes = append(p.Writes, fmt.Sprintf("%s: %s of %s", where, what, describe(r)))
	if r.Keyless() {
		made := slices.DeleteFunc(slices.Clone(r.Forms), func(f capture.OfForm) bool { return f.Left == f.Calls })
		for _, f := range made[:min(len(made), 5)] {
			p.Writes = append(p.Writes, fmt.Sprintf("%.3g %% of the statements: %s", 100*float64(f.Calls-f.Left)/recordedAgain(r), f.Form))
		}
	}
	switch {
	case s.Snapshot.Scheme != "" && r.Keyless():
		p.Writes = append(p.Writes, fmt.Sprintf("%s: a copy of the tables of %s that they name: %s", where, s.Snapshot.Redacted(), list(r.Tables())))
	case s.Snapshot.Scheme != "":
		p.Writes = append(p.Writes, fmt.Sprintf("%s: a copy of all that %s has", where, s.Snapshot.Redacted()))
	case s.Schema != "":
		p.Writes = append(p.Writes, fmt.Sprintf("%s: what %s makes", where, s.Schema))
	}
	if r.Keyless() {
		p.Deletes = append(p.Deletes, "before the run the schema that an earlier replay left there")
		p.Cleanup = append(p.Cleanup, "at the end the schema of the replay (--cleanup)")
	} else {
		p.Deletes = append(p.Deletes, "before the run the keys that an earlier replay left there")
		p.Cleanup = append(p.Cleanup, "at the end the keys of the replay (--cleanup)")
	}
	p.Binder = replayBinder{s}
	return p
}

// recordedAgain is how many of the recorded calls are made again, by what they mean alone.
func recordedAgain(r *replay.Recording) (n float64) {
	for _, c := range r.Commands {
		n += float64(c.Calls - c.Left)
	}
	return max(n, 1)
}

// describe says what is made again.
func describe(r *replay.Recording) string {
	text := fmt.Sprintf("%s on %s", units.Plural(r.Items, "recorded call"), units.Plural(r.Connections, "connection"))
	if rate := r.Rate(); rate > 0 {
		text += fmt.Sprintf(" in %s, %s/s", units.Duration(r.Length), units.Number(rate))
	}
	var most []string
	for _, c := range r.Commands[:min(len(r.Commands), 5)] {
		if c.Left < c.Calls {
			most = append(most, fmt.Sprintf("%s %.0f %%", c.Name, 100*float64(c.Calls-c.Left)/recordedAgain(r)))
		}
	}
	if len(most) > 0 {
		text += ": " + strings.Join(most, ", ")
	}
	if n := r.Transactions(); n > 0 {
		text += "; " + units.Plural(n, "transaction")
	}
	if tables := r.Tables(); len(tables) > 0 {
		text += "; on " + list(tables)
	}
	return text
}

// replayWarnings says what of the recording is not made again as it was.
func (d *designer) replayWarnings(r *replay.Recording) []string {
	out := slices.Clone(d.Warnings)
	total, worst, most := int64(0), "", int64(0)
	for why, n := range r.Left {
		if total += n; n > most || n == most && why < worst {
			worst, most = why, n
		}
	}
	if total > 0 {
		out = append(out, fmt.Sprintf("left out of the capture: %s, most for: %s", units.Plural(total, "call"), worst))
	}
	switch r.Header.Timing {
	case capture.Seconds:
		out = append(out, "of each call the second was recorded; within it, calls come independently")
	case capture.Unknown:
		out = append(out, "only the order of the calls was recorded: with a rate they come independently, without one as fast as possible")
	}
	if r.Header.Sample > 1 {
		out = append(out, fmt.Sprintf("the capture has one connection of %d, so the store gets about that part of the load", r.Header.Sample))
	}
	if d.in.Warmup > 0 {
		out = append(out, fmt.Sprintf("the first %s of the replay warm the store up and are not measured", d.in.Warmup.Round(time.Millisecond)))
	}
	return out
}

// replayBinder connects a replay to stores.
type replayBinder struct{ *replay.Spec }

// Share gives process i of n its threads, with the calls of the connections or keys that are
// theirs.
func (b replayBinder) Share(p *workload.Plan, i, n int) error {
	workload.Own(p)
	t := &p.Phases[0].Tracks[0]
	from, to, err := workload.Divide(t, "the replay", b.Threads, i, n, n)
	if err != nil {
		return err
	}
	part, calls, err := b.Spec.Share(from, to)
	if err != nil {
		return err
	}
	t.Total, p.Binder = calls, replayBinder{part}
	return nil
}

// Connector returns the function that connects the plan to the stores of a driver.
func (b replayBinder) Connector(driver string) workload.Connector {
	if !slices.Contains(b.Drivers(), driver) {
		return func(context.Context, *workload.Bound) error {
			return fault.Input(fmt.Errorf("what %s was asked can only be made again on %s, and the target is another store (%s)", b.Title(), b.Title(), driver), "use another --target; perfbench capture --show shows what is in the file")
		}
	}
	if b.Keyless() {
		return workload.On(func(ctx context.Context, c sqlstore.Typed, p *workload.Bound) error {
			return replay.BindSQL(ctx, b.Spec, c, p)
		})
	}
	if driver == "embedded" && b.Snapshot.Scheme != "" {
		return func(context.Context, *workload.Bound) error {
			return fault.Field(snapshotParam.Name, fault.Input(errors.New("snapshot: embedded: cannot take over the data of a Redis"), "use redis:// as the target"))
		}
	}
	return workload.On(func(ctx context.Context, c redis.Typed, p *workload.Bound) error {
		return replay.Bind(ctx, b.Spec, c, p)
	})
}
