package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/verdict"
	"github.com/perfbench/perfbench/internal/workload"
)

func prepare(t *testing.T, e session.Env, r session.Request) *session.Prepared {
	t.Helper()
	p, err := session.Prepare(t.Context(), e, r)
	require.NoError(t, err)
	return p
}

func text(lines []request.Line, name string) string {
	for _, l := range lines {
		if l.Name == name {
			return l.Text + " from " + l.From
		}
	}
	return "absent"
}

func TestPrecedenceFlagEnvironmentFilePresetDefault(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, []byte("blue"), 0o600))

	p := prepare(t, env(t), asked(t))
	assert.Equal(t, "green from preset small", text(p.Preview().Parameters, "left.colour"), "the default preset beats the default")
	assert.Equal(t, "2 from preset small", text(p.Preview().Settings, "threads"))
	assert.Equal(t, "100 from preset small", text(p.Preview().Run, "count"))

	r := asked(t)
	r.Files = []string{file}
	p = prepare(t, env(t), r)
	assert.Equal(t, "blue from file "+file+":1", text(p.Preview().Parameters, "left.colour"))
	assert.Equal(t, "– from not given", text(p.Preview().Run, "count"), "a file takes the place of the default preset")
	assert.Contains(t, p.Warnings, "this file is tiny")

	p.Plan.Deletes = []string{"before the run this"}
	fresh := p.Preview()
	assert.True(t, fresh.Fresh)
	assert.Empty(t, fresh.Deletes, "a store that is new holds nothing of an earlier run")
	p.Target.Path = "named"
	assert.Equal(t, p.Plan.Deletes, p.Preview().Deletes, "without --cleanup, too")
	p.Cleanup = true
	assert.Equal(t, []string{"before the run this", "at the end what this run makes (--cleanup)"}, p.Preview().Deletes)

	other := tiny
	other.Stores = []workload.Binding{{Driver: "memory", Target: "memory:"}}
	elsewhere := env(t)
	elsewhere.Profiles = []workload.Profile{other}
	assert.True(t, prepare(t, elsewhere, asked(t)).Preview().Fresh, "a profile may open another store of this process in its place")

	r.Preset = "large"
	p = prepare(t, env(t, "PERFBENCH_COLOUR=white", "PERFBENCH_LEFT_COLOUR=grey"), r)
	assert.Equal(t, "grey from environment PERFBENCH_LEFT_COLOUR", text(p.Preview().Parameters, "left.colour"))
	assert.Equal(t, "white from environment PERFBENCH_COLOUR", text(p.Preview().Parameters, "right.colour"))
	assert.Equal(t, "8 from preset large", text(p.Preview().Settings, "threads"))

	r = asked(t, "left.colour", "black", "threads", "5")
	p = prepare(t, env(t, "PERFBENCH_THREADS=3", "PERFBENCH_LEFT_COLOUR=grey"), r)
	assert.Equal(t, "black from flag --left.colour", text(p.Preview().Parameters, "left.colour"))
	assert.Equal(t, "5 from flag --threads", text(p.Preview().Settings, "threads"))
	assert.Equal(t, 5, p.Threads())
}

func TestAllProblemsAtOnce(t *testing.T) {
	r := asked(t, "threads", "0", "colr", "x", "count", "-4", "duration", "soon", "namespace", "a b")
	r.Timetable = []string{"1s:treads=3"}
	r.Thresholds = []string{"p9x<5ms"}
	r.Formats = []string{"jsn"}
	_, err := session.Prepare(t.Context(), env(t), r)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	for _, part := range []string{
		`threads: "0" is not in 1..4096`, `no knob or parameter "colr"`, `count: "-4"`, `duration: "soon"`,
		`namespace: "a b"`, `no live knob "treads"`, `"p9x" is not a figure that is measured`, `unknown format "jsn"`,
	} {
		assert.Contains(t, err.Error(), part)
	}
	assert.Contains(t, hints(err), "did you mean colour? perfbench list knobs shows all")
}

