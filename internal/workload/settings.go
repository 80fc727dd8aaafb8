package workload

import (
	"fmt"
	"math"
)

// Settings are the numbers that may change while a run is going. A Settings
// that has been published is never written to again: change a copy. It has no
// pointers, so a copy is a copy.
type Settings struct {
	// Threads is the number of workers of the track.
	Threads int
	// Rate is units per second over the whole track; 0 is closed loop.
	Rate float64
	// Payload is bytes per value.
	Payload int
	// Batch is entries per batched call.
	Batch int
	// Paused stops the start of iterations; resuming starts a fresh schedule.
	Paused bool
	// Extra holds what a plan's own knobs turn.
	Extra [4]float64
}

// Knob describes one live setting: drawn by the tuning panel, set by --set and
// --at. Get and Set are pure.
type Knob struct {
	Name, Unit, Help string
	// Param names the parameter that gives the value at the start, where that goes by
	// another name: "threadCount".
	Param          string
	Min, Max, Step float64
	// Log says that the knob is best turned by factors.
	Log bool
	// Sum says that the value over all tracks is the sum of the tracks' values.
	Sum bool
	Get func(Settings) float64
	Set func(Settings, float64) Settings
}

// MaxThreads is the most workers a run may have.
const MaxThreads = 4096

// MaxPayload is the largest payload in bytes.
const MaxPayload = 512 << 20

// MaxBatch is the largest batch in entries.
const MaxBatch = 1_000_000

// MaxRate is the highest rate in units per second.
const MaxRate = 1e9

// Threads returns the knob for the number of workers.
func Threads() Knob {
	return Knob{
		Name: "threads", Unit: "threads", Help: "workers that run at the same time", Min: 1, Max: MaxThreads, Step: 1, Sum: true,
		Get: func(s Settings) float64 { return float64(s.Threads) },
		Set: func(s Settings, v float64) Settings { s.Threads = int(math.Round(v)); return s },
	}
}

// Rate returns the knob for the rate of an open loop; 0 is closed loop.
func Rate(unit string) Knob {
	return Knob{
		Name: "rate", Unit: unit + "/s", Help: "target rate: calls are sent on schedule even if the store is slow; 0 = unlimited", Min: 0, Max: MaxRate, Step: 100, Log: true, Sum: true,
		Get: func(s Settings) float64 { return s.Rate },
		Set: func(s Settings, v float64) Settings { s.Rate = v; return s },
	}
}

// Payload returns the knob for the size of a value.
func Payload() Knob {
	return Knob{
		Name: "payload", Unit: "bytes", Help: "size of one value", Min: 0, Max: MaxPayload, Step: 1, Log: true,
		Get: func(s Settings) float64 { return float64(s.Payload) },
		Set: func(s Settings, v float64) Settings { s.Payload = int(math.Round(v)); return s },
	}
}

// Filling returns the knob payload of a plan whose records have a size of their own,
// to which it adds: bytes that each of what carries beside that. At 0 records are as
// the original has them.
func Filling(what string) Knob {
	k := Payload()
	k.Help, k.Step = "bytes that each "+what+" carries beside what the original stores; 0: none", 64
	return k
}

// Batch returns the knob for the number of entries in a batched call.
func Batch() Knob {
	return Knob{
		Name: "batch", Unit: "entries", Help: "entries in one batched call", Min: 1, Max: MaxBatch, Step: 1, Log: true,
		Get: func(s Settings) float64 { return float64(s.Batch) },
		Set: func(s Settings, v float64) Settings { s.Batch = int(math.Round(v)); return s },
	}
}

// Clamp returns v brought into the knob's range.
func (k Knob) Clamp(v float64) float64 {
	if math.IsNaN(v) {
		return k.Min
	}
	return min(max(v, k.Min), k.Max)
}

// FewThreads is the warning of a plan whose total of threads leaves none for some of
// its tracks, called what: how many run all the same, one at least in each.
func FewThreads(total Value, tracks int, what string, run int64) string {
	return fmt.Sprintf("threads=%s (%s) is the total over the %d %s and leaves too few for one each: each has at least one, so %d run",
		total.Text, total.From(), tracks, what, run)
}

// Split divides total over n tracks as evenly as it goes and returns the part of
// track i, the first tracks getting what is left over.
func Split(total, n, i int) int {
	part := total / n
	if i < total%n {
		part++
	}
	return part
}

// Spread divides a total over tracks in proportion to their weights, each getting
// at least 1, by largest remainder; ties go to the first track. With a total
// below the number of tracks each gets 1.
func Spread(weights []int, total int) []int {
	out := make([]int, len(weights))
	sum := 0
	for _, v := range weights {
		sum += max(v, 1)
	}
	rest := total
	frac := make([]float64, len(weights))
	for i, v := range weights {
		exact := float64(total) * float64(max(v, 1)) / float64(sum)
		out[i] = max(int(exact), 1)
		frac[i] = exact - float64(out[i])
		rest -= out[i]
	}
	for rest != 0 {
		best := -1
		for i := range out {
			switch {
			case rest < 0 && out[i] <= 1:
			case best < 0, rest > 0 && frac[i] > frac[best], rest < 0 && frac[i] < frac[best]:
				best = i
			}
		}
		if best < 0 {
			break
		}
		step := 1
		if rest < 0 {
			step = -1
		}
		out[best] += step
		frac[best] -= float64(step)
		rest -= step
	}
	return out
}

// Word is what those who do the work are told while the run goes: one of three things.
type Word struct {
	// Tracks are settings of all tracks, in force from now on, in the segment of that number.
	Tracks  []Settings
	Segment int
	// Phase may begin: all that it waits for has ended.
	Phase string
	// Stop is why the run ends.
	Stop error
}
