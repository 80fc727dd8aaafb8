package main

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles"
)

func profile(t *testing.T, name string) workload.Profile {
	t.Helper()
	all := profiles.All()
	i := slices.IndexFunc(all, func(p workload.Profile) bool { return p.Name == name })
	require.GreaterOrEqual(t, i, 0)
	return all[i]
}

// inputs are those of a preset with some values.
func inputs(t *testing.T, p workload.Profile, preset string, set map[string]string) workload.Inputs {
	t.Helper()
	vs := profiletest.Values(t, p, preset)
	for name, text := range set {
		vs.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag})
	}
	return workload.Inputs{Values: vs, Namespace: "users", Driver: "memory", Seed: 5, Duration: 20 * time.Second}
}

// Each profile that has users has them come in sessions: at a rate, which their calls make in all,
// and without one, when a thread has done with the last.
func TestUsersOfEachProfile(t *testing.T) {
	for name, c := range map[string]struct {
		profile, preset string
		set             map[string]string
		tracks          int
	}{
		"group":    {"group", "group", map[string]string{"groupNames": "g1"}, 1},
		"pbm":      {"tx", "small", map[string]string{"mode": "pbm"}, 2},
		"sagas":    {"tx", "small", map[string]string{"mode": "saga"}, 1},
		"checks":   {"authz", "small", map[string]string{"tests": "mix", "users": "20", "groups": "10"}, 1},
		"profiles": {"authz", "small", map[string]string{"mode": "user-profile", "users": "20", "groups": "10"}, 1},
		"mix":      {"mix", "ycsb/a", map[string]string{"records": "50"}, 1},
	} {
		for _, rate := range []string{"0", "40"} {
			t.Run(name+" at "+rate, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					p := profile(t, c.profile)
					set := map[string]string{"session": "4", "think": "250ms", "threads": "60", "rate": rate}
					for k, v := range c.set {
						set[k] = v
					}
					in := inputs(t, p, c.preset, set)
					plan, err := p.Design(in)
					require.NoError(t, err)
					knob, ok := plan.Knob("think")
					require.True(t, ok)
					plan = profiletest.Bind(t, p.Name, plan, profiletest.Open(t, "memory:"), in, "run-1")
					require.NoError(t, plan.Setup(t.Context(), nil))
					res := profiletest.Work(t, plan)
					require.Len(t, res.Sessions, c.tracks)
					for _, s := range res.Sessions {
						i := slices.IndexFunc(plan.Tracks(), func(t *workload.Track) bool { return t.Name == s.Track })
						track := plan.Tracks()[i]
						assert.Equal(t, 250.0, knob.Get(track.Start))
						assert.Positive(t, s.Ended)
						assert.Equal(t, 4.0, s.Steps)
						assert.Greater(t, s.Lasted, 400*time.Millisecond, "three times to think")
						if rate != "0" {
							assert.InEpsilon(t, track.Start.Rate*20/4/track.PerArrival(&track.Start)*4, s.Begun, 0.5)
						}
					}
				})
			})
		}
	}
}

// What nobody could do is refused before it begins, and says what to do.
func TestUsersThatCannotBe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile, preset, want string
		set                   map[string]string
	}{
		{"group", "group", "think: at a rate, each call comes by itself", map[string]string{"think": "1s", "rate": "10"}},
		{"group", "group", "session (flag): with compat=on, threads go from one invocation to the next", map[string]string{"session": "3", "compat": "on"}},
		{"authz", "small", "think (flag): with compat=on", map[string]string{"think": "1s", "compat": "on"}},
		{"tx", "small", "session (flag): with compat=on", map[string]string{"session": "3", "compat": "on"}},
		{"tx", "small", "session (flag): mode=baseline measures how fast calls can be", map[string]string{"session": "3", "mode": "baseline"}},
		{"mix", "ycsb/a", `think: "2h" is not in 0s..1h`, map[string]string{"think": "2h"}},
		{"mix", "ycsb/a", `think: "soon" (flag) is not a duration`, map[string]string{"think": "soon"}},
		{"mix", "ycsb/a", `session: "-1" (flag) is not in 0..1000000`, map[string]string{"session": "-1"}},
	} {
		p := profile(t, c.profile)
		_, err := p.Design(inputs(t, p, c.preset, c.set))
		assert.ErrorContains(t, err, c.want)
	}
	p := profile(t, "mix")
	plan, err := p.Design(inputs(t, p, "ycsb/a", map[string]string{"session": "11", "think": "2s", "rate": "110", "mix.think": "1s"}))
	require.NoError(t, err)
	assert.Equal(t, 1000.0, plan.Tracks()[0].Start.Think)
	assert.Contains(t, plan.Warnings, "mix: 10 sessions a second, with pauses to think of 10 s in each, are 100 at a time, each of which takes a thread, and there are 16: more would have to wait, so raise threads")
	plan, err = p.Design(inputs(t, p, "ycsb/a", map[string]string{}))
	require.NoError(t, err)
	_, ok := plan.Knob("think")
	assert.False(t, ok, "nobody asked for users")
}

// A profile has users, or says why it has none.
func TestEachProfileHasUsersOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for _, p := range profiles.All() {
		for _, q := range workload.SessionParams() {
			has := slices.ContainsFunc(p.Params, func(have workload.Param) bool { return have.Name == q.Name })
			assert.Equal(t, !has, p.Lacks[q.Name] != "", "%s of %s", q.Name, p.Name)
		}
	}
}