func TestRefusals(t *testing.T) {
	for want, change := range map[string]func(*session.Request){
		`unknown profile "tinny"`:                            func(r *session.Request) { r.Profile = "tinny" },
		`unknown preset "smal"`:                              func(r *session.Request) { r.Preset = "smal" },
		"it keeps nothing":                                   func(r *session.Request) { r.Target = "null:" },
		"no such file":                                       func(r *session.Request) { r.Files = []string{"missing.properties"} },
		`no track or operation "middle"`:                     func(r *session.Request) { r.Thresholds = []string{"middle.p99<1ms"} },
		`no live knob "middle.threads"`:                      func(r *session.Request) { r.Timetable = []string{"1s:middle.threads=1"} },
		`threads: "5000" is not in 1..4096`:                  func(r *session.Request) { r.Timetable = []string{"1s:threads=5000"} },
		`threads: "1.5" is not a whole number`:               func(r *session.Request) { r.Timetable = []string{"1s:threads=1.5"} },
		`payload: "big" is not a size`:                       func(r *session.Request) { r.Timetable = []string{"1s:payload=big"} },
		`"soon" is not a time`:                               func(r *session.Request) { r.Timetable = []string{"soon:threads=1"} },
		`has no time and change`:                             func(r *session.Request) { r.Timetable = []string{"threads=1"} },
		`paused: "maybe" (flag --at) is not on`:              func(r *session.Request) { r.Timetable = []string{"1s:paused=maybe"} },
		`arrivals: "odd" is not even, poisson or bursts`:     func(r *session.Request) { r.Timetable = []string{"1s:arrivals=odd"} },
		`left.arrivals=even: how calls come is one of three`: func(r *session.Request) { r.Timetable = []string{"1s:left.arrivals=even"} },
		`there is no knob or parameter "left.x"`:             func(r *session.Request) { *r = asked(t, "left.x", "1") },
	} {
		r := asked(t)
		change(&r)
		_, err := session.Prepare(t.Context(), env(t), r)
		require.Error(t, err, want)
		assert.Contains(t, err.Error(), want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err), want)
	}
}

func TestTimetableInOrderWithWarnings(t *testing.T) {
	r := asked(t, "duration", "10s", "threads", "4")
	r.Timetable = []string{"5s:left.threads=9,payload=4KiB", "1s:threads=6", "2s:pause=on", "3s:arrivals=even", "20s:threads=1"}
	p := prepare(t, env(t), r)
	assert.Equal(t, []string{
		"at 1s: threads = 6", "at 2s: paused = on", "at 3s: arrivals = even", "at 5s: left.threads = 9", "at 5s: payload = 4 KiB", "at 20s: threads = 1",
	}, p.Preview().Timetable)
	assert.Contains(t, strings.Join(p.Warnings, "\n"), "20s:threads=1: the run ends after 10s")
	assert.Equal(t, 11, p.Threads(), "nine on the left and two on the right")
	assert.Equal(t, workload.AllTracks, p.Timetable[0].Track)
	assert.Equal(t, 0, p.Timetable[3].Track)
}

func TestStrangeVariablesAreNamed(t *testing.T) {
	p := prepare(t, env(t, "PERFBENCH_THREDS=3", "PERFBENCH_TARGET=x", "HOME=/root"), asked(t))
	assert.Equal(t, []string{"environment variable PERFBENCH_THREDS has no effect; did you mean PERFBENCH_THREADS?"}, p.Warnings)
}

func carryOut(t *testing.T, p *session.Prepared) *session.Concluded {
	t.Helper()
	l, err := p.Start(t.Context(), nil)
	require.NoError(t, err)
	o := l.Conclude(t.Context())
	require.NotNil(t, o)
	return o
}

func TestRunToItsCount(t *testing.T) {
	r := asked(t, "count", "200", "seed", "7")
	r.Thresholds = []string{"errors<1%", "left.p50>1us"}
	o := carryOut(t, prepare(t, env(t), r))
	require.NoError(t, o.Err)
	f, err := rundir.Load(o.Dir)
	require.NoError(t, err)
	assert.Equal(t, "count", f.Run.EndedBy)
	assert.Contains(t, f.Run.Verdict.Causes, "samples", "a hundred calls are too few for p99")
	assert.Equal(t, int64(7), f.Run.Seed)
	require.Len(t, f.Run.Operations, 2)
	assert.Equal(t, int64(100), f.Run.Operations[0].Count)
	assert.Equal(t, "preset small", f.Run.Origins["threads"])
	assert.Equal(t, "passed", f.Run.Verification.State)
	assert.EqualValues(t, "test", f.Run.Environment["perfbench"])
	require.NotNil(t, f.Run.Observed)
	require.Len(t, f.Run.Observed.Processes, 1, "the store is in perfbench itself")
	assert.Equal(t, "perfbench", f.Run.Observed.Processes[0].Role)
	assert.Equal(t, os.Getpid(), f.Run.Observed.Processes[0].PID)
	assert.Nil(t, f.Run.Observed.Store, "and has no counters")
	assert.FileExists(t, filepath.Join(o.Dir, "tiny.txt"))
	assert.FileExists(t, filepath.Join(o.Dir, "NOTICE.txt"), "memory: is no server")
}

