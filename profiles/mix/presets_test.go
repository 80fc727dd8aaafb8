package mix

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/datagen"
	"github.com/perfbench/perfbench/internal/request"
	"github.com/perfbench/perfbench/internal/testing/profiletest"
	"github.com/perfbench/perfbench/internal/testing/tier"
	"github.com/perfbench/perfbench/internal/workload"
	"github.com/perfbench/perfbench/profiles/mix/model"
	"github.com/perfbench/perfbench/profiles/mix/own"
	"github.com/perfbench/perfbench/profiles/mix/run"
)

// of returns the workload of a preset.
func of(t *testing.T, name string) *model.Workload {
	t.Helper()
	vs, err := request.LoadPreset(Profile().Presets, name)
	require.NoError(t, err)
	i := slices.IndexFunc(vs, func(v workload.Value) bool { return v.Name == "workload" })
	require.GreaterOrEqual(t, i, 0)
	w, err := own.Read(name, vs[i].Text)
	require.NoError(t, err)
	return w
}

// ran carries out a preset on memory:, with so many operations, and returns the shares of
// the operations and the facts.
func ran(t *testing.T, name string, count int, set ...string) (map[string]float64, run.Facts) {
	t.Helper()
	c := profiletest.Case{
		Profile: Profile(), Target: "memory:", Preset: name,
		Set: append([]string{"threads=1", "rate=0", fmt.Sprintf("count=%d", count), "seed=3"}, set...),
	}
	o := profiletest.Drive(t, c)
	shares := map[string]float64{}
	for _, op := range o.Run.Operations {
		if o.Run.Counts(op) {
			shares[op.Op] = float64(op.Calls) / float64(count)
		}
	}
	return shares, profiletest.Facts[run.Facts](t, o.Concluded)
}

// A preset says how much there is to do for those who say nothing; it does not end a run that is
// to take a time.
func TestADurationIsNotCutShortByAPreset(t *testing.T) {
	seen := 0
	require.NoError(t, fs.WalkDir(presets, "presets", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimSuffix(strings.TrimPrefix(path, "presets/"), ".yaml")
		c := profiletest.Case{Profile: Profile(), Target: "memory:", Preset: name}
		once, err := c.Prepare(t.Context(), t)
		require.NoError(t, err, name)
		c.Set = []string{"duration=1h"}
		timed, err := c.Prepare(t.Context(), t)
		require.NoError(t, err, name)
		if !once.Inputs.Wraps() {
			assert.Positive(t, once.Plan.Phases[0].Tracks[0].Total, name)
		}
		assert.Zero(t, timed.Plan.Phases[0].Tracks[0].Total, name)
		seen++
		return nil
	}))
	assert.Greater(t, seen, 10)
}

// Every preset does what is published of it, in the shares that are published.
func TestPresetsHaveThePublishedMix(t *testing.T) {
	tier.Slow(t, tier.Computes)
	for name, want := range map[string]map[string]float64{
		"ycsb/a":                 {"read": 0.5, "update": 0.5},
		"ycsb/b":                 {"read": 0.95, "update": 0.05},
		"ycsb/c":                 {"read": 1},
		"ycsb/d":                 {"read": 0.95, "insert": 0.05},
		"ycsb/e":                 {"scan": 0.95, "insert": 0.05},
		"ycsb/f":                 {"read": 0.5, "readmodifywrite": 0.5},
		"memtier":                {"set": 1.0 / 11, "get": 10.0 / 11},
		"cassandra-stress/mixed": {"write": 0.5, "read": 0.5},
		"sysbench/point-select":  {"point-select": 1},
		"sysbench/read-write":    {"transaction": 1},
		"pgbench/tpcb":           {"transaction": 1},
		"pgbench/select-only":    {"select": 1},
		"smallbank":              {"balance": 0.15, "deposit-checking": 0.15, "transact-savings": 0.15, "amalgamate": 0.15, "send-payment": 0.25, "write-check": 0.15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			count := 20_000
			if len(want) == 1 { // a share of one needs no large sample
				count = 2000
			}
			shares, facts := ran(t, name, count, "records=2000")
			for op, share := range want {
				assert.InDelta(t, share, shares[op], 0.02*max(share, 0.2), op)
			}
			assert.Len(t, shares, len(want))
			assert.Zero(t, facts.Wrong+facts.Lost+facts.Stale)
		})
	}
}

func TestRecordsOfYCSB(t *testing.T) {
	for _, letter := range []string{"a", "b", "c", "d", "e", "f"} {
		w := of(t, "ycsb/"+letter)
		d := w.Data[0]
		assert.Len(t, d.Fields, 10)
		assert.Equal(t, model.One(100), d.Size)
		for _, o := range w.Operations {
			s := o.Steps[0]
			switch {
			case s.Do == model.Insert:
			case letter == "d":
				assert.Equal(t, model.Keys{Kind: model.Latest, Exponent: 0.99}, s.Keys)
			default:
				assert.Equal(t, model.Keys{Kind: model.Zipf, Exponent: 0.99}, s.Keys)
			}
			if s.Do == model.Scan {
				assert.Equal(t, model.Between(1, 100), s.Count)
			}
			if s.Do == model.Update || s.Do == model.Modify {
				assert.Equal(t, 1, s.Fields)
			}
		}
	}
}

