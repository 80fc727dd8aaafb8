package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestEveryDocumentForPeopleSaysWhatAFaultCost(t *testing.T) {
	f := fixture(t)
	f.Run.Faults = []rundir.Fault{
		{Kind: "pause", Size: "on", From: 3, To: 5, Healed: true, Due: new(2000.4), Done: 12, Failed: 3, Waiting: 1950, Silent: 2, Longest: 2.0017, FirstError: new(2.0), FirstDone: new(1.0), Recovered: new(1.0)},
		{Kind: "delay", Size: "5ms", From: 7, To: 10, Done: 4000, Why: "it lasted to the end of the run"},
	}
	page := RunPage(f)
	text := page.Text()
	for _, want := range []string{
		"Faults", "delay:5ms", "2000", "1950", "as before after its end",
		"When all was as before the fault delay:5ms is not known: it lasted to the end of the run.",
		"fault pause", "fault delay:5ms, to the end",
	} {
		assert.Contains(t, text, want)
	}
	assert.Contains(t, page.HTML(), `class="shade fault"`)
	assert.Equal(t, "pause from 00:03 to 00:05 of the run: about 2k entries were due, 12 done in its seconds, 3 calls failed, the first within 2 s after it began, up to 1950 waited, nothing was done for 2 s, the first success came within 1 s after its end, the longest response time was 2 s, all was as before 1 s after its end",
		FaultText(&f.Run.Faults[0], &f.Run))
	assert.Equal(t, "delay:5ms from 00:07 to 00:10 of the run: 4\u2009000 done in its seconds, 0 calls failed, when all was as before is not known: it lasted to the end of the run",
		FaultText(&f.Run.Faults[1], &f.Run))
	assert.Equal(t, "within 100 ms after", soon(0))
	assert.Contains(t, junit(&f.Run).Suites[0].Out, "fault pause from 00:03 to 00:05 of the run: about 2k entries were due")
}

// The begin and the end of a fault are not told a second time as changes of a setting.
func TestAFaultIsOneEvent(t *testing.T) {
	f := fixture(t)
	f.Run.Changes = []rundir.Change{{At: 3, Name: "fault-pause", To: 1, By: "timetable"}, {At: 5, Name: "fault-pause", From: 1, By: "timetable"}}
	f.Run.Faults = rundir.FaultsOf(f)
	require.Len(t, f.Run.Faults, 1)
	text := strings.Join(strings.Fields(RunPage(f).Text()), " ")
	assert.Contains(t, text, "fault pause")
	assert.NotContains(t, text, "fault-pause from")
}

// What was broken by hand is broken again by the command that does the run again.
func TestFaultsByHandAreDoneAgain(t *testing.T) {
	f := fixture(t)
	exec, _, err := workload.ParseFault("exec:./a.sh 1", "./b.sh", &workload.Commands{})
	require.NoError(t, err)
	name := workload.FaultKinds()[exec].Setting()
	f.Run.Commands = []workload.Command{{Run: []string{"./a.sh", "x, y"}, Heal: []string{"./b.sh"}}}
	f.Run.Changes = []rundir.Change{
		{At: 3, Name: "fault-delay", To: 5, By: "workbench", Segment: 1}, {At: 4.004, Name: name, To: 1, By: "workbench", Segment: 2},
		{At: 5, Name: "fault-delay", From: 5, By: "workbench", Segment: 3}, {At: 6, Name: name, From: 1, By: "workbench", Segment: 4},
		{At: 7, Name: "fault-refused", To: 1, By: "workbench", Segment: 5},
	}
	assert.Equal(t, []string{"3s..5s:fault=delay:5ms", "4s..6s:fault=exec:./a.sh 'x, y',heal=exec:./b.sh", "7s:fault=refused"}, Asked(&f.Run).Timetable)
}

func TestAFaultNamesItsFailuresByClass(t *testing.T) {
	f := fixture(t)
	f.Run.Faults = []rundir.Fault{{
		Kind: "kill", Size: "primary", From: 3, To: 5, Healed: true, Failed: 2388, Classes: map[string]int64{"timeout": 12, "unreachable": 2376}, Retries: 16,
		Connections: 9, Redirects: 1, Recovered: new(0.0),
	}}
	f.Run.Operations[0].Retries = f.Run.Operations[0].Calls
	text := strings.Join(strings.Fields(RunPage(f).Text()), " ")
	assert.Contains(t, text, "During kill:primary, 2 388 calls failed (2 376 unreachable, 12 timeout), 16 were tried again, the client opened 9 connections, it was sent to another server 1 time.")
	assert.Contains(t, text, "which are no errors: a call took 2 attempts.")
	assert.Contains(t, FaultText(&f.Run.Faults[0], &f.Run), "2\u2009388 calls failed (2\u2009376 unreachable, 12 timeout), 16 were tried again, the client opened 9 connections, it was sent to another server 1 time, all was as before")
}

// A burst has the seconds beside its worst ones in which there were many errors, too.
func TestABurstOfErrorsIsAsLongAsItWas(t *testing.T) {
	t.Parallel()
	f := &rundir.Folder{Run: rundir.Run{MeasuredS: 30, Operations: []rundir.Operation{{Op: "put"}}, Outages: []verdict.Outage{{From: 10.5, To: 14}, {From: 20, To: 21.5}}}}
	f.Run.Observed = &verdict.Observed{PausesAt: []verdict.Pause{{AtS: 20, ForS: 1.4}}}
	for at, n := range map[int]int64{5: 1, 11: 9000, 12: 30_000, 13: 25_000, 14: 12_200, 15: 9300, 16: 20, 25: 11} {
		f.Series = append(f.Series, rundir.SeriesRow{T: at, Op: "put", Errors: n})
	}
	c := rundir.Timeline{Rates: make([]float64, 30)}
	assert.Equal(t, []event{{at: 11, until: 16, what: "burst of errors: up to 30k in a second", shade: plot.Errors}}, bursts(f, c))
	assert.Equal(t, []event{
		{at: 10.5, until: 14, what: "outage: nothing was done", shade: plot.Outage},
		{at: 20, until: 21.5, what: "nothing was done: perfbench itself did not run", shade: plot.Stall},
	}, outages(f))
}
