package eventstore

import (
	"math"
	"time"
)

const (
	// settling is what of a long step does not count towards its averages.
	settling = 30 * time.Second
	// window is the length of the means whose highest is a step's maximum.
	window = 60 * time.Second
)

// long says whether a step is long enough for settling and windows.
func long(s *StepFacts) bool { return s.ToNs-s.FromNs >= int64(2*window) }

// seconds is the length of a step; at least a nanosecond.
func (s *StepFacts) seconds() float64 { return float64(max(s.ToNs-s.FromNs, 1)) / 1e9 }

// stat is what a step has of a measured value. NaN is not known.
type stat struct{ mean, top, peak float64 }

var unknownStat = stat{math.NaN(), math.NaN(), math.NaN()}

// timed is a value at a moment, over the interval before it.
type timed struct {
	at    int64
	value float64
}

// over digests the samples of a step: their mean without settling, the highest mean
// over a window, and the highest of all. Of a short step the two are the same.
func over(s *StepFacts, all []timed) stat {
	out := unknownStat
	var in []timed
	from := s.FromNs
	if long(s) {
		from += int64(settling)
	}
	n, sum := 0, 0.0
	for _, t := range all {
		if t.at <= s.FromNs || t.at > s.ToNs || math.IsNaN(t.value) {
			continue
		}
		in = append(in, t)
		if !(t.value <= out.peak) {
			out.peak = t.value
		}
		if t.at > from {
			n, sum = n+1, sum+t.value
		}
	}
	if n > 0 {
		out.mean = sum / float64(n)
	}
	out.top = out.peak
	if long(s) {
		out.top = windowed(in)
	}
	return out
}

// windowed is the highest mean over a window.
func windowed(in []timed) float64 {
	top, sum, first := math.NaN(), 0.0, 0
	for i, t := range in {
		sum += t.value
		for in[first].at <= t.at-int64(window) {
			sum -= in[first].value
			first++
		}
		if t.at-in[0].at < int64(window)*9/10 {
			continue // not a whole window yet
		}
		if m := sum / float64(i-first+1); !(m <= top) {
			top = m
		}
	}
	return top
}

// slope is how fast a value grows within a step, per second, by least squares; NaN
// with fewer than three samples.
func slope(s *StepFacts, all []timed) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, t := range all {
		if t.at <= s.FromNs || t.at > s.ToNs || math.IsNaN(t.value) {
			continue
		}
		x := float64(t.at-s.FromNs) / 1e9
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+t.value, sxx+x*x, sxy+x*t.value
	}
	d := n*sxx - sx*sx
	if n < 3 || d <= 0 {
		return math.NaN()
	}
	return (n*sxy - sx*sy) / d
}

// values takes one value of every sample of the series.
func (f *Facts) values(of func(*SeriesPoint) float64) []timed {
	out := make([]timed, len(f.Series))
	for i := range f.Series {
		out[i] = timed{f.Series[i].AtNs, of(&f.Series[i])}
	}
	return out
}

// process returns what was watched of a role, or nil.
func (f *Facts) process(role string) *ProcessFacts {
	for i := range f.Processes {
		if f.Processes[i].Role == role {
			return &f.Processes[i]
		}
	}
	return nil
}

// values takes one value of every sample of a process; nil and absent values are
// not known.
func (p *ProcessFacts) values(of func(*ResourcePoint) *float64) []timed {
	if p == nil {
		return nil
	}
	out := make([]timed, len(p.Points))
	for i := range p.Points {
		out[i] = timed{p.Points[i].AtNs, math.NaN()}
		if v := of(&p.Points[i]); v != nil {
			out[i].value = *v
		}
	}
	return out
}

// whole is a number of a sample as values takes it.
func whole(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// perMinute takes a count of every sample, as a rate a minute: of what came since the
// heap was asked for before, which may be several samples ago.
func (p *ProcessFacts) perMinute(of func(*ResourcePoint) *int64) []timed {
	out := p.values(func(x *ResourcePoint) *float64 { return whole(of(x)) })
	asked := -1
	for i := range out {
		from := out[i].at - int64(time.Second) // of the first nobody knows
		switch {
		case asked >= 0:
			from = p.Points[asked].AtNs
		case len(out) > 1 && i == 0:
			from = out[i].at - (p.Points[1].AtNs - p.Points[0].AtNs)
		}
		out[i].value *= float64(time.Minute) / float64(max(out[i].at-from, 1))
		if p.Points[i].Heap != nil {
			asked = i
		}
	}
	return out
}

// top is the highest value of a process within a step.
func (p *ProcessFacts) top(s *StepFacts, of func(*ResourcePoint) *float64) float64 {
	return over(s, p.values(of)).top
}

func (p *ProcessFacts) topWhole(s *StepFacts, of func(*ResourcePoint) *int64) float64 {
	return p.top(s, func(x *ResourcePoint) *float64 { return whole(of(x)) })
}

func (p *ProcessFacts) topCount(s *StepFacts, of func(*ResourcePoint) *int64) float64 {
	if p == nil {
		return math.NaN()
	}
	return over(s, p.perMinute(of)).top
}

// silent says that nothing was measured within a drain, which may be a moment.
func (p *ProcessFacts) silent(s *StepFacts, what func(*ResourcePoint) bool) bool {
	return s.Name == drainStep && !p.has(func(x *ResourcePoint) bool { return x.AtNs > s.FromNs && x.AtNs <= s.ToNs && what(x) })
}

func (p *ProcessFacts) has(what func(*ResourcePoint) bool) bool {
	for i := range p.Points {
		if what(&p.Points[i]) {
			return true
		}
	}
	return false
}

// What a sustained step must have stored of what was offered, and how fast the
// backlog may grow at most, as a part of the rate: less cannot be told from noise.
const (
	sustainedPart  = 0.99
	sustainedSlope = 0.01
)
