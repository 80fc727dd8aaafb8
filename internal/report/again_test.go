package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
)

// What was asked for is asked for again, and what follows from that is left out. A run from
// before there was a choice of arrivals had even ones.
func TestTheCommandOfARun(t *testing.T) {
	r := &rundir.Run{
		Profile: "ingestion", Target: "redis://h:6379/?tls=1", Seed: 7,
		Settings:   map[string]float64{"threads": 4, "profile.threads": 2, "rate": 0, "think": 1500},
		Parameters: map[string]string{"preset": "small", "duration": "60s", "prefix": "it's", "cleanup": "on", "allow-existing": "off", "threads": "4", "testCase": "put"},
		Origins: map[string]string{
			"threads": "flag --threads", "profile.threads": "flag --threads", "rate": "default", "think": "flag --think", "duration": "environment PERFBENCH_DURATION",
			"prefix": "flag --set", "cleanup": "flag --cleanup", "allow-existing": "flag --allow-existing", "testCase": "preset small",
		},
		Changes: []rundir.Change{
			{At: 35.0004, Name: "threads", From: 4, To: 16, Segment: 1},
			{At: 40, Name: "rate", To: 100, Segment: 2, Ramp: 1}, {At: 50, Name: "rate", From: 100, To: 300, Segment: 3, Ramp: 1},
		},
		Verdict: rundir.Verdict{Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}},
	}
	assert.Equal(t, `perfbench run --profile ingestion --target 'redis://h:6379/?tls=1' --preset small --arrivals even --cleanup --duration 60s `+
		`--set 'prefix=it'\''s' --seed 7 --think 1.5s --threads 4 --at 35s:threads=16 --at 40s..50s:rate=100..300 --threshold 'p99<1ms'`, Command(r))
}

// Quick presses of a key are one change of the same run again, as on all screens, for each track that they turned; a
// short fault keeps its end.
func TestQuickPressesAreAskedForAsOneChange(t *testing.T) {
	r := &rundir.Run{Profile: "ingestion", Target: "memory:", Seed: 1, Parameters: map[string]string{"arrivals": "even"}}
	for i, at := range []float64{6.2, 6.5, 6.8, 14.6} {
		r.Changes = append(r.Changes,
			rundir.Change{At: at, Name: "a.threads", From: 4 + float64(i), To: 5 + float64(i), By: "workbench", Segment: i + 1},
			rundir.Change{At: at, Name: "b.threads", From: 8 + float64(i), To: 9 + float64(i), By: "workbench", Segment: i + 1},
		)
	}
	r.Changes = append(r.Changes,
		rundir.Change{At: 20, Name: "fault-delay", To: 5, By: "workbench", Segment: 5}, rundir.Change{At: 20.5, Name: "a.threads", From: 8, To: 2, By: "workbench", Segment: 6},
		rundir.Change{At: 21.3, Name: "fault-delay", From: 5, By: "workbench", Segment: 7},
	)
	assert.Equal(t, []string{"6.2s:a.threads=7", "6.2s:b.threads=11", "14.6s:a.threads=8", "14.6s:b.threads=12", "20s..21.3s:fault=delay:5ms", "20.5s:a.threads=2"}, Asked(r).Timetable)
}

// A search turns the knobs of its run, which nobody asked for: the same run again has none of that.
func TestWhatASearchSetIsNotAskedForAgain(t *testing.T) {
	r := &rundir.Run{
		Profile: "ingestion", Target: "memory:", Seed: 1, Parameters: map[string]string{"arrivals": "even"},
		Changes: []rundir.Change{
			{At: 3.22, Name: "rate", To: 3330, By: measure.BySearch, Segment: 1}, {At: 5, Name: "payload", To: 64, By: "workbench", Segment: 2},
			{At: 9, Name: "threads", From: 4, To: 16, By: measure.BySearch, Segment: 3},
		},
	}
	assert.Equal(t, []string{"5s:payload=64"}, Asked(r).Timetable)
	assert.Contains(t, again(r).Text[0], "perfbench find searches again")
}

// What was set for all tracks is said once, also by a run that was itself started again: its values come
// from the flags that say them.
func TestWhatIsSetForAllTracksIsSaidOnce(t *testing.T) {
	r := &rundir.Run{
		Profile: "ingestion", Target: "memory:", Seed: 1,
		Settings:   map[string]float64{"rate": 2000, "eligibility.rate": 1000, "profile.rate": 1000, "threads": 5, "eligibility.threads": 3, "profile.threads": 2},
		Parameters: map[string]string{"testCase": "put", "eligibility.testCase": "put", "profile.testCase": "put"},
		Origins:    map[string]string{},
	}
	for _, name := range []string{"rate", "eligibility.rate", "profile.rate", "threads", "eligibility.threads", "profile.threads"} {
		r.Origins[name] = "flag"
	}
	for name := range r.Parameters {
		r.Origins[name] = "flag --set"
	}
	assert.Equal(t, "perfbench run --profile ingestion --target memory: --arrivals even --rate 2000 --set testCase=put --threads 5", Command(r))
	assert.Equal(t, "flag --rate", Asked(r).Values["rate"].From())
	r.Parameters["profile.testCase"] = "get"
	assert.Contains(t, Command(r), "--set profile.testCase=get --rate 2000")
}

