package explain

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// recorded is a run of ten seconds of 16 threads in closed loop that did 1000 entries a
// second, on a machine of 4 processors of which little was used.
func recorded() *rundir.Folder {
	f := &rundir.Folder{Run: rundir.Run{
		Unit: "entries", MeasuredS: 10, Environment: map[string]any{"cpus": 4.0},
		Operations: []rundir.Operation{{Track: "map", Op: "put", Calls: 10000, Count: 10000}},
		Segments:   []rundir.Segment{{From: 0, To: 10, Settings: map[string]float64{"threads": 16}}},
		Observed:   &verdict.Observed{Seconds: 10, Cores: 4, CPU: 0.5, Machine: 1.5},
	}}
	for t := range 10 {
		f.Series = append(f.Series, rundir.SeriesRow{T: t, Track: "map", Op: "put", Count: 1000, Throughput: 1000, ResponseP99: 1e6, ResponseMax: 2e6, Threads: 16})
	}
	sample(f, rundir.OfClient, "cpu_cores", 0.5)
	sample(f, rundir.OfProcess, "cpu_cores", 0.6)
	sample(f, rundir.OfMachine, "cpu_cores", 1.5)
	return f
}

// sample has a number sampled in every second.
func sample(f *rundir.Folder, source, name string, v float64) {
	f.Samples = slices.DeleteFunc(f.Samples, func(s rundir.Sample) bool { return s.Source == source && s.Name == name })
	for t := range int(f.Run.MeasuredS) {
		f.Samples = append(f.Samples, rundir.Sample{T: t, Source: source, Name: name, Value: v})
	}
}

// worked has two workers that used that much of two processors each.
func worked(one, two float64) func(*rundir.Folder) {
	return func(f *rundir.Folder) {
		for i, v := range []float64{one, two} {
			f.Run.Workers = append(f.Run.Workers, rundir.Worker{Number: i + 1, CPUs: 2})
			for t := range int(f.Run.MeasuredS) {
				f.Samples = append(f.Samples, rundir.Sample{T: t, Source: rundir.OfWorker, Node: strconv.Itoa(i + 1), Name: "cpu_cores", Value: v})
			}
		}
	}
}

// thinks has the threads of a track pause; their calls take 1.6 ms.
func thinks(track string) func(*rundir.Folder) {
	return func(f *rundir.Folder) {
		f.Run.Pauses = []string{track}
		f.Run.Operations[0].Service.Mean = 1.6e6
		f.Run.Segments[0].Operations = f.Run.Operations
	}
}

// elsewhere has the store on another machine.
func elsewhere(f *rundir.Folder) {
	f.Samples = slices.DeleteFunc(f.Samples, func(s rundir.Sample) bool { return s.Source == rundir.OfProcess })
}

func noted(list ...verdict.Noted) func(*rundir.Folder) {
	return func(f *rundir.Folder) { f.Run.Observed.Noted = list }
}

