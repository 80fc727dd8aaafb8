package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

const (
	// spike is how many times the usual p99 of its segment a second must reach to be
	// unusual, and spikeLeast by how many nanoseconds it must exceed it.
	spike      = 3
	spikeLeast = 1e6
	// usualSeconds is how many seconds of a segment are needed to determine what is
	// usual.
	usualSeconds = 5
	// seldom is the largest fraction of all seconds in which something may happen and
	// still explain a few of them.
	seldom = 0.25
	// mostCoincidences is how many are reported, the worst of them; the others are told
	// in one line. mostCauses is how many things that happened are told of each.
	mostCoincidences = 3
	mostCauses       = 3
	// explains is the part of a rise that something of known length must make up.
	explains = 0.5
)

// happening is something in store.csv that can slow down calls for a while.
type happening struct {
	source, name string
	// least is the value from which it counts as happening in a second.
	least float64
	// words say what it was.
	words func(f *rundir.Folder, second int, value float64) string
	// size says for how long, in nanoseconds, it can have held calls up at most; nil, or 0
	// if that is not known.
	size func(f *rundir.Folder, from, until int, sum float64) float64
}

// aftermath reports whether it is the purpose of a fork.
func (h happening) aftermath() bool { return h.name == "saving" || h.name == "rewriting_aof" }

func words(text string) func(*rundir.Folder, int, float64) string {
	return func(*rundir.Folder, int, float64) string { return text }
}

// happenings are in the order in which they are reported; each store has only a few of
// them.
var happenings = []happening{
	{rundir.OfStore, "forks_per_s", 1e-9, forked, forkTime},
	{rundir.OfStore, "saving", 1, words("the store was saving its data"), nil},
	{rundir.OfStore, "rewriting_aof", 1, words("the store was rewriting its append-only file"), nil},
	{rundir.OfStore, "delayed_syncs_per_s", 1e-9, words("the store had to wait for a sync of its append-only file"), nil},
	{rundir.OfStore, "slow_commands_per_s", 1e-9, slowCommands, slowTime},
	{rundir.OfStore, "evicted_keys_per_s", 1e-9, words("the store evicted keys"), nil},
	{rundir.OfStore, "rejected_connections_per_s", 1e-9, words("the store rejected connections"), nil},
	{rundir.OfStore, "checkpoints_per_s", 1e-9, words("the store made a checkpoint"), nil},
	{rundir.OfStore, "deadlocks_per_s", 1e-9, words("the store resolved deadlocks"), nil},
	{rundir.OfStore, "log_waits_per_s", 1e-9, words("the store waited for room in its log"), nil},
	{rundir.OfStore, "wal_buffers_full_per_s", 1e-9, words("the buffers of the write-ahead log were full"), nil},
	{rundir.OfStore, "waits_for_memory_per_s", 1e-9, words("the store waited for free pages of its buffer pool"), nil},
	{rundir.OfStore, "temporary_bytes_per_s", 1e-9, words("the store wrote temporary files"), nil},
	{rundir.OfStore, "dropped_messages_per_s", 1e-9, words("the store dropped messages"), nil},
	{rundir.OfStore, "flushes_active", 1, words("the store was flushing memtables"), nil},
	{rundir.OfStore, "compactions_active", 1, words("the store was compacting"), nil},
	{rundir.OfStore, "resent_packets_per_s", 1e-9, words("members of the store resent packets"), nil},
	{rundir.OfStore, "lock_waiters", 2, counted("calls were waiting for locks"), nil},
	{rundir.OfProcess, "old_collections", 1, words("the store's JVM collected its old generation"), nil},
	{rundir.OfProcess, "collecting_ms", 100, collected("the store's JVM"), milliseconds},
	{rundir.OfProcess, "throttled_share", 0.05, words("its quota held the store back"), shares},
	{rundir.OfClient, "throttled_share", 0.05, words("its quota held perfbench back"), shares},
	{rundir.OfMachine, "disk_busy_share", 0.9, words("the disk of this machine was busy all the time"), nil},
}

func counted(text string) func(*rundir.Folder, int, float64) string {
	return func(_ *rundir.Folder, _ int, v float64) string { return units.Number(v) + " " + text }
}

func collected(who string) func(*rundir.Folder, int, float64) string {
	return func(_ *rundir.Folder, _ int, v float64) string {
		return fmt.Sprintf("%s collected garbage for %s", who, duration(v*1e6))
	}
}