// figures are those of Twitter's clusters, by the names of the presets.
func figures(t *testing.T) map[string][]string {
	t.Helper()
	f, err := os.Open("foreign/2020Mar.csv")
	require.NoError(t, err)
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	out := map[string][]string{}
	for _, r := range rows[1:] {
		out["twitter/"+strings.TrimPrefix(r[0], "cluster")] = r
	}
	return out
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	require.NoError(t, err)
	return v
}

// fitted returns the exponent under which ranks are most likely.
func fitted(counts []float64) float64 {
	slices.SortFunc(counts, func(a, b float64) int { return cmp.Compare(b, a) })
	sum, logs := 0.0, 0.0
	for i, n := range counts {
		sum += n
		logs += n * math.Log(float64(i+1))
	}
	lo, hi := 0.0, 5.0
	for range 50 {
		s, weight, weighted := (lo+hi)/2, 0.0, 0.0
		for i := range counts {
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

// Sizes, exponent and mix of each cluster are within 2 % of the figures, and the share of gets
// that find nothing is what follows from them: each object is missed once.
func TestTwittersClusters(t *testing.T) {
	all, err := request.Presets(Profile().Presets)
	require.NoError(t, err)
	rows, seen := figures(t), 0
	for _, p := range all {
		r, ok := rows[p.Name]
		if !ok {
			continue
		}
		seen++
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			w := of(t, p.Name)
			d := w.Data[0]
			key, value, exponent := float(t, r[3]), float(t, r[4]), float(t, r[13])
			assert.InEpsilon(t, key, len(d.Key.Append(nil, d.Records-1)), 0.02)
			assert.InEpsilon(t, value, d.Size.Max, 0.02)
			assert.Equal(t, d.Size.Min, d.Size.Max)
			if keys := w.Operations[0].Steps[0].Keys; exponent >= 0.2 {
				c, counts := datagen.NewChooser(keys.Choice(), 3, 50), make([]float64, 50)
				for i := range uint64(100_000) {
					counts[c.Choose(i, 50)]++
				}
				assert.InEpsilon(t, exponent, fitted(counts), 0.02)
			} else {
				assert.InDelta(t, exponent, keys.Exponent, 1e-9)
			}
			sum, want := 0.0, map[string]float64{}
			for part := range strings.FieldsSeq(r[12]) {
				name, share, _ := strings.Cut(part, ":")
				want[name] = float(t, share)
				sum += want[name]
			}
			const count = 5000
			shares, facts := ran(t, p.Name, count, "records=300")
			gets := 0.0
			for name, share := range want {
				assert.InDelta(t, share/sum, shares[name], 0.02, name)
				if strings.HasPrefix(name, "get") {
					gets += share / sum
				}
			}
			assert.Len(t, shares, len(want))
			if want["delete"]+want["incr"] > 0 {
				return // what is deleted is missed again, and counters are other objects
			}
			// An object whose first call is a get is missed once.
			distinct, weights := 0.0, 0.0
			for k := range 300 {
				weights += math.Pow(float64(k+1), -exponent)
			}
			for k := range 300 {
				distinct += 1 - math.Pow(1-math.Pow(float64(k+1), -exponent)/weights, count)
			}
			if gets > 0 {
				require.NotNil(t, facts.HitRatio)
				assert.InDelta(t, distinct/count, 1-*facts.HitRatio, 0.02)
			}
		})
	}
	assert.Equal(t, 51, seen)
}

// What is paid in SmallBank stays in the bank, whoever else pays at the same time.
func TestSmallBankKeepsItsMoney(t *testing.T) {
	for _, name := range []string{"redis", "sqlite", "memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := profiletest.Case{
				Profile: Profile(), Target: profiletest.Target(t, name), Preset: "smallbank",
				Set: []string{"threads=8", "count=4000", "records=50", "namespace=smallbank"},
			}
			o := profiletest.Drive(t, c)
			require.Equal(t, workload.Passed, o.Run.Verification.State, o.Run.Verification.Summary)
			for _, account := range []string{"savings", "checking"} {
				i := slices.IndexFunc(o.Run.Verification.Checks, func(c workload.Check) bool { return c.Name == account+": sum of what was added" })
				require.GreaterOrEqual(t, i, 0, "the money of all %s accounts is added up", account)
				assert.Equal(t, o.Run.Verification.Checks[i].Want, o.Run.Verification.Checks[i].Got)
				assert.NotEqual(t, "0", o.Run.Verification.Checks[i].Got, "money was moved")
			}
		})
	}
}
