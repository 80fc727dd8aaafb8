package eventstore_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/broker"
	"github.com/perfbench/perfbench/internal/fault"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// startVia starts a run into a database file of its own, through a broker.
func startVia(t *testing.T, via string, set ...string) (*session.Driven, error) {
	t.Helper()
	return start(t, "sqlite:"+filepath.Join(t.TempDir(), "events.db"), append(set, "via="+via)...)
}

// seen waits until what a run has written of itself is as wanted.
func seen(t *testing.T, l *session.Driven, want func(*report.Facts) bool) {
	t.Helper()
	require.Eventually(t, func() bool {
		folder, err := rundir.Load(l.Opened.Dir())
		var f report.Facts
		return err == nil && json.Unmarshal(folder.Run.Facts, &f) == nil && want(&f)
	}, 5*time.Minute, 50*time.Millisecond, "the run does not come so far")
}

// finishVia waits for the end and returns the facts and the report.
func finishVia(t *testing.T, l *session.Driven) (*session.Concluded, *report.Facts, string) {
	t.Helper()
	o, f := finish(t, l)
	page, err := os.ReadFile(filepath.Join(o.Dir, "th2-report.md"))
	require.NoError(t, err)
	return o, f, string(page)
}

func stored(f *report.Facts) (n int64) {
	for _, s := range f.Steps {
		n += s.Stored.Events
	}
	return n
}

// TestBroker has the runs through a broker one after the other, on one that is not
// started again after the last.
func TestBroker(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		small bool // make test has it
		test  func(t *testing.T, srv *labtest.Server)
	}{
		{"an alarm refuses a run", false, alarmRefusesARun},
		{"an alarm mid-run is reported and loses nothing", false, alarmInMidRun},
		{"queues are written down", false, queuesAreWrittenDown},
		{"quorum queues go with their run", false, quorumQueues},
		{"what it confirms and loses is told to the last event", false, confirmedAndLost},
		{"what it loses of the trees holds up nothing", false, treesLost},
		{"killed mid-run it loses nothing", true, killedInMidRun},
		{"killed for good it ends a run", false, killedForGood},
		{"killed for good in compat is counted", false, killedForGoodInCompat},
	} {
		t.Run(c.what, func(t *testing.T) {
			if !c.small {
				tier.Full(t, "a broker that is killed")
			}
			c.test(t, labtest.Shared(t, "rabbitmq"))
		})
	}
}

func killedInMidRun(t *testing.T, srv *labtest.Server) {
	t.Helper()
	srv.Ctl("add_user", "tester", "hush5hush")
	defer srv.Ctl("delete_user", "tester")
	srv.Ctl("set_permissions", "tester", ".*", ".*", ".*")
	l, err := startVia(t, "amqp://tester:hush5hush@"+srv.Addr(), "rate=4000", "events=16000", "batch=50", "payload=300", "query=off", "drain=4m")
	require.NoError(t, err)
	seen(t, l, func(f *report.Facts) bool { return stored(f) > 3000 })
	began := time.Now()
	srv.Kill()
	srv.Restart()
	t.Logf("the broker was away for %v", time.Since(began))
	o, f, page := finishVia(t, l)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Equal(t, report.Ledger{
		Generated: f.Ledger.Generated, Sent: f.Ledger.Generated, Confirmed: f.Ledger.Generated, Acked: f.Ledger.Generated,
		Read: true, Once: f.Ledger.Generated, OutOfOrder: f.Ledger.OutOfOrder, ReadNs: f.Ledger.ReadNs,
	}, f.Ledger, "every event is confirmed and stored exactly once")
	assert.GreaterOrEqual(t, f.Ledger.Generated, int64(16000), "ended by %s, %v, %+v", o.Run.EndedBy, o.Run.Notices, f.Ledger)
	t.Logf("finished %v after the kill; drain %+v", time.Since(began), f.Drain)
	assert.Contains(t, page, "RabbitMQ "+srv.Version())
	assert.Contains(t, page, "![rabbitmq: resident memory](th2-rabbitmq-memory.svg)")

	require.NoError(t, filepath.WalkDir(o.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		assert.NotContains(t, string(data), "hush5", path)
		return err
	}))
	assert.NotContains(t, srv.Ctl("list_queues", "name"), o.Run.ID, "nothing is left in the broker")
}

