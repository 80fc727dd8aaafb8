//go:build unix

package eventstore

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/testing/eventstoretest"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/report"
)

// openRun opens a target and makes a plan for it, ready to be run by an engine.
func openRun(b testing.TB, target string, set ...string) *workload.Plan {
	b.Helper()
	tg, err := store.ParseTarget(target)
	require.NoError(b, err)
	d, err := drivers.ByScheme(tg.Scheme)
	require.NoError(b, err)
	conn, err := d.Open(b.Context(), tg, store.OpenOptions{Threads: 24, Log: slog.New(slog.DiscardHandler)})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, conn.Close()) })
	in := workload.Inputs{Values: workload.Values{}, Seed: 1, Namespace: "bench", Driver: d.Name, Hosts: tg.Hosts}
	for _, kv := range set {
		name, text, _ := strings.Cut(kv, "=")
		in.Values.Set(workload.Value{Name: name, Text: text, Origin: workload.OriginFlag})
	}
	if v, ok := in.Values["duration"]; ok {
		in.Duration, err = v.Duration()
		require.NoError(b, err)
		delete(in.Values, "duration")
	}
	p, err := Design(in)
	require.NoError(b, err)
	p, err = p.Bind(b.Context(), d.Name, conn, time.Now().Format("060102-150405")+"-bench")
	require.NoError(b, err)
	return p
}

// endToEnd runs a plan and reports what came through, and what an event cost the processors. Unless
// set asks for it, nothing is read back.
func endToEnd(b *testing.B, target string, set ...string) *report.Facts {
	b.Helper()
	p := openRun(b, target, append([]string{"verify=off", "query=off", "failureRate=0"}, set...)...)
	require.NoError(b, p.Setup(b.Context(), nil))
	var processes watch.Set
	p.Watch(b.Context(), &processes)
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		each := time.NewTicker(time.Second)
		defer each.Stop()
		for {
			select {
			case <-done:
				return
			case <-each.C:
				processes.Sample(b.Context())
			}
		}
	}()
	began := eventstoretest.CPUTime()
	measured := profiletest.Work(b, p)
	close(done)
	<-looked
	spent := float64(eventstoretest.CPUTime() - began)
	outcome := p.Verify(context.Background())
	require.Contains(b, []string{workload.Passed, workload.Skipped}, outcome.State, outcome.Summary)
	f := p.Facts(measured).(*report.Facts)
	b.ReportMetric(spent/1000/float64(f.Ledger.Sent), "own-cpu-us/event")
	require.Equal(b, f.Ledger.Sent, f.Ledger.Acked, "everything that was sent is durable")
	return f
}

// coresOf is how many cores a process has used, on average; 0 when nobody knows.
func coresOf(p report.Process) float64 {
	sum, n := 0.0, 0
	for _, at := range p.Points {
		if at.CPU != nil {
			sum, n = sum+*at.CPU, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// tell says what a run came to: stored events a second of the time from the first
// to the last, drain included, and in the ten seconds in which the fewest were stored, and the
// highest backlog.
func tell(b *testing.B, f *report.Facts) {
	b.Helper()
	stored, from, to := int64(0), f.Steps[0].FromNs, f.Steps[0].ToNs
	for _, s := range f.Steps {
		stored, to = stored+s.Stored.Events, max(to, s.ToNs)
	}
	backlog, first, last := int64(0), int64(0), int64(0)
	for i, p := range f.Series {
		backlog = max(backlog, p.BacklogEvents)
		if i < len(f.Series)/2 {
			first = max(first, p.BacklogEvents)
		} else {
			last = max(last, p.BacklogEvents)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(stored)/(float64(to-from)/1e9), "events/s")
	if slowest := slowestOfTen(f); slowest > 0 {
		b.ReportMetric(slowest, "slowest-10s-events/s")
	}
	b.ReportMetric(float64(backlog), "max-backlog-events")
	b.ReportMetric(float64(first), "backlog-1st-half")
	b.ReportMetric(float64(last), "backlog-2nd-half")
	b.ReportMetric(float64(f.Limits.PeakBytes)/(1<<20), "peak-MiB-in-stage")
	for _, p := range f.Processes {
		if cores := coresOf(p); cores > 0 {
			b.ReportMetric(cores, p.Role+"-cores")
		}
	}
	var ms runtime.MemStats
	runtime.ReadMemStats(&ms)
	b.ReportMetric(float64(ms.Sys)/(1<<20), "own-MiB")
}

// slowestOfTen is how many events a second were stored in those ten seconds in a row in which the
// fewest were, the last two of the run left out, in which there are no more to store; 0: the run was
// shorter.
func slowestOfTen(f *report.Facts) float64 {
	const n, last = 10, 2
	slowest := math.Inf(1)
	for i := n; i <= len(f.Series)-last; i++ {
		sum := 0.0
		for _, p := range f.Series[i-n : i] {
			sum += p.Stored
		}
		slowest = min(slowest, sum/n)
	}
	if math.IsInf(slowest, 1) || time.Duration(f.SeriesEveryNs) != time.Second {
		return 0
	}
	return slowest
}

// BenchmarkNull is the ceiling of perfbench itself: everything but the store.
func BenchmarkNull(b *testing.B) {
	b.ResetTimer()
	for range b.N {
		tell(b, endToEnd(b, "null:", "duration=10s", "threads=2", "batch=300"))
	}
}

// BenchmarkCassandra stores for a minute into a real Cassandra whose JVM has been
// warmed for a minute, 300 events a batch, and reads back that each is there once. It offers
// PERFBENCH_RATE events a second, 64000 unless said, so that 60000 stored each second are not a
// matter of pacing; unlimited offers as many as there is room for. Each layout is a benchmark of its
// own, and the way through a real RabbitMQ is one.
//
// Without a limit, as many batches wait as may. With prefetchCount=40 they are 17 MB and not 70, most
// of which would have left the processor's caches before its turn came.
func BenchmarkCassandra(b *testing.B) {
	rate := cmp.Or(os.Getenv("PERFBENCH_RATE"), "64000")
	srv := labtest.Cassandra(b, "--commitlog_sync", "periodic", "--commitlog_sync_period", "10000ms")
	minute := func(b *testing.B, set ...string) {
		set = append([]string{"duration=60s", "threads=2", "batch=300", "rate=" + rate, fmt.Sprintf("watch=cassandra=%d", srv.PIDs()[0])}, set...)
		for range b.N {
			endToEnd(b, srv.Patient(), set...)
			tell(b, endToEnd(b, srv.Patient(), append(set, "verify=full")...))
		}
	}
	b.Run("schema=lean", func(b *testing.B) { minute(b) })
	b.Run("schema=cradle", func(b *testing.B) { minute(b, "schema=cradle") })
	b.Run("via=rabbitmq", func(b *testing.B) { minute(b, "via="+labtest.RabbitMQ(b).URL()) })
	b.Run("unlimited", func(b *testing.B) { minute(b, "rate=0", "prefetchCount=40") })
}
