//go:build unix

package eventstore

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/engine"
	"github.com/perfbench/perfbench/internal/lab/labtest"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/store/drivers"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/eventstore/eventstoretest"
	"github.com/perfbench/perfbench/profiles/eventstore/facts"
	"github.com/perfbench/perfbench/profiles/eventstore/generate"
	"github.com/perfbench/perfbench/profiles/eventstore/transport"
	"github.com/perfbench/perfbench/profiles/eventstore/wire"
)

// BenchmarkPath is the way of an event from being made to being compressed, on one
// goroutine: generated, encoded as protobuf, encoded as content with its links, and
// compressed. The documented event, 300 or 400 in a batch.
func BenchmarkPath(b *testing.B) {
	benchPath(b, func(p *path, _ int64) []piece { return p.whole() })
}

// BenchmarkPathValidated is the same with what the store stage does besides, because
// batches come to it as bytes from somebody else: it decodes them and checks every rule.
func BenchmarkPathValidated(b *testing.B) {
	benchPath(b, func(p *path, at int64) []piece { return p.validated(b, at) })
}

// path is what a batch goes through in the benchmarks.
type path struct {
	g    *generate.Generator
	c    *composer
	e    *transport.Envelope
	j    *job
	born int64
}

func newPath(t testing.TB, n int) *path {
	c, err := newComposer(&stage{s: &spec{codec: wire.LZ4, compressOver: 5120, batchLimit: 1 << 20}})
	require.NoError(t, err)
	return &path{eventstoretest.Some(t, generate.Documented(), n, generate.DocumentedBody), c, transport.NewEnvelope(), &job{}, generate.Documented().Born}
}

// whole lets the store stage take the batch as the generator has made it.
func (p *path) whole() []piece {
	p.c.b = p.g.Batch
	p.c.pieces = append(p.c.pieces[:0], piece{to: len(p.g.Batch.Events)})
	return p.c.pieces
}

// validated lets it decode and check the batch, as it does with one from a transport.
func (p *path) validated(t testing.TB, at int64) []piece {
	require.NoError(t, p.c.b.Decode(p.e.Body))
	inner, err := p.c.valid.check(&p.c.b, at)
	require.NoError(t, err)
	p.c.pieces = cut(p.c.pieces, &p.c.b, inner, p.c.st.s.batchLimit)
	return p.c.pieces
}

// pass makes a batch of n events at a time and returns the size of its content,
// uncompressed and compressed. between is what becomes of it after its encoding.
func (p *path) pass(at int64, n int, between func(*path, int64) []piece) (raw, small int, err error) {
	first := p.g.Fill(wire.StampOf(at), n, generate.DocumentedBody)
	seal(p.e, p.g, first)
	for _, pc := range between(p, at) {
		r, err := p.c.item(p.j, pc, p.c.b.Events[pc.from:pc.to])
		if err != nil {
			return 0, 0, err
		}
		raw, small = raw+r.Raw, small+len(r.Body)
		r.release()
	}
	return raw, small, nil
}

func benchPath(b *testing.B, between func(*path, int64) []piece) {
	for _, n := range []int{300, 400} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			p := newPath(b, n)
			born := p.born
			for i := range 10 { // buffers grow, pools fill
				_, _, err := p.pass(born+int64(i), n, between)
				require.NoError(b, err)
			}
			b.ReportAllocs()
			b.ResetTimer()
			began, events, raw, small := cpuTime(), 0, 0, 0
			for b.Loop() {
				r, s, err := p.pass(born+int64(events), n, between)
				require.NoError(b, err)
				raw, small, events = raw+r, small+s, events+n
			}
			b.ReportMetric(float64(cpuTime()-began)/float64(events), "cpu-ns/event")
			b.ReportMetric(float64(raw)/float64(small), "lz4-ratio")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
		})
	}
}

// cpuTime is the CPU time of this process in nanoseconds.
func cpuTime() int64 {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return r.Utime.Nano() + r.Stime.Nano()
}

// openRun opens a target and makes a plan for it, ready to be run by an engine.
func openRun(b testing.TB, target string, set ...string) (*workload.Plan, store.Conn) {
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
	return p, conn
}

// endToEnd runs a plan and reports what came through.
func endToEnd(b *testing.B, target string, set ...string) *facts.Facts {
	b.Helper()
	p, conn := openRun(b, target, append([]string{"verify=off", "query=off", "failureRate=0"}, set...)...)
	require.NoError(b, p.Setup(b.Context(), nil))
	began := cpuTime()
	r, err := engine.Start(b.Context(), engine.Options{Plan: p, Classify: func(err error) uint8 { return uint8(conn.Classify(err)) }, Classes: store.ClassNames})
	require.NoError(b, err)
	_, err = r.Wait()
	require.NoError(b, err)
	p.Verify(context.Background())
	f := p.Facts().(*facts.Facts)
	b.ReportMetric(float64(cpuTime()-began)/1000/float64(f.Ledger.Sent), "own-cpu-us/event")
	require.Equal(b, f.Ledger.Sent, f.Ledger.Acked, "everything that was sent is durable")
	return f
}

// coresOf is how many cores a process has used, on average; 0 when nobody knows.
func coresOf(p facts.Process) float64 {
	sum, n := 0.0, 0
	for _, at := range p.Points {
		if at.CPU != nil {
			sum, n = sum+*at.CPU, n+1
		}
	}
	return sum / float64(max(n, 1))
}

// tell says what a run came to: stored events a second of the time from the first
// to the last, drain included, and the highest backlog.
func tell(b *testing.B, f *facts.Facts) {
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

// BenchmarkNull is the ceiling of perfbench itself: everything but the store.
func BenchmarkNull(b *testing.B) {
	b.ResetTimer()
	for range b.N {
		tell(b, endToEnd(b, "null:", "duration=10s", "threads=2", "batch=300"))
	}
}

// BenchmarkCassandra stores for a minute into a real Cassandra whose JVM has been
// warmed for a minute, 300 events a batch. It offers PERFBENCH_RATE events a second,
// 64000 unless said, so that 60000 stored each second are not a matter of pacing; 0 is
// as fast as it goes. Each layout is a benchmark of its own, and the way through a
// real RabbitMQ is one.
func BenchmarkCassandra(b *testing.B) {
	rate := os.Getenv("PERFBENCH_RATE")
	if rate == "" {
		rate = "64000"
	}
	srv := labtest.Cassandra(b, "--commitlog_sync", "periodic", "--commitlog_sync_period", "10000ms")
	minute := func(b *testing.B, set ...string) {
		set = append([]string{"duration=60s", "threads=2", "batch=300", "rate=" + rate}, set...)
		for range b.N {
			endToEnd(b, srv.URL(), set...)
			tell(b, endToEnd(b, srv.URL(), set...))
		}
	}
	b.Run("schema=lean", func(b *testing.B) { minute(b) })
	b.Run("schema=cradle", func(b *testing.B) { minute(b, "schema=cradle") })
	b.Run("via=rabbitmq", func(b *testing.B) { minute(b, "via="+labtest.RabbitMQ(b).URL()) })
}