// Each resource is named when it is at its limit, with the figure that shows it, and no
// other is.
func TestWhatWasAtItsLimitIsNamed(t *testing.T) {
	t.Parallel()
	store := func(name string, v float64) func(*rundir.Folder) {
		return func(f *rundir.Folder) { sample(f, rundir.OfStore, name, v) }
	}
	for name, tt := range map[string]struct {
		with     []func(*rundir.Folder)
		want     string
		evidence string
	}{
		"nothing":               {nil, Unknown, "perfbench 0.5 of 4 processors; store 0.6 of 4 processors; this machine 1.5 of 4 processors"},
		"a worker that is full": {[]func(*rundir.Folder){worked(0.5, 1.8)}, Client, "worker 2 (the busiest) 1.8 of 2 processors"},
		"workers that are not":  {[]func(*rundir.Folder){worked(0.5, 0.4)}, Unknown, "worker 1 (the busiest) 0.5 of 2 processors"},
		"a rate that was met": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			for i := range f.Series {
				f.Series[i].Rate = 1010
			}
		}}, Pacing, "requested rate 1k of 1.01k entries/s"},
		"a rate of two tracks, one of them in another unit": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "log", Op: "get", Calls: 10000, Count: 10000})
			f.Run.Units = map[string]string{"log.get": "lines"}
			for i := range f.Series {
				f.Series[i].Rate = 1000
			}
			for i := range 10 {
				f.Series = append(f.Series, rundir.SeriesRow{T: i, Track: "log", Op: "get", Count: 1000, Threads: 16, Rate: 1000})
			}
		}}, Pacing, "requested rate 1k of 1k entries/s"},
		"a rate of tracks in turn, that share a second": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "next", Op: "put", Calls: 5000, Count: 5000})
			for i := range f.Series {
				f.Series[i].Rate = 1000
				if i > 5 {
					f.Series[i].Track = "next"
				}
			}
			f.Series = append(f.Series, rundir.SeriesRow{T: 5, Track: "next", Op: "put", Threads: 16, Rate: 1000})
		}}, Pacing, "requested rate 1k of 1k entries/s"},
		"a rate of something beside": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			for i := range f.Series {
				f.Series[i].Rate = 50
			}
		}}, Unknown, ""},
		"a rate that was not met": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			for i := range f.Series {
				f.Series[i].Rate = 2000
			}
		}, store("main_thread_cpu_cores", 0.99)}, Thread, "store's main thread 0.99 of 1 processor"},
		"pauses":            {[]func(*rundir.Folder){thinks("map")}, Think, "in pauses 14.4 of 16 threads"},
		"pauses of another": {[]func(*rundir.Folder){thinks("other")}, Unknown, ""},
		"hardly any calls":  {[]func(*rundir.Folder){thinks("map"), func(f *rundir.Folder) { f.Run.Operations[0].Service.Mean = 1e4 }}, Think, "in pauses 15.99 of 16 threads"},
		"short pauses":      {[]func(*rundir.Folder){thinks("map"), func(f *rundir.Folder) { f.Run.Operations[0].Service.Mean = 15e6 }}, Threads, ""},
		"a rate beside pauses": {[]func(*rundir.Folder){thinks("map"), func(f *rundir.Folder) {
			for i := range f.Series {
				f.Series[i].Rate = 1000
			}
		}}, Pacing, ""},
		"a busy client that also polls": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			sample(f, rundir.OfClient, "cpu_cores", 3.9)
			sample(f, rundir.OfClient, "busy_poll_cores", 0.3)
		}}, Client, "perfbench 3.6 of 4 processors, 0.3 more polling for replies"},
		"a client that polls, and a machine that is full of it": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			sample(f, rundir.OfClient, "cpu_cores", 3.6)
			sample(f, rundir.OfClient, "busy_poll_cores", 2.6)
			sample(f, rundir.OfMachine, "cpu_cores", 3.9)
		}, store("main_thread_cpu_cores", 0.99)}, Thread, "perfbench 1 of 4 processors, 2.6 more polling for replies"},
		"a busy client":      {[]func(*rundir.Folder){func(f *rundir.Folder) { sample(f, rundir.OfClient, "cpu_cores", 3.6) }}, Client, "perfbench 3.6 of 4"},
		"a client held back": {[]func(*rundir.Folder){func(f *rundir.Folder) { sample(f, rundir.OfClient, "throttled_share", 0.7) }}, Client, "70 % of its periods"},
		"locks by number":    {[]func(*rundir.Folder){store("lock_waiters", 14)}, Locks, "14 of 16 threads"},
		"locks by time":      {[]func(*rundir.Folder){store("lock_wait_ms_per_s", 15000)}, Locks, "15 of 16 threads"},
		"a few locks":        {[]func(*rundir.Folder){store("lock_waiters", 3)}, Unknown, ""},
		"an idle main thread that waits for the disk": {[]func(*rundir.Folder){store("main_thread_cpu_cores", 0.2), store("aof_syncs_each_write", 1), func(f *rundir.Folder) { sample(f, rundir.OfProcess, "main_thread_in_disk", 0.8) }}, Sync, "80 % of the samples"},
		"a main thread that is slow to answer some": {[]func(*rundir.Folder){store("main_thread_cpu_cores", 0.99), noted(
			verdict.Noted{AtS: 3, Command: "KEYS", ForMs: 80}, verdict.Noted{AtS: 4, Command: "KEYS", ForMs: 120}, verdict.Noted{AtS: 12, Command: "SORT", ForMs: 900},
		)}, Thread, "of the commands that it logged as slow, KEYS took it 120 ms at most, 2 times"},
		"a disk that its store complains of": {[]func(*rundir.Folder){store("main_thread_cpu_cores", 0.2), store("aof_syncs_each_write", 1), func(f *rundir.Folder) { sample(f, rundir.OfProcess, "main_thread_in_disk", 0.8) }, noted(
			verdict.Noted{AtS: 2, Event: "aof-fsync-always", ForMs: 31},
		)}, Sync, "by its latency monitor, aof-fsync-always took it 31 ms"},
		"an idle main thread that waits for nothing": {[]func(*rundir.Folder){store("main_thread_cpu_cores", 0.2), store("aof_syncs_each_write", 1), func(f *rundir.Folder) { sample(f, rundir.OfProcess, "main_thread_in_disk", 0) }}, Unknown, "main thread 0.2 of 1 processor"},
		"a write-ahead log":                          {[]func(*rundir.Folder){store("running", 15), store("log_sync_waiters", 12)}, Sync, "12 of 15 running statements"},
		"committing threads":                         {[]func(*rundir.Folder){store("committing_threads", 12)}, Sync, "12 of 16 threads"},
		"a small pool":                               {[]func(*rundir.Folder){func(f *rundir.Folder) { f.Run.Observed.PoolSize, f.Run.Observed.PoolWaitNs = 2, 140e9 }}, Pool, "waiting for a connection 14 of 16 threads, with 2 connections"},
		"a pool of one":                              {[]func(*rundir.Folder){func(f *rundir.Folder) { f.Run.Observed.PoolSize, f.Run.Observed.PoolWaitNs = 1, 140e9 }}, Pool, "waiting for a connection 14 of 16 threads, with 1 connection"},
		"a pool for all":                             {[]func(*rundir.Folder){func(f *rundir.Folder) { f.Run.Observed.PoolSize, f.Run.Observed.PoolWaitNs = 16, 140e9 }}, Unknown, ""},
		"a busy store":                               {[]func(*rundir.Folder){func(f *rundir.Folder) { sample(f, rundir.OfProcess, "cpu_cores", 3.5) }}, Store, "store 3.5 of 4"},
		"a busy machine":                             {[]func(*rundir.Folder){func(f *rundir.Folder) { sample(f, rundir.OfMachine, "cpu_cores", 3.9) }}, Machine, "3.9 of 4"},
		"a network that others fill": {[]func(*rundir.Folder){elsewhere, func(f *rundir.Folder) {
			sample(f, rundir.OfMachine, "link_bytes_per_s", 125e6)
			sample(f, rundir.OfMachine, "link_in_bytes_per_s", 5e6)
			sample(f, rundir.OfMachine, "link_out_bytes_per_s", 118e6)
			sample(f, rundir.OfClient, "net_in_bytes_per_s", 1e6)
			sample(f, rundir.OfClient, "net_out_bytes_per_s", 8e6)
		}}, Network, "network 113 MiB of 119 MiB a second, in one direction; "},
		"a network with room": {[]func(*rundir.Folder){elsewhere, func(f *rundir.Folder) {
			sample(f, rundir.OfMachine, "link_bytes_per_s", 125e6)
			sample(f, rundir.OfMachine, "link_in_bytes_per_s", 70e6)
			sample(f, rundir.OfMachine, "link_out_bytes_per_s", 90e6)
			sample(f, rundir.OfClient, "net_in_bytes_per_s", 60e6)
			sample(f, rundir.OfClient, "net_out_bytes_per_s", 80e6)
		}}, Unknown, ""},
		"a full network beside a store on this machine": {[]func(*rundir.Folder){func(f *rundir.Folder) {
			sample(f, rundir.OfMachine, "link_bytes_per_s", 125e6)
			sample(f, rundir.OfMachine, "link_out_bytes_per_s", 120e6)
			sample(f, rundir.OfClient, "net_in_bytes_per_s", 120e6)
			sample(f, rundir.OfClient, "net_out_bytes_per_s", 120e6)
		}}, Unknown, ""},
		"a network at its end": {[]func(*rundir.Folder){elsewhere, func(f *rundir.Folder) {
			sample(f, rundir.OfMachine, "link_bytes_per_s", 125e6)
			sample(f, rundir.OfClient, "net_in_bytes_per_s", 120e6)
			sample(f, rundir.OfClient, "net_out_bytes_per_s", 1e6)
		}}, Network, "network 114 MiB of 119 MiB a second"},
	} {
		t.Run(name, func(t *testing.T) {
			f := recorded()
			for _, with := range tt.with {
				with(f)
			}
			w := Of(f)
			require.Len(t, w.Parts, 1)
			assert.Equal(t, tt.want, w.Parts[0].Resource, w.Parts[0].Text)
			assert.Contains(t, strings.Join(Shown(&w.Parts[0]), "; "), tt.evidence)
			assert.True(t, strings.HasSuffix(Paragraph(w), "."))
		})
	}
}

