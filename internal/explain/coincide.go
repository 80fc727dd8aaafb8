package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/rundir/course"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
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
	// mostCoincidences is how many are reported, the worst of them.
	mostCoincidences = 10
)

// happening is something in store.csv that can slow down calls for a while.
type happening struct {
	source, name string
	// least is the value from which it counts as happening in a second.
	least float64
	// words say what it was.
	words func(f *rundir.Folder, second int, value float64) string
}

// aftermath reports whether it is the purpose of a fork.
func (h happening) aftermath() bool { return h.name == "saving" || h.name == "rewriting_aof" }

func words(text string) func(*rundir.Folder, int, float64) string {
	return func(*rundir.Folder, int, float64) string { return text }
}

// happenings are in the order in which they are reported; each store has only a few of
// them.
var happenings = []happening{
	{rundir.OfStore, "forks_per_s", 1e-9, forked},
	{rundir.OfStore, "saving", 1, words("the store was saving its data")},
	{rundir.OfStore, "rewriting_aof", 1, words("the store was rewriting its append-only file")},
	{rundir.OfStore, "delayed_syncs_per_s", 1e-9, words("the store had to wait for a sync of its append-only file")},
	{rundir.OfStore, "slow_commands_per_s", 1e-9, slowCommands},
	{rundir.OfStore, "evicted_keys_per_s", 1e-9, words("the store evicted keys")},
	{rundir.OfStore, "rejected_connections_per_s", 1e-9, words("the store rejected connections")},
	{rundir.OfStore, "checkpoints_per_s", 1e-9, words("the store made a checkpoint")},
	{rundir.OfStore, "deadlocks_per_s", 1e-9, words("the store resolved deadlocks")},
	{rundir.OfStore, "log_waits_per_s", 1e-9, words("the store waited for room in its log")},
	{rundir.OfStore, "wal_buffers_full_per_s", 1e-9, words("the buffers of the write-ahead log were full")},
	{rundir.OfStore, "waits_for_memory_per_s", 1e-9, words("the store waited for free pages of its buffer pool")},
	{rundir.OfStore, "temporary_bytes_per_s", 1e-9, words("the store wrote temporary files")},
	{rundir.OfStore, "dropped_messages_per_s", 1e-9, words("the store dropped messages")},
	{rundir.OfStore, "flushes_active", 1, words("the store was flushing memtables")},
	{rundir.OfStore, "compactions_active", 1, words("the store was compacting")},
	{rundir.OfStore, "resent_packets_per_s", 1e-9, words("members of the store resent packets")},
	{rundir.OfStore, "lock_waiters", 2, counted("calls were waiting for locks")},
	{rundir.OfProcess, "old_collections", 1, words("the store's JVM collected its old generation")},
	{rundir.OfProcess, "collecting_ms", 100, collected("the store's JVM")},
	{rundir.OfProcess, "throttled_share", 0.05, words("its quota held the store back")},
	{rundir.OfClient, "throttled_share", 0.05, words("its quota held perfbench back")},
	{rundir.OfMachine, "disk_busy_share", 0.9, words("the disk of this machine was busy all the time")},
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
	at := func(name string) float64 { return most(course.Sampled(f, rundir.OfStore, name, second, 2)) }
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
func spikes(f *rundir.Folder, from, until, seconds int) (out []string) {
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
		if n, ok := (&stretch{f: f, first: from, n: until - from}).longest(same); ok {
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
	c := course.Of(f)
	list := bursts(f, c)
	slices.SortStableFunc(list, func(a, b burst) int { return -cmp.Compare(a.times, b.times) })
	var seen [][]float64
	n := len(c.Rates)
	if len(list) > 0 { // once for all bursts, because a long run has many samples
		for _, h := range happenings {
			seen = append(seen, course.Sampled(f, h.source, h.name, c.First, n))
		}
	}
	for _, b := range list {
		what := around(f, c.First, n, seen, b)
		if len(what) == 0 {
			continue
		}
		out = append(out, rundir.Coincidence{At: float64(b.from), Until: float64(b.until), Text: fmt.Sprintf(
			"p99 rose %s× at %s, to %s from the usual %s, when %s", decimals(math.Round(b.times*10)/10), clock(float64(b.worst)), duration(b.p99), duration(b.usual), strings.Join(what, " and "))})
		if len(out) == mostCoincidences {
			break
		}
	}
	slices.SortFunc(out, func(a, b rundir.Coincidence) int { return cmp.Compare(a.At, b.At) })
	return out
}

// bursts finds the seconds whose p99 is far above what is usual in their segment.
func bursts(f *rundir.Folder, c course.Course) (out []burst) {
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
		if len(list) >= usualSeconds {
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
// seen has the values of each happening, from the first second on.
func around(f *rundir.Folder, first, n int, seen [][]float64, b burst) (out []string) {
	for _, m := range f.Run.Marks {
		if m.At >= float64(b.from-1) && m.At < float64(b.until) {
			out = append(out, "“"+m.Note+"” was noted")
		}
	}
	for _, m := range f.Run.Moves() {
		if m.At >= float64(b.from-1) && m.At < float64(b.until) {
			out = append(out, m.Name+" was changed")
		}
	}
	for i, h := range happenings {
		values := seen[i]
		at, often, known := -1, 0, 0
		for i, v := range values {
			if math.IsNaN(v) {
				continue
			}
			known++
			if v < h.least {
				continue
			}
			often++
			if t := first + i; at < 0 && t >= b.from-1 && t < b.until {
				at = i
			}
		}
		if at >= 0 && float64(often) <= max(seldom*float64(known), float64(b.until-b.from+1)) && 2*often <= known {
			if text := h.words(f, first+at, values[at]); !slices.ContainsFunc(out, func(s string) bool { return strings.HasPrefix(s, "the store forked") && h.aftermath() }) {
				out = append(out, text)
			}
		}
	}
	return slices.Compact(append(out, spikes(f, b.from-1, b.until, n)...))
}
