package sweep

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/fault"
)

func TestNumbersOfAnAxis(t *testing.T) {
	assert.Equal(t, []float64{500, 1000, 1e6}, Axis{Name: "rate", Values: []string{"500", "1k", "1_000_000"}}.Numbers())
	assert.Equal(t, []float64{512, 1024, 10_000}, Axis{Name: "payload", Values: []string{"512", "1k", "10KB"}}.Numbers())
	assert.Equal(t, []float64{0.5, 2}, Axis{Name: "pause", Values: []string{"500ms", "2s"}}.Numbers())
	assert.Nil(t, Axis{Name: "testCase", Values: []string{"put", "putall"}}.Numbers())
}

func TestLists(t *testing.T) {
	for over, want := range map[string]string{
		"threads=1,2,4,…,64":                               "1 2 4 8 16 32 64",
		"threads=4, 8, ..., 20":                            "4 8 12 16 20",
		"payload=1KiB,2KiB,4KiB,..,16KiB":                  "1KiB 2KiB 4KiB 8KiB 16KiB",
		"rate=0.5,1,…,2":                                   "0.5 1 1.5 2",
		"threads=8,4,2,…,1":                                "8 4 2 1",
		"threads=64,48,…,16":                               "64 48 32 16",
		"seed=9007199254740993,9007199254740992":           "9007199254740993 9007199254740992",
		"mode=pbm,saga":                                    "pbm saga",
		"target=cassandra://a,b/space,redis://c,embedded:": "cassandra://a,b/space redis://c embedded:",
		"target=memory:?service=2ms&servers=4, lab:redis":  "memory:?service=2ms&servers=4 lab:redis",
	} {
		axes, err := Parse([]string{over})
		require.NoError(t, err, over)
		require.Len(t, axes, 1)
		assert.Equal(t, want, strings.Join(axes[0].Values, " "), over)
	}
	axes, err := Parse([]string{"target=cassandra://a,b", "threads=1,2", "target=redis://c"})
	require.NoError(t, err)
	assert.Equal(t, []Axis{{Name: "target", Values: []string{"cassandra://a,b", "redis://c"}}, {Name: "threads", Values: []string{"1", "2"}}}, axes)
}

func TestListsThatAreNone(t *testing.T) {
	for over, want := range map[string]string{
		"":                        "over: a sweep needs a knob and its values",
		"threads":                 `over: "threads" is not NAME=LIST`,
		"=1,2":                    `over: "=1,2" is not NAME=LIST`,
		"threads=":                "over threads: its list is empty",
		"target=":                 "over target: its list has an empty place",
		"threads=1,,2":            `over threads: its list "1,,2" has an empty place`,
		"threads=4":               "over threads: one value does not make a sweep",
		"threads=1..4":            `over threads: "1..4" is not a range that a sweep reads`,
		"threads=4,8,4":           `over threads: has a value twice: "4"`,
		"threads=4,8,04":          `over threads: has a value twice: "04" is "4"`,
		"payload=1KiB,2KiB,1024":  `over payload: has a value twice: "1024" is "1KiB"`,
		"rate=1k,1_000":           `over rate: has a value twice: "1_000" is "1k"`,
		"duration=1m,60s":         `over duration: has a value twice: "60s" is "1m"`,
		"threads=1,…,64":          `over threads: in "1,…,64" two values or more come before the dots, and one after`,
		"threads=1,2,…":           `over threads: in "1,2,…" two values or more come before the dots, and one after`,
		"threads=1,2,4,…,60":      `over threads: "1,2,4,…,60" does not come to 60`,
		"threads=1,2,4,7,…,64":    `over threads: "1,2,4,7,…,64" has neither an equal step nor an equal factor before the dots`,
		"threads=2,2,…,64":        `over threads: "2,2,…,64" does not move`,
		"threads=1,2,…,5000":      `over threads: "1,2,…,5000" has more than 1000 values`,
		"payload=1KiB,2KiB,…,8KB": `over payload: "1KiB,2KiB,…,8KB" has different units, which dots cannot go on from`,
		"mode=pbm,saga,…,x":       `over mode: "pbm,saga,…,x" goes on from words: "pbm" is not a number`,
		"a=1,2;b=1,2;c=1,2":       "over: 3 knobs are more than a sweep has",
	} {
		var list []string
		if over != "" {
			list = strings.Split(over, ";")
		}
		_, err := Parse(list)
		require.EqualError(t, err, want)
		assert.Equal(t, fault.CodeInput, fault.CodeOf(err))
		assert.NotEmpty(t, fault.HintOf(err))
	}
}

