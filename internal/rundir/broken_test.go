package rundir

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/measure"
)

// broken is a run second by second: units done and failed, units waiting, and the longest
// response time in ms, which stands for p99 too.
type broken struct {
	rate float64 // 0: closed loop
	rows [][4]int64
	at   []Change
}

func (b broken) folder() *Folder {
	f := &Folder{Run: Run{
		Unit: "calls", MeasuredS: float64(len(b.rows)), Changes: b.at,
		Operations: []Operation{{Track: "t", Op: "get"}},
	}}
	for i, r := range b.rows {
		ms := r[3] * 1e6
		f.Series = append(f.Series, SeriesRow{
			T: i, Track: "t", Op: "get", Count: r[0], Errors: r[1], Throughput: float64(r[0]), Backlog: r[2],
			ResponseP50: ms / 2, ResponseP99: ms, ResponseMax: ms, Rate: b.rate,
		})
	}
	return f
}

func quiet(n int) [][4]int64 {
	var out [][4]int64
	for i := range n {
		out = append(out, [4]int64{995 + int64(i%2)*10, 0, 0, 4 + int64(i%2)})
	}
	return out
}

func joined(parts ...[][4]int64) (out [][4]int64) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func pause(from, to float64) []Change {
	return []Change{{At: from, Name: "fault-pause", To: 1, By: "timetable"}, {At: to, Name: "fault-pause", From: 1, By: "timetable"}}
}

func TestAPauseLosesWhatWasDue(t *testing.T) {
	got := FaultsOf(broken{1000, joined(quiet(10), [][4]int64{{0, 0, 1000, 0}, {0, 3, 2000, 0}, {3000, 0, 0, 2004}}, quiet(10)), pause(10, 12)}.folder())
	assert.Equal(t, []Fault{{
		Kind: "pause", Size: "on", From: 10, To: 12, Healed: true,
		Due: new(2000.0), Failed: 3, Waiting: 2000, Silent: 2, Longest: 2.004,
		FirstError: new(2.0), FirstDone: new(1.0), Recovered: new(1.0),
	}}, got)
}

// How long nothing was done is known to hundredths of a second, where the process noted it.
func TestASilenceIsKnownMoreFinelyThanItsSeconds(t *testing.T) {
	f := broken{1000, joined(quiet(10), [][4]int64{{300, 0, 700, 4}, {0, 5, 1700, 0}, {2700, 0, 0, 2004}}, quiet(10)), pause(10.3, 12.3)}.folder()
	assert.InDelta(t, 1, FaultsOf(f)[0].Silent, 1e-9)
	at := func(from, to float64) measure.Silence { return measure.Silence{From: seconds(from), To: seconds(to)} }
	f.Run.Silences = []measure.Silence{at(1, 9), at(10.3, 12.31), at(15, 22)}
	f.Run.Sound = []measure.Silence{at(0, 11.84), at(12, 22)}
	got := FaultsOf(f)[0]
	assert.InDelta(t, 2.01, got.Silent, 1e-9, "those before the fault, and after all was as before, are not its")
	assert.InDelta(t, 0.01, *got.FirstDone, 1e-9)
	assert.InDelta(t, 1.54, *got.FirstError, 1e-9)
	f.Run.Silences, f.Run.Sound = []measure.Silence{at(1, 9)}, []measure.Silence{at(15, 22)}
	got = FaultsOf(f)[0]
	assert.Equal(t, []*float64{new(0.0), new(0.0)}, []*float64{got.FirstError, got.FirstDone}, "at once")
}

func TestAFaultWithinASecondIsDueForItsPart(t *testing.T) {
	got := FaultsOf(broken{1000, joined(quiet(10), [][4]int64{{500, 0, 0, 400}}, quiet(10)), pause(10.25, 10.75)}.folder())
	assert.InDelta(t, 500, *got[0].Due, 1e-9)
	assert.Equal(t, new(0.25), got[0].Recovered)
	assert.Zero(t, got[0].Silent)
}

func TestAClosedLoopHasNothingDue(t *testing.T) {
	got := FaultsOf(broken{0, joined(quiet(10), [][4]int64{{0, 0, 0, 0}}, quiet(10)), pause(10, 11)}.folder())
	assert.Nil(t, got[0].Due)
	assert.Equal(t, new(0.0), got[0].Recovered)
	assert.Nil(t, got[0].FirstError)
}

