package condition_test

import (
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/condition"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/workload"
)

func TestParseReadsEveryForm(t *testing.T) {
	ms := float64(time.Millisecond)
	for text, want := range map[string]condition.Threshold{
		"p99<5ms":                       {Stat: "p99", Time: "response", Rel: "<", Limit: 5 * ms},
		"put.p99.9 <= 20ms":             {Of: "put", Stat: "p99.9", Time: "response", Rel: "<=", Limit: 20 * ms},
		"profile.put.p99.99.wait<1s":    {Of: "profile.put", Stat: "p99.99", Time: "wait", Rel: "<", Limit: 1000 * ms},
		"p95.5<5ms":                     {Stat: "p95.5", Time: "response", Rel: "<", Limit: 5 * ms},
		"put.p10.wait<5ms":              {Of: "put", Stat: "p10", Time: "wait", Rel: "<", Limit: 5 * ms},
		"p99<5ms abort":                 {Stat: "p99", Time: "response", Rel: "<", Limit: 5 * ms, Abort: true, After: 5 * time.Second},
		"errors < 5 %  abort after 30s": {Stat: "errors", Rel: "<", Limit: 5, Percent: true, Abort: true, After: 30 * time.Second},
		"put.p50.lateness<1ms":          {Of: "put", Stat: "p50", Time: "lateness", Rel: "<", Limit: ms},
		"p99.service<5ms":               {Stat: "p99", Time: "service", Rel: "<", Limit: 5 * ms},
		"p99<5 ms":                      {Stat: "p99", Time: "response", Rel: "<", Limit: 5 * ms},
		"max<1min abort after 1 min":    {Stat: "max", Time: "response", Rel: "<", Limit: 60 * 1000 * ms, Abort: true, After: time.Minute},
		"g1.mean>1us":                   {Of: "g1", Stat: "mean", Time: "response", Rel: ">", Limit: ms / 1000},
		"errors<1%":                     {Stat: "errors", Rel: "<", Limit: 1, Percent: true},
		"profile.errors <= 0":           {Of: "profile", Stat: "errors", Rel: "<=", Limit: 0},
		" throughput>10000 ":            {Stat: "throughput", Rel: ">", Limit: 10000},
		"putall.throughput >= 1.5k":     {Of: "putall", Stat: "throughput", Rel: ">=", Limit: 1500},
		"recovery<15s":                  {Stat: "recovery", Rel: "<", Limit: 15 * 1000 * ms},
		"lost=0":                        {Stat: "lost", Rel: "=", Limit: 0},
		"differ=0":                      {Stat: "differ", Rel: "=", Limit: 0},
		"lost <= 3":                     {Stat: "lost", Rel: "<=", Limit: 3},
		"put.errors=0":                  {Of: "put", Stat: "errors", Rel: "=", Limit: 0},
		"throughput>=2M/s":              {Stat: "throughput", Rel: ">=", Limit: 2e6},
		"a group.with.dots.max.wait<1h": {Of: "a group.with.dots", Stat: "max", Time: "wait", Rel: "<", Limit: 3600 * 1000 * ms},
	} {
		got, err := condition.ParseThreshold(text)
		require.NoError(t, err, text)
		got.Text = ""
		assert.Equal(t, want, got, text)
	}
}

func TestParseRefusesWithOneSentenceAndAHint(t *testing.T) {
	for text, want := range map[string]struct{ message, hint string }{
		"p99":                   {`threshold "p99": has none of < <= > >= =`, "write it like p99<5ms"},
		"p100<5ms":              {`threshold "p100<5ms": "p100" is not a percentile between p0 and p100`, "write it like"},
		"p0<5ms":                {`"p0" is not a percentile`, "write it like"},
		"put.maximum<5ms":       {`"maximum" is not a figure that is measured`, "p50"},
		"p99<5":                 {`"5" is not a duration such as 5ms`, "did you mean 5ms?"},
		"p99<-5ms":              {`"-5ms" is not a duration`, "write it like"},
		"throughput>10%":        {"only errors can be given in %", "write it like"},
		"errors.service<1":      {"errors has no service time", "write it like"},
		"p99<5ms abort after":   {`"5ms abort after" is not a duration`, "write it like"},
		"p99<5ms abort after x": {`abort after: "x" is not a duration such as 30s`, "write it like"},
		"put.recovery<15s":      {"recovery is of the whole run, not of put", "write it like"},
		"recovery<15s abort":    {"recovery cannot end a run early", "write it like"},
		"recovery.wait<15s":     {"recovery has no wait time", "write it like"},
		"put.lost=0":            {"lost is of the whole run, not of put", "write it like"},
		"lost=0 abort":          {"lost cannot end a run early", "write it like"},
		"differ=0 abort":        {"differ cannot end a run early", "write it like"},
		"lost=1s":               {`"1s" is not a number`, "write it like"},
		"throughput=5":          {"= is for what is counted", "write it like"},
		"errors=0%":             {"= is for what is counted", "write it like"},
		"throughput>many":       {`"many" is not a number`, "write it like"},
		"put.P99.service<5ms":   {`"P99" is not a figure that is measured`, "did you mean p99"},
	} {
		_, err := condition.ParseThreshold(text)
		require.Error(t, err, text)
		assert.Contains(t, err.Error(), want.message)
		assert.Contains(t, fault.HintOf(err), want.hint)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	}
}