// A queue that is emptied in the middle of a run has lost what the broker had confirmed, as one in memory
// whose broker loses its power; here the broker itself says how much that was. One event is one message,
// and the store is so slow that most of them wait.
func confirmedAndLost(t *testing.T, srv *labtest.Server) {
	t.Helper()
	emptied(t, srv, "memory:?service=20ms", 300, 300)
}

// Generators wait for their trees to be stored, before anything else. All but one are still in the queue.
func treesLost(t *testing.T, srv *labtest.Server) {
	t.Helper()
	const generators = 4
	emptied(t, srv, "memory:?service=2s", generators, 2*generators, fmt.Sprint("threads=", generators))
}

// emptied does a run whose queue is emptied when the broker has confirmed so many of the events.
func emptied(t *testing.T, srv *labtest.Server, target string, confirmed int64, events int, set ...string) {
	t.Helper()
	ns := labtest.Fresh("emptied")
	set = append(set, "via="+srv.URL(), "namespace="+ns, "publish=confirmTransient", "prefetchCount=1", fmt.Sprint("events=", events), "batch=1", "rate=1000", "query=off")
	l, err := start(t, target, set...)
	require.NoError(t, err)
	c, err := amqp.Dial(srv.URL())
	require.NoError(t, err)
	defer c.Close()
	queues, err := broker.Registered(t.Context(), c, ns)
	require.NoError(t, err)
	queue := queues[slices.IndexFunc(queues, func(q broker.Queue) bool { return q.Consumers > 0 })].Name
	seen(t, l, func(f *report.Facts) bool { return f.Ledger.Confirmed >= confirmed && stored(f) > 0 })
	ch, err := c.Channel()
	require.NoError(t, err)
	lost, err := ch.QueuePurge(queue, false)
	require.NoError(t, err)
	require.Positive(t, lost, "the store is slow enough")
	o, f := finish(t, l)
	v := o.Run.Verification
	assert.Equal(t, workload.Failed, v.State, v.Summary)
	require.NotNil(t, v.Lost)
	assert.Equal(t, int64(lost), *v.Lost, v.Summary)
	assert.Equal(t, f.Ledger.Sent-int64(lost), f.Ledger.Once)
	assert.NotContains(t, v.Summary, "on their way")
}

// Quorum queues carry a run, and are deleted at its end as others.
func quorumQueues(t *testing.T, srv *labtest.Server) {
	t.Helper()
	l, err := startVia(t, srv.URL(), "queueType=quorum", "events=2000", "batch=50", "payload=300", "query=off")
	require.NoError(t, err)
	assert.Contains(t, srv.Ctl("list_queues", "name", "type"), l.Opened.ID()+"\tquorum")
	o, f, page := finishVia(t, l)
	require.NoError(t, o.Err)
	assert.Equal(t, f.Ledger.Generated, f.Ledger.Once)
	assert.Contains(t, page, "quorum queue, publisher confirms")
	assert.Eventually(t, func() bool { return !strings.Contains(srv.Ctl("list_queues", "name"), l.Opened.ID()) }, time.Minute, 100*time.Millisecond, "nothing is left in the broker")
}

func alarmInMidRun(t *testing.T, srv *labtest.Server) {
	t.Helper()
	defer srv.Ctl("set_disk_free_limit", "50MB")
	l, err := startVia(t, srv.URL(), "rate=2000", "events=100000000", // until it is told to end
		"batch=50", "payload=300", "query=off", "drain=4m")
	require.NoError(t, err)
	seen(t, l, func(f *report.Facts) bool { return stored(f) > 1000 })
	srv.Ctl("set_disk_free_limit", "500000GB")
	const why = "the broker accepts nothing: low on disk"
	seen(t, l, func(f *report.Facts) bool {
		for _, p := range f.Series {
			if p.Blocked == why {
				return true
			}
		}
		return false
	})
	srv.Ctl("set_disk_free_limit", "50MB")
	l.Stop(errors.New("enough was seen"))
	o, f, page := finishVia(t, l)
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Equal(t, f.Ledger.Generated, f.Ledger.Once)
	assert.Contains(t, page, "did not take anything for a while: "+why)
}

func alarmRefusesARun(t *testing.T, srv *labtest.Server) {
	t.Helper()
	defer srv.Ctl("set_disk_free_limit", "50MB")
	srv.Ctl("set_disk_free_limit", "500000GB")
	_, err := startVia(t, srv.URL())
	require.ErrorContains(t, err, "the broker accepts nothing: low on disk")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.NotContains(t, srv.Ctl("list_queues", "name"), eventstore.Name, "nothing is left in the broker")
}

