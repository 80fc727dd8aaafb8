package fleet

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
)

// simulated is the variable by which the program of the tests becomes so many workers: how
// many, and where they join.
const simulated = "PERFBENCH_SIMULATED"

// rounds is how many seconds are simulated.
const rounds = 10

func TestMain(m *testing.M) {
	if text := os.Getenv(simulated); text != "" {
		simulate(text)
		return
	}
	m.Run()
}

// ticking is a run of twenty operations that goes by the clock.
type ticking struct{ began time.Time }

func (s ticking) Now() int64                 { return int64(time.Since(s.began)) }
func (ticking) Gauges([]measure.Gauge)       {}
func (ticking) Control() (c measure.Control) { return c }

func twenty() measure.Config {
	cfg := measure.Config{Tracks: []string{"t"}, Source: ticking{time.Now()}, Classify: func(error) uint8 { return 1 }, Sink: func(*measure.Second) error { return nil }}
	for i := range 20 {
		cfg.Ops, cfg.OpTrack = append(cfg.Ops, measure.Operation{Track: "t", Op: strconv.Itoa(i)}), append(cfg.OpTrack, 0)
	}
	return cfg
}

// simulate joins as many workers, and has each tell of a second every second.
func simulate(text string) {
	count, url, _ := strings.Cut(text, " ")
	n, _ := strconv.Atoi(count)
	cfg := twenty()
	parts := make(chan *measure.Part, 10)
	cfg.Part = func(p *measure.Part) { parts <- p }
	c := measure.NewCollector(cfg)
	shard := c.Shard(0)
	dice := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		shard.Add(measure.Sample{Op: uint16(dice.IntN(20)), Due: -dice.Int64N(1e6), End: int64(dice.ExpFloat64() * 1e6), Units: 1})
	}
	go c.Run()
	part := <-parts
	all := make([]*Worker, n)
	var joined sync.WaitGroup
	for i := range all {
		joined.Go(func() {
			var err error
			if all[i], err = Join(context.Background(), JoinOptions{URL: url, Version: "1", Patience: time.Minute}); err == nil {
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
			w.Tell(Report{Part: &p})
			time.Sleep(time.Second / time.Duration(n))
		}
	}
	for _, w := range all {
		w.Tell(Report{Over: true})
	}
	for _, w := range all {
		_ = w.Leave(context.Background())
	}
}

// What the coordinator needs of so many workers, each of which tells of twenty operations a
// second over NATS: the workers are in another process, so that the processors and the
// memory of this one are the coordinator's alone.
//
//	go test ./internal/fleet -run '^$' -bench Coordinator -benchtime 1x
func BenchmarkCoordinatorOfWorkers(b *testing.B) {
	for _, n := range []int{60, 120, 240} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				coordinate(b, n)
			}
		})
	}
}

func coordinate(b *testing.B, n int) {
	cfg := twenty()
	var c *Coordinator
	cfg.Complete = func(second int) bool { return c.Complete(second) }
	var col *measure.Collector
	var begun sync.WaitGroup
	begun.Add(1)
	c, err := Open(b.Context(), Options{
		Workers: n, Listen: "127.0.0.1:0", Dir: b.TempDir(), Version: "1", Run: "run", Patience: 10 * time.Minute,
		Take: func(_ int, r *Report) error {
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
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", simulated, n, c.URL()))
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	require.Equal(b, "joined\n", said)
	cfg.Source = ticking{time.Now()}
	col = measure.NewCollector(cfg)
	go col.Run()
	begun.Done()
	before, began := used(b), time.Now()
	_, err = in.Write([]byte("\n"))
	require.NoError(b, err)
	<-c.Over(-1)
	took := time.Since(began)
	b.ReportMetric((used(b)-before).Seconds()/took.Seconds(), "processors")
	b.ReportMetric(took.Seconds()-rounds, "s-late")
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