// forked says what Redis forked for, and how long that took.
func forked(f *rundir.Folder, second int, _ float64) string {
	at := func(name string) float64 { return most(rundir.Sampled(f, rundir.OfStore, name, second, 2)) }
	text := "the store forked"
	switch {
	case at("rewriting_aof") > 0:
		text += " to rewrite its append-only file"
	case at("saving") > 0:
		text += " for a save"
	}
	if ms := at("latest_fork_ms"); ms > 0 {
		text += " (the fork took " + duration(ms*1e6) + ")"
	}
	return text
}

// forkTime is how long the latest fork took.
func forkTime(f *rundir.Folder, from, until int, _ float64) float64 {
	if ms := most(rundir.Sampled(f, rundir.OfStore, "latest_fork_ms", from, until-from+1)); ms > 0 {
		return ms * 1e6
	}
	return 0
}

// slowTime is how long the commands took that the store logged as slow, one after the
// other; those that are not in the record took no longer than the shortest that is.
func slowTime(f *rundir.Folder, from, until int, sum float64) float64 {
	o := f.Run.Observed
	if o == nil {
		return 0
	}
	ms, least, n := 0.0, math.Inf(1), 0.0
	for _, c := range o.Noted {
		if c.Command != "" && c.AtS >= from && c.AtS < until {
			ms, least, n = ms+c.ForMs, min(least, c.ForMs), n+1
		}
	}
	if n == 0 {
		return 0
	}
	return (ms + max(sum-n, 0)*least) * 1e6
}

func milliseconds(_ *rundir.Folder, _, _ int, sum float64) float64 { return sum * 1e6 }

// shares are of seconds.
func shares(_ *rundir.Folder, _, _ int, sum float64) float64 { return sum * 1e9 }

// slowCommands says which commands logged by the store took longest.
func slowCommands(f *rundir.Folder, second int, _ float64) string {
	const text = "the store logged slow commands"
	s := &stretch{f: f, first: second, n: 1}
	if k, ok := s.longest(func(n verdict.Noted) bool { return n.Command != "" }); ok {
		return text + " (" + k.What() + ": " + duration(k.ForMs*1e6) + ")"
	}
	return text
}

// spikes says what else the store logged in seconds from to until: waits for its disk,
// expired keys. What it logs all the time explains nothing.
func spikes(f *rundir.Folder, from, until, seconds int, rise float64) (out []string) {
	o := f.Run.Observed
	if o == nil {
		return nil
	}
	for _, k := range Kinds(o.Noted) {
		if k.Event == "" || k.Event == "fork" || strings.HasSuffix(k.Event, "command") { // reported otherwise
			continue
		}
		same := func(n verdict.Noted) bool { return n.Node == k.Node && n.Event == k.Event }
		if k.Times > max(int(seldom*float64(seconds)), until-from) {
			continue
		}
		if n, ok := (&stretch{f: f, first: from, n: until - from}).longest(same); ok && n.ForMs*1e6*float64(n.Times) >= explains*rise {
			out = append(out, n.Event+" took the store "+duration(n.ForMs*1e6))
		}
	}
	return out
}

// most returns the highest known value, NaN if there is none.
func most(values []float64) float64 {
	out := math.NaN()
	for _, v := range values {
		if math.IsNaN(out) || v > out {
			out = v
		}
	}
	return out
}

func duration(ns float64) string { return units.Duration(time.Duration(ns)) }

// burst is a period of unusual seconds.
type burst struct {
	from, until int // seconds
	worst       int // the second of the highest p99
	times, p99  float64
	usual       float64
}

