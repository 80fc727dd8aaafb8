package measure

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// threaded is a source whose first track has six threads for two seconds, and then three.
type threaded struct{ running }

func (s threaded) Gauges(dst []Gauge) {
	dst[0] = Gauge{Running: true, Threads: 6}
	if s.Now() > int64(2*time.Second) {
		dst[0].Threads = 3
	}
	dst[1] = Gauge{Threads: 2} // over before a second was
}

// Threads that worked all the time are compared by what they have done: without failures,
// without parts of other operations unless a track has nothing else, and not with threads
// that came or went meanwhile.
func TestThreadsAreComparedThatWorkedAllTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := Config{
			Tracks: []string{"main", "beside", "alone"}, OpTrack: []int{0, 0, 1, 2}, Parts: []bool{false, true, true, false},
			Ops:     []Operation{{"main", "put"}, {"main", "part"}, {"beside", "probe"}, {"alone", "get"}},
			Classes: []string{"", "timeout"}, Timeout: 1, Source: threaded{running{time.Now()}},
		}
		c := NewCollector(cfg)
		go c.Run()
		do := func(track int, op, worker uint16, calls int, class uint8) {
			s := c.Shard(track)
			defer s.Close()
			for range calls {
				at := cfg.Source.Now()
				s.Add(Call{Due: at, Start: at, End: at, Units: 100, Op: op, Worker: worker, Class: class})
			}
		}
		do(0, 0, 0, 10, 0)
		do(0, 0, 0, 70, 1)
		do(0, 1, 0, 80, 0)
		do(0, 0, 2, 20, 0)
		do(0, 0, 4, 5, 0)
		do(1, 2, 0, 3, 0)
		do(1, 2, 1, 9, 0)
		do(2, 3, 0, 50, 0)
		time.Sleep(3500 * time.Millisecond)
		got := c.Close().Shares
		assert.Len(t, got, 2, "the one thread of the third has no other to be compared with")
		assert.InDelta(t, 0.8165, got[0].Deviation, 1e-4)
		assert.InDelta(t, 0.5, got[1].Deviation, 1e-9)
		got[0].Deviation, got[1].Deviation = 0, 0
		assert.Equal(t, []Shares{
			{Track: "main", Threads: 3, Others: 1, Min: 0, Median: 10, Max: 20, Mean: 10},
			{Track: "beside", Threads: 2, Min: 3, Median: 6, Max: 9, Mean: 6},
		}, got)
	})
}
