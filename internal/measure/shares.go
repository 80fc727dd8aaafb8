package measure

import (
	"math"
	"slices"
)

// Shares describes how evenly the threads of a track have shared its work, in
// calls that succeeded. If the track has operations that are whole pieces of
// work, only those count.
type Shares struct {
	Track string
	// Threads is how many threads worked all the time; these are compared. Others
	// is how many more worked for a part of the run only.
	Threads, Others int
	// Min, Median and Max are calls of a thread; Mean is the mean of all that are
	// compared.
	Min, Median, Max int64
	Mean             float64
	// Deviation is the standard deviation as a fraction of Mean.
	Deviation float64
}

// tally counts, on the collector's goroutine, what each thread has done.
type tally struct {
	// counts holds which operations count.
	counts []bool
	tracks []trackTally
}

type trackTally struct {
	did []int64 // by worker
	// least is the lowest number of threads that the track was meant to have while
	// it ran; 0: it was never seen running.
	least int
	// open is how many sessions were in progress at the end of each second that it ran, added up.
	open, seconds int64
}

func newTally(cfg *Config) tally {
	t := tally{counts: make([]bool, len(cfg.Ops)), tracks: make([]trackTally, len(cfg.Tracks))}
	own := make([]bool, len(cfg.Tracks)) // it has operations that are whole pieces of work
	part := func(op int) bool { return op < len(cfg.Parts) && cfg.Parts[op] }
	for op, track := range cfg.OpTrack {
		own[track] = own[track] || !part(op)
	}
	for op, track := range cfg.OpTrack {
		t.counts[op] = !part(op) || !own[track]
	}
	return t
}

// add counts a successful call on a track.
func (t *tally) add(track int, s *Call) {
	if !t.counts[s.Op] {
		return
	}
	of := &t.tracks[track]
	for len(of.did) <= int(s.Worker) {
		of.did = append(of.did, 0)
	}
	of.did[s.Worker]++
}

// observe notes how many threads the tracks have at the end of a measured second.
func (t *tally) observe(gauges []Gauge) {
	for i, g := range gauges {
		of := &t.tracks[i]
		if g.Running && g.Threads > 0 && (of.least == 0 || g.Threads < of.least) {
			of.least = g.Threads
		}
		if g.Running {
			of.open, of.seconds = of.open+g.Sessions.Open, of.seconds+1
		}
	}
}

// shares summarizes the tracks that have at least two threads to compare.
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

// digest summarizes did, which it sorts.
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
