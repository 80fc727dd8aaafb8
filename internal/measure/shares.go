package measure

import (
	"math"
	"slices"
)

// Shares tells how evenly the threads of a track have done its work: in calls that
// succeeded, of operations that are work of their own where the track has any.
type Shares struct {
	Track string
	// Threads is how many worked all the time, which are compared; Others how many more did
	// something, but for a part of the run only.
	Threads, Others int
	// Min, Median and Max are calls of a thread, Mean is that of all that are compared.
	Min, Median, Max int64
	Mean             float64
	// Deviation is the standard deviation as a share of Mean.
	Deviation float64
}

// tally counts, on the collector's goroutine, what each thread has done.
type tally struct {
	// counts says which operations do.
	counts []bool
	tracks []trackTally
}

type trackTally struct {
	did []int64 // by worker
	// least is the lowest number of threads that the track was to have while it ran; 0:
	// it was never seen running.
	least int
}

func newTally(cfg *Config) tally {
	t := tally{counts: make([]bool, len(cfg.Ops)), tracks: make([]trackTally, len(cfg.Tracks))}
	own := make([]bool, len(cfg.Tracks)) // it has work of its own
	part := func(op int) bool { return op < len(cfg.Parts) && cfg.Parts[op] }
	for op, track := range cfg.OpTrack {
		own[track] = own[track] || !part(op)
	}
	for op, track := range cfg.OpTrack {
		t.counts[op] = !part(op) || !own[track]
	}
	return t
}

// add counts a call of a track that succeeded.
func (t *tally) add(track int, s *Sample) {
	if !t.counts[s.Op] {
		return
	}
	of := &t.tracks[track]
	for len(of.did) <= int(s.Worker) {
		of.did = append(of.did, 0)
	}
	of.did[s.Worker]++
}

// look notes how many threads tracks have at the end of a measured second.
func (t *tally) look(gauges []Gauge) {
	for i, g := range gauges {
		of := &t.tracks[i]
		if g.Running && g.Threads > 0 && (of.least == 0 || g.Threads < of.least) {
			of.least = g.Threads
		}
	}
}

// shares digests the tracks that have at least two threads to compare.
func (t *tally) shares(names []string, gauges []Gauge) (out []Shares) {
	for i := range t.tracks {
		of := &t.tracks[i]
		n := of.least
		if n == 0 {
			n = gauges[i].Threads // it ran for less than a second
		}
		if len(of.did) == 0 || n < 2 {
			continue
		}
		did := make([]int64, n)
		copy(did, of.did)
		s := digest(did)
		s.Track = names[i]
		for _, calls := range of.did[min(n, len(of.did)):] {
			if calls > 0 {
				s.Others++
			}
		}
		out = append(out, s)
	}
	return out
}

// digest puts did in order.
func digest(did []int64) Shares {
	slices.Sort(did)
	n := len(did)
	s := Shares{Threads: n, Min: did[0], Median: (did[(n-1)/2] + did[n/2]) / 2, Max: did[n-1]}
	sum := int64(0)
	for _, v := range did {
		sum += v
	}
	if sum == 0 {
		return s
	}
	s.Mean = float64(sum) / float64(n)
	squares := 0.0
	for _, v := range did {
		squares += (float64(v) - s.Mean) * (float64(v) - s.Mean)
	}
	s.Deviation = math.Sqrt(squares/float64(n)) / s.Mean
	return s
}