// What cannot be known is not said.
func TestNothingIsMadeUp(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.Store.InProcess = true
	sample(f, rundir.OfClient, "cpu_cores", 3.9)
	assert.Equal(t, Unknown, Main(Limits(Of(f))).Resource, "the store lives in the client")
	assert.Contains(t, Paragraph(Of(f)), "cannot be told")

	f = recorded()
	f.Run.Workers = []rundir.Worker{{Number: 1, CPUs: 4, State: "ended"}}
	sample(f, rundir.OfClient, "cpu_cores", 3.9)
	sample(f, rundir.OfMachine, "cpu_cores", 4)
	elsewhere(f)
	assert.Equal(t, Unknown, Main(Limits(Of(f))).Resource, "that is of the coordinator, which worked for nobody")
	assert.NotContains(t, Paragraph(Of(f)), "perfbench used")
	f.Run.Observed = &verdict.Observed{Seconds: 10, Cores: 4, CPU: 3.9, Growth: &verdict.Growth{From: 1, To: 100_000, Rate: 100}}
	assert.Equal(t, []string{"backlog"}, slices.DeleteFunc(f.Run.Judge().Causes, func(c string) bool { return c != "cpu" && c != "backlog" }))

	f = recorded()
	f.Run.MeasuredS, f.Run.Segments[0].To = 2, 2
	assert.Contains(t, Paragraph(Of(f)), "fewer than 3 whole seconds")

	f = recorded()
	f.Samples, f.Run.Observed = nil, nil
	assert.Equal(t, Unknown, Main(Limits(Of(f))).Resource)

	f = recorded()
	f.Series = nil
	assert.Contains(t, Paragraph(Of(f)), "nothing succeeded")
	f.Run.Segments[0].Settings = map[string]float64{"paused": 1}
	assert.Equal(t, Pacing, Main(Limits(Of(f))).Resource)
	assert.Contains(t, Paragraph(Of(f)), "The run was paused, so nothing was done.")
}

// A rate at which the backlog grew to the end was not kept, whatever the mean is.
func TestARateThatWasNotKeptSetNoPace(t *testing.T) {
	t.Parallel()
	f := recorded()
	for i := range f.Series {
		f.Series[i].Rate = 1000
	}
	assert.Equal(t, Pacing, Main(Limits(Of(f))).Resource)
	f.Run.Observed = &verdict.Observed{Growth: &verdict.Growth{FromS: 3, ToS: 10, Rate: 1000}}
	assert.NotEqual(t, Pacing, Main(Limits(Of(f))).Resource)
	f.Run.Observed.Growth.CaughtUpS = 12
	assert.Equal(t, Pacing, Main(Limits(Of(f))).Resource)
}

// Seconds in which the run was behind its rate are told apart from those in which the rate set the pace, and are
// the reason for a p99 that rose then.
func TestSecondsBehindTheRateAreToldApart(t *testing.T) {
	t.Parallel()
	f := fallen(34, 970)
	for i := range f.Series {
		if f.Series[i].Rate = 1000; i >= 31 {
			f.Series[i].ResponseP99 = 800e6
		}
	}
	periods, _ := Periods(Of(f))
	assert.Equal(t, []Period{{0, 40, "the requested rate: 996 of 1k entries/s"}}, periods)
	f.Run.Observed.CaughtUp = &verdict.Behind{FromS: 32, ToS: 40, Most: 180}
	w := Of(f)
	periods, _ = Periods(w)
	assert.Equal(t, []Period{{0, 32, "the requested rate: 1k of 1k entries/s"}, {32, 40, "not known"}}, periods)
	assert.Equal(t, "the run was behind its rate, and "+nothingFull, w.Parts[1].Hint)
	require.Len(t, w.Coincidences, 1)
	assert.Equal(t, "p99 rose 800× at 00:31 of the run, to 800 ms from a median of 1 ms, when the run was behind its rate, by 180 entries at most", w.Coincidences[0].Text)
}

// A pause that the user made is told as that, however short it was and whatever was before it.
func TestAPauseIsToldAsThat(t *testing.T) {
	t.Parallel()
	for _, length := range []float64{1.2, 2.6, 3.2, 3.5} { // from 4.7 on, none of them has four whole seconds
		f := recorded()
		to := 4.7 + length
		f.Run.Segments = []rundir.Segment{
			{To: 4.7, Settings: map[string]float64{"rate": 1000}},
			{From: 4.7, To: to, Settings: map[string]float64{"rate": 1000, "paused": 1}},
			{From: to, To: 12, Settings: map[string]float64{"rate": 1000}},
		}
		f.Run.MeasuredS = 12
		var rows []rundir.SeriesRow
		for i := range 12 {
			r := f.Series[0]
			r.T, r.Rate = i, 1000
			if at := float64(i); at <= 4 || at >= to {
				rows = append(rows, r)
			}
		}
		f.Series = rows
		w := Of(f)
		require.Len(t, w.Parts, 3, "%g s: %v", length, w.Parts)
		assert.Equal(t, "The run was paused, so nothing was done.", w.Parts[1].Text, "%g s", length)
		assert.Equal(t, w.Parts[0].Text, w.Parts[2].Text)
		assert.NotEqual(t, w.Parts[0].Text, w.Parts[1].Text)
		w.Parts = append(w.Parts, w.Parts...)
		assert.Contains(t, Paragraph(w), "In the shorter stretches of the run it was ")
		assert.Contains(t, Paragraph(w), "a pause from 00:04.7 to ")
	}
}

