package group

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/session"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/group/model"
	"github.com/perfbench/perfbench/profiles/group/report"
)

// topics is a file that publishes to one topic of each kind.
const topics = "groupNames: g1\ng1: {operations: 't,r,s', threadCount: 2, totalInvocationCount: 600, rate: 300}\n" +
	"t: {topic: t, testCase: publish, payloadSize: 100}\nr: {rtopic: r, testCase: publish, payloadSize: 100}\ns: {stopic: s, testCase: publish, payloadSize: 100}\n"

func TestSubscribersAreTurnedOffAndOnInMidRun(t *testing.T) {
	srv := redisOf(t)
	o, f := timed(t, srv.URL(), []string{write(t, "g.yaml", topics)}, []string{"500ms:subscribers=1", "1s:subscribers=4"}, "namespace", "onoff", "subscribers", "3")
	errorless(t, o)
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
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	assert.Eventually(t, func() bool {
		n, err := c.PubSubNumSub(t.Context(), "onoff:t").Result()
		return err == nil && n["onoff:t"] == 0
	}, 10*time.Second, 20*time.Millisecond, "nobody listens after the run")
}

func TestTurnedOffReceiversHaveNoSubscription(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	done := make(chan struct{})
	var few bool
	go func() { // ends with the run
		defer close(done)
		for range 200 {
			time.Sleep(25 * time.Millisecond)
			n, err := c.PubSubNumSub(t.Context(), "off:t").Result()
			if err == nil && n["off:t"] == 1 {
				few = true
				return
			}
		}
	}()
	o, _ := timed(t, srv.URL(), []string{write(t, "g.yaml", topics)}, []string{"300ms:subscribers=1"}, "namespace", "off", "subscribers", "3")
	errorless(t, o)
	<-done
	assert.True(t, few, "the server sees one subscriber once two are turned off")
}

func TestReceiversComeBackAfterTheirConnectionBroke(t *testing.T) {
	srv := redisOf(t)
	c := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	t.Cleanup(func() { _ = c.Close() })
	done := make(chan error, 1)
	go func() { // ends when it has killed what listens
		for range 400 {
			time.Sleep(10 * time.Millisecond)
			if n, err := c.PubSubNumSub(t.Context(), "killed:t").Result(); err == nil && n["killed:t"] == 2 {
				time.Sleep(300 * time.Millisecond)
				done <- c.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err()
				return
			}
		}
		done <- assert.AnError
	}()
	o, f := timed(t, srv.URL(), []string{write(t, "g.yaml", topics)}, nil, "namespace", "killed", "subscribers", "2")
	require.NoError(t, <-done)
	require.NotEmpty(t, o.Run.Errors, "the break is told")
	for _, topic := range f.Topics {
		assert.Equal(t, int64(1200), topic.Owed, topic.Kind)
		assert.Equal(t, topic.Owed-topic.Delivered, topic.Lost, topic.Kind)
		assert.Greater(t, topic.Delivered, int64(400), "%s: receivers went on", topic.Kind)
		if topic.Kind == "rtopic" {
			assert.Zero(t, topic.Lost, "a stream loses nothing")
		}
	}
	assert.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
}

// timed is runs with a timetable.
func timed(t *testing.T, target string, files, at []string, values ...string) (*session.Outcome, report.Facts) {
	t.Helper()
	timetable = at
	defer func() { timetable = nil }()
	return runs(t, target, files, values...)
}
