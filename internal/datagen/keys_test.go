package datagen_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/testing/bench"
	"github.com/perfbench/perfbench/internal/testing/tier"
)

const keySeed = 7

func zipf(s float64) datagen.Keys { return datagen.Keys{Kind: datagen.ZipfKeys, Exponent: s} }

func ordered(s float64) datagen.Keys {
	return datagen.Keys{Kind: datagen.OrderedZipfKeys, Exponent: s}
}

// everyKind returns a distribution of every kind.
func everyKind() []datagen.Keys {
	var out []datagen.Keys
	for _, kind := range datagen.KeyKinds {
		out = append(out, datagen.Keys{Kind: kind, Exponent: 0.99, Hot: 0.01, HotCalls: 0.9, Drift: 100, Mean: 0.5, Deviation: 0.2})
	}
	return out
}

// counts returns how often each of n records was chosen by calls 0..calls-1.
func counts(k datagen.Keys, n int64, calls int) []float64 {
	c := datagen.NewChooser(k, keySeed, n)
	out := make([]float64, n)
	for i := range calls {
		out[c.Choose(uint64(i), n)]++
	}
	return out
}

// weights returns a part for each of n records, in proportion to f.
func weights(n int, f func(i int) float64) []float64 {
	out, sum := make([]float64, n), 0.0
	for i := range out {
		out[i] = f(i)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

// likely checks observed frequencies against theory by chi-square. Records that are too
// rare for it are taken together. The limit is met by all but one in some ten thousand
// samples of the right distribution.
func likely(t *testing.T, got, theory []float64) {
	t.Helper()
	total := 0.0
	for _, g := range got {
		total += g
	}
	chi, cells, restGot, restWant := 0.0, 0, 0.0, 0.0
	for i, g := range got {
		want := theory[i] * total
		if restGot, restWant = restGot+g, restWant+want; restWant >= 10 {
			chi += (restGot - restWant) * (restGot - restWant) / restWant
			restGot, restWant = 0, 0
			cells++
		}
	}
	df := float64(cells - 1)
	require.Greater(t, df, 5.0)
	assert.Less(t, chi, df+4*math.Sqrt(2*df)+8, "chi-square of %g degrees of freedom", df)
}

func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func TestFrequenciesAreThoseOfTheory(t *testing.T) {
	const n, calls = 500, 200_000
	ranks := func(s float64) []float64 {
		return weights(n, func(i int) float64 { return math.Pow(float64(i+1), -s) })
	}
	reversed := func(w []float64) []float64 { w = slices.Clone(w); slices.Reverse(w); return w }
	falling := weights(n, func(i int) float64 {
		rate := -math.Log(0.2) / 0.2
		return math.Exp(-rate*float64(i)/n) - math.Exp(-rate*float64(i+1)/n)
	})
	for _, c := range []struct {
		keys   datagen.Keys
		theory []float64
	}{
		{datagen.Keys{}, weights(n, func(int) float64 { return 1 })},
		{ordered(0.2), ranks(0.2)},
		{ordered(0.99), ranks(0.99)},
		{ordered(1), ranks(1)},
		{ordered(1 + 1e-12), ranks(1)},
		{ordered(1.3), ranks(1.3)},
		{ordered(2.6774), ranks(2.6774)},
		{ordered(3), ranks(3)},
		{datagen.Keys{Kind: datagen.LatestKeys, Exponent: 0.99}, reversed(ranks(0.99))},
		{datagen.Keys{Kind: datagen.HotKeys, Hot: 0.1, HotCalls: 0.7}, weights(n, func(i int) float64 {
			if i < n/10 {
				return 0.7 / (n / 10)
			}
			return 0.3 / (n - n/10)
		})},
		{datagen.Keys{Kind: datagen.GaussianKeys, Mean: 0.4, Deviation: 0.1}, weights(n, func(i int) float64 {
			at := func(i int) float64 { return normal((float64(i)/n - 0.4) / 0.1) }
			return at(i+1) - at(i)
		})},
		{datagen.Keys{Kind: datagen.ExponentialKeys, Hot: 0.2, HotCalls: 0.8}, falling},
		{datagen.Keys{Kind: datagen.LatestExponentialKeys, Hot: 0.2, HotCalls: 0.8}, reversed(falling)},
	} {
		t.Run(fmt.Sprintf("%s %g", c.keys.Kind, c.keys.Exponent), func(t *testing.T) { likely(t, counts(c.keys, n, calls), c.theory) })
	}
}

// fitted returns the exponent under which a sample of ranks is most likely.
func fitted(got []float64) float64 {
	sum, logs := 0.0, 0.0
	for i, g := range got {
		sum += g
		logs += g * math.Log(float64(i+1))
	}
	lo, hi := 0.0, 10.0
	for range 60 { // the mean logarithm falls as the exponent grows
		s := (lo + hi) / 2
		weight, weighted := 0.0, 0.0
		for i := range got {
			w := math.Pow(float64(i+1), -s)
			weight += w
			weighted += w * math.Log(float64(i+1))
		}
		if weighted/weight > logs/sum {
			lo = s
		} else {
			hi = s
		}
	}
	return (lo + hi) / 2
}

func TestExponentsAreWithinTwoPercent(t *testing.T) {
	for _, s := range []float64{0.3, 0.5, 0.735, 0.99, 1, 1.0666, 1.5, 2, 2.6774, 3} {
		assert.InEpsilon(t, s, fitted(counts(ordered(s), 10_000, 200_000)), 0.02, "%g", s)
		// Scattered, the ranks are those of how often records were called.
		got := counts(zipf(s), 100, 200_000)
		slices.SortFunc(got, func(a, b float64) int { return cmp.Compare(b, a) })
		assert.InEpsilon(t, s, fitted(got), 0.02, "%g", s)
	}
}

func hottest(count map[int64]int, most int) []int64 {
	var out []int64
	for k := range count {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b int64) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	return out[:most]
}

// Whoever makes a call, it is about the same record.
func TestTheHottestOfThirtyThreadsAreThoseOfOne(t *testing.T) {
	tier.Slow(t, tier.Computes)
	const n, calls = 1_000_000, 300_000
	for _, k := range everyKind() {
		alone := map[int64]int{}
		one := datagen.NewChooser(k, keySeed, n)
		for i := range calls {
			alone[one.Choose(uint64(i), n)]++
		}
		together := map[int64]int{}
		for worker := range 3 {
			for thread := range 10 {
				own := datagen.NewChooser(k, keySeed, n)
				for i := worker*10 + thread; i < calls; i += 30 {
					together[own.Choose(uint64(i), n)]++
				}
			}
		}
		assert.Equal(t, hottest(alone, 100), hottest(together, 100), k.Kind)
	}
}

func TestScatteredRanksAreEachAnotherRecord(t *testing.T) {
	k := zipf(0.5)
	for _, n := range []int64{1, 2, 3, 5, 64, 1000, 1023, 1025} {
		c := datagen.NewChooser(k, keySeed, n)
		seen, next := map[int64]bool{}, 0
		for i := uint64(0); i < 1_000_000 && len(seen) < int(n); i++ {
			at := c.Choose(i, n)
			require.True(t, at >= 0 && at < n)
			seen[at] = true
		}
		assert.Len(t, seen, int(n), "each of %d is chosen", n)
		for a := range seen {
			if seen[a+1] {
				next++
			}
		}
		assert.Equal(t, int(n)-1, next)
	}
}

// Neighbours in rank are not neighbours among the records.
func TestTheHottestLieAnywhere(t *testing.T) {
	got := counts(zipf(1.2), 1000, 200_000)
	hot := make([]int, len(got))
	for i := range hot {
		hot[i] = i
	}
	slices.SortFunc(hot, func(a, b int) int { return cmp.Compare(got[b], got[a]) })
	for _, quarter := range []int{0, 1, 2, 3} {
		assert.True(t, slices.ContainsFunc(hot[:40], func(k int) bool { return k/250 == quarter }), "quarter %d", quarter)
	}
	near := 0
	for i := range 39 {
		if d := hot[i] - hot[i+1]; d*d <= 25 {
			near++
		}
	}
	assert.Less(t, near, 6)
}

// Records that come later do not move those that are called most often, and are called.
func TestMoreRecords(t *testing.T) {
	k := zipf(0.99)
	c := datagen.NewChooser(k, keySeed, 1000)
	before, after, later := map[int64]int{}, map[int64]int{}, 0
	for i := range uint64(200_000) {
		before[c.Choose(i, 1000)]++
	}
	for i := range uint64(200_000) {
		at := c.Choose(i+200_000, 1500)
		after[at]++
		if at >= 1000 {
			later++
		}
	}
	assert.Equal(t, hottest(before, 5), hottest(after, 5))
	sum := func(n int) (s float64) {
		for i := range n {
			s += math.Pow(float64(i+1), -0.99)
		}
		return s
	}
	assert.InEpsilon(t, 1-sum(1000)/sum(1500), float64(later)/200_000, 0.05)
	c.Choose(1, 10)
	other := datagen.NewChooser(k, keySeed, 1000)
	for i := range uint64(1000) {
		assert.Equal(t, other.Choose(i, 1000), c.Choose(i, 1000), "what a chooser remembers changes nothing")
	}
	fewer := map[int64]bool{}
	for i := range uint64(10_000) {
		at := c.Choose(i, 20)
		require.Less(t, at, int64(20))
		fewer[at] = true
	}
	assert.Len(t, fewer, 20)
}

func TestTheHotSetDrifts(t *testing.T) {
	k := datagen.Keys{Kind: datagen.HotKeys, Hot: 0.01, HotCalls: 0.9, Drift: 100}
	c := datagen.NewChooser(k, keySeed, 1000)
	for _, at := range []uint64{0, 50_000, 99_999} {
		in, first := 0, int64(at/100)
		for i := at; i < at+100; i++ {
			if off := (c.Choose(i, 1000) - first + 1000) % 1000; off <= 10 {
				in++
			}
		}
		assert.InDelta(t, 90, in, 10, "call %d", at)
	}
	assert.Less(t, c.Choose(math.MaxUint64, 1000), int64(1000))
}

func TestOneAfterTheOther(t *testing.T) {
	c := datagen.NewChooser(datagen.Keys{Kind: datagen.SequentialKeys}, keySeed, 5)
	var got []int64
	for i := range uint64(7) {
		got = append(got, c.Choose(i, 5))
	}
	assert.Equal(t, []int64{0, 1, 2, 3, 4, 0, 1}, got)
}

// Runs of the same seed choose the same, also after the next release.
func TestChoicesStay(t *testing.T) {
	want := map[datagen.KeyKind][]int64{
		datagen.UniformKeys:           {286, 829, 424, 612, 786, 240},
		datagen.SequentialKeys:        {0, 1, 2, 3, 4, 5},
		datagen.ZipfKeys:              {525, 995, 246, 998, 621, 612},
		datagen.OrderedZipfKeys:       {123, 1, 43, 10, 2, 172},
		datagen.LatestKeys:            {876, 998, 956, 989, 997, 827},
		datagen.HotKeys:               {4, 10, 28, 35, 42, 58},
		datagen.GaussianKeys:          {343, 841, 565, 266, 521, 587},
		datagen.ExponentialKeys:       {1, 7, 2, 4, 6, 1},
		datagen.LatestExponentialKeys: {998, 992, 997, 995, 993, 998},
	}
	for _, k := range everyKind() {
		c, got := datagen.NewChooser(k, keySeed, 1000), []int64(nil)
		for i := range uint64(6) {
			got = append(got, c.Choose(i*1001, 1000))
		}
		assert.Equal(t, want[k.Kind], got, k.Kind)
	}
	a, b := datagen.NewChooser(zipf(0.99), 1, 1000), datagen.NewChooser(zipf(0.99), 2, 1000)
	same := 0
	for i := range uint64(1000) {
		if a.Choose(i, 1000) == b.Choose(i, 1000) {
			same++
		}
	}
	assert.Less(t, same, 100, "another seed chooses otherwise")
}

func TestChoosingAllocatesNothing(t *testing.T) {
	for _, k := range everyKind() {
		c, i := datagen.NewChooser(k, keySeed, 1<<50), uint64(0)
		assert.Zero(t, testing.AllocsPerRun(1000, func() {
			i++
			if at := c.Choose(i, 1<<50+int64(i)); at < 0 || at >= 1<<50+int64(i) {
				t.Errorf("%s: %d", k.Kind, at)
			}
		}), k.Kind)
	}
}

func TestDistributionsThatCannotBe(t *testing.T) {
	for _, k := range []datagen.Keys{
		{Kind: "x"}, zipf(0), zipf(-1), zipf(math.NaN()), zipf(20.5), {Kind: datagen.LatestKeys}, {Kind: datagen.HotKeys, Hot: 1, HotCalls: 0.5},
		{Kind: datagen.HotKeys, Hot: 0.1, HotCalls: 0.5, Drift: -1}, {Kind: datagen.GaussianKeys, Mean: 5, Deviation: 1},
		{Kind: datagen.GaussianKeys, Mean: 0.5}, {Kind: datagen.ExponentialKeys, Hot: 0.5},
	} {
		assert.Error(t, k.Err(), "%+v", k)
	}
	for _, k := range append(everyKind(), datagen.Keys{}) {
		assert.NoError(t, k.Err(), "%+v", k)
	}
}

func BenchmarkChooseAndFill(b *testing.B) {
	for _, k := range append(everyKind(), zipf(2)) {
		b.Run(fmt.Sprintf("%s %g", k.Kind, k.Exponent), func(b *testing.B) {
			c, value := datagen.NewChooser(k, keySeed, 10_000_000), make([]byte, 0, 1024)
			b.ReportAllocs()
			defer bench.PerCall(b)()
			for i := uint64(0); b.Loop(); i++ {
				value = datagen.Append(value[:0], datagen.Owner(c.Choose(i, 10_000_000)), 1024)
			}
		})
	}
}
