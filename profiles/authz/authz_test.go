package authz

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/authz/model"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // what a test binary ends with

func TestProfile(t *testing.T) { profiletest.Run(t, Profile()) }

// design makes a plan of the defaults with some values set.
func design(t *testing.T, set ...string) (*workload.Plan, *site) {
	t.Helper()
	p, err := Design(workload.Inputs{Values: given(t, set...), Seed: 42, Namespace: "perfbench"})
	require.NoError(t, err)
	x := p.Binder.(*site)
	x.begin("260102-030405-authz-x")
	return p, x
}

// given are the values of the preset small with some set.
func given(t *testing.T, set ...string) workload.Values {
	t.Helper()
	vs := profiletest.Values(t, Profile(), "small")
	for _, kv := range set {
		name, v, _ := strings.Cut(kv, "=")
		vs.Set(workload.Value{Name: name, Text: v, Origin: workload.OriginFlag})
	}
	return vs
}

func TestRunsBecomePhases(t *testing.T) {
	for _, c := range []struct{ n, c, phases int }{{1, 1, 1}, {4, 4, 1}, {1, 4, 1}, {10, 2, 5}, {10, 4, 3}, {12, 4, 3}} {
		p, s := design(t, fmt.Sprintf("runs=%d", c.n), fmt.Sprintf("concurrent=%d", c.c))
		assert.Len(t, s.tenants, c.phases)
		assert.Len(t, s.tenants[0], c.c)
		assert.Len(t, p.Tracks(), 3*c.phases*c.c)
		assert.True(t, strings.HasSuffix(s.tenants[0][0].name, fmt.Sprintf("-%d-0", c.phases-1)), "names count down: %s", s.tenants[0][0].name)
	}
}

// The next phase loads as soon as this one has, beside its checks; loads never
// overlap each other; the sweep follows the valid checks of its own phase.
func TestPhasesOverlapAsDocumented(t *testing.T) {
	p, _ := design(t, "runs=3")
	after := map[string][]string{}
	for _, ph := range p.Phases {
		after[ph.Name] = ph.After
	}
	assert.Equal(t, map[string][]string{
		"load-0": nil, "valid-0": {"load-0"}, "sweep-0": {"valid-0"},
		"load-1": {"load-0"}, "valid-1": {"load-1"}, "sweep-1": {"valid-1"},
		"load-2": {"load-1"}, "valid-2": {"load-2"}, "sweep-2": {"valid-2"},
	}, after)
}

// The tests of a series follow each other: the next begins when all of the one before
// has ended, and whoever asks for runs and concurrent has those alone.
func TestASeriesRunsOneTestAfterTheOther(t *testing.T) {
	p, s := design(t, "series=1/1, 3/2")
	after := map[string][]string{}
	for _, ph := range p.Phases {
		after[ph.Name] = ph.After
	}
	assert.Equal(t, map[string][]string{
		"load-0": nil, "valid-0": {"load-0"}, "sweep-0": {"valid-0"},
		"load-1": {"sweep-0"}, "valid-1": {"load-1"}, "sweep-1": {"valid-1"},
		"load-2": {"load-1"}, "valid-2": {"load-2"}, "sweep-2": {"valid-2"},
	}, after)
	var names []string
	for _, ph := range s.tenants {
		for _, t := range ph {
			names = append(names, strings.TrimPrefix(t.name, "perf-test-"))
		}
	}
	first := strings.TrimSuffix(names[0], "-0-0")
	ms, err := strconv.ParseInt(first, 10, 64)
	require.NoError(t, err)
	second := strconv.FormatInt(ms+1, 10)
	assert.Equal(t, []string{first + "-0-0", second + "-1-0", second + "-1-1", second + "-0-0", second + "-0-1"}, names)

	in := workload.Inputs{Values: profiletest.Values(t, Profile(), "baseline"), Namespace: "perfbench"}
	p, err = Design(in)
	require.NoError(t, err)
	assert.Equal(t, rounds{{1, 1, 0}, {1, 4, 1}, {3, 4, 2}}, p.Binder.(*site).s.rounds)
	in.Values.Set(workload.Value{Name: "concurrent", Text: "2", Origin: workload.OriginFlag})
	p, err = Design(in)
	require.NoError(t, err)
	assert.Equal(t, rounds{{1, 2, 0}}, p.Binder.(*site).s.rounds)
	in.Values.Set(workload.Value{Name: "series", Text: "1/0", Origin: workload.OriginFlag})
	_, err = Design(in)
	assert.ErrorContains(t, err, `series: "1/0"`)
}

// Where checks are made again and again until the time is up, how many there are says
// nothing of how far the run is.
func TestWhatIsDoneAgainHasNoTotal(t *testing.T) {
	in := workload.Inputs{Values: profiletest.Values(t, Profile(), "small"), Namespace: "perfbench"}
	totals := func() (sum int64) {
		p, err := Design(in)
		require.NoError(t, err)
		for _, tr := range p.Tracks() {
			sum += tr.Total
		}
		return sum
	}
	assert.Positive(t, totals())
	in.Duration = time.Second
	assert.Zero(t, totals())
	in.Count = 10
	assert.Positive(t, totals(), "the count ends it too")
}

func TestVisibility(t *testing.T) {
	assert.True(t, visible("private", "owner"))
	assert.True(t, visible("private", "admin"))
	assert.False(t, visible("private", "loggedin"))
	assert.True(t, visible("loggedin", "loggedin"))
	assert.False(t, visible("loggedin", "anonymous"))
	assert.True(t, visible("public", "anonymous"))
	_, err := model.Visibility("nobody")
	assert.ErrorContains(t, err, `"nobody"`)
}
