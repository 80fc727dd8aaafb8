package compare

import (
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/testing/rundirtest"
)

// sized is a run with this payload, which did as many entries a second.
func sized(t *testing.T, payload, rate float64) *Run {
	f := rundirtest.NewFolder(day, "redis", 16, 1)
	f.Run.Sized, f.Run.Changes, f.Run.Segments = true, nil, nil
	f.Run.Settings = maps.Clone(f.Run.Settings)
	for name := range f.Run.Settings {
		if name == "payload" || len(name) > len(".payload") && name[len(name)-len(".payload"):] == ".payload" {
			delete(f.Run.Settings, name)
		}
	}
	f.Run.Settings["payload"] = payload
	assert.Equal(t, payload, f.Run.UnitBytes())
	r := read(t, f)
	assert.InEpsilon(t, payload, r.Parts[0].Figures[Bytes].Value/r.Parts[0].Figures[Throughput].Value, 1e-9)
	r.Parts[0].Figures[Throughput] = Estimate{Value: rate, SE: rate / 1e4, DF: math.Inf(1)}
	r.Parts[0].Figures[Bytes] = Estimate{Value: rate * payload, SE: rate * payload / 1e4, DF: math.Inf(1)}
	return r
}

// Fewer and larger values are no better or worse as a whole: both are said.
func TestRunsOfValuesOfTwoSizesAreComparedByBoth(t *testing.T) {
	a, b := sized(t, 512, 493e3), sized(t, 16<<10, 71.3e3)
	c := Sets(one(a), one(b), Options{})
	assert.Equal(t, "worse", verdicts(c.Parts[0])[Throughput])
	assert.Equal(t, "better", verdicts(c.Parts[0])[Bytes])
	assert.Regexp(t, `^Compared although A has values of 512 B and B of 16 KiB\. B does 86 % fewer entries/s and moves 4\.6 times the bytes, with 95 % confidence for these two runs[.;]`, c.Answer(c.Parts[0]))
	assert.NotContains(t, c.Answer(c.Parts[0]), "B is ")

	open := Pair{Findings: []Finding{
		{Figure: Throughput, A: Range{Value: 100}, B: Range{Value: 87}, Change: -0.13, Verdict: Unsure}, {Figure: Bytes, A: Range{Value: 100}, B: Range{Value: 460}, Change: 3.6, Verdict: Better},
	}}
	assert.Equal(t, "B moves 4.6 times the bytes, with 95 % confidence; entries/s (−13.0 %) may be chance.", open.Answer("entries"))

	for name, other := range map[string]*Run{"as large": sized(t, 512, 71.3e3), "of a run that does not say": read(t, rundirtest.NewFolder(day, "redis", 16, 2))} {
		_, there := verdicts(Sets(one(a), one(other), Options{}).Parts[0])[Bytes]
		assert.False(t, there, name)
	}
}

// What one run a side cannot show is said where the confidence stands.
func TestConfidenceOfOneRunASideSaysWhatItIsNotOf(t *testing.T) {
	alone := Sets(one(sized(t, 512, 100e3)), one(sized(t, 512, 50e3)), Options{})
	assert.Contains(t, alone.Answer(alone.Parts[0]), "B is worse in entries/s (−50.0 %), with 95 % confidence for these two runs")
	side := func(rate float64) Set {
		return Set{Runs: []*Run{sized(t, 512, rate), sized(t, 512, rate*1.001), sized(t, 512, rate*0.999)}}
	}
	several := Sets(side(100e3), side(50e3), Options{})
	assert.Contains(t, several.Answer(several.Parts[0]), "B is worse in entries/s (−50.0 %)")
	assert.NotContains(t, several.Answer(several.Parts[0]), "these two runs")
}