func TestCheckKnowsTracksAndOperations(t *testing.T) {
	ops := []measure.Operation{{Track: "eligibility", Op: "put"}, {Track: "profile", Op: "putall"}}
	for _, of := range []string{"", "put.", "profile.", "profile.putall."} {
		e, err := condition.ParseThreshold(of + "p99<5ms")
		require.NoError(t, err)
		assert.NoError(t, e.Check(ops), of)
	}
	e, err := condition.ParseThreshold("profil.p99<5ms")
	require.NoError(t, err)
	err = e.Check(ops)
	require.ErrorContains(t, err, `no track or operation "profil"`)
	assert.Contains(t, fault.HintOf(err), "did you mean profile")
	e, err = condition.ParseThreshold("profile.put.p99<5ms")
	require.NoError(t, err)
	assert.Error(t, e.Check(ops), "profile only does putall")
}

// folder has two operations: put with 100 values of 1..100 ms, get with 900 of 1 ms.
func folder(t *testing.T) *rundir.Folder {
	put, get := hdrhistogram.New(1, int64(time.Hour), 3), hdrhistogram.New(1, int64(time.Hour), 3)
	for i := range 100 {
		require.NoError(t, put.RecordValue(int64(i+1)*1e6))
	}
	require.NoError(t, get.RecordValues(1e6, 900))
	rate := 450.0
	return &rundir.Folder{
		Run: rundir.Run{
			Operations: []rundir.Operation{
				{Track: "a", Op: "put", Calls: 100, Errors: 10, Throughput: &rate},
				{Track: "b", Op: "get", Calls: 900, Throughput: &rate},
			},
			Errors: []rundir.Error{{Track: "a", Op: "put", Class: "timeout", Count: 4}},
		},
		Histograms: map[string]*hdrhistogram.Histogram{"a.put.response": put, "b.get.response": get},
	}
}

func TestJudge(t *testing.T) {
	for text, want := range map[string]struct {
		ok  bool
		got string
	}{
		"put.p50<51ms":       {true, "50 ms"},
		"put.p50<50ms":       {false, "50 ms"},
		"p50<=1.001ms":       {true, "1 ms over all calls"}, // merged: 900 of 1000 calls took 1 ms
		"p99<=91ms":          {true, "90 ms over all calls"},
		"put.p95.5<95ms":     {false, "96 ms"},
		"put.p7<7.1ms":       {true, "7 ms"},
		"b.max>2ms":          {false, "1 ms"},
		"p99.service<1h":     {false, "not measured: there were no calls"},
		"errors<10":          {false, "10"},
		"errors<=10":         {true, "10"},
		"errors<1%":          {true, "0.994 %"}, // 10 of 1006: four of the ten are among the 1000
		"a.errors<9%":        {false, "9.43 %"},
		"throughput>=900":    {true, "900/s"},
		"b.throughput>500/s": {false, "450/s"},
	} {
		e, err := condition.ParseThreshold(text)
		require.NoError(t, err, text)
		got := e.Judge(folder(t))
		assert.Equal(t, want.ok, got.OK, text)
		assert.Equal(t, want.got, got.Got, text)
	}
}

// A threshold on a whole run or track is on the operations that count, and says so where others were called.
func TestAThresholdIsOnWhatCounts(t *testing.T) {
	f := folder(t)
	slow, rate := hdrhistogram.New(1, int64(time.Hour), 3), 9000.0
	require.NoError(t, slow.RecordValues(5e9, 9000))
	f.Histograms["b.scan.response"] = slow
	f.Run.Operations = append(f.Run.Operations, rundir.Operation{Track: "b", Op: "scan", Calls: 9000, Throughput: &rate})
	f.Run.Units = map[string]string{"b.scan": "rows"}
	for text, want := range map[string]string{
		"p99<=91ms": "90 ms over the 2 counted operations", "b.p99<1h": "1 ms", "scan.p50<1h": "5 s", "b.scan.p50<1h": "5 s",
		"b.throughput>1": "450/s", "scan.throughput>1": "9k/s", "throughput>1": "900/s",
	} {
		e, err := condition.ParseThreshold(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, e.Judge(f).Got, text)
	}
}