// A sentence about a requested rate is about the time in which that was requested.
func TestEachRequestedRateIsTold(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.MeasuredS, f.Run.Segments, f.Series = 70, nil, nil
	for i := range 7 {
		rate := []float64{40000, 25000, 25000, 80000, 1000, 2000, 3000}[i]
		from := 10 * float64(i)
		f.Run.Segments = append(f.Run.Segments, rundir.Segment{From: from, To: from + 10, Settings: map[string]float64{"rate": rate, "payload": from}})
		for second := range 10 {
			f.Series = append(f.Series, rundir.SeriesRow{T: 10*i + second, Track: "map", Op: "put", Count: int64(rate), Throughput: rate, Rate: rate, Threads: 16})
		}
	}
	f.Series[29].Rate = 80000 // the second ended as the rate was changed
	f.Series[69].Rate = 0     // and this one as it was taken away
	w := Of(f)
	require.Len(t, w.Parts, 6)
	text := Paragraph(w)
	assert.Contains(t, text, "From 00:00 to 00:10 of the run: The requested rate set the pace; no resource was at its limit. Requested rate 40k of 40k entries/s")
	assert.Contains(t, text, "From 00:10 to 00:30 of the run: The requested rate set the pace; no resource was at its limit. Requested rate 25k of 25k entries/s")
	assert.Contains(t, text, "Requested rate 80k of 80k entries/s")
	assert.Contains(t, text, "In the shorter stretches of the run it was pacing from 00:40 to 01:10.")
}

// That nothing was at its limit is not said beside a figure that was.
func TestAFullMachineIsNotOverlooked(t *testing.T) {
	t.Parallel()
	const nothing = "nothing that was sampled was at its limit"
	f := recorded()
	worked(0.5, 0.4)(f)
	assert.Contains(t, Paragraph(Of(f)), nothing)
	sample(f, rundir.OfMachine, "cpu_cores", 4)
	assert.Equal(t, Machine, Main(Limits(Of(f))).Resource, "the store is on it")
	assert.Contains(t, Paragraph(Of(f)), "the coordinator's machine held the run back: the store shares them; give")
	assert.Contains(t, Paragraph(Of(f)), "The coordinator's machine 4 of 4 processors")

	elsewhere(f)
	assert.Equal(t, Unknown, Main(Limits(Of(f))).Resource, "workers and store may be on others")
	assert.NotContains(t, Paragraph(Of(f)), nothing)
	assert.Contains(t, Paragraph(Of(f)), "were at their limit, which the store or a worker may share")

	f = recorded()
	elsewhere(f)
	sample(f, rundir.OfMachine, "cpu_cores", 4)
	assert.Equal(t, Unknown, Main(Limits(Of(f))).Resource)
	assert.NotContains(t, Paragraph(Of(f)), nothing)
	assert.Contains(t, Paragraph(Of(f)), "mostly with other processes, of which the store may be one")

	f.Run.Store.Topology = "in process"
	assert.Contains(t, Paragraph(Of(f)), "held the run back: other processes used most of them. This machine 4 of 4 processors; other processes 3.5 of 4 processors")
}

// More threads that do as much more show what held back before, and stretches that
// differ are told apart.
func TestStretchesAreToldApart(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.Segments = []rundir.Segment{{From: 0, To: 5, Settings: map[string]float64{"threads": 16}}, {From: 5, To: 10, Settings: map[string]float64{"threads": 32}}}
	for i := 5; i < 10; i++ {
		f.Series[i].Threads, f.Series[i].Count, f.Series[i].Segment = 32, 1900, 1
	}
	w := Of(f)
	require.Len(t, w.Parts, 2)
	assert.Equal(t, []string{Unknown, Threads}, []string{w.Parts[0].Resource, w.Parts[1].Resource})
	assert.Contains(t, Paragraph(w), "From 00:05 to 00:10 of the run: The number of threads held the run back")
	assert.Contains(t, Paragraph(w), "2 times as many threads did 1.9 times as much")

	for i := 5; i < 10; i++ {
		f.Series[i].Count = 1100
	}
	w = Of(f)
	require.Len(t, w.Parts, 1, "both cannot be told")
	assert.Equal(t, Unknown, w.Parts[0].Resource)
}

// Of each number of threads its own figures are told, and of a time that is too short for any none; what is common to
// all is told once.
func TestEachNumberOfThreadsIsTold(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.Segments = nil
	for i, g := range []struct {
		from, to, threads float64
		mean              float64
	}{{0, 5, 8, 8e6}, {5, 6.5, 48, 8e6}, {6.5, 10, 2, 4e6}} {
		op := f.Run.Operations[0]
		op.Calls = int64((g.to - g.from) * g.threads * 1e9 / g.mean)
		op.Service.Mean = g.mean
		f.Run.Segments = append(f.Run.Segments, rundir.Segment{From: g.from, To: g.to, Settings: map[string]float64{"threads": g.threads}, Operations: []rundir.Operation{op}})
		for s := int(math.Ceil(g.from)); s < int(math.Ceil(g.to)); s++ {
			f.Series[s].Threads, f.Series[s].Segment = int(g.threads), i
		}
	}
	w := Of(f)
	periods, _ := Periods(w)
	assert.Equal(t, []Period{
		{0, 5, "the number of threads: 8 threads that each wait 8 ms make 1k calls/s"},
		{6.5, 10, "the number of threads: 2 threads that each wait 4 ms make 500 calls/s"},
	}, periods)
	assert.Equal(t, "the number of threads: for more it takes more threads, or a nearer store", Limited(w, nil))
	assert.Equal(t, "The number of threads held the run back: for more it takes more threads, or a nearer store.", Main(Limits(w)).Text)

	f.Run.Segments[1].To, f.Run.Segments = 10, f.Run.Segments[:2]
	f.Run.Segments[0].To, f.Run.Segments[1].From = 8, 8
	f.Run.Segments[0].Operations[0].Calls = 8000
	for s := range f.Series {
		f.Series[s].Threads = 8
	}
	f.Series[8].Threads, f.Series[9].Threads = 48, 48
	f.Run.Operations[0].Calls, f.Run.Operations[0].Service.Mean = 20000, 8e6
	assert.Equal(t, "the number of threads: 8 threads that each wait 8 ms make 1k calls/s; for more it takes more threads, or a nearer store", Limited(Of(f), nil), "and not the mean of all threads")
}

