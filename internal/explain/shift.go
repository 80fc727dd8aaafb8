package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/plot"
	"github.com/perfbench/perfbench/internal/rundir"
	"github.com/perfbench/perfbench/internal/units"
	"github.com/perfbench/perfbench/internal/verdict"
)

const (
	// shifted is how many times the usual throughput of its segment the seconds in a row must have, or how many
	// times less, and shiftSeconds is how many they must be.
	shifted      = 1.5
	shiftSeconds = 5
	// mostShifts is how many are told, the longest of them.
	mostShifts = 3
)

// nothingSeen is said of what nothing else happened with.
const nothingSeen = "when nothing else was seen that explains it"

// ofThroughput is how what is told of a shift begins.
const ofThroughput = "throughput "

// Shifts lists what is told of the shifts of throughput in a run that no doubt of its verdict has told, without that word.
func Shifts(w *rundir.Why, v rundir.Verdict) (out []string) {
	for _, c := range w.Coincidences {
		if text, is := strings.CutPrefix(c.Text, ofThroughput); is && !v.Shows(c.Text) {
			out = append(out, text)
		}
	}
	return out
}

// shifts lists, in order, for how long throughput was far from what is usual in its segment although nobody changed
// anything, with what else happened then.
func shifts(f *rundir.Folder, list []shift) (out []rundir.Coincidence) {
	c := rundir.Of(f)
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b shift) int { return cmp.Compare(b.until-b.from, a.until-a.from) })
	list = list[:min(len(list), mostShifts)]
	slices.SortFunc(list, func(a, b shift) int { return cmp.Compare(a.from, b.from) })
	var seen [][]float64
	var others []float64
	if len(list) > 0 {
		for _, h := range happenings {
			seen = append(seen, rundir.Sampled(f, h.source, h.name, c.First, len(c.Rates)))
		}
		others = othersOf(f, c.First, len(c.Rates))
	}
	for _, s := range list {
		word, when := "fell", nothingSeen
		if s.mean > s.usual {
			word = "rose"
		}
		lost := math.Abs(s.mean-s.usual) / max(s.mean, s.usual) * float64(s.until-s.from) * 1e9
		what, _ := around(f, c.First, len(c.Rates), seen, nil, burst{from: s.from, until: s.until, p99: lost})
		crowded := crowding(f, others, c.First, s)
		if crowded != "" {
			what = slices.Insert(what, 0, crowded)
		}
		if len(what) > 0 {
			when = "when " + strings.Join(what[:min(len(what), mostCauses)], " and ")
		}
		out = append(out, rundir.Coincidence{At: float64(s.from), Until: float64(s.until), Crowded: crowded != "" && s.mean < s.usual, Text: fmt.Sprintf(
			ofThroughput+"%s to %s from a median of %s %s/s from %s, %s", word, units.Number(s.mean), units.Number(s.usual), f.Run.Unit, plot.Between(float64(s.from), float64(s.until)), when)})
	}
	return out
}

// shift is a period whose throughput was not the usual one.
type shift struct {
	from, until int // seconds
	mean, usual float64
}

// alikeSeconds is what seconds have in common of which one throughput is usual: the segment, the tracks that were active and how
// many threads they had.
type alikeSeconds struct {
	segment, threads int
	tracks           string
	rated            bool
}

// shiftsIn finds seconds in a row, in which nothing that the user decides was changed, with a throughput far from the
// usual. Where a rate is asked for, one that is higher works off what is due; an outage and a fault of the run
// are told elsewhere.
func shiftsIn(f *rundir.Folder) (out []shift) {
	if len(f.Run.Phases) > 0 && f.Run.Failed() || slices.ContainsFunc(f.Run.Changes, func(c rundir.Change) bool { return c.By == measure.BySearch }) {
		return nil
	}
	c := rundir.Of(f)
	of := map[int]alikeSeconds{}
	for _, r := range f.Series {
		if r.T < 0 || !f.Run.Counts(rundir.Operation{Track: r.Track, Op: r.Op}) {
			continue
		}
		a := of[r.T]
		a.segment = max(a.segment, r.Segment)
		a.rated = a.rated || r.Rate > 0
		if !strings.Contains(a.tracks, r.Track+"\n") {
			a.tracks, a.threads = a.tracks+r.Track+"\n", a.threads+r.Threads
		}
		of[r.T] = a
	}
	rates := map[alikeSeconds][]float64{}
	for t, a := range of {
		if v := c.Rates[t-c.First]; v > 0 && !f.Run.OnRamp(a.segment) {
			rates[a] = append(rates[a], v)
		}
	}
	usual := map[alikeSeconds]float64{}
	for a, list := range rates {
		if len(list) >= usualSeconds+shiftSeconds {
			slices.Sort(list)
			usual[a] = list[(len(list)-1)/2]
		}
	}
	idle := rundir.Idle(f)
	far := func(t int) (which int) {
		v, u := c.Rates[t-c.First], usual[of[t]]
		switch {
		case u == 0 || !(v > 0) || slices.ContainsFunc(idle, func(o verdict.Outage) bool { return o.From < float64(t+1) && o.To > float64(t) }):
		case v*shifted < u:
			return -1
		case v > u*shifted && !of[t].rated:
			return 1
		}
		return 0
	}
	for t := max(c.First, 0); t < c.First+len(c.Rates); {
		which, from, sum := far(t), t, 0.0
		for ; t < c.First+len(c.Rates) && which != 0 && far(t) == which && of[t] == of[from]; t++ {
			sum += c.Rates[t-c.First]
		}
		if n := t - from; n >= shiftSeconds && len(overlapping(f, float64(from), float64(t))) == 0 {
			out = append(out, shift{from, t, sum / float64(n), usual[of[from]]})
		}
		t = max(t, from+1)
	}
	return out
}

// shiftEdges lists when shifts of throughput began and ended.
func shiftEdges(list []shift) (out []float64) {
	for _, m := range list {
		out = append(out, float64(m.from), float64(m.until))
	}
	return out
}

// split returns the parts that a stretch has by the moments at which something in it began or ended.
func (s *stretch) split(edges []float64) (out []rundir.WhyPart) {
	from := s.from
	add := func(to float64) {
		piece := stretchOf(s.f, from, to)
		piece.settings, piece.end, piece.ops = s.settings, s.end, nil // which are those of the stretch
		out, from = append(out, piece.part()), to
	}
	for _, at := range edges {
		if at-from >= leastSeconds && s.to-at >= leastSeconds {
			add(at)
		}
	}
	add(s.to)
	return out
}

// crowding says how many processors other processes used in the seconds of a shift and in the others of the run, if that
// can be the reason for it; "" if not.
func crowding(f *rundir.Folder, others []float64, first int, s shift) string {
	n := (&stretch{f: f}).processors()
	in, known := mean(slices.Clone(others[s.from-first : s.until-first]))
	out, rest := mean(slices.Concat(others[max(-first, 0):s.from-first], others[s.until-first:]))
	if more := in - out; !known || !rest || math.Abs(more) < verdict.CrowdedSecond*n || (more > 0) != (s.mean < s.usual) {
		return ""
	}
	return fmt.Sprintf("other processes used %s of %s (otherwise %s)", rundir.Decimals(in), processors(n), rundir.Decimals(max(out, 0)))
}
