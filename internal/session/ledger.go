package session

import (
	"math"
	"slices"
	"sync"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/store"
	"github.com/perfbench/perfbench/internal/workload"
)

// leastCounted is how many whole seconds a segment must have for its requests to be counted: the
// store is asked once a second, and now and then a little late.
const leastCounted = 5

// reach returns the operations each of whose calls, if it worked, is a request to the store.
func reach(p *workload.Plan) map[measure.Operation]bool {
	out := map[measure.Operation]bool{}
	for _, t := range p.Tracks() {
		for i, op := range t.Ops {
			if !t.Relays && !t.Spares && t.Counts(i) {
				out[measure.Operation{Track: t.Name, Op: op}] = true
			}
		}
	}
	return out
}

// ledger counts, second by second, the calls of a run that must have reached the store, and the
// requests that the store says it got. Both numbers come from different goroutines.
type ledger struct {
	counts map[measure.Operation]bool

	mu    sync.Mutex
	made  map[int]int64
	asked map[int]asked
}

// asked is what all servers of a store that answered counted in a second.
type asked struct {
	requests float64
	servers  int
}

func newLedger(p *workload.Plan) *ledger {
	return &ledger{counts: reach(p), made: map[int]int64{}, asked: map[int]asked{}}
}

// add adds the calls of a whole second of measurement.
func (l *ledger) add(s *measure.Second) {
	if s.Warmup || s.Length < 1 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	n := int64(0)
	for _, in := range s.Intervals {
		if l.counts[in.Op] {
			n += in.Response.TotalCount()
		}
	}
	l.made[s.T] += n
}

// sampled adds what the servers of the store reported of a second.
func (l *ledger) sampled(list []rundir.Sample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range list {
		if s.Source == rundir.OfStore && store.CountsRequests(s.Name) {
			a := l.asked[s.T]
			l.asked[s.T] = asked{a.requests + s.Value, a.servers + 1}
		}
	}
}

// within returns what is known of the whole seconds of a time; nil where it is too short, or a
// server was not asked in one of them.
func (l *ledger) within(from, to float64) *rundir.Requests {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, end := int(math.Ceil(from)), int(math.Floor(to))
	if end-first < leastCounted {
		return nil
	}
	out := rundir.Requests{Seconds: float64(end - first)}
	servers, requests := l.asked[first].servers, 0.0
	for t := first; t < end; t++ {
		a, n := l.asked[t], l.made[t]
		if a.servers == 0 || a.servers != servers {
			return nil
		}
		requests += a.requests
		out.Made += n
	}
	out.Asked = int64(math.Round(requests))
	return &out
}

// enter puts into each segment of a run of several what is known of its requests.
func (l *ledger) enter(r *rundir.Run) {
	if len(r.Segments) < 2 {
		return
	}
	r.Segments = slices.Clone(r.Segments)
	for i := range r.Segments {
		s := &r.Segments[i]
		s.Requests = l.within(s.From, s.To)
	}
}