// A drain and queries that follow the work are judged with none of it: a change shortly
// before its end does not leave a stretch in which nothing was done.
func TestWhatFollowsTheCountedWorkIsLeftOut(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "query", Op: "id", Calls: 50, Count: 50})
	f.Run.Units = map[string]string{"query.id": "entries read"}
	f.Run.Segments = []rundir.Segment{{From: 0, To: 4.002, Settings: map[string]float64{"threads": 16}}, {From: 4.002, To: 10, Settings: map[string]float64{"threads": 32}}}
	f.Run.Phases = []rundir.Phase{{Name: "load", From: 0.0002, To: 5.001, Tracks: []string{"map"}}, {Name: "query", From: 5.001, To: 10, Tracks: []string{"query"}}}
	for i := 5; i < 10; i++ {
		f.Series[i].Track, f.Series[i].Op, f.Series[i].Count = "query", "id", 10
	}
	w := Of(f)
	require.Len(t, w.Parts, 1)
	assert.NotContains(t, Paragraph(w), "nothing succeeded")
	assert.Equal(t, []float64{0, 5.001}, []float64{w.Parts[0].From, w.Parts[0].To})

	f.Run.Phases[0].To, f.Run.Phases[1].From = 2, 2
	assert.Contains(t, Paragraph(Of(f)), "its counted operations ran for fewer than 3 whole seconds")
}

// Of segments in a row that are too short to tell anything, it is said that these are, and not the time that
// they make up together; where the run as a whole tells more, that is told.
func TestSegmentsThatAreTooShortAreNotOneThatIs(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.MeasuredS, f.Run.Segments = 30, []rundir.Segment{{From: 0, To: 10.1, Settings: map[string]float64{"threads": 16, "rate": 1000}}}
	f.Series = nil
	for s := range 30 {
		row := rundir.SeriesRow{T: s, Track: "map", Op: "put", Count: 1000, Throughput: 1000, ResponseP99: 1e6, ResponseMax: 2e6, Threads: 16}
		if s < 10 {
			row.Rate = 1000
		}
		f.Series = append(f.Series, row)
	}
	for from := 10.1; from < 22; from += 3.2 {
		f.Run.Segments = append(f.Run.Segments, rundir.Segment{From: from, To: from + 3.2, Settings: map[string]float64{"threads": from}})
	}
	w := Of(f)
	require.Len(t, w.Parts, 2)
	assert.Equal(t, Pacing, w.Parts[0].Resource)
	assert.Equal(t, []any{10.1, Unknown}, []any{w.Parts[1].From, w.Parts[1].Resource})
	assert.InDelta(t, 22.9, w.Parts[1].To, 1e-6)
	assert.Contains(t, Paragraph(w), ": What held the run back is not known: settings changed too often; leave each for 4 s or longer.")

	last := &f.Run.Segments[len(f.Run.Segments)-1]
	last.To = 30
	assert.NotContains(t, Paragraph(Of(f)), "no segment", "the last one tells more")
	f.Run.Segments = f.Run.Segments[1:4]
	assert.NotContains(t, Paragraph(Of(f)), "no segment", "and so does the whole")
}

// A slow second is told with what happened then, unless that happens all the time.
func TestSlowSecondsAndWhatCoincided(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Series[6].ResponseP99 = 8.24e6
	assert.Empty(t, Of(f).Coincidences, "nothing is known that happened")

	for t := range 10 {
		forked, ms := 0.0, 1.0
		if t == 6 {
			forked, ms = 1, 12
		}
		f.Samples = append(f.Samples, rundir.Sample{T: t, Source: rundir.OfStore, Name: "forks_per_s", Value: forked},
			rundir.Sample{T: t, Source: rundir.OfStore, Name: "latest_fork_ms", Value: ms},
			rundir.Sample{T: t, Source: rundir.OfStore, Name: "saving", Value: forked})
	}
	w := Of(f)
	require.Len(t, w.Coincidences, 1)
	assert.Equal(t, rundir.Coincidence{At: 6, Until: 7, Text: "p99 rose 8.2× at 00:06 of the run, to 8.24 ms from a median of 1 ms, when the store forked for a save (the fork took 12 ms)"}, w.Coincidences[0])

	sample(f, rundir.OfStore, "forks_per_s", 1)
	sample(f, rundir.OfStore, "saving", 1)
	assert.Empty(t, Of(f).Coincidences, "it forks all the time")
}

// What the store itself noted is told with the second in which it did.
func TestASlowSecondIsToldWithWhatTheStoreNoted(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Series[6].ResponseP99 = 8.24e6
	for t := range 10 {
		n := 0.0
		if t == 6 {
			n = 2
		}
		f.Samples = append(f.Samples, rundir.Sample{T: t, Source: rundir.OfStore, Name: "slow_commands_per_s", Value: n})
	}
	noted(verdict.Noted{AtS: 6, Command: "HSET", Key: "perfbench:profile", ForMs: 34}, verdict.Noted{AtS: 6, Command: "GET", ForMs: 12},
		verdict.Noted{AtS: 2, Command: "DEL", ForMs: 99}, verdict.Noted{AtS: 5, Event: "expire-cycle", ForMs: 25})(f)
	c := Of(f).Coincidences
	require.Len(t, c, 1)
	assert.Contains(t, c[0].Text, "when the store logged slow commands (HSET perfbench:profile: 34 ms) and expire-cycle took the store 25 ms")

	for t := range 10 {
		f.Run.Observed.Noted = append(f.Run.Observed.Noted, verdict.Noted{AtS: t, Event: "expire-cycle", ForMs: 25})
	}
	assert.NotContains(t, Of(f).Coincidences[0].Text, "expire-cycle", "that is so all the time")
}