// As before is told from the noise of the time before: what is slower than it ever was is not
// as before.
func TestWhyNothingIsAsBefore(t *testing.T) {
	slow := [][4]int64{{990, 0, 0, 40}, {990, 0, 0, 40}, {990, 0, 0, 40}, {990, 0, 0, 40}}
	hole := [][4]int64{{0, 0, 0, 0}, {0, 0, 0, 0}}
	for name, c := range map[string]struct {
		broken
		why string
	}{
		"slower":      {broken{0, joined(quiet(10), hole, slow), pause(10, 12)}, "the run ended before three seconds in a row were as before"},
		"too early":   {broken{0, joined(quiet(4), hole, quiet(9)), pause(4, 6)}, "fewer than five undisturbed seconds before it say what is usual"},
		"to the end":  {broken{0, joined(quiet(10), hole), pause(10, 12)[:1]}, "it lasted to the end of the run"},
		"another one": {broken{0, joined(quiet(10), hole, slow), append(pause(10, 12), pause(14, 15)...)}, "another fault began before all was as before"},
		"changed": {broken{0, joined(quiet(10), hole, quiet(9)), append(pause(10, 12), Change{At: 13, Name: "threads", From: 1, To: 2})},
			"settings were changed before all was as before"},
		"two at once": {broken{0, joined(quiet(10), hole, quiet(9)), []Change{
			{At: 10, Name: "fault-pause", To: 1}, {At: 11, Name: "fault-delay", To: 5}, {At: 12, Name: "fault-pause", From: 1}, {At: 14, Name: "fault-delay", From: 5},
		}}, "another fault went on when it ended"},
	} {
		got := FaultsOf(c.folder())
		assert.Equal(t, c.why, got[0].Why, name)
		assert.Nil(t, got[0].Recovered, name)
	}
}

func TestWhatWasChangedBeforeSaysWhatIsUsual(t *testing.T) {
	b := broken{0, joined([][4]int64{{10, 0, 0, 900}, {10, 0, 0, 900}}, quiet(8), [][4]int64{{0, 0, 0, 0}}, quiet(5)), pause(10, 11)}
	b.at = append([]Change{{At: 2, Name: "threads", From: 1, To: 16}}, b.at...)
	assert.Equal(t, new(0.0), FaultsOf(b.folder())[0].Recovered)
}

func TestARunWithoutFaultsHasNoAccount(t *testing.T) {
	assert.Empty(t, FaultsOf(broken{0, quiet(10), []Change{{At: 2, Name: "threads", From: 1, To: 16}}}.folder()))
}

// The account has what failed by class, what was tried again, and what the client did.
func TestAFaultHasItsFailuresByClass(t *testing.T) {
	f := broken{1000, joined(quiet(10), [][4]int64{{0, 900, 0, 0}, {0, 1000, 0, 0}, {500, 7, 0, 9}}, quiet(10)), pause(10, 12)}.folder()
	get, other := measure.Operation{Track: "t", Op: "get"}, measure.Operation{Track: "t", Op: "beside"}
	count := func(o measure.Operation, class string, n int64) measure.ErrorCount {
		return measure.ErrorCount{Operation: o, Class: class, Count: n}
	}
	seconds := []*measure.Second{
		{T: 9, Failed: []measure.ErrorCount{count(get, "timeout", 1)}},
		{T: 10, Failed: []measure.ErrorCount{count(get, "timeout", 30), count(get, "unreachable", 870), count(other, "timeout", 5)}, Rows: []measure.Row{{Retries: 3}, {Op: 1, Retries: 4}}},
		{T: 11, Failed: []measure.ErrorCount{count(get, "unreachable", 1000)}},
		{T: 12, Failed: []measure.ErrorCount{count(get, "unreachable", 7)}},
		{T: 13},
		{T: 14},
	}
	var in incidents
	run := Run{Operations: []Operation{{Track: "t", Op: "get"}, {Track: "t", Op: "beside"}}, Parts: []string{"t.beside"}}
	for i, s := range seconds {
		if i == 1 {
			run.Changes = f.Run.Changes
		}
		in.second(s, &run, Contacts{Connections: int64(8 + 10*i), Redirects: int64(i)})
	}
	f.incidents = in.list
	got := FaultsOf(f)[0]
	assert.Equal(t, map[string]int64{"timeout": 30, "unreachable": 1870}, got.Classes)
	assert.EqualValues(t, 3, got.Retries, "of what counts, like the failures")
	assert.EqualValues(t, 30, got.Connections, "up to the second from which all was as before")
	assert.EqualValues(t, 3, got.Redirects)
}
