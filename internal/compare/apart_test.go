package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/perfbench/perfbench/internal/compare/stat"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

// seconded is a run of these seconds, of which throughput is known.
func seconded(rates ...float64) []Measured {
	m := Measured{Figures: map[Figure]Estimate{}}
	m.set(Throughput, relative(stat.Independent(rates).Value, batched(rates)))
	return []Measured{m}
}

// throughputOf judges the throughput of single runs, of which earlier ones differed by so much.
func throughputOf(a, b []Measured, earlier ...float64) Finding {
	var before []Measured
	for _, v := range earlier {
		before = append(before, Measured{Figures: map[Figure]Estimate{Throughput: {Value: v, SE: math.NaN(), DF: math.Inf(1)}}})
	}
	return findings("", a, b, nil, before, DefaultTolerance)[0]
}

// Runs whose seconds are far apart differ for certain, however much these seconds drift; those that
// touch, or are hardly apart, may be chance.
func TestRunsThatAreFarApartDiffer(t *testing.T) {
	falling := seconded(10.7e3, 7e3, 5.5e3, 4.4e3, 3.6e3, 3.1e3, 2.7e3, 2.4e3, 2.2e3, 2e3, 1.9e3, 1.8e3)
	high := seconded(27.8e3, 41e3, 52e3, 60e3, 66e3, 70e3, 73e3, 75e3, 76e3, 77e3, 78e3, 78e3)
	f := throughputOf(high, falling)
	assert.Equal(t, Worse, f.Verdict)
	assert.True(t, f.Apart)
	assert.Less(t, f.Hi, -0.7)
	assert.Equal(t, "(27.8k to 78k)", f.RangeOf(f.A), "no range is wider than the seconds")
	assert.Nil(t, f.Power)
	assert.Equal(t, Better, throughputOf(falling, high).Verdict)
	assert.Equal(t, Worse, throughputOf(high, falling, 60e3, 66e3, 58e3).Verdict, "earlier runs differed by less")

	crowded := seconded(74.4e3, 32.9e3, 43.8e3, 7.1e3, 18.8e3, 53e3, 105e3, 90.3e3, 55.7e3, 97.5e3, 82.2e3, 35.2e3)
	assert.Equal(t, Worse, throughputOf(crowded, seconded(5.4e3, 9.2e3, 1.7e3, 3.6e3, 8.5e3, 11e3, 3.9e3, 9.8e3, 10.1e3, 9.7e3, 4.6e3, 2.4e3)).Verdict, "real runs of 512 B and 16 KiB on a crowded machine")

	slower := seconded(597e3, 538e3, 400e3, 338e3, 554e3, 436e3, 283e3, 309e3, 302e3, 259e3)
	large := seconded(1.4e3, 33.6e3, 44.2e3, 43.2e3, 38.2e3, 65.8e3, 51.6e3, 62.1e3, 117e3, 161e3)
	assert.Equal(t, Worse, throughputOf(slower, large).Verdict, "real runs of 512 B and 16 KiB that drift, ten seconds each")

	f = throughputOf(seconded(300e3, 283e3, 317e3, 287e3, 301e3), seconded(603e3, 624e3, 615e3, 596e3, 561e3))
	assert.Equal(t, Better, f.Verdict, "real runs of one thread and four, five seconds each")
	assert.InDelta(t, 0.77, f.Lo, 0.01, "by at least as much as their seconds are apart")
	assert.Equal(t, Better, throughputOf(seconded(285e3, 298e3, 305e3, 299e3, 295e3), seconded(665e3, 585e3, 693e3, 730e3, 700e3)).Verdict, "real runs, too")
	assert.Equal(t, Unsure, throughputOf(seconded(300e3, 283e3, 317e3, 287e3, 301e3), seconded(453e3, 474e3, 465e3, 446e3, 371e3)).Verdict, "half as much again, but hardly apart")

	f = throughputOf(seconded(54.2, 54.7, 55.2, 55.7, 56.2), seconded(40.2, 40.4, 40.6, 40.9, 41.1))
	assert.Equal(t, Worse, f.Verdict, "a quarter less, but seven times as far apart as the seconds of either")
	assert.True(t, f.Apart)
	near := throughputOf(seconded(54.2, 54.7, 55.2, 55.7, 56.2), seconded(48.2, 48.4, 48.6, 48.9, 49.1))
	assert.False(t, near.Apart, "less than a fifth")

	f = throughputOf(high, falling, 60e3, 20e3, 90e3, 15e3)
	assert.Equal(t, Unsure, f.Verdict, "earlier runs differed by as much")
	assert.NotEmpty(t, f.Power)
	touching := seconded(30e3, 28e3, 24e3, 20e3, 17e3, 14e3, 13e3, 12e3, 11e3, 10e3, 9e3, 9e3)
	f = throughputOf(high, touching)
	assert.Equal(t, Unsure, f.Verdict, "their seconds are hardly apart")
	assert.Equal(t, "two more runs of each (--repeat 3), or longer ones, would tell more", f.PowerText(), "their seconds were tested")
	assert.Equal(t, Unsure, throughputOf(seconded(80, 60, 80, 60), seconded(8, 6, 8, 6)).Verdict, "four seconds show no spread")
}