// Fifteen prepared bottlenecks as their runs were recorded: each is named, or it is said that
// it cannot be told, and nothing is said that is not so.
func TestPreparedBottlenecks(t *testing.T) {
	t.Parallel()
	store := func(name string, v float64) func(*rundir.Folder) {
		return func(f *rundir.Folder) { sample(f, rundir.OfStore, name, v) }
	}
	used := func(client, process, machine float64) func(*rundir.Folder) {
		return func(f *rundir.Folder) {
			sample(f, rundir.OfClient, "cpu_cores", client)
			sample(f, rundir.OfProcess, "cpu_cores", process)
			sample(f, rundir.OfMachine, "cpu_cores", machine)
		}
	}
	rate := func(v float64) func(*rundir.Folder) {
		return func(f *rundir.Folder) {
			for i := range f.Series {
				f.Series[i].Rate = v
			}
		}
	}
	// waited has four threads whose calls all take that long.
	waited := func(ms float64) func(*rundir.Folder) {
		return func(f *rundir.Folder) {
			calls := int64(4 * 10 * 1000 / ms)
			f.Run.Operations[0].Calls, f.Run.Operations[0].Count, f.Run.Operations[0].Service.Mean = calls, calls, ms*1e6
			f.Run.Segments[0].Operations = f.Run.Operations
			for i := range f.Series {
				f.Series[i].Threads, f.Series[i].Count = 4, calls/10
			}
		}
	}
	stolen := func(share float64) func(*rundir.Folder) {
		return func(f *rundir.Folder) { f.Run.Observed.Stolen = share }
	}
	// turns has three tracks one after the other, which share their seconds of handing over.
	turns := func(f *rundir.Folder) {
		f.Series = nil
		for _, name := range []string{"a", "b", "c"} {
			f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: name, Op: "put", Calls: 8000, Count: 8000})
		}
		for i, at := range [][2]int{{0, 3}, {3, 6}, {6, 9}} {
			for s := at[0]; s <= at[1]; s++ {
				f.Series = append(f.Series, rundir.SeriesRow{T: s, Track: string(rune('a' + i)), Op: "put", Count: 23000, Throughput: 23000, Threads: 4})
			}
		}
	}
	const nothing, met = "no resource was at its limit", "The requested rate set the pace"
	for name, tt := range map[string]struct {
		with      []func(*rundir.Folder)
		want      string
		says, not string
	}{
		"a rate with room above it":                  {[]func(*rundir.Folder){rate(1000)}, Pacing, nothing, "little room"},
		"a rate that takes all processors":           {[]func(*rundir.Folder){rate(1000), used(1, 2, 3.9)}, Pacing, "with the processors of this machine at the limit", nothing},
		"a rate that takes what a hypervisor leaves": {[]func(*rundir.Folder){rate(1000), used(1, 1, 2.6), stolen(0.3)}, Pacing, "with the processors of this machine at the limit", nothing},
		"a rate that takes the main thread":          {[]func(*rundir.Folder){rate(1000), store("main_thread_cpu_cores", 0.95)}, Pacing, "with the store's main thread at the limit", nothing},
		"no rate, and tracks in turn":                {[]func(*rundir.Folder){turns}, Unknown, "", met},
		"no rate in one of two tracks": {[]func(*rundir.Folder){rate(1000), func(f *rundir.Folder) {
			f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "free", Op: "put", Calls: 500, Count: 500})
			for i := range 10 {
				f.Series = append(f.Series, rundir.SeriesRow{T: i, Track: "free", Op: "put", Count: 50, Threads: 1})
			}
		}}, Unknown, "", met},
		"more done than was asked for":          {[]func(*rundir.Folder){rate(820)}, Unknown, "", met},
		"four threads far from their store":     {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.2, 0.7)}, Threads, "4 threads that each wait 5.5 ms make 727 calls/s; for more it takes more threads, or a nearer store", nothing},
		"threads that wait for a store unseen":  {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.2, 0.7), elsewhere}, Unknown, "4 threads that each wait 5.5 ms make 727 calls/s", "held the run back: 4"},
		"threads that wait for rows":            {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.2, 0.7), store("lock_waiters", 1.5)}, Unknown, "", "nearer store"},
		"threads that wait for the disk":        {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.2, 0.7), store("committing_threads", 3)}, Sync, "were committing", "nearer store"},
		"threads on a machine with little room": {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.2, 3.3)}, Threads, "make 727 calls/s; for more it takes more threads", "not known"},
		"threads beside a thread that is busy":  {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.7, 1.2), store("main_thread_cpu_cores", 0.7)}, Threads, "make 727 calls/s; for more it takes more threads", "not known"},
		"threads beside a thread that waits":    {[]func(*rundir.Folder){waited(5.5), used(0.3, 0.5, 1.2), store("main_thread_cpu_cores", 0.5), func(f *rundir.Folder) { sample(f, rundir.OfProcess, "main_thread_run_queue_cores", 0.4) }}, Unknown, "", "nearer store"},
		"a machine that a hypervisor shares":    {[]func(*rundir.Folder){used(0.6, 1.2, 2.2), stolen(0.4)}, Machine, "a hypervisor gave 40 % of its time to others", nothing},
		"perfbench on what a hypervisor leaves": {[]func(*rundir.Folder){used(2.5, 0.2, 2.8), stolen(0.3)}, Client, "Perfbench 2.5 of 4 processors", nothing},
	} {
		t.Run(name, func(t *testing.T) {
			f := recorded()
			for _, with := range tt.with {
				with(f)
			}
			w := Of(f)
			assert.Equal(t, tt.want, Main(Limits(w)).Resource, Paragraph(w))
			assert.Contains(t, Paragraph(w), tt.says)
			if tt.not != "" {
				assert.NotContains(t, Paragraph(w), tt.not)
			}
		})
	}
}