func TestUnreachableBrokerEndsTheRunAtItsStart(t *testing.T) {
	t.Parallel()
	_, err := startVia(t, "amqp://me:hush5hush@127.0.0.1:1")
	require.ErrorContains(t, err, "connection refused")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(err))
	assert.NotContains(t, err.Error()+fault.HintOf(err), "hush5")
	_, err = startVia(t, "amqq://me:hush5hush@127.0.0.1:1")
	require.Error(t, err)
	assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
	assert.NotContains(t, err.Error()+fault.HintOf(err), "hush5")
}

// The queues of a run are written down while it goes, so that those of one that was
// killed can be found and deleted.
func queuesAreWrittenDown(t *testing.T, srv *labtest.Server) {
	t.Helper()
	ns := fmt.Sprint("left", time.Now().UnixNano())
	l, err := startVia(t, srv.URL(), "namespace="+ns, "rate=2000", "events=100000000", "batch=50", "payload=300", "query=off", "verify=off")
	require.NoError(t, err)
	seen(t, l, func(f *report.Facts) bool { return stored(f) > 500 })
	target, err := store.ParseTarget(srv.URL())
	require.NoError(t, err)
	conn, err := broker.Driver.Open(t.Context(), target, store.OpenOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	k, err := store.As[store.Keeper](conn)
	require.NoError(t, err)
	made, err := k.Made(t.Context(), ns)
	require.NoError(t, err)
	require.Len(t, made, 2, "the queue, and the one of dead letters")
	assert.Equal(t, filepath.Base(l.Opened.Dir()), made[0].Run)
	assert.Equal(t, eventstore.Name, made[0].Profile)
	for _, m := range made { // nobody takes from that of dead letters
		_, err = k.Drop(t.Context(), m.Space, nil)
		require.ErrorContains(t, err, "is in use by a run")
	}

	l.Stop(errors.New("enough was seen"))
	finishVia(t, l)
	made, err = k.Made(t.Context(), ns)
	require.NoError(t, err)
	assert.Empty(t, made, "a run that ends deletes its queues")
	assert.NotContains(t, srv.Ctl("list_queues", "name"), ns)
}

// A broker that is killed and stays away ends a run by count once nothing has worked for
// the drain: the store answers, and no call of it fails.
func killedForGood(t *testing.T, srv *labtest.Server) {
	t.Helper()
	l, err := startVia(t, srv.URL(), "rate=2000", "events=100000000", "batch=50", "payload=300", "query=off", "drain=1s")
	require.NoError(t, err)
	seen(t, l, func(f *report.Facts) bool { return stored(f) > 500 })
	srv.Kill()
	defer srv.Restart()
	o, _, _ := finishVia(t, l)
	require.ErrorContains(t, o.Err, "(--drain), and the broker does not answer")
	assert.Equal(t, fault.CodeStore, fault.CodeOf(o.Err))
}

// A broker that is killed and stays away ends no run with compat=on, and keeps none from
// its end: what was on its way is counted as lost.
func killedForGoodInCompat(t *testing.T, srv *labtest.Server) {
	t.Helper()
	began := time.Now()
	l, err := startVia(t, srv.URL(), "compat=on", "rate=20000", "duration=1h", "batch=50", "payload=300", "query=off", "drain=1s", "maxTaskCount=8")
	require.NoError(t, err)
	seen(t, l, func(f *report.Facts) bool { return stored(f) > 3000 })
	srv.Kill()
	seen(t, l, func(f *report.Facts) bool {
		i := len(f.Series) - 1
		return i >= 0 && f.Series[i].Ready < 0 && f.Series[i].BacklogEvents > 0
	})
	l.Stop(errors.New("enough was seen"))
	o, f, page := finishVia(t, l)
	t.Logf("%v after %v", o.Run.Verification.Summary, time.Since(began))
	assert.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
	assert.Positive(t, f.Losses.Unconfirmed)
	assert.Equal(t, f.Ledger.Generated, f.Ledger.Once+f.Losses.Unconfirmed+f.Ledger.DeadLettered, "%+v", f.Ledger)
	assert.Contains(t, page, "unconfirmed (Q6)")
}
