package saga

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// away is how long a killed server stays away in these tests, at least.
const away = 500 * time.Millisecond

// survive runs sagas on a server that is killed in the middle and comes back.
func survive(t *testing.T, srv *labtest.Server, words ...string) (*Facts, workload.Verification) {
	t.Helper()
	p, _ := ready(t, srv.URL(), inputs(given(append([]string{
		"mode=saga", "threads=4", "transactions=100000000", "accountCount=100", "failRate=0.1", "retryInterval=500ms", "cronInterval=50ms", "checkInterval=0s",
	}, words...)...)))
	r := profiletest.Begin(t.Context(), t, p)
	until := func(what string, is func(f *Facts) bool) {
		t.Helper()
		require.Eventually(t, func() bool { return is(p.Facts(nil).(*Facts)) }, 5*time.Minute, 10*time.Millisecond, what)
	}
	until("sagas are done and undone", func(f *Facts) bool { return f.Done > 100 && f.Undone > 10 })
	srv.Kill()
	until("clients have missed the server", func(f *Facts) bool { return f.StallS >= away.Seconds() })
	srv.Restart()
	before := p.Facts(nil).(*Facts)
	until("sagas end again", func(f *Facts) bool { return f.Done+f.Undone > before.Done+before.Undone+100 })
	r.Stop(nil)
	_, err := r.Wait()
	require.NoError(t, err)
	v := p.Verify(t.Context())
	return p.Facts(nil).(*Facts), v
}

func TestRedisKilledWithAppendOnlyFile(t *testing.T) {
	f, v := survive(t, labtest.Redis(t, "--appendonly", "yes", "--appendfsync", "always"))
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Zero(t, f.LostAcked)
	assert.Positive(t, f.Done)
	assert.Positive(t, f.Undone)
	assert.Positive(t, f.Unknown, "some were under way")
	assert.GreaterOrEqual(t, f.StallS, away.Seconds(), "nothing completed while it was away")
	for _, part := range []string{"all of them whole", "the client was told nothing about " + strconv.FormatInt(f.Unknown, 10), "unfinished ones taken up", "nothing completed for"} {
		assert.Contains(t, v.Summary, part)
	}
}

func TestRedisKilledWithoutAppendOnlyFile(t *testing.T) {
	f, v := survive(t, labtest.Redis(t))
	assert.Equal(t, workload.Failed, v.State)
	assert.Positive(t, f.LostAcked, "what was acknowledged before is gone, and is counted")
	assert.GreaterOrEqual(t, f.StallS, away.Seconds())
	named := 0
	for _, c := range v.Checks {
		if c.Name == checkAcked {
			named = len(c.Examples)
			assert.Contains(t, c.Examples[0], "missing")
		}
		if c.Name == checkMoney {
			assert.False(t, c.OK, "the accounts are gone")
		}
	}
	assert.Equal(t, maxExamples, named)
	assert.Contains(t, v.Summary, strconv.FormatInt(f.LostAcked, 10)+" that were acknowledged are lost or changed")
	assert.Contains(t, v.Summary, "nothing completed for")
}

func TestMariaDBKilled(t *testing.T) {
	tier.Full(t, "TestRedisKilledWithAppendOnlyFile")
	f, v := survive(t, labtest.MariaDB(t))
	assert.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Zero(t, f.LostAcked)
	assert.Positive(t, f.Done)
	assert.Positive(t, f.Unknown)
	assert.GreaterOrEqual(t, f.StallS, away.Seconds())
}