// What is too short for a rise does not explain it, nor does a live change in a second in
// which another process had the machine.
func TestACauseIsLargeEnough(t *testing.T) {
	t.Parallel()
	slow := func(ms float64) *rundir.Folder {
		f := recorded()
		f.Series[6].ResponseP99 = 952e6
		for t := range 10 {
			n := 0.0
			if t == 6 {
				n = 1
			}
			f.Samples = append(f.Samples, rundir.Sample{T: t, Source: rundir.OfStore, Name: "slow_commands_per_s", Value: n}, rundir.Sample{T: t, Source: rundir.OfProcess, Name: "collecting_ms", Value: 120 * n})
		}
		noted(verdict.Noted{AtS: 6, Command: "GET", ForMs: ms}, verdict.Noted{AtS: 6, Event: "expire-cycle", ForMs: ms})(f)
		return f
	}
	assert.Empty(t, Of(slow(15)).Coincidences, "15 ms do not make 952 ms")
	require.Len(t, Of(slow(900)).Coincidences, 1)
	assert.Contains(t, Of(slow(900)).Coincidences[0].Text, "GET: 900 ms) and expire-cycle took the store 900 ms")
	assert.NotContains(t, Of(slow(900)).Coincidences[0].Text, "garbage")

	f := recorded()
	f.Series[6].ResponseP99 = 20e6
	f.Run.Changes = []rundir.Change{{At: 6.2, Name: "threads", From: 8, To: 16}}
	require.Len(t, Of(f).Coincidences, 1)
	assert.Contains(t, Of(f).Coincidences[0].Text, "threads was changed")
	assert.False(t, Of(f).Coincidences[0].Crowded)
	for i := range f.Samples {
		if s := &f.Samples[i]; s.T == 6 && s.Source == rundir.OfMachine {
			s.Value = 3.6
		}
	}
	require.Len(t, Of(f).Coincidences, 1)
	assert.Contains(t, Of(f).Coincidences[0].Text, "when other processes used 2.5 of 4 processors")
	assert.True(t, Of(f).Coincidences[0].Crowded)
	assert.Len(t, Noted(Of(f), rundir.Verdict{}), 1)
	told := rundir.Verdict{Doubts: []verdict.Doubt{{Cause: verdict.Crowded, Shows: []verdict.Doubt{{Text: Of(f).Coincidences[0].Text}}}}}
	assert.Empty(t, Noted(Of(f), told), "the verdict has told it")
	assert.NotContains(t, Of(f).Coincidences[0].Text, "threads was changed")
	f = recorded()
	f.Series[6].ResponseP99 = 20e6
	f.Run.Changes = []rundir.Change{{At: 6.2, Name: "threads", From: 16, To: 8}}
	assert.Empty(t, Of(f).Coincidences, "fewer threads slow nothing down")
}

// What a search set itself is told as its own: the rate of a level is no wish of the user, and the note
// on a level no cause.
func TestWhatASearchSetIsToldAsItsOwn(t *testing.T) {
	t.Parallel()
	f := recorded()
	for i := range f.Series {
		f.Series[i].Rate = 1000
	}
	f.Series[6].ResponseP99 = 20e6
	f.Run.Marks = []rundir.Mark{{At: 6.1, Note: "rate 1k: it did not hold"}}
	require.Contains(t, Of(f).Parts[0].Text, "The requested rate set the pace")
	require.Contains(t, Of(f).Coincidences[0].Text, "was noted")
	f.Run.Changes = []rundir.Change{{At: 0.1, Name: "rate", To: 1000, By: measure.BySearch}}
	w := Of(f)
	assert.Equal(t, Pacing, w.Parts[0].Resource)
	assert.Equal(t, searchPace, w.Parts[0].Text)
	assert.Empty(t, w.Parts[0].Evidence)
	assert.Empty(t, w.Coincidences, "the search's own note is no cause")
	f.Run.Marks[0].Note = "deployed"
	assert.Contains(t, Of(f).Coincidences[0].Text, "“deployed” was noted")
}

// Three coincidences are told, the worst of them, and the others in one line.
func TestManyCoincidencesAreFolded(t *testing.T) {
	t.Parallel()
	f := recorded()
	f.Run.MeasuredS, f.Run.Segments[0].To = 60, 60
	f.Series = nil
	for t := range 60 {
		row := rundir.SeriesRow{T: t, Track: "map", Op: "put", Count: 1000, ResponseP99: 1e6, ResponseMax: 2e6, Threads: 16}
		forked := 0.0
		if t%12 == 6 {
			row.ResponseP99, forked = int64(10+t)*1e6, 1
		}
		f.Series = append(f.Series, row)
		f.Samples = append(f.Samples, rundir.Sample{T: t, Source: rundir.OfStore, Name: "forks_per_s", Value: forked})
	}
	c := Of(f).Coincidences
	require.Len(t, c, 4)
	assert.Contains(t, c[0].Text, "at 00:30 of the run, to 40 ms")
	assert.Equal(t, "p99 rose less at 2 other times between 00:06 and 00:19 of the run, to at most 28 ms at 00:18, when such things happened", c[3].Text)

	w := rundir.Why{}
	for i, to := range []float64{10, 14, 40, 44, 70} {
		from := []float64{0, 10, 14, 40, 44}[i]
		w.Parts = append(w.Parts, rundir.WhyPart{From: from, To: to, Resource: []string{Pacing, Client, Store, Locks, Pool}[i], Text: "Text."})
	}
	assert.Equal(t, "Limited by store CPU for 26 s, pool for 26 s, pacing for 10 s, and 2 more. From 00:00 to 00:10 of the run: Text. From 00:14 to 00:40 of the run: Text. From 00:44 to 01:10 of the run: Text. In the shorter stretches of the run it was client CPU from 00:10 to 00:14, locks from 00:40 to 00:44.", Paragraph(&w))
}

// Of the shorter stretches each cause is told once, and one that is unknown not at all.
func TestShorterStretchesAreToldByCause(t *testing.T) {
	t.Parallel()
	w := rundir.Why{}
	for i, what := range []string{Pacing, Machine, Unknown, Pacing, Locks, Pacing, Unknown, Locks, Pacing} {
		length := 3.0
		if i == 0 || i == 3 || i == 8 {
			length = 20
		}
		from := 0.0
		if i > 0 {
			from = w.Parts[i-1].To
		}
		w.Parts = append(w.Parts, rundir.WhyPart{From: from, To: from + length, Resource: what, Text: "Text."})
	}
	text := Paragraph(&w)
	assert.Contains(t, text, "In the shorter stretches of the run it was machine CPU from 00:20 to 00:23, locks from 00:46 to 00:49 and from 00:55 to 00:58, pacing from 00:49 to 00:52.")
	assert.NotContains(t, text, Unknown)
}