func TestMissedThresholdAndFailedVerification(t *testing.T) {
	r := asked(t, "count", "50")
	r.Thresholds = []string{"left.put.p50<1us", "p99<1h"}
	o := carryOut(t, prepare(t, env(t), r))
	assert.Equal(t, fault.CodeThreshold, o.Code())
	require.Len(t, o.Missed, 1)
	assert.Contains(t, o.Missed[0], "threshold left.put.p50<1us missed: it was ")
	require.Len(t, o.Run.Verdict.Thresholds, 2, "those that were met are in the record too")
	assert.False(t, o.Run.Verdict.Thresholds[0].OK)
	assert.Equal(t, "p99<1h", o.Run.Verdict.Thresholds[1].Expr)
	assert.True(t, o.Run.Verdict.Thresholds[1].OK)
	assert.NotEmpty(t, o.Run.Verdict.Thresholds[1].Got)

	r = asked(t, "count", "50", "lose", "3")
	r.Thresholds = []string{"throughput>0"}
	o = carryOut(t, prepare(t, env(t), r))
	assert.Equal(t, fault.CodeVerification, o.Code(), "verification wins over thresholds")
	assert.Len(t, o.Missed, 1, "a run that failed its verification has no throughput")
	f, err := rundir.Load(o.Dir)
	require.NoError(t, err)
	assert.Equal(t, verdict.Invalid, f.Run.Verdict.State)
	assert.Contains(t, f.Run.Verdict.Causes, "verification")
	assert.Nil(t, f.Run.Operations[0].Throughput)
}

func TestInterruptIsReported(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	p := prepare(t, env(t), asked(t, "duration", "1m", "count", "100000000"))
	l, err := p.Start(ctx, nil)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return l.Snapshot().Ops[0].Count > 0 }, 5*time.Minute, time.Millisecond)
	cancel(session.ErrInterrupted)
	o := l.Conclude(t.Context())
	assert.Equal(t, fault.CodeInterrupted, o.Code())
	assert.Equal(t, "interrupt", o.Run.EndedBy)
	assert.NotContains(t, o.Run.Verdict.Causes, "unfinished", "ended_by says it")
	assert.Positive(t, o.Run.Operations[0].Count)
}

// A second interrupt stops what is left to do at the end; the store is not to blame.
func TestASecondInterruptIsNotTheSilenceOfTheStore(t *testing.T) {
	for _, when := range []string{"at once", "in the verification", "in the removal"} {
		t.Run(when, func(t *testing.T) {
			hard, again := context.WithCancel(t.Context())
			defer again()
			e := env(t)
			e.Profiles = []workload.Profile{boundBy(tiny, func(ctx context.Context, b *workload.Bound, own workload.Connector) error {
				if err := own(ctx, b); err != nil {
					return err
				}
				if when == "in the verification" {
					b.Parts = append(workload.Parts{verifying(func(ctx context.Context) workload.Verification {
						again()
						<-ctx.Done()
						return workload.Verification{State: workload.Incomplete, Summary: ctx.Err().Error()}
					})}, b.Parts...)
				}
				b.Parts = append(workload.Parts{removing(func(ctx context.Context) error {
					again()
					<-ctx.Done()
					return ctx.Err()
				})}, b.Parts...)
				return nil
			}, "memory")}
			ctx, cancel := context.WithCancelCause(t.Context())
			l, err := prepare(t, e, asked(t, "duration", "1m", "count", "100000000", "cleanup", "on")).Start(ctx, nil)
			require.NoError(t, err)
			cancel(session.ErrInterrupted)
			<-l.Done()
			if when == "at once" {
				again()
			}
			o := l.Conclude(hard)
			assert.Equal(t, fault.CodeInterrupted, o.Code())
			if when != "in the removal" {
				assert.Equal(t, workload.Incomplete, o.Run.Verification.State)
				assert.Equal(t, "a second interrupt left no time for it", o.Run.Verification.Summary)
			}
			require.ErrorContains(t, o.Err, "a second interrupt")
			assert.NotContains(t, o.Err.Error(), "answer")
		})
	}
}

func TestTimetableOpensSegments(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := asked(t, "duration", "1200ms", "count", "100000000", "rate", "100")
		r.Timetable = []string{"400ms:threads=6", "800ms:payload=32"}
		o := carryOut(t, prepare(t, env(t), r))
		require.NoError(t, o.Err)
		assert.Equal(t, "duration", o.Run.EndedBy)
		require.Len(t, o.Run.Segments, 3)
		assert.EqualValues(t, 6, o.Run.Segments[1].Settings["threads"])
		assert.EqualValues(t, 32, o.Run.Segments[2].Settings["left.payload"])
		require.NotEmpty(t, o.Run.Changes)
		assert.Equal(t, "timetable", o.Run.Changes[0].By)
	})
}

func TestFailedStartLeavesNothing(t *testing.T) {
	r := asked(t)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r.Out = file
	_, err := prepare(t, env(t), r).Start(t.Context(), nil)
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))

	r = asked(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(session.ErrInterrupted)
	_, err = prepare(t, env(t), r).Start(ctx, nil)
	if err != nil {
		entries, err := os.ReadDir(r.Out)
		require.NoError(t, err)
		assert.Empty(t, entries)
	}
}

func TestReadPassword(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pw")
	require.NoError(t, os.WriteFile(file, []byte("one two\r\nthree"), 0o600))
	got, err := session.ReadPassword(file)
	require.NoError(t, err)
	assert.Equal(t, "one two", got)
	require.NoError(t, os.WriteFile(file, []byte("\n"), 0o600))
	_, err = session.ReadPassword(file)
	require.ErrorContains(t, err, "first line is empty")
	_, err = session.ReadPassword(file + "x")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
}