// coincidences lists, in order, the unusual seconds for which something happened at the
// same time.
func coincidences(f *rundir.Folder) (out []rundir.Coincidence) {
	c := rundir.Of(f)
	list := bursts(f, c)
	slices.SortStableFunc(list, func(a, b burst) int { return -cmp.Compare(a.times, b.times) })
	var seen [][]float64
	n := len(c.Rates)
	var others []float64
	var rest []rundir.Coincidence
	worst := burst{}
	if len(list) > 0 { // once for all bursts, because a long run has many samples
		for _, h := range happenings {
			seen = append(seen, rundir.Sampled(f, h.source, h.name, c.First, n))
		}
		others = othersOf(f, c.First, n)
	}
	for _, b := range list {
		what, crowded := around(f, c.First, n, seen, others, b)
		if len(what) == 0 {
			what = waited(f, b)
		}
		if len(what) == 0 {
			continue
		}
		if len(out) == mostCoincidences {
			rest = append(rest, rundir.Coincidence{At: float64(b.from), Until: float64(b.until)})
			if b.p99 > worst.p99 {
				worst = b
			}
			continue
		}
		if more := len(what) - mostCauses; more > 0 {
			what = append(what[:mostCauses:mostCauses], fmt.Sprintf("%d more things happened", more))
		}
		out = append(out, rundir.Coincidence{At: float64(b.from), Until: float64(b.until), Crowded: crowded, Text: fmt.Sprintf(
			"p99 rose %s× at %s, to %s from a median of %s, when %s", rundir.Decimals(math.Round(b.times*10)/10), plot.At(float64(b.worst)), duration(b.p99), duration(b.usual), strings.Join(what, " and "))})
	}
	byTime := func(a, b rundir.Coincidence) int { return cmp.Compare(a.At, b.At) }
	slices.SortFunc(out, byTime)
	if len(rest) > 0 {
		slices.SortFunc(rest, byTime)
		last := rest[len(rest)-1]
		text := fmt.Sprintf("p99 rose less at %d other times between %s and %s, to at most %s at %s, when such things happened", len(rest), plot.Clock(rest[0].At), plot.At(last.Until), duration(worst.p99), plot.Clock(float64(worst.worst)))
		if len(rest) == 1 {
			text = fmt.Sprintf("p99 rose less at one other time, to %s at %s, when such things happened", duration(worst.p99), plot.At(float64(worst.worst)))
		}
		out = append(out, rundir.Coincidence{At: rest[0].At, Until: last.Until, Text: text})
	}
	return out
}

// othersOf returns, for each second, how many processors of this machine other processes
// used than perfbench and the store; NaN where that is not known.
func othersOf(f *rundir.Folder, first, n int) []float64 {
	all, own, store := rundir.Sampled(f, rundir.OfMachine, "cpu_cores", first, n), rundir.Sampled(f, rundir.OfClient, "cpu_cores", first, n), rundir.Sampled(f, rundir.OfProcess, "cpu_cores", first, n)
	for i := range all {
		all[i] -= own[i]
		if !f.Run.Store.InProcess {
			all[i] -= store[i]
		}
	}
	return all
}

// takenIn returns how many processors others used in the seconds of a burst or the one
// before it, 0 if few; and whether that is unusual in the run.
func takenIn(f *rundir.Folder, others []float64, first int, b burst) (cores float64, unusual bool) {
	limit := verdict.CrowdedSecond * (&stretch{f: f}).processors()
	often := 0
	for i, v := range others {
		if math.IsNaN(v) || limit == 0 || v < limit {
			continue
		}
		often++
		if t := first + i; t >= b.from-1 && t < b.until {
			cores = max(cores, v)
		}
	}
	return cores, float64(often) <= max(seldom*float64(len(others)), float64(b.until-b.from+1))
}

// evicted says that the store evicted keys in a run whose entries went missing, or that did
// not find what it asked for.
func evicted(f *rundir.Folder) []rundir.Coincidence {
	what := ""
	switch n := f.Run.Verification.Missed; {
	case f.Run.Verification.State == workload.Failed:
		what = "entries went missing"
	case n > 0:
		what = units.Number(float64(n)) + units.Choose(n, " entry that was", " entries that were") + " asked for " + units.Choose(n, "was", "were") + " not there"
	default:
		return nil
	}
	sum, from, until := 0.0, 0, 0
	for _, s := range f.Samples {
		if s.Source != rundir.OfStore || s.Name != "evicted_keys_per_s" || s.Value <= 0 {
			continue
		}
		if sum == 0 {
			from = s.T
		}
		sum, from, until = sum+s.Value, min(from, s.T), max(until, s.T+1)
	}
	if sum == 0 {
		return nil
	}
	return []rundir.Coincidence{{At: float64(max(from, 0)), Until: float64(until), Text: fmt.Sprintf(
		"%s, and the store evicted %s keys: raise its memory (maxmemory), store less, or choose a policy that evicts none", what, units.Number(math.Round(sum)))}}
}