// Files are named, rather than what they say, and the timetable is as it was given, with
// what was changed by hand.
func TestTheCommandOfARunWithFilesAndATimetable(t *testing.T) {
	r := &rundir.Run{
		Profile: "ingestion", Target: "memory:", Seed: 1, Files: []string{"a b.properties", "more.yaml"}, Timetable: []string{"3s..5s:rate=2000..6000", "1h:rate=1"},
		Settings:   map[string]float64{"threads": 7, "profile.threads": 3, "eligibility.threads": 4},
		Parameters: map[string]string{"mapNames": "profile", "duration": "forever", "prefix": "x", "at": "1s:threads=1"},
		Origins: map[string]string{
			"mapNames": "file a b.properties:1", "duration": "default", "prefix": "default", "at": "file more.yaml:2",
			"threads": "environment PERFBENCH_PROFILE_THREADS; default", "profile.threads": "environment PERFBENCH_PROFILE_THREADS", "eligibility.threads": "default",
		},
		Changes: []rundir.Change{
			{At: 2, Name: "threads", From: 7, To: 8, By: "workbench"},
			{At: 3.25, Name: "rate", From: 2000, To: 2500, Segment: 1, Ramp: 1, By: "timetable"}, {At: 5, Name: "rate", From: 2500, To: 6000, Segment: 2, Ramp: 1, By: "timetable"},
		},
	}
	assert.Equal(t, `perfbench run --profile ingestion --target memory: --file 'a b.properties' --file more.yaml --arrivals even --duration forever `+
		`--set profile.threads=3 --at 3s..5s:rate=2000..6000 --at 1h:rate=1 --at 2s:threads=8`, Command(r))
	r.Files, r.Timetable = nil, nil
	assert.Equal(t, `perfbench run --profile ingestion --target memory: --arrivals even --duration forever --set mapNames=profile `+
		`--set profile.threads=3 --at 2s:threads=8 --at 3.25s..5s:rate=2500..6000`, Command(r), "what earlier versions kept")
}

// What went on until it was stopped is repeated for as long as it was measured, not for ever.
func TestACommandEndsWhereItsRunDid(t *testing.T) {
	r := &rundir.Run{
		Profile: "ingestion", Target: "memory:", MeasuredS: 112.78,
		Parameters: map[string]string{"duration": "forever"}, Origins: map[string]string{"duration": "flag --duration"},
	}
	assert.Contains(t, Command(r), " --duration 113s")
	assert.Equal(t, "forever", Asked(r).Values["duration"].Text, "within the workbench it goes on until it is stopped again")
}

// The plan of a run is read as the request that its command line has.
func TestThePlanOfARunDoesItAgain(t *testing.T) {
	f := &rundir.Folder{Run: rundir.Run{
		ID: "260304-050607-ingestion-redis", Profile: "ingestion", Target: "redis://h:6379", Seed: 7, MeasuredS: 12.3,
		Settings:   map[string]float64{"threads": 4},
		Parameters: map[string]string{"preset": "small", "threads": "4", "duration": "forever", "prefix": "it's #1", "testCase": "put"},
		Origins:    map[string]string{"threads": "flag --threads", "duration": "default", "prefix": "flag --set", "testCase": "preset small"},
		Changes:    []rundir.Change{{At: 5, Name: "threads", From: 4, To: 16, Segment: 1}},
		Verdict:    rundir.Verdict{Thresholds: []rundir.Threshold{{Expr: "p99<1ms"}}},
	}}
	files, err := planFormat.Encode(f)
	require.NoError(t, err)
	require.Len(t, files, 1)
	plan, err := request.Read("plan.yaml", files[0].Data, nil)
	require.NoError(t, err, string(files[0].Data))
	require.NotNil(t, plan.Plain())
	read := plan.Plain()
	assert.Equal(t, Command(&f.Run), request.Shell(read.Words()))
	assert.Equal(t, []string{"13s", "it's #1"}, []string{read.Values["duration"].Text, read.Values["prefix"].Text})
	assert.NotContains(t, read.Values, "testCase", "the preset has it")

	f.Run.Changes[0].By = measure.BySearch
	files, err = planFormat.Encode(f)
	require.NoError(t, err)
	assert.Contains(t, string(files[0].Data), "What the search set is left out")
	assert.NotContains(t, string(files[0].Data), "threads=16")
}