func TestPoints(t *testing.T) {
	axes, err := Parse([]string{"threads=1,2", "payload=1KiB,4KiB,…,10KiB"})
	require.NoError(t, err)
	all, err := Points(axes, 100)
	require.NoError(t, err)
	require.Len(t, all, 8)
	assert.Equal(t, []string{"2", "1KiB"}, all[4])
	r := Result{Axes: axes, Rounds: 100}
	assert.Equal(t, "threads=2 and payload=1KiB", r.Place(4))
	assert.Equal(t, 800, r.All())
	long, err := Parse([]string{"threads=1,2,…,1000", "payload=1,2,…,1000"})
	require.NoError(t, err)
	_, err = Points(long, 3)
	require.EqualError(t, err, "over: 1000 of threads × 1000 of payload, 3 times, are 3000000 runs, more than the 1000 that a sweep may have")
}

func TestKnee(t *testing.T) {
	for _, c := range []struct {
		name   string
		points []Sample
		want   float64
	}{
		{"four servers", []Sample{{N: 1, X: 500}, {N: 16, X: 2000}, {N: 2, X: 1000}, {N: 4, X: 2000}, {N: 8, X: 2000}}, 4},
		{"it scales", []Sample{{N: 1, X: 500}, {N: 2, X: 990}, {N: 4, X: 1900}}, 0},
		{"none scales", []Sample{{N: 1, X: 500}, {N: 2, X: 510}, {N: 4, X: 505}}, 1},
		{"a dent is no knee", []Sample{{N: 1, X: 500}, {N: 2, X: 490}, {N: 4, X: 1900}, {N: 8, X: 1950}}, 4},
		{"means", []Sample{{N: 1, X: 450}, {N: 1, X: 550}, {N: 2, X: 900}, {N: 2, X: 1100}, {N: 4, X: 1000}}, 2},
		{"one point", []Sample{{N: 1, X: 500}}, 0},
		{"none", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) { assert.InDelta(t, c.want, levelsOf(c.points).knee(), 0) })
	}
}

func TestPointsSumUpTheirRuns(t *testing.T) {
	r := Result{Axes: []Axis{{Name: "threads", Values: []string{"1", "2"}}, {Name: "target", Values: []string{"a", "b"}}}, Rounds: 3, Runs: []Run{
		{Point: 1, Done: new(90.0), P99: 7, Errors: 1, Verdict: "VALID"},
		{Point: 1, Round: 1, Done: new(110.0), P99: 9, Errors: 2, Verdict: "INVALID"},
		{Point: 1, Round: 2, P99: 8, Verdict: "VALID"},
		{Point: 0, Done: new(50.0), Verdict: "VALID"},
	}}
	require.NoError(t, r.Settle())
	require.Len(t, r.Points, 4)
	p := r.Points[1]
	assert.Equal(t, []string{"1", "b"}, p.Values)
	assert.InDelta(t, math.Sqrt(90*110), *p.Done, 1e-3, "the geometric mean, as in comparisons")
	assert.InDelta(t, *p.Done*math.Exp(math.Log(110/90.0)/2*12.706), *p.High, 0.1, "Student's t of two runs")
	assert.InDelta(t, *p.Done**p.Done / *p.High, *p.Low, 0.1)
	assert.Equal(t, []int64{3, 8, 1, 3}, []int64{int64(p.Runs), p.P99, int64(p.Doubtful), p.Errors})
	assert.Nil(t, r.Points[0].High, "one run tells no interval")
	assert.Nil(t, r.Points[2].Done)
	assert.Equal(t, []Line{{At: "a"}, {At: "b"}}, r.Lines)
	for i := range r.Runs { // as each of four maps has a thread at least
		r.Runs[i].Threads = float64(4 * (1 + r.Runs[i].Point/2))
	}
	r.Runs = append(r.Runs, Run{Point: 2, Done: new(51.0), Threads: 8})
	require.NoError(t, r.Settle())
	assert.InDelta(t, 4, r.Lines[0].Knee, 0)
	assert.InDelta(t, 4, r.Points[0].Threads, 0, "a point says what ran")
	n, done := r.Curve(0, "a")
	assert.Equal(t, []float64{2, 4, 8}, n, "curves lie where points ran, as the law does; one of b has not run yet")
	assert.InDelta(t, 50, done[1], 1e-9)
	assert.InDelta(t, 51, done[2], 1e-9)
	r.Open = true
	require.NoError(t, r.Settle())
	assert.Empty(t, r.Lines, "at a rate throughput tells nothing of threads")
}

