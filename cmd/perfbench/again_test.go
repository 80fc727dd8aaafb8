package main

import (
	"cmp"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
	"github.com/perfbench/perfbench/internal/experiment"
	"github.com/perfbench/perfbench/internal/report"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/sweep"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// A preset has groups of its own, and need not be told apart from those that are given.
func TestGroupsAreGivenOneByOne(t *testing.T) {
	t.Parallel()
	plan := doing(t, nil, "run", "--profile", "group", "--dry-run", "--set", "groupNames=a", "--set", "a.operations=b", "--set", "b.map=m", "--set", "b.testCase=put")
	assert.Contains(t, plan, "a: invocation, b with ")
	assert.NotContains(t, plan, "g4.")
	assert.Contains(t, doing(t, nil, "run", "--profile", "group", "--preset", "group", "--dry-run", "--set", "groupNames=g3"), "g3: invocation, get1 with 4 threads, 8000 invocations")
}

// offline can prepare any run, on any store.
func offline() session.Env {
	return session.Env{
		Profiles: cli.Profiles(), Formats: cli.Formats(), Drivers: drivers.All(), Log: slog.New(slog.DiscardHandler),
		Resolve: func(target string) (string, error) { return target, nil },
	}
}

// The command in a report plans for the same run, whatever the first one was given.
func TestTheCommandOfARunPlansForTheSame(t *testing.T) {
	tier.Slow(t, tier.Computes)
	t.Parallel()
	env := offline()
	cases := map[string]session.Request{
		"a ramp":        {Profile: "ingestion", Timetable: []string{"3s..5s:rate=2000..6000"}, Values: flagged("--rate=2000", "--duration=9s")},
		"a total":       {Profile: "ingestion", Values: flagged("--threads=7", "--count=10000", "--cleanup=on")},
		"one track":     {Profile: "ingestion", Values: flagged("profile.threads=5")},
		"all tracks":    {Profile: "ingestion", Values: flagged("profile.threads=5", "eligibility.threads=1")},
		"its own names": {Profile: "ingestion", Values: flagged("profile.threadCount=5", "testCount=3")},
		"groups":        {Profile: "group", Values: flagged("groupNames=a", "a.operations=b", "b.map=m", "b.testCase=put")},
		"xa":            {Profile: "tx", Preset: "xa", Target: "postgres://localhost/bank"},
	}
	for paths, tt := range filesOfSystems {
		var files []string
		for name := range strings.SplitSeq(paths, ",") {
			files = append(files, "../../testdata/samples/"+name)
		}
		cases[paths] = session.Request{Profile: tt.profile, Files: files}
		cases[paths+" and more"] = session.Request{Profile: tt.profile, Files: files, Values: flagged("--threads=3", "--seed=9")}
	}
	for _, p := range env.Profiles {
		cases[p.Name] = session.Request{Profile: p.Name}
		list, err := request.Presets(p.Presets)
		require.NoError(t, err)
		for _, l := range list {
			if l.Name != "xa" { // not every store can
				cases[p.Name+" "+l.Name] = session.Request{Profile: p.Name, Preset: l.Name}
			}
		}
	}
	for name, r := range cases {
		r.Target = cmp.Or(r.Target, "memory:")
		p, err := session.Prepare(t.Context(), env, r)
		require.NoError(t, err, name)
		run := p.Model()
		again := report.Asked(&run)
		assert.Equal(t, planned(t, r.Words()), planned(t, again.Words()), "%s: %s", name, report.Command(&run))
	}
}

// What a sweep or a comparison gives each of its runs is in the command and the plan of that run.
func TestARunOfASweepOrAComparisonIsDoneAgain(t *testing.T) {
	t.Parallel()
	env := offline()
	var none *cli.Workers
	d := experiment.NewDriver(func() session.Env { return env }, none.Series())
	again := func(p *session.Prepared, said ...string) {
		t.Helper()
		run := p.Model()
		words := report.Command(&run)
		for _, s := range said {
			assert.Contains(t, words, s)
		}
		assert.NotContains(t, words, "threadCount", "a knob is said once")
		all := report.All()
		plans := slices.IndexFunc(all, func(f rundir.Format) bool { return f.ID == "plan" })
		files, err := all[plans].Encode(&rundir.Folder{Run: run})
		require.NoError(t, err)
		plan, err := request.Read("plan.yaml", files[0].Data, nil)
		require.NoError(t, err)
		assert.Equal(t, words, request.Shell(plan.Plain().Words()))
		second, err := session.Prepare(t.Context(), env, *plan.Plain())
		require.NoError(t, err, words)
		other := second.Model()
		assert.Equal(t, run.Settings, other.Settings, words)
		assert.Equal(t, run.Parameters, other.Parameters, words)
	}
	given := session.Request{Profile: "ingestion", Target: "memory:", Values: flagged("--threads=8")}
	for _, over := range [][]string{
		{"threads=16,1", "--threads 16", "--duration 10s", "--warmup 2s"}, {"rate=700,70", "--rate 700"}, {"payload=64,32", "--payload 64"}, {"batch=3,4", "--batch 3"},
		{"testCase=put,putall", "testCase=put"}, {"mapNames=profile,eligibility", "mapNames=profile"}, {"duration=7s,8s", "--duration 7s"},
		{"profile.threads=5,6", "profile.threads=5", "eligibility.threads=3"},
	} {
		r := given
		if strings.HasPrefix(over[0], "threads") {
			r.Values = nil
		}
		s, err := d.Sweep(t.Context(), r, sweep.Asked{Over: over[:1], Repeat: "1"})
		require.NoError(t, err)
		again(s.First(), over[1:]...)
	}
	one, err := d.Sweep(t.Context(), session.Request{Profile: "ingestion", Target: "memory:", Values: flagged("mapNames=profile")}, sweep.Asked{Over: []string{"threads=16,1"}, Repeat: "1"})
	require.NoError(t, err)
	again(one.First(), "--threads 16")
	given.Values["duration"] = workload.Value{Name: "duration", Text: "1s", Origin: workload.OriginFlag, Where: "--duration"}
	r, err := d.Repeats(t.Context(), given, request.Repeat{Times: "2", Sets: []string{"threads=3", "profile.payload=9"}}, nil)
	require.NoError(t, err)
	again(r.Sides[0].Prepared, "--threads 8")
	again(r.Sides[1].Prepared, "--threads 3", "profile.payload=9")
}

// A knob is listed once, also where a run has one track and its setting has the name of the knob alone.
func TestARunListsAKnobOnce(t *testing.T) {
	env := offline()
	for _, c := range []struct {
		profile, value, knob string
		want                 []string
	}{
		{"ingestion", "", "batch", []string{"eligibility.batch", "profile.batch"}},
		{"ingestion", "mapNames=eligibility", "batch", []string{"batch"}},
		{"group", "", "thread", []string{"g1.threads", "g2.threads", "g3.threads", "g4.threads", "threads"}},
	} {
		r := session.Request{Profile: c.profile, Target: "memory:"}
		if c.value != "" {
			r.Values = flagged(c.value)
		}
		p, err := session.Prepare(t.Context(), env, r)
		require.NoError(t, err)
		run := p.Model()
		var got []string
		for _, name := range run.Given() {
			if strings.Contains(name, c.knob) {
				got = append(got, name)
			}
		}
		assert.Equal(t, c.want, got)
	}
}

// flagged returns values as flags give them: --NAME=TEXT as a flag of its own, the others
// by --set.
func flagged(words ...string) workload.Values {
	vs := workload.Values{}
	for _, w := range words {
		name, text, _ := strings.Cut(w, "=")
		where := "--set"
		if strings.HasPrefix(name, "--") {
			where = name
		}
		vs.Set(workload.Value{Name: strings.TrimPrefix(name, "--"), Text: text, Origin: workload.OriginFlag, Where: where})
	}
	return vs
}

// planned returns the plan of a command, without where each value came from; the timetable
// has a part of its own.
func planned(t *testing.T, words []string) string {
	t.Helper()
	plan := doing(t, nil, append(words[1:], "--dry-run")...)
	plan = regexp.MustCompile(`(?m)^  at  .*\n`).ReplaceAllString(plan, "")
	return regexp.MustCompile(`(?m)^(  \S+ +\S.*?)  +.*$`).ReplaceAllString(plan, "$1")
}
