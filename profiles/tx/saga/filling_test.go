package saga

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/tx/saga/model"
)

// asked is how many of a check were right.
func asked(v workload.Verification, check string) int {
	for _, c := range v.Checks {
		if c.Name == check && c.OK {
			n, _ := strconv.Atoi(c.Got) // 0 when it is no number
			return n
		}
	}
	return 0
}

// The size of payloads is turned while sagas run; the rows that the coordinator writes
// again keep what they carry, and what is not a payload's own is found.
func TestSizeOfPayloads(t *testing.T) {
	p, conn := ready(t, "embedded:", inputs(given("mode=saga", "threads=1", "transactions=10", "accountCount=50", "checkInterval=0s", "countCalls=off", "payload=2000")))
	k, ok := p.Knob("payload")
	require.True(t, ok)
	track := &p.Phases[0].Tracks[0]
	profiletest.Work(t, p)
	track.Start = k.Set(track.Start, 0)
	v := p.Verify(t.Context())
	require.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Equal(t, 10, asked(v, checkPayload))

	client := conn.(redis.Typed).Client()
	sp := p.Binder.(Binding).Spec
	rows := func(n int64) string { return "t:saga:{0}:b:" + string(model.AppendGid(nil, sp.Stamp, 0, n)) }
	all, err := client.LRange(t.Context(), rows(3), 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, all, 4)
	for _, row := range all {
		assert.Greater(t, len(row), 2000*4/3)
	}
	of := func(gid string, size int) string {
		s := &model.Saga{}
		s.Reset(gid, 0, 2, time.Now())
		s.Size = size
		return string(s.AppendRow(nil, 1))
	}
	gid := string(model.AppendGid(nil, sp.Stamp, 0, 3))
	for why, row := range map[string]string{
		"belongs to another record": strings.Replace(of("another", 2000), `"gid":"another"`, `"gid":"`+gid+`"`, 1),
		"1500 bytes":                of(gid, 1500),
	} {
		require.NoError(t, client.LSet(t.Context(), rows(3), 1, strings.Replace(row, model.Prepared, model.Succeed, 1)).Err())
		v = p.Verify(t.Context())
		assert.Equal(t, workload.Failed, v.State)
		found := false
		for _, c := range v.Checks {
			found = found || c.Name == checkPayload && !c.OK && strings.Contains(strings.Join(c.Examples, " "), why)
		}
		assert.True(t, found, "%s: %+v", why, v.Checks)
	}
}

// What is sent to the store is put together without an allocation, whatever it carries.
func TestPayloadsAllocateNothing(t *testing.T) {
	s, now := &model.Saga{}, time.Now()
	var out []byte
	for _, size := range []int{0, 10_000} {
		n := testing.AllocsPerRun(100, func() {
			s.Reset("g1", 0, 2, now)
			s.Size = size
			out = s.AppendRecord(out[:0], true)
			for pos := range s.Rows {
				out = s.AppendRow(out[:0], pos)
			}
		})
		assert.Zero(t, n, "payloads that carry %d bytes", size)
	}
}
