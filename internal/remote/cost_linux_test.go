package remote

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// simulated is the variable by which the test program becomes so many workers: how many,
// how long each of their seconds lasts, and where they join.
const simulated = "PERFBENCH_SIMULATED"

// rounds is how many seconds are simulated.
const rounds = 10

func TestMain(m *testing.M) {
	if text := os.Getenv(simulated); text != "" {
		simulate(text)
		return
	}
	os.Exit(labtest.Run(m)) //nolint:forbidigo // as every TestMain ends
}

// ticking is a run of twenty operations whose seconds last so long.
type ticking struct {
	began  time.Time
	second time.Duration
}

func (s ticking) Now() int64                 { return int64(time.Since(s.began) / (s.second / time.Second)) }
func (ticking) Gauges([]measure.Gauge)       {}
func (ticking) Control() (c measure.Control) { return c }

func twenty() measure.Config {
	cfg := measure.Config{Tracks: []string{"t"}, Source: ticking{time.Now(), time.Second}, Classify: func(error) uint8 { return 1 }, Sink: func(*measure.Second) error { return nil }}
	for i := range 20 {
		cfg.Ops, cfg.OpTrack = append(cfg.Ops, measure.Operation{Track: "t", Op: strconv.Itoa(i)}), append(cfg.OpTrack, 0)
	}
	return cfg
}

// simulate joins as many workers, and has each tell of a second every second.
func simulate(text string) {
	said := strings.Fields(text)
	n, _ := strconv.Atoi(said[0])
	second, _ := time.ParseDuration(said[1])
	cfg := twenty()
	parts := make(chan *measure.Increment, 10)
	cfg.Increment = func(p *measure.Increment) { parts <- p }
	c := measure.NewCollector(cfg)
	shard := c.Shard(0)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		shard.Add(measure.Call{Op: uint16(dice.IntN(20)), Due: -dice.Int64N(1e6), End: int64(dice.ExpFloat64() * 1e6), Units: 1})
	}
	go c.Run()
	part := <-parts
	all := make([]*Worker, n)
	var joined sync.WaitGroup
	for i := range all {
		joined.Go(func() {
			var err error
			if all[i], err = Join(context.Background(), JoinOptions{URL: said[2], Version: "1", Patience: time.Minute}); err == nil {
				err = all[i].Ready(context.Background(), nil)
			}
			if err != nil {
				fmt.Println(err)
			}
		})
	}
	joined.Wait()
	fmt.Println("joined")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	for t := range rounds {
		for _, w := range all {
			p := *part
			p.T = t
			w.Outbox.Report(Report{Part: &p})
			time.Sleep(second / time.Duration(n))
		}
	}
	for _, w := range all {
		w.Outbox.Report(Report{Over: true})
	}
	for _, w := range all {
		_ = w.Leave(context.Background())
	}
}

// What a coordinator needs for so many workers, each of which tells of twenty operations a
// second over NATS. The workers are in another process, so that the processors and the
// memory of this one are the coordinator's alone. Where the machine could not simulate so
// many in time, a second is stretched; processors are those that a true second would take.
//
//	go test ./internal/fleet -run '^$' -bench Coordinator -benchtime 1x
func BenchmarkCoordinatorOfWorkers(b *testing.B) {
	for _, c := range []struct {
		workers int
		second  time.Duration
	}{{60, time.Second}, {120, time.Second}, {240, 3 * time.Second}, {500, 6 * time.Second}, {1000, 12 * time.Second}} {
		b.Run(strconv.Itoa(c.workers), func(b *testing.B) {
			for b.Loop() {
				coordinate(b, c.workers, c.second)
			}
		})
	}
}

func coordinate(b *testing.B, n int, second time.Duration) {
	cfg := twenty()
	var c *Coordinator
	cfg.Complete = func(second int) bool { return c.Progress.Complete(second) }
	var col *measure.Collector
	var begun sync.WaitGroup
	begun.Add(1)
	c, err := Open(b.Context(), Options{
		Workers: n, Listen: "127.0.0.1:0", Dir: b.TempDir(), Version: "1", Run: "run", Patience: 10 * time.Minute,
		Received: func(_ int, r *Report) error {
			begun.Wait()
			if r.Part == nil {
				return nil
			}
			return col.Merge(*r.Part)
		},
	})
	require.NoError(b, err)
	defer c.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s %s", simulated, n, second, c.Connection.URL()))
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	require.Equal(b, "joined\n", said)
	cfg.Source = ticking{time.Now(), second}
	col = measure.NewCollector(cfg)
	go col.Run()
	begun.Done()
	before, began := used(b), time.Now()
	_, err = in.Write([]byte("\n"))
	require.NoError(b, err)
	<-c.Progress.Over(-1)
	took := time.Since(began)
	b.ReportMetric((used(b)-before).Seconds()/rounds, "processors")
	b.ReportMetric((took - rounds*second).Seconds(), "s-late")
	b.ReportMetric(memory(b), "MB")
	col.Close()
	require.NoError(b, cmd.Wait())
}

// used is the processor time that this process has used.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory is the most that this process has held, in MB.
func memory(b *testing.B) float64 {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return float64(u.Maxrss) / 1000
}
