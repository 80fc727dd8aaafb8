package group

import (
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// topics is a file that publishes to one topic of each kind.
const topics = "groupNames: g1\ng1: {operations: 't,r,s', threadCount: 2, totalInvocationCount: 600, rate: 300}\n" +
	"t: {topic: t, testCase: publish, payloadSize: 100}\nr: {rtopic: r, testCase: publish, payloadSize: 100}\ns: {stopic: s, testCase: publish, payloadSize: 100}\n"

// endless does so until its run is told to end.
var endless = strings.Replace(topics, "totalInvocationCount: 600", "totalInvocationCount: 100000000", 1)

func TestSubscribersAreTurnedOffAndOnInMidRun(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	run := caseOf(srv.URL(), []string{write(t, "g.yaml", topics)}, "namespace", "onoff", "subscribers", "3")
	run.Timetable = []string{"500ms:subscribers=1", "1s:subscribers=4"}
	o := run.Run(t)
	errorless(t, o)
	f := profiletest.Facts[report.Facts](t, o)
	require.Len(t, f.Topics, 3)
	for _, topic := range f.Topics {
		assert.Equal(t, int64(600), topic.Published, topic.Kind)
		assert.Zero(t, topic.Lost, topic.Kind)
		assert.Equal(t, topic.Owed, topic.Delivered, topic.Kind)
		// About 150 messages to 3, 150 to 1 and 300 to 4 receivers.
		assert.Greater(t, topic.Owed, int64(600), topic.Kind)
		assert.Less(t, topic.Owed, int64(4*600), topic.Kind)
	}
	times := opOf(t, o, "t-subscribers", model.Delivery)
	assert.Equal(t, f.Topics[0].Delivered-f.Topics[0].Untimed, times.Count)
	assert.Positive(t, times.Response.P99)
	listen(t, srv, "onoff:t", 0)
}

// listen waits until so many listen to a channel.
func listen(t *testing.T, srv *labtest.Server, channel string, want int64) {
	t.Helper()
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer c.Close()
	require.Eventually(t, func() bool {
		n, err := c.PubSubNumSub(t.Context(), channel).Result()
		return err == nil && n[channel] == want
	}, 5*time.Minute, 10*time.Millisecond, "%d listen to %s", want, channel)
}

func TestTurnedOffReceiversHaveNoSubscription(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	l, err := caseOf(srv.URL(), []string{write(t, "g.yaml", endless)}, "namespace", "off", "subscribers", "3").Start(t.Context(), t)
	require.NoError(t, err)
	listen(t, srv, "off:t", 3)
	subscribers, ok := l.Opened.Prepared.Plan.Knob("subscribers")
	require.True(t, ok)
	l.Change("test", workload.AllTracks, func(s workload.Settings) workload.Settings { return subscribers.Set(s, 1) })
	listen(t, srv, "off:t", 1)
	l.Stop(nil)
	errorless(t, profiletest.Finish(t, l))
}

func TestReceiversComeBackAfterTheirConnectionBroke(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	l, err := caseOf(srv.URL(), []string{write(t, "g.yaml", endless)}, "namespace", "killed", "subscribers", "2").Start(t.Context(), t)
	require.NoError(t, err)
	listen(t, srv, "killed:t", 2)
	require.Eventually(t, func() bool { return l.Snapshot().Done > 100 }, 5*time.Minute, 10*time.Millisecond)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err())
	listen(t, srv, "killed:t", 2)
	require.Eventually(t, func() bool {
		n, err := c.PubSubShardNumSub(t.Context(), "killed:s").Result()
		return err == nil && n["killed:s"] == 2
	}, 5*time.Minute, 10*time.Millisecond)
	back := l.Snapshot().Done
	require.Eventually(t, func() bool { return l.Snapshot().Done > back+300 }, 5*time.Minute, 10*time.Millisecond)
	l.Stop(nil)
	o := profiletest.Finish(t, l)
	f := profiletest.Facts[report.Facts](t, o)
	require.NotEmpty(t, o.Run.Errors, "the break is told")
	for _, topic := range f.Topics {
		assert.Equal(t, 2*topic.Published, topic.Owed, topic.Kind)
		assert.Equal(t, topic.Owed-topic.Delivered, topic.Lost, topic.Kind)
		assert.GreaterOrEqual(t, topic.Delivered, int64(2*300/3-2*2), "%s: receivers went on", topic.Kind)
		if topic.Kind == "rtopic" {
			assert.Zero(t, topic.Lost, "a stream loses nothing")
		}
	}
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
}
