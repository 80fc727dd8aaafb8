package engine

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/workload"
)

// Of BenchmarkRecordedArrivals: on how many connections calls were recorded, and for how long.
const (
	recordedOn  = 16
	recordedFor = 3 * time.Second
)

// drawn is a recording of calls that came independently of each other, without locks.
type drawn struct {
	rate float64
	at   []float64 // seconds
	on   []int
	of   [recordedOn][]float64 // moments
	made [recordedOn]atomic.Int64
}

func draw(rate float64) *drawn {
	d, now := &drawn{rate: rate}, 0.0
	rnd := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // no secret
	for range int(rate * recordedFor.Seconds()) {
		now += rnd.ExpFloat64()
		on := rnd.IntN(recordedOn)
		d.at, d.on, d.of[on] = append(d.at, now/rate), append(d.on, on), append(d.of[on], now)
	}
	return d
}

func (d *drawn) Next(worker int, _ <-chan struct{}) (moment float64, more, known bool) {
	at := d.made[worker].Load()
	if at == int64(len(d.of[worker])) {
		return 0, false, true
	}
	return d.of[worker][at], true, true
}

func (d *drawn) Reached() float64    { return 0 }
func (d *drawn) Count(float64) int64 { return int64(len(d.at)) }
func (d *drawn) Made() (n int64) {
	for i := range d.made {
		n += d.made[i].Load()
	}
	return n
}

// replay makes the calls again, and returns when they began, in seconds.
func (d *drawn) replay(b *testing.B, to []net.Conn) []float64 {
	b.Helper()
	var began [recordedOn][]float64
	newTask := func(w int) (workload.Task, error) {
		began[w] = make([]float64, 0, len(d.of[w]))
		return workload.TaskFunc(func(_ context.Context, it *workload.Iteration) error {
			if d.made[w].Load() == int64(len(d.of[w])) {
				return workload.ErrDone
			}
			d.made[w].Add(1)
			m := it.Begin(0)
			began[w] = append(began[w], float64(it.Now())/1e9)
			var err error
			if to != nil {
				var answer [len(request)]byte
				if _, err = to[w].Write([]byte(request)); err == nil {
					_, err = io.ReadFull(to[w], answer[:])
				}
			}
			return it.End(m, 1, err)
		}), nil
	}
	p := &workload.Plan{
		Unit: "calls", Replays: true, Knobs: []workload.Knob{workload.Threads(), workload.Rate("calls")},
		Phases: []workload.Phase{{Name: "replay", Tracks: []workload.Track{{
			Name: "replay", Ops: []string{"call"}, Recorded: d, Idle: map[string]string{"threads": "it is a replay"}, Start: workload.Settings{Threads: recordedOn, Rate: d.rate}, NewTask: newTask,
		}}}},
	}
	r, err := Start(b.Context(), Options{Plan: p, Classify: classify, Classes: classes})
	require.NoError(b, err)
	res, err := r.Wait()
	require.NoError(b, err)
	b.ReportMetric(float64(res.Ops[0].Lateness.P99)/1e3, "late-p99-us")
	return slices.Sorted(slices.Values(slices.Concat(began[:]...)))
}

// bare is replay by a loop that does nothing but read the clock until a call is due, and write it;
// others read the answers.
func (d *drawn) bare(b *testing.B, to []net.Conn) []float64 {
	b.Helper()
	for _, c := range to {
		go io.Copy(io.Discard, c) //nolint:errcheck // until the connection is closed
	}
	began, takes := make([]float64, 0, len(d.at)), make([]float64, 0, len(d.at))
	from := time.Now()
	for i, at := range d.at {
		for time.Since(from).Seconds() < at { //nolint:revive // nothing else is to do
		}
		now := time.Since(from)
		if began = append(began, now.Seconds()); to != nil {
			if _, err := to[d.on[i]].Write([]byte(request)); err != nil {
				b.Fatal(err)
			}
		}
		takes = append(takes, float64(time.Since(from)-now)/1e3)
	}
	slices.Sort(takes)
	b.ReportMetric(takes[len(takes)/2], "call-us")
	return began
}

const request = "*2\r\n$3\r\nGET\r\n$12\r\nreplay:0:key\r\n"

// echo returns connections to what answers with what it is asked.
func echo(b *testing.B) (out []net.Conn) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	b.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) //nolint:errcheck // until the connection is closed
		}
	}()
	for range recordedOn {
		c, err := net.Dial("tcp", l.Addr().String())
		require.NoError(b, err)
		b.Cleanup(func() { _ = c.Close() })
		out = append(out, c)
	}
	return out
}

// BenchmarkRecordedArrivals makes calls of a recording again that came independently of each other,
// with a sink in the process that echoes them, or none, and compares the pauses between the moments
// when they began with those that were recorded: KS is the distance of their distributions, after
// Kolmogorov and Smirnov. The bare loop has a processor to itself; call-us is how long a call keeps
// it. No two of its calls begin at a shorter distance, so that its KS is about 1-exp(-rate*that).
func BenchmarkRecordedArrivals(b *testing.B) {
	sides := []struct {
		name string
		make func(*drawn, *testing.B, []net.Conn) []float64
	}{{"replay", (*drawn).replay}, {"bare", (*drawn).bare}}
	for _, sink := range []string{"none", "echo"} {
		for _, rate := range []float64{1000, 5000, 20_000} {
			for _, side := range sides {
				b.Run(fmt.Sprintf("%s/%.0f/%s", sink, rate, side.name), func(b *testing.B) {
					most := 0.0
					for range b.N {
						var to []net.Conn
						if sink == "echo" {
							to = echo(b)
						}
						d := draw(rate)
						most = max(most, bench.Distance(bench.Pauses(d.at), bench.Pauses(side.make(d, b, to))))
					}
					b.ReportMetric(most, "KS")
					b.ReportMetric(0, "ns/op")
				})
			}
		}
	}
}
