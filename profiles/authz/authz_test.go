package authz

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/profiletest"
)

func TestMain(m *testing.M) { os.Exit(labtest.Run(m)) } //nolint:forbidigo // what a test binary ends with

func TestProfile(t *testing.T) { profiletest.Run(t, Profile()) }

// design makes a plan of the defaults with some values set.
func design(t *testing.T, set ...string) (*workload.Plan, *spec) {
	t.Helper()
	p, err := Design(workload.Inputs{Values: given(t, set...), Seed: 42, Namespace: "perfbench", RunID: "260102-030405-authz-x"})
	require.NoError(t, err)
	return p, p.Private.(*spec)
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
		assert.Len(t, s.phase, c.phases)
		assert.Len(t, s.phase[0], c.c)
		assert.Len(t, p.Tracks(), 3*c.phases*c.c)
		assert.True(t, strings.HasSuffix(s.phase[0][0].name, fmt.Sprintf("-%d-0", c.phases-1)), "names count down: %s", s.phase[0][0].name)
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

func TestVisibility(t *testing.T) {
	assert.True(t, visible("private", "owner"))
	assert.True(t, visible("private", "admin"))
	assert.False(t, visible("private", "loggedin"))
	assert.True(t, visible("loggedin", "loggedin"))
	assert.False(t, visible("loggedin", "anonymous"))
	assert.True(t, visible("public", "anonymous"))
	_, err := visibility("nobody")
	assert.ErrorContains(t, err, `"nobody"`)
}
