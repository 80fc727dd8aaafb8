package mix

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/capture"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/replay"
)

// Of pipelined: how many clients send how often how many calls at once.
const (
	senders = 5
	rounds  = 40
	atOnce  = 20
)

// pipelined is what clients ask that send many calls at once, among them transactions and one that
// fails, with so much time between two of them.
func pipelined(t *testing.T, apart time.Duration) string {
	t.Helper()
	var calls []capture.Call
	for round := range rounds {
		for c := range senders {
			at := time.Duration(round*senders+c) * time.Millisecond
			add := func(keys []int, words ...string) {
				calls = append(calls, capture.Call{At: at, Conn: int64(c + 1), Args: args(words...), Keys: keys})
				at += apart
			}
			list := fmt.Sprintf("list:{%d}", c)
			for i := range atOnce - 2 {
				add([]int{1}, "RPUSH", list, strconv.Itoa(round*atOnce+i))
			}
			add(nil, "MULTI")
			add([]int{1}, "RPUSH", list, strconv.Itoa(round*atOnce+atOnce-2))
			add([]int{1}, "GET", fmt.Sprintf("none:{%d}", c))
			add(nil, "EXEC")
			add([]int{1}, "INCR", list)
			add([]int{1}, "RPUSH", list, strconv.Itoa(round*atOnce+atOnce-1))
		}
	}
	return recorded(t, capture.Header{}, calls...)
}

// reads is how often a server has read from its clients.
func reads(t *testing.T, r *goredis.Client) int64 {
	t.Helper()
	n, err := strconv.ParseInt(r.InfoMap(t.Context(), "stats").Item("Stats", "total_reads_processed"), 10, 64)
	require.NoError(t, err)
	return n
}

// Calls that were sent at once are sent at once, in their order, and each counts by itself. Those
// that came one after the other wait for each other.
func TestWhatWasPipelinedIsPipelinedAgain(t *testing.T) {
	t.Parallel()
	const all = senders * rounds * (atOnce + 1) // a transaction is one
	for name, tt := range map[string]struct {
		apart time.Duration
		set   []string
		most  int64 // reads of the server for each round of a client
	}{
		"as recorded":       {apart: time.Microsecond, most: 2},
		"folded, unlimited": {apart: time.Microsecond, set: []string{"threads=2", "speed=unlimited"}, most: 2},
		"one by one":        {apart: 30 * time.Microsecond, set: []string{"speed=unlimited"}, most: 100},
		"by key":            {apart: time.Microsecond, set: []string{"order=key"}, most: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "one by one" || name == "by key" {
				tier.Full(t, "the other cases")
			}
			srv := labtest.Redis(t)
			r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
			defer r.Close() //nolint:errcheck // it was only read
			before := reads(t, r)
			o := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{pipelined(t, tt.apart)}, Set: append([]string{"namespace=again", "load=skip"}, tt.set...), Out: t.TempDir(), Errors: true}.Run(t)
			require.NoError(t, o.Err)
			took := reads(t, r) - before
			require.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
			assert.EqualValues(t, all, profiletest.Facts[replay.Facts](t, o).Replay.Made)
			assert.EqualValues(t, all-senders*rounds, whole(&o.Run), "but for those that failed")
			failed := map[string]int64{}
			for _, op := range o.Run.Operations {
				failed[op.Op] = op.Errors
			}
			assert.Equal(t, map[string]int64{"RPUSH": 0, "EXEC": 0, "INCR": senders * rounds}, failed)
			for _, reason := range o.Run.Verdict.Reasons {
				assert.NotContains(t, reason, "Little's law")
			}
			if tt.most < 100 {
				assert.LessOrEqual(t, took, senders*rounds*tt.most+200, "beside the calls a run has a few of its own")
			} else {
				assert.GreaterOrEqual(t, took, int64(all))
			}
			appended(t, r)
		})
	}
}

// appended looks whether the lists have what pipelined has appended, in its order.
func appended(t *testing.T, r goredis.UniversalClient) {
	t.Helper()
	for c := range senders {
		got := r.LRange(t.Context(), fmt.Sprintf("again:replay:0:list:{%d}", c), 0, -1).Val()
		require.Len(t, got, rounds*atOnce)
		for i, v := range got {
			require.Equal(t, strconv.Itoa(i), v)
		}
	}
}

// On a cluster each server gets its part at once.
func TestWhatWasPipelinedGoesToACluster(t *testing.T) {
	t.Parallel()
	srv := labtest.Cluster(t)
	o := profiletest.Case{Profile: Profile(), Target: srv.URL(), Files: []string{pipelined(t, time.Microsecond)}, Set: []string{"namespace=again", "threads=1", "speed=unlimited"}, Out: t.TempDir(), Errors: true}.Run(t)
	require.NoError(t, o.Err)
	require.Equal(t, workload.Passed, o.Run.Verification.State, "%+v", o.Run.Verification)
	r := goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: []string{srv.Addr()}})
	defer r.Close() //nolint:errcheck // it was only read
	appended(t, r)
}

// Of calls that were sent at once, those are tried again that have failed.
func TestPipelinedCallsAreTriedAgain(t *testing.T) {
	t.Parallel()
	srv := labtest.Redis(t)
	o := profiletest.Case{
		Profile: Profile(), Target: srv.URL(), Files: []string{pipelined(t, time.Microsecond)}, Errors: true, Out: t.TempDir(),
		Set: []string{"namespace=again", "client=retries=100,backoff=10ms", "speed=0.2"}, Timetable: []string{"200ms..500ms:fault=refused"},
	}.Run(t)
	require.NoError(t, o.Err)
	f := profiletest.Facts[replay.Facts](t, o)
	assert.Equal(t, f.Replay.Calls, f.Replay.Made)
	retries := int64(0)
	for _, op := range o.Run.Operations {
		retries += op.Retries
		if op.Op != "INCR" {
			assert.Zero(t, op.Errors, op.Op)
		} else {
			assert.EqualValues(t, senders*rounds, op.Errors, "an answer that is an error is not tried again")
		}
	}
	assert.Positive(t, retries, "something was refused")
	r := goredis.NewClient(&goredis.Options{Addr: srv.Addr()})
	defer r.Close() //nolint:errcheck // it was only read
	for c := range senders {
		next := 0 // what was carried out although its answer was lost comes twice
		for _, v := range r.LRange(t.Context(), fmt.Sprintf("again:replay:0:list:{%d}", c), 0, -1).Val() {
			if n, err := strconv.Atoi(v); err == nil && n == next {
				next++
			}
		}
		assert.Equal(t, rounds*atOnce, next)
	}
}
