package tx

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/filling"
	"github.com/perfbench/perfbench/internal/store/redis"
	"github.com/perfbench/perfbench/internal/workload"
)

// fillings checks that the summaries of a plan carry what they were last written with.
func fillings(t *testing.T, p *workload.Plan) {
	t.Helper()
	task, err := p.Phases[0].Tracks[0].NewTask(0)
	require.NoError(t, err)
	w := task.(*pbmTask).w
	for i, size := range []int{0, 300, 70_000, 300, 0} {
		group := []byte("x7")
		_, found, err := w.store.Summarize(t.Context(), group, filling.Append(nil, filling.Of(group, 0), size))
		require.NoError(t, err)
		require.True(t, found)
		got, found, err := w.store.Summary(t.Context(), group)
		require.NoError(t, err)
		require.True(t, found)
		assert.Equal(t, summary{5, 500}, got.summary)
		assert.Len(t, got.filling, size, "written %d times", i+1)
		assert.NoError(t, filling.Check(got.filling, filling.Of(group, 0)))
	}
}

// The size is turned while the run is going. What a summary carries is read back: a
// filling that is cut, of another group, or of a size that nobody set is found.
func TestSizeOfSummaries(t *testing.T) {
	words := []string{"mode=pbm", "memberSetSize=5", "eligibility.totalEntryCount=200", "eligibility.threadCount=1", "profile.totalEntryCount=200", "payloadSize=10", "payload=64"}
	p, _ := ready(t, "memory:", inputs(given(words...)))
	k, ok := p.Knob("payload")
	require.True(t, ok)
	track := &p.Phases[0].Tracks[0]
	task, err := track.NewTask(0)
	require.NoError(t, err)
	w := task.(*pbmTask).w
	left := 100
	drive(t.Context(), t, p, func() bool { left--; return left < 0 })
	track.Start = k.Set(track.Start, 1000)
	drive(t.Context(), t, p, nil)
	require.Equal(t, workload.Passed, p.Verify(t.Context()).State, "%+v", p.Verify(t.Context()))
	for group, want := range map[string]int{"x1": 64, "x100": 64, "x101": 1000, "x200": 1000} {
		got, found, err := w.store.Summary(t.Context(), []byte(group))
		require.NoError(t, err)
		assert.True(t, found, group)
		assert.Len(t, got.filling, want, group)
	}

	group := []byte("x2")
	right := filling.Append(nil, filling.Of(group, 0), 1000)
	for why, text := range map[string][]byte{
		"cut":                           right[:900],
		"of another group":              filling.Append(nil, filling.Of("x3", 0), 1000),
		"of a size that nobody has set": filling.Append(nil, filling.Of(group, 0), 500),
	} {
		_, _, err := w.store.Summarize(t.Context(), group, text)
		require.NoError(t, err)
		v := p.Verify(t.Context())
		assert.Equal(t, workload.Failed, v.State, why)
		assert.Contains(t, v.Brief(), "x2: its filling", why)
	}
	_, _, err = w.store.Summarize(t.Context(), group, right)
	require.NoError(t, err)
	assert.Equal(t, workload.Passed, p.Verify(t.Context()).State)
}

// A plan has the knob where something carries what it turns.
func TestWhereThereIsAPayload(t *testing.T) {
	for words, want := range map[string][]string{
		"testCase=tx":     {"eligibility"},
		"testCase=getall": nil,
		"load=only":       nil,
		"mode=baseline":   nil,
		"mode=saga":       {"saga"},
	} {
		p, err := Design(inputs(given("mapNames=eligibility,profile", words)))
		require.NoError(t, err)
		k, ok := p.Knob("payload")
		assert.Equal(t, want != nil, ok, words)
		var tracks []string
		for _, tr := range p.Tracks() {
			if ok && tr.Turns(k) {
				tracks = append(tracks, tr.Name)
			}
		}
		assert.Equal(t, want, tracks, words)
	}
}

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
	drive(t.Context(), t, p, nil)
	track.Start = k.Set(track.Start, 0)
	v := p.Verify(t.Context())
	require.Equal(t, workload.Passed, v.State, "%+v", v)
	assert.Equal(t, 10, asked(v, checkPayload))

	client := conn.(redis.Typed).Client()
	sp := p.Binder.(binder).Binder.(*sagaSpec)
	rows := func(n int64) string { return "t:saga:{0}:b:" + string(appendGid(nil, sp.stamp, 0, n)) }
	all, err := client.LRange(t.Context(), rows(3), 0, -1).Result()
	require.NoError(t, err)
	require.Len(t, all, 4)
	for _, row := range all {
		assert.Greater(t, len(row), 2000*4/3)
	}
	of := func(gid string, size int) string {
		s := &saga{}
		s.reset(gid, 0, 2, time.Now())
		s.size = size
		return string(s.appendRow(nil, 1))
	}
	gid := string(appendGid(nil, sp.stamp, 0, 3))
	for why, row := range map[string]string{
		"belongs to another record": strings.Replace(of("another", 2000), `"gid":"another"`, `"gid":"`+gid+`"`, 1),
		"1500 bytes":                of(gid, 1500),
	} {
		require.NoError(t, client.LSet(t.Context(), rows(3), 1, strings.Replace(row, prepared, succeed, 1)).Err())
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
	s, now := &saga{}, time.Now()
	var out []byte
	for _, size := range []int{0, 10_000} {
		n := testing.AllocsPerRun(100, func() {
			s.reset("g1", 0, 2, now)
			s.size = size
			out = s.appendRecord(out[:0], true)
			for pos := range s.rows {
				out = s.appendRow(out[:0], pos)
			}
		})
		assert.Zero(t, n, "payloads that carry %d bytes", size)
	}
}