// drift is how the seconds of a run are made up.
type drift struct {
	seconds    int
	like, wide float64 // how much a second is like the one before, and by how much they differ
	runs       float64 // by how much whole runs differ
}

// alarms are the shares of pairs of the same run that are called better or worse, and far apart.
func (d drift) alarms(rnd *rand.Rand, trials int) (called, far float64) {
	run := func() []Measured {
		own := d.runs * rnd.NormFloat64()
		pace, rates := rnd.NormFloat64(), make([]float64, d.seconds)
		for i := range rates {
			pace = d.like*pace + math.Sqrt(1-d.like*d.like)*rnd.NormFloat64()
			rates[i] = 1e4 * math.Exp(own+d.wide*pace)
		}
		return seconded(rates...)
	}
	for range trials {
		f := throughputOf(run(), run())
		if f.Verdict == Better || f.Verdict == Worse {
			called++
		}
		if f.Apart {
			far++
		}
	}
	return called / float64(trials), far / float64(trials)
}

// Of two runs of the same thing hardly any are so far apart, however wildly their seconds drift.
func TestFarApartIsHardlyEverChance(t *testing.T) {
	rnd := rand.New(rand.NewPCG(36, 1))
	for _, c := range []struct {
		name string
		drift
		atMost float64 // false alarms, as a share
	}{
		{"seconds of their own", drift{12, 0, 1, 0}, 0.01},
		{"alike", drift{12, 0.7, 0.8, 0.05}, 0.03},
		{"much alike", drift{30, 0.9, 0.8, 0.05}, 0.03},
		{"on a crowded machine", drift{12, 0.5, 0.7, 0.1}, 0.01},
		{"hardly different", drift{30, 0.95, 0.3, 0.1}, 0.02},
		{"for as long as a run", drift{15, 0.95, 0.5, 0}, 0.03},
		{"for longer than a run", drift{15, 0.97, 0.3, 0}, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, share := c.alarms(rnd, 1500)
			t.Logf("%.2f %% of pairs are far apart", 100*share)
			assert.LessOrEqual(t, share, c.atMost)
		})
	}
}

// At most one pair of equal runs in twenty is called better or worse, as long as their pace fades
// to a third within 1.3 times the run, and its seconds are mostly within a factor of 1.65 of the
// middle. Of a pace that wanders still more slowly, two runs show one value each.
func TestProofThatEqualRunsThatDriftAreHardlyEverTakenForOthers(t *testing.T) {
	tier.Proof(t, "TestFarApartIsHardlyEverChance simulates seven kinds")
	rnd := rand.New(rand.NewPCG(36, 2))
	for _, seconds := range []int{10, 12, 15, 30, 60, 120, 300} {
		for _, like := range []float64{0.5, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.995, 0.9975} {
			if float64(seconds)*(1-like) < 0.749 {
				continue
			}
			for _, wide := range []float64{0.02, 0.1, 0.2, 0.35, 0.5} {
				called, far := drift{seconds, like, wide, 0}.alarms(rnd, 3000)
				t.Logf("%3d s, alike by %.4f, wide by %.2f: %.2f %% of pairs, far apart %.2f %%", seconds, like, wide, 100*called, 100*far)
				assert.LessOrEqual(t, called, 0.05)
			}
		}
	}
}
