package telemetry

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// family is a metric with its labels; the first label of all is the id of the run.
type family struct {
	*prometheus.Desc
	kind prometheus.ValueType
}

// Prefix is how the names of all metrics begin.
const Prefix = "perfbench_"

// run is the label with the id of the run.
const run = "run"

func newFamily(kind prometheus.ValueType, name, help string, labels ...string) family {
	return family{prometheus.NewDesc(Prefix+name, help, append([]string{run}, labels...), nil), kind}
}

func counter(name, help string, labels ...string) family {
	return newFamily(prometheus.CounterValue, name, help, labels...)
}

func gauge(name, help string, labels ...string) family {
	return newFamily(prometheus.GaugeValue, name, help, labels...)
}

// The metrics that are exported. docs/telemetry.md explains each.
var (
	units     = counter("units_total", "Units that succeeded, in the unit of the operation; without warm-up.", "track", "op", "unit", "counts")
	failures  = counter("errors_total", "Calls that failed, time-outs included; without warm-up.", "track", "op", "class")
	unstarted = counter("unstarted_units_total", "Units that were due at the target rate and never sent.", "track", "op")
	changes   = counter("changes_total", "Live changes of settings; a ramp is one.")

	throughput = gauge("throughput_units_per_second", "Units that succeeded in the last finished second, warm-up included.", "track", "op", "unit", "counts")
	backlog    = gauge("backlog_units", "Units that are due and have not started.", "track")
	inFlight   = gauge("in_flight_calls", "Calls under way.", "track")
	setting    = gauge("setting", "Live settings as they are, by the names of the flags.", "setting")
	changed    = gauge("change_timestamp_seconds", "When a live setting was changed, in seconds since 1970; the last ones.", "number", "setting", "from", "to", "by")
	noted      = gauge("note_timestamp_seconds", "When something was noted on the time line, in seconds since 1970; the last notes.", "number", "note")
	elapsed    = gauge("elapsed_seconds", "Time since measurement began; negative in warm-up.")
	ended      = gauge("ended", "1 once the run is over and judged, else 0.")
	phase      = gauge("phase_active", "1 for each phase that is under way.", "phase")
	worth      = gauge("verdict", "1 for the state that the verdict has, 0 for the others.", "state")
	cause      = gauge("verdict_cause", "1 for each cause that the verdict gives.", "cause")

	timeFamilies = func() (out [len(times{})]family) {
		for i, t := range []struct{ name, help string }{
			{"response", "from due to end"}, {"service", "from start to end"}, {"wait", "from due to start"}, {"lateness", "the part of the wait that is perfbench's own"},
		} {
			out[i] = gauge(t.name+"_time_seconds", "Calls by their "+t.name+" time, "+t.help+"; without warm-up.", "track", "op")
		}
		return out
	}()
)

// lately is how many changes and notes are exported.
const lately = 50

// telling sends the metrics of one run.
type telling struct {
	f   *Feed
	out chan<- prometheus.Metric
}

func (t telling) value(d family, v float64, labels ...string) {
	m, err := prometheus.NewConstMetric(d.Desc, d.kind, v, append([]string{t.f.Run.ID}, labels...)...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d.Desc, err)
	}
	t.out <- m
}

// collect sends all metrics.
func (f *Feed) collect(out chan<- prometheus.Metric) {
	t, st := telling{f, out}, f.state()
	t.info()
	t.operations(&st)
	t.tracks(&st)
	t.settings(st.snapshot)
	t.changes(&st)
	t.verdict(&st)
	t.samples(st.samples)
}

// operations sends the metrics of each operation.
func (t telling) operations(st *state) {
	for i, op := range t.f.Operations {
		for j, h := range st.times[i] {
			t.out <- h.metric(timeFamilies[j].Desc, t.f.began, t.f.Run.ID, op.Track, op.Op)
		}
		var sum measure.Totals
		if i < len(st.totals) {
			sum = st.totals[i]
		}
		t.value(units, float64(sum.Count), op.Track, op.Op, t.unit(op), t.counts(i))
		t.value(unstarted, float64(sum.Unstarted), op.Track, op.Op)
	}
	for _, e := range st.errors {
		t.value(failures, float64(e.Count), e.Track, e.Op, e.Class)
	}
	for _, r := range st.second {
		if op := t.f.Operations[r.Op]; r.Seconds >= measure.ShortestRate {
			t.value(throughput, r.PerSecond(), op.Track, op.Op, t.unit(op), t.counts(r.Op))
		}
	}
}

