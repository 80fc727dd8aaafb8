package cassandra

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/testing/labtest"
)

// Of BenchmarkGathered: how long each side runs before the other has its turn, and how often.
const (
	benchTurn  = 2 * time.Second
	benchTurns = 9
)

// BenchmarkGathered compares gathered connections with those on which the driver makes a system
// call a frame: the rate of inserts of 1 KiB, the client's processor time for each and its median,
// with many callers and with one that pauses. Ratios are of neighbouring turns, with quartiles.
func BenchmarkGathered(b *testing.B) {
	srv := labtest.Cassandra(b)
	target, err := store.ParseTarget(srv.Patient())
	require.NoError(b, err)
	setup := func(gathered bool) *gocql.Session {
		o, err := newOptions(target)
		require.NoError(b, err)
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
	first := setup(false)
	for _, text := range []string{
		"CREATE KEYSPACE IF NOT EXISTS gathered WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE IF NOT EXISTS gathered.one (k text PRIMARY KEY, v blob)",
	} {
		require.NoError(b, first.Query(text).Exec())
	}
	sides := map[string]*gocql.Session{"direct": setup(false), "gathered": setup(true)}
	for _, load := range []struct {
		name    string
		callers int
		pause   time.Duration
	}{{"callers=16", 16, 0}, {"callers=1,500ps", 1, 2 * time.Millisecond}} {
		b.Run(load.name, func(b *testing.B) {
			figures := map[string]map[string][]float64{}
			for range benchTurns {
				for name, s := range sides {
					if figures[name] == nil {
						figures[name] = map[string][]float64{}
					}
					for unit, v := range turn(b, s, load.callers, load.pause) {
						figures[name][unit] = append(figures[name][unit], v)
					}
				}
			}
			b.ReportMetric(0, "ns/op") // has no meaning here
			for _, unit := range []string{"per-s", "cpu-us", "p50-us"} {
				ratios := make([]float64, benchTurns)
				for i := range ratios {
					ratios[i] = figures["gathered"][unit][i] / figures["direct"][unit][i]
				}
				b.ReportMetric(quartile(figures["gathered"][unit], 2), unit)
				for q, label := range []string{1: "low", 2: "ratio", 3: "high"} {
					if label != "" {
						b.ReportMetric(quartile(ratios, q), unit+"-"+label)
					}
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
	before, began := used(), time.Now()
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
	return map[string]float64{"per-s": n / time.Since(began).Seconds(), "cpu-us": float64(used()-before) / 1e3 / n, "p50-us": quartile(took, 2)}
}

func quartile(v []float64, q int) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)*q/4]
}

// used is the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
