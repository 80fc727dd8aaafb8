package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/workload"
)

// hush has a worker that does not say anything any more be given up at once, and nobody
// else, however slow the machine is.
func hush(t *testing.T, c *Coordinator, i int) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.Roster.mu.Lock()
		defer c.Roster.mu.Unlock()
		c.Roster.members[i].beat = time.Now().Add(-time.Hour) // its last one may have come since
		return c.Roster.members[i].standing.lost
	}, 5*time.Minute, time.Millisecond)
}

// The part of a worker that nobody waits for is done by another, which stays for that: a track
// is over when that is through, too, and then all may leave. Who is back meanwhile is told to
// end, and what it says does not count any more.
func TestAPartIsDoneByAnother(t *testing.T) {
	t.Parallel()
	k := &taken{}
	returned := make(chan int, 10)
	passed := make(chan [3]int, 10)
	c := open(t, Options{
		Workers: 2, Patience: 10 * time.Minute, Received: k.take,
		Noticed: func(worker int, _ string, now State) {
			if now == Returned {
				returned <- worker
			}
		},
		Pass: func(part int, did []workload.Did) Handoff {
			assert.Equal(t, 0, part)
			assert.Equal(t, []workload.Did{{}, {Failed: 2}}, did)
			return Handoff{Left: []byte("rest"), Segment: 3, Settings: []workload.Settings{{Threads: 5}}}
		},
		Passed: func(from, heir, host int) { passed <- [3]int{from, heir, host} },
	})
	var all []*Worker
	for range 2 {
		w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
		require.NoError(t, err)
		require.NoError(t, w.Ready(t.Context(), nil))
		all = append(all, w)
	}
	require.NoError(t, c.Gather(t.Context(), func(int, int, string) {}))
	_, err := c.Start(t.Context())
	require.NoError(t, err)
	told := [2]chan Command{make(chan Command, 10), make(chan Command, 10)}
	for i, w := range all {
		w.Orders.OnCommand(func(cmd Command) { told[i] <- cmd })
	}
	c.Commands.Enter("later")
	assert.Equal(t, "later", (<-told[0]).Phase)
	assert.Equal(t, "later", (<-told[1]).Phase)
	all[0].Outbox.Report(Report{Part: &measure.Increment{T: 3, Classes: []measure.IncrementClass{{Op: 1, Class: 1, Count: 2}}}})
	require.Eventually(t, func() bool { return c.Roster.Members()[0].Last == 3 }, 5*time.Minute, time.Millisecond)
	all[0].quit() // its beat ends, and its connection stays
	hush(t, c, 0)

	all[1].Ended(0, time.Second)
	all[1].Outbox.Report(Report{Idle: true})
	h := (<-told[1]).Handoff // it may not leave before
	require.NotNil(t, h)
	assert.Equal(t, [3]int{0, 2, 1}, <-passed)
	assert.Equal(t, "rest", string(h.Left))
	assert.Contains(t, h.Phases, "later")
	h.Left, h.Phases = nil, nil
	assert.Equal(t, &Handoff{Index: 2, Part: 0, Segment: 3, Settings: []workload.Settings{{Threads: 5}}}, h)
	heir, err := all[1].Beside(t.Context(), h.Index)
	require.NoError(t, err)
	let := make(chan Command, 10)
	heir.Orders.OnCommand(func(cmd Command) { let <- cmd })

	all[0].Ended(0, time.Second) // what it says does not count
	require.NoError(t, all[0].nc.Publish(all[0].mine(all[0].on.beat), nil))
	assert.Equal(t, "the rest of its part was dealt to worker 3", (<-told[0]).Stop)
	assert.Equal(t, 0, <-returned)
	select {
	case <-c.Progress.Over(0):
		assert.Fail(t, "the part is being done")
	default:
	}
	heir.Ended(0, 2*time.Second)
	<-c.Progress.Over(0)
	heir.Outbox.Report(Report{Idle: true})
	assert.True(t, (<-let).Release)
	assert.True(t, (<-told[1]).Release)
	heir.Outbox.Report(Report{Over: true})
	require.NoError(t, heir.Leave(t.Context()))
	all[1].Outbox.Report(Report{Over: true})
	require.NoError(t, all[1].Leave(t.Context()))
	<-c.Progress.Over(-1)
	m := c.Roster.Members()
	require.Len(t, m, 3)
	assert.Equal(t, []int{0, 1, 0}, []int{m[0].Part, m[1].Part, m[2].Part})
	assert.Equal(t, []State{Ended, Ended}, []State{m[1].State, m[2].State})
	assert.Equal(t, 2, m[0].Heir)
	assert.True(t, m[0].Dismissed)
	assert.Equal(t, m[1].PID, m[2].PID)
	all[0].nc.Close()
}

// Where nobody is there who could take a part on, nobody waits for it.
func TestAPartThatNobodyCanTakeOn(t *testing.T) {
	t.Parallel()
	c := open(t, Options{Workers: 1, Patience: 10 * time.Minute, Received: (&taken{}).take, Pass: func(int, []workload.Did) Handoff { return Handoff{} }})
	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	require.NoError(t, w.Ready(t.Context(), nil))
	require.NoError(t, c.Gather(t.Context(), func(int, int, string) {}))
	_, err = c.Start(t.Context())
	require.NoError(t, err)
	w.nc.Close()
	w.quit()
	hush(t, c, 0)
	<-c.Progress.Over(-1)
	m := c.Roster.Members()
	require.Len(t, m, 2)
	assert.Equal(t, Gone, m[1].State)
	assert.Positive(t, m[1].LostAt)
}