// unit returns what an operation counts.
func (t telling) unit(op measure.Operation) string {
	return cmp.Or(t.f.Run.Units[op.Track+"."+op.Op], t.f.Run.Unit)
}

func (t telling) counts(op int) string {
	if t.f.Counts[op] {
		return "yes"
	}
	return "no"
}

// tracks sends the state of tracks and phases.
func (t telling) tracks(st *state) {
	s := st.snapshot
	t.value(elapsed, s.At.Seconds())
	t.value(ended, number(st.ended != nil))
	if st.ended != nil {
		return
	}
	for i, g := range s.Gauges {
		t.value(backlog, float64(g.Backlog), s.Tracks[i])
		t.value(inFlight, float64(g.InFlight), s.Tracks[i])
	}
	for _, name := range s.Phases {
		t.value(phase, 1, name)
	}
}

func number(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// settings sends the live settings: those with which the run began, as changed since.
func (t telling) settings(s *measure.Snapshot) {
	now := maps.Clone(t.f.Run.Settings)
	if n := len(s.Segments); n > 0 {
		if now = s.Segments[n-1].Settings; s.Segments[n-1].SettingsEnd != nil {
			now = s.Segments[n-1].SettingsEnd
		}
	}
	for name, v := range now {
		t.value(setting, v, name)
	}
}

// changes sends the last live changes and notes.
func (t telling) changes(st *state) {
	list := joined(st.snapshot.Changes)
	t.value(changes, float64(len(list)))
	for i := max(len(st.changed)-lately, 0); i < len(st.changed); i++ {
		c := list[i]
		to := rundir.SettingText(c.Name, c.To)
		if c.Ramp > 0 {
			to = "ramp"
		}
		t.value(changed, st.changed[i], strconv.Itoa(i+1), c.Name, rundir.SettingText(c.Name, c.From), to, c.By)
	}
	for i := max(len(st.noted)-lately, 0); i < len(st.noted); i++ {
		t.value(noted, st.noted[i], strconv.Itoa(i+1), st.snapshot.Marks[i].Note)
	}
}

// joined returns the changes with only the first change of each ramp.
func joined(list []measure.Change) []measure.Change {
	type ramp struct {
		number int
		name   string
	}
	seen := map[ramp]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(c measure.Change) bool {
		key := ramp{c.Ramp, c.Name}
		again := c.Ramp > 0 && seen[key]
		seen[key] = true
		return again
	})
}

// verdict sends the verdict on the run.
func (t telling) verdict(st *state) {
	v := t.f.Verdict()
	if st.ended != nil {
		v = *st.ended
	}
	for _, s := range []string{verdict.Valid, verdict.Degraded, verdict.Invalid} {
		t.value(worth, number(s == v.State), s)
	}
	causes := slices.Clone(v.Causes)
	slices.Sort(causes)
	for _, c := range slices.Compact(causes) {
		t.value(cause, 1, c)
	}
}

// sources are the words used in names of metrics for who measured a sample.
var sources = map[string]string{rundir.OfClient: "client"}

// samples sends what was sampled of store, processes and machine: each number is a
// metric named after its source and itself, in base units.
func (t telling) samples(list []rundir.Sample) {
	for _, s := range list {
		name, v := base(cmp.Or(sources[s.Source], s.Source)+"_"+s.Name, s.Value)
		t.value(gauge(plain(name), "As in store.csv: "+s.Source+", "+s.Name+".", "node"), v, s.Node)
	}
}

// info sends which run it is, with its tags.
func (t telling) info() {
	r := t.f.Run
	labels, values := []string{}, []string{}
	add := func(name, value string) { labels, values = append(labels, name), append(values, value) }
	add("profile", r.Profile)
	add("mode", r.Mode)
	add("target", r.Target)
	add("store", r.Store.Name)
	add("product", r.Store.Product)
	add("version", r.Store.Version)
	add("topology", r.Store.Topology)
	for _, name := range slices.Sorted(maps.Keys(r.Tags)) {
		if label := "tag_" + plain(name); !slices.Contains(labels, label) {
			add(label, r.Tags[name])
		}
	}
	t.value(gauge("run_info", "1, with what the run is.", labels...), 1, values...)
}
