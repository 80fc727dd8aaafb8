package workload

import (
	"fmt"
	"math"
	"slices"
)

// Settings are the numbers that may change during a run. A published Settings is
// never modified: change a copy. It contains no pointers, so assignment copies
// it.
type Settings struct {
	// Threads is the number of workers of the track.
	Threads int
	// Rate is units per second over the whole track; 0 means a closed loop.
	Rate float64
	// Payload is bytes per value.
	Payload int
	// Batch is entries per batched call.
	Batch int
	// Paused keeps new iterations from starting; resuming begins a fresh schedule.
	Paused bool
	// Coming is how calls come at the rate, of all tracks alike: the zero value means as the
	// run began with.
	Coming Coming
	// Think is how long users think between two calls on average, in ms; see Sessions.
	Think float64
	// Faults are what is broken between the callers and the store, for all tracks alike.
	Faults Faults
	// Extra holds the values of the plan's own knobs.
	Extra [MostExtra]float64
}

// MostExtra is how many knobs of its own a plan can have.
const MostExtra = 24

// AllTracks stands for the index of a track where a change is aimed at all of them, or the
// totals of all are asked for.
const AllTracks = -1

// Knob describes one live setting: it is drawn by the tuning panel and set by
// --set and --at. Get and Set are pure.
type Knob struct {
	Name, Unit, Help string
	// Param names the parameter that gives the initial value, if its name is
	// different: "threadCount".
	Param          string
	Min, Max, Step float64
	// Zero is what a value of 0 is called if it is not a number of Unit: AsPlanned.
	Zero string
	// Usual is the value that Zero stands for, of several sizes their mean; 0: unknown.
	Usual float64
	// Keeps is a sentence of what a change leaves as it was while the run goes on, such as records
	// that are stored; empty: nothing.
	Keeps string
	// Fixed is the reason, as a clause, for which the knob's value counts at the start alone, and turning
	// it in a run does nothing; empty: it turns.
	Fixed string
	// Log means that the knob is best changed by factors.
	Log bool
	// Sum means that the value over all tracks is the sum of the tracks' values.
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

// Usual returns the knobs that any profile may have, in the order in which they are shown; a
// plan's own follow them.
func Usual() []Knob { return []Knob{Threads(), Rate(""), Payload(), Batch()} }

// IsUsual reports whether a knob of that name is one of the usual ones.
func IsUsual(name string) bool {
	return slices.ContainsFunc(Usual(), func(k Knob) bool { return k.Name == name })
}

// Threads returns the knob for the number of workers.
func Threads() Knob {
	return Knob{
		Name: "threads", Unit: "threads", Help: "workers that run at the same time", Min: 1, Max: MaxThreads, Step: 1, Sum: true,
		Get: func(s Settings) float64 { return float64(s.Threads) },
		Set: func(s Settings, v float64) Settings { s.Threads = int(math.Round(v)); return s },
	}
}

// Rate returns the knob for the rate of an open loop; 0 means a closed loop.
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

// AsPlanned is what a payload of 0 is called where it leaves values as the plan has them.
const AsPlanned = "as planned"

// Filling returns the payload knob of a plan whose records have a natural size:
// it sets how many bytes each of them (named by what) carries in addition. At 0
// the records are as large as in the original.
func Filling(what string) Knob {
	k := Payload()
	k.Help, k.Step = "bytes that each "+what+" carries on top of what the original stores; 0: "+AsPlanned, 64
	k.Zero = AsPlanned
	return k
}

// Batch returns the knob for the number of entries in a batched call.
func Batch() Knob {
	return Knob{
		Name: "batch", Unit: "entries", Help: "entries that go to the store together, in one call, whose time is that of them all", Min: 1, Max: MaxBatch, Step: 1, Log: true,
		Get: func(s Settings) float64 { return float64(s.Batch) },
		Set: func(s Settings, v float64) Settings { s.Batch = int(math.Round(v)); return s },
	}
}

// Clamp returns v limited to the knob's range.
func (k Knob) Clamp(v float64) float64 {
	if math.IsNaN(v) {
		return k.Min
	}
	return min(max(v, k.Min), k.Max)
}

// FewThreads returns the warning for a plan whose total number of threads is less
// than its number of tracks (what names them): run threads run nevertheless, at
// least one in each track.
func FewThreads(total Value, tracks int, what string, run int64) string {
	return fmt.Sprintf("threads=%s (%s) is the total over the %d %s, too few for one each: each has at least one, so %d run",
		total.Text, total.From(), tracks, what, run)
}

// Split divides total over n tracks as evenly as possible and returns the part of
// track i. The first tracks get the remainder.
func Split(total, n, i int) int {
	part := total / n
	if i < total%n {
		part++
	}
	return part
}

// Spread divides a total over tracks in proportion to their weights, by largest
// remainder; each gets at least 1, and ties go to the first track. If the total
// is below the number of tracks, each gets 1.
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

// Word is a message to those who do the work while the run goes on: exactly one
// of its fields is set.
type Word struct {
	// Tracks are the settings of all tracks, in force from now on, in the segment
	// with that number.
	Tracks  []Settings
	Segment int
	// Phase may begin: all phases that it waits for have ended.
	Phase string
	// Stop is why the run ends.
	Stop error
}
