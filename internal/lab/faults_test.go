//go:build linux || darwin

package lab_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/lab"
)

func TestWhatIsBrokenIsNamedAndHealed(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	st := up(t, dir, "redis")
	assert.Nil(t, lab.ServersAt(dir, st.URL+"1"), "another port")
	s := lab.ServersAt(dir, st.URL+"/3")
	require.NotNil(t, s)
	require.NoError(t, s.Check(lab.Primary))
	err := s.Check(lab.Replica)
	require.ErrorContains(t, err, "redis has no replica")
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	name, err := s.Find(t.Context(), lab.Primary)
	require.NoError(t, err)

	broken := func() []string {
		all, err := lab.Status(dir)
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0].Broken()
	}
	heal := func() []string {
		done, err := lab.Heal(t.Context(), dir, "redis", nil)
		require.NoError(t, err)
		return done
	}
	assert.Empty(t, broken())
	assert.Empty(t, heal())
	require.NoError(t, s.Pause(t.Context(), name))
	assert.Equal(t, []string{"redis is paused"}, broken())
	assert.Equal(t, []string{"redis goes on"}, heal())
	require.NoError(t, s.Kill(t.Context(), name))
	assert.Equal(t, []string{"redis has ended"}, broken())
	assert.Equal(t, []string{"redis was started again"}, heal())
	assert.Empty(t, broken())
	_, err = lab.Heal(t.Context(), dir, "redis-cluster", nil)
	require.ErrorIs(t, err, lab.ErrNotRunning)
}

// The roles move when the master is killed.
func TestRolesMoveWithAFailover(t *testing.T) {
	t.Parallel()
	dir := labDir(t)
	s := lab.ServersAt(dir, up(t, dir, "redis-sentinel").URL)
	require.NotNil(t, s)
	name, err := s.Find(t.Context(), lab.Replica)
	require.NoError(t, err)
	assert.Equal(t, "replica", name)
	require.NoError(t, s.Kill(t.Context(), "master"))
	require.NoError(t, lab.Poll(t.Context(), func() error {
		name, err = s.Find(t.Context(), lab.Primary)
		if err == nil && name != "replica" {
			err = lab.ErrNotRunning
		}
		return err
	}))
	require.NoError(t, s.Restart(t.Context(), "master"))
}