// A failure is counted once, as in all other numbers of errors; who names an operation asks for its own.
func TestAThresholdOnErrorsCountsAFailureOnce(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{
		Parts: []string{"saga.call", "queries.read"},
		Operations: []rundir.Operation{
			{Track: "saga", Op: "saga", Calls: 900, Errors: 100}, {Track: "saga", Op: "call", Calls: 5000, Errors: 300},
			{Track: "queries", Op: "read", Calls: 10, Errors: 5},
		},
	}}
	require.EqualValues(t, 105, f.Run.Failures())
	for text, want := range map[string]string{
		"errors<10": "105", "errors<1%": "10.3 %", "saga.errors<1": "100", "saga.saga.errors<1": "100", "call.errors<1": "300",
		"saga.call.errors<1": "300", "queries.errors<1": "5", "read.errors<1": "5",
	} {
		e, err := condition.ParseThreshold(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, e.Judge(f).Got, text)
	}
}

func TestNoThroughputMissesItsThreshold(t *testing.T) {
	f := folder(t)
	for i := range f.Run.Operations {
		f.Run.Operations[i].Throughput = nil
	}
	e, err := condition.ParseThreshold("throughput>0")
	require.NoError(t, err)
	got := e.Judge(f)
	assert.False(t, got.OK)
	assert.Equal(t, "threshold throughput>0 missed: it was not measured, or not reliable", e.Reason(got))
}

func TestARunEndsOnceAMissIsCertainAndLateEnough(t *testing.T) {
	for text, ends := range map[string]bool{
		"errors<5 abort after 10s":    true,
		"errors<5 abort after 11s":    false, // 10 s were measured
		"errors<5":                    false,
		"errors<50 abort":             false, // it holds
		"put.p90<1ms abort":           true,
		"put.p99<1ms abort":           false, // of 100 calls nobody knows p99
		"put.p99.service<1ms abort":   false, // never measured
		"put.max<1ms abort":           true,
		"throughput>1000 abort":       true,
		"throughput>1 abort after 0s": false,
	} {
		e, err := condition.ParseThreshold(text)
		require.NoError(t, err, text)
		assert.Equal(t, ends, e.Ends(e.Judge(folder(t)), 10*time.Second), text)
	}
}

// A run recovers as slowly as from its worst fault.
func TestRecoveryIsThatOfTheWorstFault(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{MeasuredS: 40, Operations: []rundir.Operation{{Track: "t", Op: "put"}}}}
	for at := range 40 {
		row := rundir.SeriesRow{T: at, Track: "t", Op: "put", Count: 100, Throughput: 100, ResponseP99: 5e6, ResponseMax: 6e6}
		if at >= 10 && at < 14 || at >= 20 && at < 22 { // the first fault lasts 2 s, the second 1 s
			row.ResponseP99 = 50e6
		}
		f.Series = append(f.Series, row)
	}
	judge := func(text string) condition.Outcome {
		e, err := condition.ParseThreshold(text)
		require.NoError(t, err)
		return e.Judge(f)
	}
	assert.Equal(t, condition.Outcome{Got: "not measured: there was no fault"}, judge("recovery<15s"))
	f.Run.Changes = []rundir.Change{{At: 10, Name: "fault-pause", To: 1}, {At: 12, Name: "fault-pause", From: 1}, {At: 20, Name: "fault-delay", To: 5}, {At: 21, Name: "fault-delay", From: 5}}
	assert.Equal(t, condition.Outcome{OK: true, Got: "2 s", Measured: true}, judge("recovery<=2s"))
	assert.Equal(t, condition.Outcome{Got: "2 s", Measured: true}, judge("recovery<2s"))
	f.Run.Changes = append(f.Run.Changes[:0], rundir.Change{At: 10, Name: "fault-pause", To: 1}, rundir.Change{At: 14, Name: "fault-pause", From: 1})
	assert.Equal(t, condition.Outcome{OK: true, Got: "less than a second", Measured: true}, judge("recovery<2s"))
	f.Run.Changes = []rundir.Change{{At: 10, Name: "fault-pause", To: 1}, {At: 12, Name: "fault-pause", From: 1}, {At: 20, Name: "fault-delay", To: 5}, {At: 40, Name: "fault-delay", From: 5}}
	assert.Equal(t, condition.Outcome{Got: "not known for delay from 20 s: the run ended before three seconds in a row were as before", Measured: true}, judge("recovery<1h"))
}

// What was lost is what the verification says; if it says nothing, nobody knows.
func TestLostIsWhatTheVerificationSays(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{Verification: workload.Verification{Summary: "the store keeps nothing"}}}
	judge := func(text string) condition.Outcome {
		e, err := condition.ParseThreshold(text)
		require.NoError(t, err)
		return e.Judge(f)
	}
	assert.Equal(t, condition.Outcome{Got: "not known: the store keeps nothing", Measured: true}, judge("lost<1000"))
	f.Run.Verification.Lose(0)
	assert.Equal(t, condition.Outcome{OK: true, Got: "0", Measured: true}, judge("lost=0"))
	f.Run.Verification.Lose(3)
	f.Run.Verification.Lose(-1)
	assert.Equal(t, condition.Outcome{Got: "3", Measured: true}, judge("lost=0"))
	assert.Equal(t, condition.Outcome{OK: true, Got: "3", Measured: true}, judge("lost<=3"))
}
