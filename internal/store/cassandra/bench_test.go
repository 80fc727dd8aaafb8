package cassandra

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Of BenchmarkGathered: how long each side runs before the other has its turn, and how often.
const (
	benchTurn  = 2 * time.Second
	benchTurns = 9
)

// BenchmarkGathered compares gathered connections, as many to a node as there are by default, with
// those on which the driver makes a system call a frame, and with a single gathered one
// (connections=1): the rate of inserts of 1 KiB, the client's processor time for each and its
// median, with many callers and with one that pauses. Ratios are of neighbouring turns, with
// quartiles.
func BenchmarkGathered(b *testing.B) {
	srv := labtest.Cassandra(b)
	target, err := store.ParseTarget(srv.Patient())
	require.NoError(b, err)
	setup := func(gathered bool, connections int) *gocql.Session {
		o, err := newOptions(target)
		require.NoError(b, err)
		o.connections = connections
		config, err := o.cluster(target)
		require.NoError(b, err)
		config.Dialer = &net.Dialer{Timeout: o.dial}
		if gathered {
			config.Dialer = dialer{net.Dialer{Timeout: o.dial}, nil, nil}
		}
		s, err := config.CreateSession()
		require.NoError(b, err)
		b.Cleanup(s.Close)
		return s
	}
	first := setup(false, 1)
	for _, text := range []string{
		"CREATE KEYSPACE IF NOT EXISTS gathered WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS gathered.one (k text PRIMARY KEY, v blob)",
	} {
		require.NoError(b, first.Query(text).Exec())
	}
	sides := []struct {
		name string
		*gocql.Session
	}{{"gathered", setup(true, perNode)}, {"direct", setup(false, perNode)}, {"single", setup(true, 1)}}
	for _, load := range []struct {
		name    string
		callers int
		pause   time.Duration
	}{{"callers=16", 16, 0}, {"callers=1,500ps", 1, 2 * time.Millisecond}} {
		b.Run(load.name, func(b *testing.B) {
			figures := map[string][]float64{}
			for n := range benchTurns {
				for i := range sides {
					if n%2 == 1 {
						i = len(sides) - 1 - i
					}
					for unit, v := range turn(b, sides[i].Session, load.callers, load.pause) {
						figures[sides[i].name+"-"+unit] = append(figures[sides[i].name+"-"+unit], v)
					}
				}
			}
			b.ReportMetric(0, "ns/op") // has no meaning here
			for _, unit := range []string{"per-s", "cpu-us", "p50-us"} {
				own := figures["gathered-"+unit]
				b.ReportMetric(bench.Median(own), unit)
				for _, other := range []string{"direct", "single"} {
					bench.ReportRatios(b, unit+"/"+other, own, figures[other+"-"+unit])
				}
			}
		})
	}
}

// turn has callers insert for a turn, each with pauses, and returns calls a second, the client's
// processor time a call and the median of how long calls took, both in µs.
func turn(b *testing.B, s *gocql.Session, callers int, pause time.Duration) map[string]float64 {
	var mu sync.Mutex
	var took []float64
	var wg sync.WaitGroup
	value := []byte(strings.Repeat("x", 1024))
	before, began := self.Processor(), time.Now()
	for w := range callers {
		wg.Go(func() {
			var own []float64
			for i := 0; time.Since(began) < benchTurn; i++ {
				start := time.Now()
				if err := s.Query("INSERT INTO gathered.one (k, v) VALUES (?, ?)", fmt.Sprintf("%d-%d", w, i%1000), value).Exec(); err != nil {
					b.Error(err)
					return
				}
				own = append(own, float64(time.Since(start))/1e3)
				time.Sleep(pause)
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	n := float64(len(took))
	return map[string]float64{"per-s": n / time.Since(began).Seconds(), "cpu-us": float64(self.Processor()-before) / 1e3 / n, "p50-us": bench.Median(took)}
}
