package bench

import (
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfbench/perfbench/internal/testing/labtest"
	"github.com/perfbench/perfbench/internal/watch"
	"github.com/perfbench/perfbench/internal/watch/self"
)

// Side is one of the sides of a benchmark that compares: the name of its figures, and what
// measures it for a turn and returns a rate per second.
type Side struct {
	Name string
	Rate func() float64
	// Spent is what it has spent up to now; nil: that is not known.
	Spent *Spent
	// Servers are those that it calls, if the share of a processor that each turn takes of them is to
	// be reported, too.
	Servers *labtest.Server
}

// On is the side with the servers that it calls.
func (s Side) On(srv *labtest.Server) Side {
	s.Servers = srv
	return s
}

// Spent is work, in the unit of a rate, and the client's processor time that it took.
type Spent struct{ Work, Seconds float64 }

// Run carries out a command of another tool, which does so much work, adds both to what has been
// spent, and returns what it printed. A command that fails fails the benchmark.
func (s *Spent) Run(b *testing.B, cmd *exec.Cmd, work float64) string {
	b.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v: %s", cmd.Path, err, out)
	}
	s.Work += work
	s.Seconds += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return string(out)
}

// Within is a side within this process, which spends the processor time of this process. rate
// measures it for a turn.
func Within(name string, turn time.Duration, rate func() float64) Side {
	s := &Spent{}
	return Side{Name: name, Spent: s, Rate: func() float64 {
		before := self.Processor()
		r := rate()
		// About: what it takes to begin and end is in it, which is little.
		s.Seconds += (self.Processor() - before).Seconds()
		s.Work += r * turn.Seconds()
		return r
	}}
}

// Warm lets the sides run in turn until three times one after the other they were together no faster
// than before, at most 30 times: a JVM that has just started is several times slower than later, and
// whoever is first would have the slower one.
func Warm(sides ...Side) {
	best, still := 0.0, 0
	for n := 0; n < 30 && still < 3; n++ {
		sum := 0.0
		for _, s := range sides {
			sum += s.Rate()
		}
		if still++; sum > 1.02*best {
			best, still = sum, 0
		}
	}
}

// PerCall returns what reports the processor time of an iteration, from now on: on a machine that
// is not idle, ns/op also has the time that others took.
func PerCall(b *testing.B) func() {
	before := self.Processor()
	return func() { b.ReportMetric(float64(self.Processor()-before)/float64(b.N), "cpu-ns/op") }
}

// InTurn measures the sides in turn n times, in the other order every second time, so that a
// machine that drifts favours none. It reports the median of each as NAME/s, and its processor time
// for a unit of work as NAME-cpu-us; NAME-servers-busy is how much of a processor's time its servers
// took in all turns, in per cent. For each but the first it reports the ratio of the first to it
// within a turn: FIRST/NAME is the median and FIRST/NAME-low and -high are the quartiles;
// FIRST/NAME-cpu and so on are those of the processor time. It returns the medians of the rates.
func InTurn(b *testing.B, n int, sides ...Side) (medians []float64) {
	b.Helper()
	rates, costs := make([][]float64, len(sides)), make([][]float64, len(sides))
	busy, lasted := make([]float64, len(sides)), make([]float64, len(sides))
	for turn := range n {
		for i := range sides {
			if turn%2 == 1 {
				i = len(sides) - 1 - i
			}
			runtime.GC() // nobody pays for what another has left
			s, before := &sides[i], Spent{}
			if s.Spent != nil {
				before = *s.Spent
			}
			began, served := time.Now(), servers(s.Servers)
			rates[i] = append(rates[i], s.Rate())
			busy[i], lasted[i] = busy[i]+servers(s.Servers)-served, lasted[i]+time.Since(began).Seconds()
			if s.Spent != nil {
				costs[i] = append(costs[i], (s.Spent.Seconds-before.Seconds)/(s.Spent.Work-before.Work)*1e6)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // has no meaning here
	for i, s := range sides {
		medians = append(medians, Median(rates[i]))
		b.ReportMetric(medians[i], s.Name+"/s")
		if costs[i] != nil {
			b.ReportMetric(Median(costs[i]), s.Name+"-cpu-us")
		}
		if s.Servers != nil {
			b.ReportMetric(100*busy[i]/lasted[i], s.Name+"-servers-busy")
		}
		if i == 0 {
			continue
		}
		name := sides[0].Name + "/" + s.Name
		ReportRatios(b, name, rates[0], rates[i])
		if costs[0] != nil && costs[i] != nil {
			ReportRatios(b, name+"-cpu", costs[0], costs[i])
		}
	}
	return medians
}

// servers returns the processor time that servers have used, in seconds.
func servers(srv *labtest.Server) (sum float64) {
	if srv == nil {
		return 0
	}
	for _, pid := range srv.PIDs() {
		sum += max(0, watch.FamilyCPU(pid))
	}
	return sum
}

// ReportRatios reports the median and the quartiles of the ratios of figures that were measured in
// the same turns.
func ReportRatios(b *testing.B, name string, of, to []float64) {
	b.Helper()
	ratios := make([]float64, len(of))
	for turn := range ratios {
		ratios[turn] = of[turn] / to[turn]
	}
	for q, label := range []string{1: "-low", 2: "", 3: "-high"} {
		if q > 0 {
			b.ReportMetric(quartile(ratios, q), name+label)
		}
	}
}

// Median returns the middle value, the higher of two.
func Median(v []float64) float64 { return quartile(v, 2) }

func quartile(v []float64, q int) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)*q/4]
}

// Bare calls in a loop from so many goroutines for a turn, and returns units a second. open is
// called once in each goroutine; what it returns makes a call and says how many units it did. An
// error fails the benchmark and ends the loop of its goroutine.
func Bare(b *testing.B, goroutines int, turn time.Duration, open func(goroutine int) func() (units int, err error)) float64 {
	b.Helper()
	var done atomic.Int64
	var stop atomic.Bool
	var wg sync.WaitGroup
	began := time.Now()
	time.AfterFunc(turn, func() { stop.Store(true) })
	for w := range goroutines {
		wg.Go(func() {
			mine := int64(0)
			defer func() { done.Add(mine) }()
			for call := open(w); !stop.Load(); {
				n, err := call()
				if err != nil {
					b.Error(err)
					return
				}
				mine += int64(n)
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}