// Where entries went missing, or reads found nothing, evictions are named.
func TestEvictionsAreNamedWhereEntriesWentMissing(t *testing.T) {
	t.Parallel()
	f := recorded()
	for t := 3; t < 7; t++ {
		f.Samples = append(f.Samples, rundir.Sample{T: t, Source: rundir.OfStore, Name: "evicted_keys_per_s", Value: 250})
	}
	assert.Empty(t, Of(f).Coincidences, "nothing is missing")
	f.Run.Verification.State = workload.Failed
	c := Of(f).Coincidences
	require.Len(t, c, 1)
	assert.Contains(t, c[0].Text, "entries went missing, and the store evicted 1k keys")
	assert.Equal(t, []float64{3, 7}, []float64{c[0].At, c[0].Until})

	f.Run.Verification = workload.Verification{State: workload.Passed, Missed: 1200}
	c = Of(f).Coincidences
	require.Len(t, c, 1)
	assert.Contains(t, c[0].Text, "1.2k entries that were asked for were not there, and the store evicted 1k keys")
	f.Samples = slices.DeleteFunc(f.Samples, func(s rundir.Sample) bool { return s.Name == "evicted_keys_per_s" })
	assert.Empty(t, Of(f).Coincidences, "they may never have been written")
}

// A store that answered nobody for whole seconds is named, whatever else held the run back, and by
// what was counted: a run whose verification failed has no throughput.
func TestOutagesAreNamed(t *testing.T) {
	dead := func(f *rundir.Folder, from, until int, errors int64) {
		for i := range f.Series {
			if r := &f.Series[i]; r.T >= from && r.T < until {
				r.Count, r.Errors, r.ResponseP99, r.ResponseMax = 0, errors, 0, 0
			}
		}
	}
	f := recorded()
	assert.Empty(t, outages(f))
	dead(f, 2, 4, 0)
	dead(f, 6, 7, 120)
	for i := range f.Series {
		f.Series[i].Throughput = math.NaN()
	}
	f.Run.Outages = []verdict.Outage{{From: 2, To: 4}, {From: 6, To: 7}}
	assert.Equal(t, []rundir.Coincidence{
		{At: 2, Until: 4, Text: "nothing was done from 00:02 to 00:04 of the run (2 s of 10 s)", Outage: true},
		{At: 6, Until: 7, Text: "nothing was done from 00:06 to 00:07 of the run (1 s of 10 s), and 120 calls failed", Outage: true},
	}, outages(f))
	assert.Empty(t, Noted(Of(f), rundir.Verdict{}), "the paragraph begins with them")
	assert.Regexp(t, `^Nothing was done from 00:02 to 00:04 of the run \(2 s of 10 s\)\. Nothing was done from 00:06 .* What held the run back in its other seconds is not known: nothing that was sampled`, Paragraph(Of(f)))
	f.Run.Outages = []verdict.Outage{{From: 1.99, To: 4.98}}
	assert.Equal(t, []rundir.Coincidence{{At: 1.99, Until: 4.98, Text: "nothing was done from 00:02 to 00:05 of the run (2.99 s of 10 s)", Outage: true}}, outages(f), "what the run knows to hundredths")
	f.Run.Outages = []verdict.Outage{{From: 1.49, To: 6.01}, {From: 6.3, To: 7.25}}
	told := outages(f)
	assert.NotContains(t, told[0].Text, "failed", "a second is one outage's")
	assert.Contains(t, told[1].Text, "and 120 calls failed")
	f.Run.Errors = []rundir.Error{{Track: f.Run.Operations[0].Track, Op: f.Run.Operations[0].Op, Class: "lost", Count: 100}}
	f.Run.Emptied = []verdict.Outage{{From: 7.25, To: 9.5}}
	assert.Equal(t, []rundir.Coincidence{{At: 7.25, Until: 9.5, Lost: true,
		Text: "from 00:07.3 to 00:09.5 of the run the store answered, but without records that it had acknowledged: 100 calls of the run found none"}}, emptied(f))
	assert.Contains(t, outages(f)[1].Text, "nothing was done from 00:06.3 to 00:07.3 of the run")
	assert.Regexp(t, `Nothing was done from .* From 00:07.3 to 00:09.5 of the run the store answered, but without records`, Paragraph(Of(f)))
	held := func(silent, answered []verdict.Outage) string {
		f.Run.Outages, f.Run.Emptied = silent, answered
		p := rundir.WhyPart{From: 0, To: 10, Resource: Unknown, Text: unknown}
		besides(&p, slices.Concat(outages(f), emptied(f)))
		return p.Text
	}
	assert.Equal(t, "Nothing was done for 3 of 10 s, and the store answered without its records for 4 s, which held the run back.",
		held([]verdict.Outage{{From: 2, To: 5}}, []verdict.Outage{{From: 5, To: 9}}), "while the store answers, nothing says that nothing was done")
	assert.Equal(t, "The store answered without its records for 6 of 10 s, which held the run back.", held(nil, []verdict.Outage{{From: 3, To: 9}}))
	for want, lost := range map[string]bool{"apart from the outage, the store could have done more": false, "apart from the time without records, the store could have done more": true} {
		p := rundir.WhyPart{To: 10, Resource: Client, Limit: "perfbench itself", Hint: couldMore, Text: "Perfbench itself held the run back."}
		apart(&p, []rundir.Coincidence{{At: 2, Until: 4, Outage: !lost, Lost: lost}})
		assert.Equal(t, want, p.Hint)
		assert.Equal(t, "Apart from that, perfbench itself held the run back.", p.Text)
	}
	f.Run.Errors, f.Run.Emptied = nil, nil
	f.Run.Outages = []verdict.Outage{{From: 2, To: 8}}
	f.Run.Observed = &verdict.Observed{PausesAt: []verdict.Pause{{AtS: 3, ForS: 4.9}}}
	own := rundir.WhyPart{To: 10, Resource: Unknown, Text: unknown}
	besides(&own, outages(f))
	assert.Equal(t, "perfbench itself did not run", own.Limit)
	assert.Equal(t, "nothing was done from 00:02 to 00:08 of the run (6 s of 10 s): perfbench itself did not run, and 120 calls failed", outages(f)[0].Text)
	f.Run.Outages, f.Run.Observed = []verdict.Outage{{From: 2, To: 7}}, nil
	dead(f, 2, 7, 0)
	assert.Contains(t, Paragraph(Of(f)), " Nothing was done for 5 of 10 s, which held the run back.")
	assert.NotContains(t, Paragraph(Of(f)), "unknown")
}
