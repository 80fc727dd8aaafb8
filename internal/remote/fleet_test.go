package remote

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
)

// taken are the reports that a coordinator was given.
type taken struct {
	mu   sync.Mutex
	from map[int][]int64
}

func (k *taken) take(worker int, r *Report) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.from == nil {
		k.from = map[int][]int64{}
	}
	k.from[worker] = append(k.from[worker], r.N)
	return nil
}

func open(t *testing.T, o Options) *Coordinator {
	t.Helper()
	o.Dir, o.Version, o.Run, o.Listen = t.TempDir(), "1", "run", "127.0.0.1:0"
	c, err := Open(t.Context(), o)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// A run from the first worker to the last report: everybody is told the same, what is sent
// twice counts once, who leaves without a word is missed, and the others go on.
func TestWorkersJoinBeginReportAndAreMissed(t *testing.T) {
	tier.Slow(t, tier.Waits)
	t.Parallel()
	k := &taken{}
	notices := make(chan string, 1000)
	id, err := NewIdentity()
	require.NoError(t, err)
	c := open(t, Options{Workers: 3, Token: "secret", Identity: id, Order: []byte("order"), Patience: silent + time.Second, Received: k.take, Noticed: func(worker int, _ string, now State) {
		notices <- strconv.Itoa(worker) + " " + string(now)
	}})
	o := JoinOptions{URL: c.Connection.URL(), Token: "secret", Fingerprint: id.Fingerprint, Version: "1"}
	var all []*Worker
	for i := range 3 {
		w, err := Join(t.Context(), o)
		require.NoError(t, err)
		assert.Equal(t, Slot{Index: i, Of: 3, Run: "run", Order: []byte("order"), Coordinator: c.Connection.id, Key: c.Key().Public()}, w.Place)
		all = append(all, w)
	}
	for why, bad := range map[string]func(o *JoinOptions){
		"this run has its 3 workers already":      func(*JoinOptions) {},
		"use the same version for both":           func(o *JoinOptions) { o.Version = "2" },
		"the coordinator does not take the token": func(o *JoinOptions) { o.Token = "wrong" },
		"another fingerprint": func(o *JoinOptions) {
			o.Fingerprint = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
		},
	} {
		other := o
		bad(&other)
		_, err := Join(t.Context(), other)
		assert.ErrorContains(t, err, why)
	}
	for _, w := range all {
		require.NoError(t, w.Ready(t.Context(), nil))
	}
	most := 0
	require.NoError(t, c.Gather(t.Context(), func(_, ready int, _ string) { most = ready }))
	assert.Equal(t, 3, most)
	at, err := c.Start(t.Context())
	require.NoError(t, err)
	for i, w := range all {
		known := c.Roster.Members()[i].Trip / 2 // no better than that is any clock known
		require.NoError(t, w.Begin(t.Context()))
		assert.False(t, time.Now().Before(at.Add(-known)), "nobody begins too early on one machine, where clocks are one")
	}

	told := make(chan Command, 3)
	for _, w := range all {
		w.Orders.OnCommand(func(c Command) { told <- c })
	}
	c.Commands.Change(1, func(i int) []workload.Settings { return []workload.Settings{{Threads: i + 1}} })
	sum := 0
	for range all {
		cmd := <-told
		assert.Equal(t, 1, cmd.Segment)
		sum += cmd.Settings[0].Threads
	}
	assert.Equal(t, 6, sum)

	var asked []Member
	require.Eventually(t, func() bool { // on a machine that makes a pause, a worker is silent meanwhile
		asked, err = Ask(t.Context(), o)
		return err != nil || !slices.ContainsFunc(asked, func(m Member) bool { return m.State != Working })
	}, 5*time.Minute, 10*time.Millisecond, "all work: %+v", asked)
	require.NoError(t, err)
	require.Len(t, asked, 3)
	for _, m := range asked {
		assert.Positive(t, m.Trip)
	}

	for _, w := range all {
		w.Outbox.Report(Report{Part: &measure.Increment{T: 0}, Began: time.Now().UnixNano()})
	}
	all[0].quit() // as a process that is stopped: its connection stays
	all[2].nc.Close()
	all[2].quit()                     // as one that was killed
	until := func(wanted ...string) { // there may be others, where the machine is slow
		for seen := map[string]bool{}; slices.ContainsFunc(wanted, func(w string) bool { return !seen[w] }); {
			seen[<-notices] = true
		}
	}
	until("0 stalled", "2 gone")
	all[1].Ended(0, time.Second)
	<-c.Progress.Over(0) // of a stopped one nobody knows when it goes on
	until("0 given up", "2 given up")
	require.NoError(t, all[0].nc.Publish(all[0].mine(all[0].on.beat), nil))
	until("0 working")
	for i, m := range c.Roster.Members() {
		assert.Equal(t, i != 1, m.GivenUp)
	}

	for _, w := range all[:2] {
		for _, twice := range []bool{false, true} {
			again, err := w.js.Publish(t.Context(), w.mine(w.on.figures), []byte("not read"), jetstream.WithMsgID(w.id+"-9"))
			require.NoError(t, err)
			assert.Equal(t, twice, again.Duplicate, "the stream keeps one of a kind")
		}
	}
	<-c.Progress.Over(1)
	for i, m := range c.Roster.Members() {
		if i == 2 {
			assert.Equal(t, Gone, m.State)
			assert.Positive(t, m.LostAt)
			continue
		}
		assert.Equal(t, Ended, m.State, "what cannot be read ends a worker's part")
		assert.Contains(t, m.Err, "cannot be used")
	}
}

// All reports arrive, in order and once, and those of an end that came later, too.
func TestReportsArriveInOrder(t *testing.T) {
	k := &taken{}
	c := open(t, Options{Workers: 1, Received: k.take})
	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	require.NoError(t, w.Ready(t.Context(), nil))
	require.NoError(t, c.Gather(t.Context(), func(int, int, string) {}))
	for n := range 50 {
		w.Outbox.Report(Report{Part: &measure.Increment{T: n}})
	}
	w.Outbox.Report(Report{Over: true, Doubts: []string{"slow"}})
	require.NoError(t, w.Leave(t.Context()))
	<-c.Progress.Over(0)
	m := c.Roster.Members()[0]
	assert.Equal(t, Ended, m.State)
	assert.Equal(t, 49, m.Last)
	assert.Equal(t, []string{"slow"}, m.Doubts)
	k.mu.Lock()
	defer k.mu.Unlock()
	require.Len(t, k.from[0], 51)
	for i, n := range k.from[0] {
		assert.EqualValues(t, i+1, n)
	}
}

func TestAWorkerWhoseClockIsWrongIsRefused(t *testing.T) {
	c := open(t, Options{Workers: 1})
	id := newID()
	h := hostileHand(t, c.Connection.URL(), roleWorker, id, "")
	_, zone := time.Now().Zone()
	for off, why := range map[time.Duration]string{2 * time.Hour: " ahead of that of the coordinator", -2 * time.Hour: " behind that of the coordinator", 0: ""} {
		m, err := h.nc.Request(c.Connection.on.join+"."+id, encoded(Hello{Protocol: Protocol, Version: "1", ID: id, ZoneS: zone, Now: time.Now().Add(off).UnixNano()}), time.Minute)
		require.NoError(t, err)
		var p Slot
		require.NoError(t, json.Unmarshal(m.Data, &p))
		assert.Contains(t, p.Refused, why)
		assert.Equal(t, why == "", p.Refused == "", p.Refused)
	}
}

func TestAWorkerThatCannotPrepareEndsTheWait(t *testing.T) {
	c := open(t, Options{Workers: 2})
	w, err := Join(t.Context(), JoinOptions{URL: c.Connection.URL(), Version: "1"})
	require.NoError(t, err)
	t.Cleanup(w.nc.Close)
	require.NoError(t, w.Ready(t.Context(), context.DeadlineExceeded))
	err = c.Gather(t.Context(), func(int, int, string) {})
	assert.ErrorContains(t, err, "worker 1 (")
	assert.ErrorContains(t, err, "cannot take part: context deadline exceeded")
}

func TestWhereACoordinatorMayListen(t *testing.T) {
	for _, ok := range []string{":4222", "localhost:4222", "127.0.0.1:0", "[::1]:4222"} {
		assert.NoError(t, Check(ok, false, false), ok)
	}
	assert.NoError(t, Check("0.0.0.0:4222", true, true))
	for why, bad := range map[string]error{
		"is not HOST:PORT":                   Check("4222", true, true),
		"anybody could join, and read":       Check("0.0.0.0:4222", false, false),
		"without a token anybody could join": Check("10.0.0.1:4222", false, true),
		"the token included":                 Check("example.org:4222", true, false),
	} {
		assert.ErrorContains(t, bad, why)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(bad))
	}
	assert.Error(t, CheckFingerprint("1234"))
	id, err := NewIdentity()
	require.NoError(t, err)
	assert.NoError(t, CheckFingerprint(id.Fingerprint))
}

// A certificate that somebody signed is known by those, and by nobody else.
func TestASignedCertificateIsKnownByWhoSignedIt(t *testing.T) {
	ours, others := labtest.Certificates(t), labtest.Certificates(t)
	id, err := ReadIdentity(ours.Cert, ours.Key)
	require.NoError(t, err)
	c := open(t, Options{Workers: 1, Identity: id, Received: (&taken{}).take})
	for ca, known := range map[string]bool{ours.CA: true, others.CA: false} {
		pool, err := ReadAuthorities(ca)
		require.NoError(t, err)
		_, err = Ask(t.Context(), JoinOptions{URL: c.Connection.URL(), Authorities: pool})
		assert.Equal(t, known, err == nil, "%v", err)
	}
	_, err = ReadIdentity(ours.Cert, others.Key)
	assert.ErrorContains(t, err, "TLS certificate:")
	_, err = ReadAuthorities(ours.Key)
	assert.ErrorContains(t, err, "has no certificate")
}