// bursts finds the seconds whose p99 is far above what is usual in their segment. Nothing
// is usual on a ramp.
func bursts(f *rundir.Folder, c rundir.Timeline) (out []burst) {
	segments := map[int]int{}
	for _, r := range f.Series {
		segments[r.T] = max(segments[r.T], r.Segment)
	}
	of := map[int][]float64{}
	for i, v := range c.P99 {
		if t := c.First + i; t >= 0 && v > 0 {
			of[segments[t]] = append(of[segments[t]], v)
		}
	}
	usual := map[int]float64{}
	for s, list := range of {
		if len(list) >= usualSeconds && !f.Run.OnRamp(s) {
			slices.Sort(list)
			usual[s] = list[(len(list)-1)/2]
		}
	}
	for i := max(-c.First, 0); i < len(c.P99); i++ {
		t, v := c.First+i, c.P99[i]
		u := usual[segments[t]]
		if u == 0 || !(v >= spike*u) || v < u+spikeLeast {
			continue
		}
		if n := len(out); n > 0 && out[n-1].until == t {
			b := &out[n-1]
			b.until = t + 1
			if v > b.p99 {
				b.worst, b.p99, b.usual, b.times = t, v, u, v/u
			}
			continue
		}
		out = append(out, burst{t, t + 1, t, v / u, v, u})
	}
	return out
}

// around says what happened in the seconds of a burst, or in the one before it, because
// samples lag behind the seconds slightly. What happens all the time explains nothing.
// seen has the values of each happening, from the first second on, and others the
// processors that other processes used. What is too short for the rise does not explain it
// either, nor does a live change while others had the machine. crowded means that others did it, or had a part.
func around(f *rundir.Folder, first, n int, seen [][]float64, others []float64, b burst) (out []string, crowded bool) {
	rise := b.p99 - b.usual
	for _, m := range f.Run.Marks {
		if m.At >= float64(b.from-1) && m.At < float64(b.until) && !bySearch(&f.Run, m) {
			out = append(out, "“"+m.Note+"” was noted")
		}
	}
	cores, unusual := takenIn(f, others, first, b)
	if crowded = cores > 0 && unusual; crowded {
		out = append(out, fmt.Sprintf("other processes used %s of %s", rundir.Decimals(cores), processors((&stretch{f: f}).processors())))
	}
	for _, m := range f.Run.Moves() {
		if cores == 0 && !lowered(m) && m.At >= float64(b.from-1) && m.At < float64(b.until) {
			who := ""
			if m.By == measure.BySearch {
				who = " by the search"
			}
			if said := m.Name + " was changed" + who; !slices.Contains(out, said) {
				out = append(out, said)
			}
		}
	}
	for i, h := range happenings {
		values := seen[i]
		at, often, known, sum := -1, 0, 0, 0.0
		for i, v := range values {
			if math.IsNaN(v) {
				continue
			}
			known++
			if t := first + i; t >= b.from-1 && t < b.until {
				sum += v
			}
			if v < h.least {
				continue
			}
			often++
			if t := first + i; at < 0 && t >= b.from-1 && t < b.until {
				at = i
			}
		}
		if at >= 0 && h.size != nil {
			if ns := h.size(f, b.from-1, b.until, sum); ns > 0 && ns < explains*rise {
				continue
			}
		}
		if at >= 0 && float64(often) <= max(seldom*float64(known), float64(b.until-b.from+1)) && 2*often <= known {
			if text := h.words(f, first+at, values[at]); !slices.ContainsFunc(out, func(s string) bool { return strings.HasPrefix(s, "the store forked") && h.aftermath() }) {
				out = append(out, text)
			}
		}
	}
	return slices.Compact(append(out, spikes(f, b.from-1, b.until, n, rise)...)), crowded
}

// waited says that calls of a burst waited because the run was behind its rate.
func waited(f *rundir.Folder, b burst) []string {
	for _, l := range behinds(f) {
		if l.FromS < float64(b.until) && l.ToS > float64(b.from) {
			return []string{fmt.Sprintf("the run was behind its rate, by %s %s at most", units.Number(l.Most), f.Run.Unit)}
		}
	}
	return nil
}

// bySearch reports whether a note is what a search found of one of its levels, which is no cause of
// anything: "rate 40k: it held".
func bySearch(r *rundir.Run, m rundir.Mark) bool {
	return slices.ContainsFunc(r.Changes, func(c rundir.Change) bool {
		return c.By == measure.BySearch && strings.HasPrefix(m.Note, measure.KnobOf(c.Name)+" ") && strings.Contains(m.Note, ": ")
	})
}

// lowered reports whether a change asks less of the store than before.
func lowered(m rundir.Move) bool {
	switch _, base := rundir.TrackOf(m.Name); base {
	case "threads", "payload", "batch", "rate":
		return m.To > 0 && (m.To < m.From || base == "rate" && m.From == 0)
	}
	return false
}
