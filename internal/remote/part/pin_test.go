package part

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/store"
)

// Where a worker's password may go, all servers of the target match; a server that only has the
// pattern in its path, its user or its name does not.
func TestWhereAPasswordMayGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, target string
		may             bool
	}{
		{"redis://10.0.0.9", "redis://10.0.0.9:6379", true},
		{"redis://10.0.0.9:6379", "redis://10.0.0.9:6379/0", true},
		{"redis://10.0.0.9:6379", "redis://10.0.0.9:6380", false},
		{"redis://10.0.0.9", "rediss://10.0.0.9:6379", false},
		{"redis://*.example.org", "redis://a.example.org:1,B.Example.ORG:2", true},
		{"redis://*.example.org", "redis://a.example.org:1,evil.net:2", false},
		{"redis://*.example.org", "redis://evil.net:1/x.example.org", false},
		{"redis://*.example.org", "redis://a.example.org@evil.net:1", false},
		{"redis://a,b:7", "redis://b:7,a:1", true},
		{"redis://a,b:7", "redis://b:8", false},
		{"redis://*", "unix:/tmp/socket", false},
	} {
		target, err := store.ParseTarget(c.target)
		require.NoError(t, err, c.target)
		e := Env{Target: c.pattern, Password: "secret"}
		err = e.lets(target, true)
		assert.Equal(t, c.may, err == nil, "%s at %s: %v", c.pattern, c.target, err)
		if err != nil {
			assert.Contains(t, err.Error(), "this worker logs in at "+c.pattern+" alone (--target), and the plan names ")
		}
		require.NoError(t, CheckPattern(c.pattern))
	}
	target, err := store.ParseTarget("redis://10.0.0.9:6379")
	require.NoError(t, err)
	require.NoError(t, (&Env{Password: "secret"}).lets(target, true))
	require.NoError(t, (&Env{}).lets(target, false), "without a password nobody gets to see one")
	assert.ErrorContains(t, (&Env{Password: "secret"}).lets(target, false), "say with --target where the password may go")
	for _, bad := range []string{"", "10.0.0.9", "redis://", "redis://a/b", "redis://a@b", "redis://[a", "redis://a,"} {
		assert.Equal(t, fault.CodeInput, fault.CodeOf(CheckPattern(bad)), bad)
	}
}
