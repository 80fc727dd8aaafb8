package report

import (
	"math"
	"time"

	"github.com/perfbench/perfbench/internal/find"
)

const (
	// Settling is the beginning of a long step that does not count towards its
	// averages.
	Settling = 30 * time.Second
	// Window is the length of the means of which the highest is a step's maximum.
	Window = 60 * time.Second
)

// Long reports whether a step is long enough for settling and windows.
func Long(s *Step) bool { return s.ToNs-s.FromNs >= int64(2*Window) }

// Seconds returns the length of a step; at least a nanosecond.
func (s *Step) Seconds() float64 { return float64(max(s.ToNs-s.FromNs, 1)) / 1e9 }

// Stat summarizes a measured value over a step. NaN means unknown.
type Stat struct{ Mean, Top, Peak float64 }

var unknownStat = Stat{math.NaN(), math.NaN(), math.NaN()}

// Timed is a value at a moment, for the interval before it.
type Timed struct {
	AtNs  int64
	Value float64
}

// Over summarizes the samples of a step: their mean without settling, the highest mean
// over a window, and the highest of all. For a short step the latter two are the same.
func Over(s *Step, all []Timed) Stat {
	out := unknownStat
	var in []Timed
	from := s.FromNs
	if Long(s) {
		from += int64(Settling)
	}
	n, sum := 0, 0.0
	for _, t := range all {
		if t.AtNs <= s.FromNs || t.AtNs > s.ToNs || math.IsNaN(t.Value) {
			continue
		}
		in = append(in, t)
		if !(t.Value <= out.Peak) {
			out.Peak = t.Value
		}
		if t.AtNs > from {
			n, sum = n+1, sum+t.Value
		}
	}
	if n > 0 {
		out.Mean = sum / float64(n)
	}
	out.Top = out.Peak
	if Long(s) {
		out.Top = windowed(in)
	}
	return out
}

// windowed returns the highest mean over a window.
func windowed(in []Timed) float64 {
	top, sum, first := math.NaN(), 0.0, 0
	for i, t := range in {
		sum += t.Value
		for in[first].AtNs <= t.AtNs-int64(Window) {
			sum -= in[first].Value
			first++
		}
		if t.AtNs-in[0].AtNs < int64(Window)*9/10 {
			continue // the window is not complete yet
		}
		if m := sum / float64(i-first+1); !(m <= top) {
			top = m
		}
	}
	return top
}

// Slope returns how fast a value grows within a step, per second, by least squares; NaN
// with fewer than three samples.
func Slope(s *Step, all []Timed) float64 {
	var at, values []float64
	for _, t := range all {
		if t.AtNs > s.FromNs && t.AtNs <= s.ToNs {
			at, values = append(at, float64(t.AtNs-s.FromNs)/1e9), append(values, t.Value)
		}
	}
	return find.Slope(at, values)
}

// Values returns one value of every sample of the series.
func (f *Facts) Values(of func(*SeriesPoint) float64) []Timed {
	out := make([]Timed, len(f.Series))
	for i := range f.Series {
		out[i] = Timed{f.Series[i].AtNs, of(&f.Series[i])}
	}
	return out
}

// Process returns what was watched for a role, or nil.
func (f *Facts) Process(role string) *Process {
	for i := range f.Processes {
		if f.Processes[i].Role == role {
			return &f.Processes[i]
		}
	}
	return nil
}

// Values returns one value of every sample of a process; nil and absent values are
// unknown.
func (p *Process) Values(of func(*ResourcePoint) *float64) []Timed {
	if p == nil {
		return nil
	}
	out := make([]Timed, len(p.Points))
	for i := range p.Points {
		out[i] = Timed{p.Points[i].AtNs, math.NaN()}
		if v := of(&p.Points[i]); v != nil {
			out[i].Value = *v
		}
	}
	return out
}

// Whole converts a number of a sample to the form that Values takes.
func Whole(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// PerMinute returns a count of every sample as a rate per minute, over the time since
// the heap was queried before, which may be several samples ago.
func (p *Process) PerMinute(of func(*ResourcePoint) *int64) []Timed {
	out := p.Values(func(x *ResourcePoint) *float64 { return Whole(of(x)) })
	asked := -1
	for i := range out {
		from := out[i].AtNs - int64(time.Second) // unknown for the first one
		switch {
		case asked >= 0:
			from = p.Points[asked].AtNs
		case len(out) > 1 && i == 0:
			from = out[i].AtNs - (p.Points[1].AtNs - p.Points[0].AtNs)
		}
		out[i].Value *= float64(time.Minute) / float64(max(out[i].AtNs-from, 1))
		if p.Points[i].Heap != nil {
			asked = i
		}
	}
	return out
}

// Top returns the highest value of a process within a step.
func (p *Process) Top(s *Step, of func(*ResourcePoint) *float64) float64 {
	return Over(s, p.Values(of)).Top
}

// TopWhole is Top for a whole number.
func (p *Process) TopWhole(s *Step, of func(*ResourcePoint) *int64) float64 {
	return p.Top(s, func(x *ResourcePoint) *float64 { return Whole(of(x)) })
}

// TopCount returns the highest rate per minute at which a count grew.
func (p *Process) TopCount(s *Step, of func(*ResourcePoint) *int64) float64 {
	if p == nil {
		return math.NaN()
	}
	return Over(s, p.PerMinute(of)).Top
}

// Silent reports whether nothing was measured within a drain, which may be very short.
func (p *Process) Silent(s *Step, what func(*ResourcePoint) bool) bool {
	return s.Name == DrainStep && !p.Has(func(x *ResourcePoint) bool { return x.AtNs > s.FromNs && x.AtNs <= s.ToNs && what(x) })
}

// Has reports whether any sample has a value.
func (p *Process) Has(what func(*ResourcePoint) bool) bool {
	for i := range p.Points {
		if what(&p.Points[i]) {
			return true
		}
	}
	return false
}

// How much of what was offered a sustained step must have stored, and how fast the
// backlog may grow, as a fraction of the rate: less is indistinguishable from noise.
const (
	SustainedPart  = 0.99
	SustainedSlope = 0.01
)
