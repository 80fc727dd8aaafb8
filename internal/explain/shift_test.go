package explain

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
)

// Throughput that fell or rose for a while though nobody changed anything is told once, with what else happened then.
func TestALastingShiftOfThroughputIsTold(t *testing.T) {
	t.Parallel()
	const from = 34
	rate := func(f *rundir.Folder, from, to int, perS int64) {
		for s := from; s < to; s++ {
			f.Series[s].Count, f.Series[s].Throughput = perS, float64(perS)
		}
	}
	used := func(f *rundir.Folder, source, name string, v float64) {
		for i := range f.Samples {
			if x := &f.Samples[i]; x.Source == source && x.Name == name && x.T >= from {
				x.Value = v
			}
		}
	}
	const fell = "throughput fell to 450 from a median of 1k entries/s from 00:34 to 00:40 of the run, when "
	for name, tt := range map[string]struct {
		with func(*rundir.Folder)
		want []string
	}{
		"nothing else": {func(*rundir.Folder) {}, []string{fell + "nothing else was seen that explains it"}},
		"others":       {func(f *rundir.Folder) { used(f, rundir.OfMachine, "cpu_cores", 3.5) }, []string{fell + "other processes used 2.4 of 4 processors (otherwise 0.4)"}},
		"fewer others": {func(f *rundir.Folder) {
			sample(f, rundir.OfMachine, "cpu_cores", 3.5)
			used(f, rundir.OfMachine, "cpu_cores", 1.5)
		}, []string{fell + "nothing else was seen that explains it"}},
		"evictions": {func(f *rundir.Folder) {
			sample(f, rundir.OfStore, "evicted_keys_per_s", 0)
			used(f, rundir.OfStore, "evicted_keys_per_s", 9)
		}, []string{fell + "the store evicted keys"}},
		"a short fork": {func(f *rundir.Folder) {
			sample(f, rundir.OfStore, "forks_per_s", 0)
			sample(f, rundir.OfStore, "latest_fork_ms", 20)
			used(f, rundir.OfStore, "forks_per_s", 1)
		}, []string{fell + "nothing else was seen that explains it"}},
		"a rise":     {func(f *rundir.Folder) { rate(f, from, 40, 1600) }, []string{"throughput rose to 1.6k from a median of 1k entries/s from 00:34 to 00:40 of the run, when nothing else was seen that explains it"}},
		"twice":      {func(f *rundir.Folder) { rate(f, 10, 16, 450) }, []string{"throughput fell to 450 from a median of 1k entries/s from 00:10 to 00:16 of the run, when nothing else was seen that explains it", fell + "nothing else was seen that explains it"}},
		"too short":  {func(f *rundir.Folder) { rate(f, from, 36, 1000) }, nil},
		"too little": {func(f *rundir.Folder) { rate(f, from, 40, 700) }, nil},
		"a backlog worked off": {func(f *rundir.Folder) {
			rate(f, from, 40, 1600)
			for s := range f.Series {
				f.Series[s].Rate = 1000
			}
		}, nil},
		"fewer threads": {func(f *rundir.Folder) {
			for s := from; s < 40; s++ {
				f.Series[s].Threads = 7
			}
		}, nil},
		"another segment": {func(f *rundir.Folder) {
			for s := from; s < 40; s++ {
				f.Series[s].Segment = 1
			}
		}, nil},
		"a search": {func(f *rundir.Folder) { f.Run.Changes = []rundir.Change{{At: 1, Name: "rate", By: measure.BySearch}} }, nil},
		"an own fault": {func(f *rundir.Folder) {
			broke(t, f, "delay:1ms", from, 40)
		}, nil},
		"an outage": {func(f *rundir.Folder) { f.Run.Outages = append(f.Run.Outages, verdict.Outage{From: from, To: 40}) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := fallen(from, 450)
			tt.with(f)
			var got []string
			for _, c := range shifts(f, shiftsIn(f)) {
				got = append(got, c.Text)
				require.Less(t, c.At, c.Until)
				assert.Equal(t, name == "others", c.Crowded)
			}
			assert.Equal(t, tt.want, got)
			if tt.want != nil {
				told := Shifts(Of(f), rundir.Verdict{})
				assert.Len(t, told, len(tt.want))
				assert.Equal(t, tt.want[0], ofThroughput+told[0])
				assert.True(t, slices.ContainsFunc(Of(f).Coincidences, func(c rundir.Coincidence) bool { return c.Text == tt.want[0] }))
			}
		})
	}
}

// fallen is recorded for 40 s, with so many entries a second from a second on.
func fallen(from int, perS int64) *rundir.Folder {
	f := recorded()
	f.Run.MeasuredS, f.Run.Segments[0].To, f.Run.Observed.Seconds = 40, 40, 40
	for s := 10; s < 40; s++ {
		f.Series = append(f.Series, f.Series[0])
		f.Series[s].T = s
	}
	sample(f, rundir.OfClient, "cpu_cores", 0.5)
	sample(f, rundir.OfProcess, "cpu_cores", 0.6)
	sample(f, rundir.OfMachine, "cpu_cores", 1.5)
	for s := from; s < 40; s++ {
		f.Series[s].Count, f.Series[s].Throughput = perS, float64(perS)
	}
	return f
}

// What was at its limit until throughput fell, and not after that, held the run back until then.
func TestALimitEndsWhereThroughputFalls(t *testing.T) {
	t.Parallel()
	thread := func(f *rundir.Folder, after float64) []Period {
		sample(f, rundir.OfStore, "main_thread_cpu_cores", 0.95)
		for i := range f.Samples {
			if x := &f.Samples[i]; x.Name == "main_thread_cpu_cores" && x.T >= 34 {
				x.Value = after
			}
		}
		periods, _ := Periods(Of(f))
		return periods
	}
	assert.Equal(t, []Period{{0, 34, "the store's main thread: 0.95 of 1 processor"}, {34, 40, "not known"}}, thread(fallen(34, 450), 0.67))
	assert.Equal(t, []Period{{0, 40, "the store's main thread: 0.91 of 1 processor"}}, thread(fallen(34, 900), 0.67), "it did not fall")
	assert.Equal(t, []Period{{0, 40, "the store's main thread: 0.95 of 1 processor"}}, thread(fallen(34, 450), 0.95), "it was full all the time")
}