// threads=1 and threads=2 of two maps both run two threads: they are one place on a curve.
func TestPointsThatRanAlikeAreOnePlace(t *testing.T) {
	r := Result{Axes: []Axis{{Name: "threads", Values: []string{"1", "2", "4"}}}, Rounds: 3, Runs: []Run{
		{Point: 0, Threads: 2, Done: new(90.0)}, {Point: 1, Threads: 2, Done: new(100.0)}, {Point: 1, Threads: 2, Done: new(110.0)}, {Point: 2, Threads: 4, Done: new(200.0)},
	}}
	require.NoError(t, r.Settle())
	assert.Equal(t, []float64{2, 0, 0}, []float64{r.Points[0].Threads, r.Points[1].Threads, r.Points[2].Threads}, "said only where it is not the value")
	n, done := r.Curve(0, "")
	assert.Equal(t, []float64{2, 4}, n)
	assert.InDelta(t, math.Cbrt(90*100*110), done[0], 1e-9)
	assert.InDelta(t, 200, done[1], 1e-9)
}

func TestASweepIsGoneOnWith(t *testing.T) {
	out := filepath.Join(t.TempDir(), "with [brackets]")
	keep := func(name string, r *Result) {
		r.Schema, r.Axes, r.Rounds = Schema, []Axis{{Name: "threads", Values: []string{"1", "2"}}}, 1
		data, err := r.Encode()
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(out, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(out, name, File), data, 0o600))
	}
	both := []Run{{Point: 0, ID: "first"}, {Point: 1, ID: "second"}}
	keep("first", &Result{}) // the folder of the run
	keep("1-sweep", &Result{Asked: "this", Runs: both})
	keep("2-sweep", &Result{Asked: "other", Runs: both[:1]})
	dir, _ := Unfinished(out, "this")
	assert.Empty(t, dir, "that one is complete")
	keep("3-sweep", &Result{Asked: "this", Runs: both[:1]})
	keep("4-sweep", &Result{Asked: "gone", Runs: both[1:]})
	require.NoError(t, os.MkdirAll(filepath.Join(out, "5-sweep"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(out, "5-sweep", File), []byte("{"), 0o600))
	dir, r := Unfinished(out, "this")
	assert.Equal(t, filepath.Join(out, "3-sweep"), dir)
	assert.True(t, r.Has(0, 0))
	assert.False(t, r.Has(0, 1))
	_, r = Unfinished(out, "gone")
	assert.Empty(t, r.Runs, "the folder of its run is not there")
}

func TestSweepsAreListedByWhenTheyBegan(t *testing.T) {
	out := t.TempDir()
	x := 5.0
	r := Result{Schema: Schema, Rounds: 2, Axes: []Axis{{Name: "threads", Values: []string{"1", "2"}}}, Runs: []Run{
		{Round: 1, Point: 0, ID: "later", Done: &x}, {Round: 0, Point: 0, ID: "sooner", Done: &x}, {Round: 0, Point: 1, ID: "other", Done: &x},
	}}
	data, err := r.Encode()
	require.NoError(t, err)
	for name, content := range map[string][]byte{"260503-114500-tx-sweep": data, "260504-090000-tx-sweep-2": data, "260505-090000-tx-sweep": []byte("{")} {
		require.NoError(t, os.Mkdir(filepath.Join(out, name), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(out, name, File), content, 0o600))
	}
	list := List(out)
	require.Len(t, list, 2, "one is damaged")
	assert.Equal(t, []string{"260504-090000-tx-sweep-2", "260503-114500-tx-sweep"}, []string{list[0].ID, list[1].ID})
	assert.Equal(t, time.Date(2026, 5, 4, 9, 0, 0, 0, time.Local), list[0].When)
	assert.Equal(t, []string{"sooner", "later"}, list[0].RunsOf(0))
	assert.Empty(t, list[0].RunsOf(9))
}

// A series is told by the values that it came to: a step and a factor look alike before the dots.
func TestASeriesIsTold(t *testing.T) {
	for over, want := range map[string]string{
		"threads=2,4,…,32": " (threads 2, 4, 6 … 32)", "threads=1,2,4,…,64": " (threads 1, 2, 4 … 64)", "target=a:,b:": "", "rate=auto": "",
	} {
		axes, err := Parse([]string{over})
		require.NoError(t, err, over)
		assert.Equal(t, want, Series(axes), over)
	}
	axes, err := Parse([]string{"rate=auto", "payload=64,128"})
	require.NoError(t, err)
	assert.Equal(t, " (payload 64, 128)", Series(axes))
}
