package explain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

// broke has a run set a fault itself from one second to another.
func broke(t *testing.T, f *rundir.Folder, text string, from, to float64) {
	t.Helper()
	kind, v, err := workload.ParseFault(text, "", &workload.Commands{})
	require.NoError(t, err)
	name := workload.FaultKinds()[kind].Setting()
	f.Run.Changes = append(f.Run.Changes, rundir.Change{Name: name, To: v, At: from}, rundir.Change{Name: name, From: v, At: to})
}

// took has the run make so many calls of so many milliseconds.
func took(f *rundir.Folder, calls int64, ms float64) {
	o := &f.Run.Operations[0]
	o.Calls, o.Count, o.Service.Mean = calls, calls, ms*1e6
	f.Run.Segments[0].Operations = f.Run.Operations
	for i := range f.Series {
		f.Series[i].Count = calls / int64(len(f.Series))
	}
}

// A fault that the run set itself is what held it back, if calls wait for it, and is named with the
// law that makes it so.
func TestAFaultOfTheRunItselfIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, fault string
		change      func(*rundir.Folder)
		want        string
		says        string
	}{
		{"a delay", "delay:20ms", func(f *rundir.Folder) { took(f, 7880, 20.3) }, Fault,
			"The fault delay:20ms, which this run set itself, held it back: 16 threads that each wait 20 ms or longer make no more than 800 calls/s; for more it takes more threads, or a smaller fault. Calls made 788 of 800 calls/s, of 20.3 ms each"},
		{"a delay on a full machine", "delay:20ms", func(f *rundir.Folder) {
			took(f, 4500, 35)
			sample(f, rundir.OfMachine, "cpu_cores", 4)
		}, Fault, "make no more than 800 calls/s"},
		{"a delay with a rate that it does not let through", "delay:20ms", func(f *rundir.Folder) {
			took(f, 7880, 20.3)
			for i := range f.Series {
				f.Series[i].Rate, f.Series[i].Backlog = 2000, 9000
			}
		}, Fault, "make no more than 800 calls/s"},
		{"a rate that is met all the same", "delay:20ms", func(f *rundir.Folder) {
			took(f, 7000, 20.3)
			for i := range f.Series {
				f.Series[i].Rate = 700
			}
		}, Pacing, "The requested rate set the pace"},
		{"a delay that is nothing beside a slow store", "delay:1ms", func(f *rundir.Folder) { took(f, 1000, 159) }, Threads, "16 threads that each wait 159 ms make 100 calls/s"},
		{"losses", "loss:10%", func(f *rundir.Folder) { took(f, 6000, 26) }, Fault, "16 threads that each wait 20 ms or longer make no more than 800 calls/s"},
		{"a width that is used up", "bandwidth:1MB/s", func(f *rundir.Folder) { sample(f, rundir.OfStore, "net_out_bytes_per_s", 930e3) }, Fault,
			"The fault bandwidth:1MB/s, which this run set itself, held it back. Bandwidth 908 KiB of 977 KiB a second, in one direction"},
		{"a width that is not, and nothing else", "bandwidth:1GB/s", func(f *rundir.Folder) { sample(f, rundir.OfStore, "net_out_bytes_per_s", 930e3) }, Fault,
			"What held the run back is most likely the fault bandwidth:1GB/s, which this run set itself: nothing else that was sampled was at its limit."},
		{"a pause", "pause", func(f *rundir.Folder) {
			for i := range f.Series {
				f.Series[i].Count = 0
			}
		}, Fault, "nothing succeeded while it was there"},
		{"a store at its limit", "jitter:1ms", func(f *rundir.Folder) { sample(f, rundir.OfProcess, "cpu_cores", 3.6) }, Store, "The store's processors held the run back. Store 3.6 of 4 processors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := recorded()
			c.change(f)
			broke(t, f, c.fault, 0.01, 10)
			w := Of(f)
			require.Len(t, w.Parts, 1)
			assert.Equal(t, c.want, w.Parts[0].Resource, w.Parts[0].Text)
			assert.Contains(t, Paragraph(w), c.says)
		})
	}
}

// A fault of a moment explains that moment, and not the run; each of several has its own stretch.
func TestAFaultExplainsItsTime(t *testing.T) {
	t.Parallel()
	f := recorded()
	broke(t, f, "delay:20ms", 3, 5)
	assert.Equal(t, Unknown, Main(Limits(Of(f))).Resource)

	f = recorded()
	took(f, 7880, 20.3)
	one, two := f.Run.Segments[0], f.Run.Segments[0]
	one.To, two.From = 5, 5
	half, less := one.Operations[0], one.Operations[0]
	half.Calls, less.Calls, less.Service.Mean = 3940, 1970, 40.6e6
	one.Operations, two.Operations = []rundir.Operation{half}, []rundir.Operation{less}
	f.Run.Segments = []rundir.Segment{one, two}
	for i := 5; i < 10; i++ {
		f.Series[i].Segment = 1
	}
	broke(t, f, "delay:20ms", 0, 5)
	broke(t, f, "delay:40ms", 5, 10)
	w := Of(f)
	require.Len(t, w.Parts, 2)
	assert.Contains(t, Paragraph(w), "From 00:00 to 00:05 of the run: The fault delay:20ms")
	assert.Contains(t, Paragraph(w), "From 00:05 to 00:10 of the run: The fault delay:40ms")
}

// A time in which nothing was done names the fault of the run that was there, and no other.
func TestAnOutageNamesTheFault(t *testing.T) {
	t.Parallel()
	f := recorded()
	for i := 4; i < 7; i++ {
		f.Series[i].Count = 0
	}
	f.Run.Outages = []verdict.Outage{{From: 4, To: 7}}
	assert.Contains(t, Paragraph(Of(f)), "Nothing was done from 00:04 to 00:07 of the run")
	broke(t, f, "delay:1ms", 8, 9)
	assert.NotContains(t, Paragraph(Of(f)), "in the time of")
	broke(t, f, "kill:primary", 3.9, 6.8)
	assert.True(t, strings.HasPrefix(Paragraph(Of(f)), "Nothing was done from 00:04 to 00:07 of the run (3 s of 10 s), in the time of the fault kill:primary, which this run set itself."), Paragraph(Of(f)))
}

// Where threads and the time of a call make the rate, that is said even if what makes calls take that
// long is not known.
func TestThreadsAndTheTimeOfCallsAreSaid(t *testing.T) {
	t.Parallel()
	f := recorded()
	took(f, 8000, 20)
	elsewhere(f)
	w := Of(f)
	assert.Equal(t, Unknown, w.Parts[0].Resource)
	assert.Contains(t, Paragraph(w), "not known: 16 threads that each wait 20 ms make 800 calls/s, and nothing that was sampled was at its limit. Perfbench 0.5 of 4 processors")
	assert.Equal(t, 1, strings.Count(Paragraph(w), "16 threads"), "it is said once")
	assert.Equal(t, 1, strings.Count(Paragraph(w), "not known"))
}
