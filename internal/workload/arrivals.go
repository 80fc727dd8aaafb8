package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfbench/perfbench/internal/units"
)

// Arrivals say how the due times of an open loop are spread over time at a given mean rate.
// The zero value is even.
type Arrivals struct {
	// Poisson means that calls come independently of each other, as from many users:
	// the gaps between them are exponentially distributed.
	Poisson bool
	// Factor is how many times as many calls come in a burst as between bursts; 0: there are
	// no bursts. Burst and Calm are the mean lengths of a burst and of the time between two;
	// both are exponentially distributed. With bursts, arrivals are Poisson within each.
	Factor      float64
	Burst, Calm time.Duration
	// Recorded means that calls come when they were made before.
	Recorded bool
}

// Names of arrivals.
const (
	Even    = "even"
	Poisson = "poisson"
	Bursts  = "bursts"
	// AsRecorded is not asked for: it follows from what is run.
	AsRecorded = "recorded"
)

// ArrivalsHelp says what can be asked for.
const ArrivalsHelp = "poisson: independently, as from many users, which is the default but where an original's pacing is imitated; even; bursts=10x,1s,9s: ten times as many for 1s on average, every 9s on average"

// ParseArrivals reads arrivals as users type them.
func ParseArrivals(text string) (Arrivals, error) {
	text = strings.TrimSpace(text)
	switch text {
	case Even, "":
		return Arrivals{}, nil
	case Poisson:
		return Arrivals{Poisson: true}, nil
	}
	bad := func(why string) (Arrivals, error) {
		return Arrivals{}, fmt.Errorf("%q: %s", text, why)
	}
	words, found := strings.CutPrefix(text, Bursts+"=")
	if !found {
		return bad("arrivals are even, poisson or bursts=10x,1s,9s")
	}
	parts := strings.Split(words, ",")
	if len(parts) != 3 {
		return bad("bursts are a factor, the mean length of a burst, and that of the time between two, such as bursts=10x,1s,9s")
	}
	out := Arrivals{Poisson: true}
	times, found := strings.CutSuffix(strings.TrimSpace(parts[0]), "x")
	var err error
	if out.Factor, err = units.ParseNumber(times); err != nil || !found || out.Factor <= 1 || out.Factor > 1000 {
		return bad(fmt.Sprintf("%q is not a factor above 1x and up to 1000x, such as 10x", parts[0]))
	}
	for i, d := range []*time.Duration{&out.Burst, &out.Calm} {
		*d, err = time.ParseDuration(strings.TrimSpace(parts[i+1]))
		if err == nil && (*d < 10*time.Millisecond || *d > 24*time.Hour) {
			err = errors.New("out of range")
		}
		if err != nil {
			return bad(fmt.Sprintf("%q is not a length from 10ms to 24h, such as 1s", parts[i+1]))
		}
	}
	return out, nil
}

// String writes arrivals as users type them.
func (a Arrivals) String() string {
	switch {
	case a.Factor > 0:
		return fmt.Sprintf("%s=%sx,%s,%s", Bursts, plain(a.Factor), a.Burst, a.Calm)
	case a.Poisson:
		return Poisson
	case a.Recorded:
		return AsRecorded
	}
	return Even
}

// Coming is a kind of arrivals, in terms of a live setting.
type Coming int

// Kinds of arrivals. Of those that come in bursts, lengths and factor are those that the run
// began with, or those of the example.
const (
	AsBegun Coming = iota
	ComeEvenly
	ComeIndependently
	ComeInBursts
)

var comings = []string{"", Even, Poisson, Bursts}

// ComingKnob is the name of the live setting.
const ComingKnob = "arrivals"

// ParseComing reads a kind of arrivals.
func ParseComing(text string) (Coming, error) {
	if i := slices.Index(comings, strings.TrimSpace(text)); i > 0 {
		return Coming(i), nil
	}
	return AsBegun, fmt.Errorf("arrivals: %q is not %s, %s or %s", text, Even, Poisson, Bursts)
}

// String is what users type.
func (c Coming) String() string {
	if c < 0 || int(c) >= len(comings) {
		return ""
	}
	return comings[c]
}

// UsualArrivals are those of a run for which nobody asked for any: independent, as from many users, unless
// the plan imitates another pacing.
func (p *Plan) UsualArrivals() Arrivals { return Arrivals{Poisson: p.Evenly == ""} }

// Kind returns which kind the arrivals are.
func (a Arrivals) Kind() Coming {
	switch {
	case a.Factor > 0:
		return ComeInBursts
	case a.Poisson:
		return ComeIndependently
	}
	return ComeEvenly
}

// As returns the arrivals of a run that began with a when those of another kind are asked for.
func (a Arrivals) As(c Coming) Arrivals {
	switch {
	case c == ComeEvenly:
		return Arrivals{}
	case c == ComeIndependently:
		return Arrivals{Poisson: true}
	case c == ComeInBursts && a.Factor == 0:
		return Arrivals{Poisson: true, Factor: 10, Burst: time.Second, Calm: 9 * time.Second}
	}
	return a
}
