package workbench

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/cmd/perfbench/cli"
)

// A plan of several runs does each again, in the order in which they began, and nothing that was there is
// written over.
func TestAPlanOfRunsIsANewFile(t *testing.T) {
	runs, err := filepath.Abs("../../../testdata/runs")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("plan.yaml", []byte("mine"), 0o600))
	at := &surroundings{env: command{&cli.Call{Log: slog.New(slog.DiscardHandler)}}.Session(), out: runs, crew: &cli.Workers{}}
	l := listed{&kept{surroundings: at}, &requests{surroundings: at}}
	history, err := l.History()
	require.NoError(t, err)
	require.Greater(t, len(history), 2)
	later, earlier := history[1], history[len(history)-1]
	require.NotEqual(t, later.Profile, earlier.Profile, "or the order would not be seen")
	assert.Equal(t, "plan-2.yaml", l.PlanName())
	_, err = l.PlanOf([]string{later.ID, earlier.ID}, "plan.yaml")
	require.EqualError(t, err, "plan.yaml exists already: P again, and another name")
	plan, err := l.PlanOf([]string{later.ID, earlier.ID}, l.PlanName())
	require.NoError(t, err)
	assert.Equal(t, "plan-2.yaml", plan.Path)
	require.Len(t, plan.File.Runs, 2)
	for i, r := range []string{earlier.Profile, later.Profile} {
		assert.Equal(t, r, plan.File.Runs[i].Request.Profile)
	}
	mine, err := os.ReadFile("plan.yaml")
	require.NoError(t, err)
	assert.Equal(t, "mine", string(mine))
	assert.Equal(t, "plan-3.yaml", l.PlanName())
	plan, err = l.PlanOf([]string{later.ID}, "night")
	require.NoError(t, err)
	assert.Equal(t, "night.yaml", plan.Path)
	require.NotNil(t, plan.File.Plain(), "one run is no suite")
	assert.Equal(t, later.Profile, plan.File.Plain().Profile)
	again, err := l.PlanOf([]string{later.ID}, "night.yaml")
	require.NoError(t, err)
	assert.Equal(t, "night.yaml", again.Path, "the same plan is there already")
	_, err = l.PlanOf([]string{"nosuchrun"}, "other.yaml")
	require.ErrorContains(t, err, "nosuchrun")
	assert.NoFileExists(t, "other.yaml")
}
