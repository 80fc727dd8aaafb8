package report

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/perfbench/perfbench/internal/find"
	"github.com/perfbench/perfbench/internal/measure"
	"github.com/perfbench/perfbench/internal/rundir"
)

// doubled is a search that doubled its rate twice, halved the rest once and tried the
// end again.
func doubled() *find.Result {
	r := &find.Result{
		Schema: find.Schema, Run: "260503-120000-ingestion-redis", Over: "rate", Unit: "entries", Under: []string{"p99<10ms", "errors<1%"},
		Found: 2830, TooMuch: 4000, Done: 2828, Complete: true, Seconds: 32.4, Threads: 32,
		Limit: find.Limit{By: find.ByStore, Text: "the store: service p50 there is 8 ms, 8 times that of low load"},
	}
	for i, level := range []float64{1000, 2000, 4000, 2830, 4000} {
		ms := int64(level) * 1000
		s := find.Step{
			Level: level, FromS: float64(6 * i), ToS: float64(6*i + 5), Held: level < 3000, Why: "it held", Done: level - 2, Calls: int64(5 * level), Threads: 32,
			Response: find.Times{P50: ms, P90: 2 * ms, P99: 3 * ms, P999: measure.Hidden, Max: 5 * ms}, Service: find.Times{P50: ms},
		}
		if !s.Held {
			s.Why, s.Response.P99 = "p99<10ms did not hold", 40*ms
		}
		r.Steps = append(r.Steps, s)
	}
	return r
}

// expected wants each file to be what testdata has under its name.
func expected(t *testing.T, files []rundir.File) {
	t.Helper()
	for _, f := range files {
		expect(t, f.Name, string(f.Data))
	}
}

// Levels that are hardly apart are one on a chart, for each of its lines.
func TestLevelsHardlyApartAreDrawn(t *testing.T) {
	r := doubled()
	for i := range r.Steps {
		r.Steps[i].Response.P999 = 4 * r.Steps[i].Response.P99
	}
	near := r.Steps[3]
	near.Level *= 1.01
	r.Steps = append(r.Steps, near)
	require.Less(t, len(r.Levels()), len(r.Curve()))
	for _, l := range curve(r).Lines {
		assert.Len(t, l.Values, len(r.Levels()), l.Name)
	}
	files, err := Found(r)
	require.NoError(t, err)
	assert.Len(t, files, 4)
}

func TestFoundDocuments(t *testing.T) {
	files, err := Found(doubled())
	require.NoError(t, err)
	require.Len(t, files, 4)
	expected(t, files)
	want := doubled()
	for i := range want.Steps {
		want.Steps[i].Stands = i != 2 // of the two tries of a level, the later one
	}
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, find.File), files[0].Data, 0o600))
	back, err := find.Load(dir)
	require.NoError(t, err)
	assert.Equal(t, want, back)
	require.NoError(t, os.WriteFile(filepath.Join(dir, rundir.RunFile), []byte("{}"), 0o600))
	require.NoError(t, rundir.WriteArchive(dir, dir+rundir.Suffix))
	back, err = find.Load(dir + rundir.Suffix)
	require.NoError(t, err)
	assert.Equal(t, want, back)
	require.NoError(t, os.Remove(filepath.Join(dir, find.File)))
	require.NoError(t, os.Remove(dir+rundir.Suffix))
	require.NoError(t, rundir.WriteArchive(dir, dir+rundir.Suffix))
	none, err := find.Load(dir + rundir.Suffix)
	require.NoError(t, err)
	assert.Nil(t, none, "an archive of a run that searched for nothing")
	none, err = find.Load(t.TempDir())
	require.NoError(t, err)
	assert.Nil(t, none)
}

// threaded is a search over threads in which fewer than the highest number that holds do most.
func threaded() *find.Result {
	r := doubled()
	r.Over, r.Found, r.TooMuch, r.Done, r.Best, r.BestDone = find.OverThreads, 256, 0, 198e3, 32, 365e3
	r.Limit, r.Steps = find.Limit{By: find.ByNone, Text: "nothing: the highest level to be tried held"}, r.Steps[:0]
	for i, done := range []float64{20e3, 60e3, 365e3, 370e3, 198e3} {
		level := []float64{1, 4, 32, 128, 256}[i]
		ms := int64(level) * 1e4
		r.Steps = append(r.Steps, find.Step{
			Level: level, FromS: float64(6 * i), ToS: float64(6*i + 5), Held: true, Done: done, Calls: int64(5 * done), Threads: int(level),
			Response: find.Times{P50: ms, P90: 2 * ms, P99: 3 * ms, P999: measure.Hidden, Max: 5 * ms}, Service: find.Times{P50: ms},
		})
	}
	return r
}

// The answer to how many threads is the number that does most, with what more of them bring, and not the
// highest that holds; where the levels are far apart, so are they on the axes.
func TestThreadsThatDoMostAreTheAnswer(t *testing.T) {
	r := threaded()
	expect(t, "findthreads.txt", FoundText(r))
	r.TooMuch = 300
	assert.Contains(t, FoundText(r), "more threads only add waiting: 256 hold as well, and do 198k entries/s\n")
	r.Steps[3].Done = 300e3
	assert.NotContains(t, FoundText(r), "no higher number")
	r.Best, r.BestDone, r.Done = 256, 400e3, 400e3
	text := FoundText(r)
	assert.True(t, strings.HasPrefix(text, "256 threads under p99<10ms and errors<1%: 400k entries/s, held in one try of 5 s · 300 is too much\n"), text)
	assert.NotContains(t, text, "only add waiting")
}

func TestFoundInWords(t *testing.T) {
	for want, change := range map[string]func(*find.Result){
		"2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · 4k is too much\nlimit: the store · service p50 there is 8 ms, 8 times that of low load\n\nresponse time over rate\n": func(*find.Result) {},
		"\n\ntook 32 s · 5 tries of 4 levels · 32 threads\n":                                                              func(*find.Result) {},
		"2.75k entries/s done at a rate of 2.83k under p99<10ms and errors<1%, held in one try of 5 s · 4k is too much\n": func(r *find.Result) { r.Done, r.Behind = 2750, 80 },
		"At least 2.75k entries/s done at a rate of 2.83k under p99<10ms and errors<1%, held in one try of 5 s\n":         func(r *find.Result) { r.Done, r.Behind, r.TooMuch = 2750, 80, 0 },
		"No rate holds under p99<10ms and errors<1%: 4k entries/s is already too much\n":                                  func(r *find.Result) { r.Found = 0 },
		"At least 2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s\n":                                 func(r *find.Result) { r.TooMuch = 0 },
		"no limit found: the highest level to try holds; a higher --to looks further\n": func(r *find.Result) {
			r.TooMuch, r.Limit.By = 0, find.ByNone
		},
		"No rate was tried to its end: the run ended first\n": func(r *find.Result) {
			r.Found, r.TooMuch, r.Complete, r.Why, r.Steps = 0, 0, false, "the run ended first", nil
		},
		"12 threads under p99<10ms and errors<1%: 2.83k entries/s · 13 is too much\nlimit: the store · service p50 there is 8 ms, 8 times that of low load\n": func(r *find.Result) {
			r.Over, r.Found, r.TooMuch = "threads", 12, 13
		},
		"2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · 4k is too much\nlimit: perfbench on this machine; the store may do more\n": func(r *find.Result) { r.Limit.By = find.ByPerfbench },
		"Unknown under p99<10ms and errors<1%: perfbench itself was the limit even at 1k entries/s, the lowest that was tried\n": func(r *find.Result) {
			r.Found, r.TooMuch, r.Limit.By = 0, 1000, find.ByPerfbench
		},
		": this machine (crowded by other programs) was the limit even at 1k entries/s, the lowest that was tried\n": func(r *find.Result) {
			r.Found, r.TooMuch, r.Limit.By, r.Limit.Causes = 0, 1000, find.ByPerfbench, []string{"pauses", "lateness", "crowded"}
		},
		"limit: this machine (throttled by its CPU quota); the store may do more\n": func(r *find.Result) {
			r.Limit.By, r.Limit.Causes = find.ByPerfbench, []string{"throttled", "cpu"}
		},
		"\nwhy: garbage collection\n": func(r *find.Result) {
			r.Limit = find.Limit{By: find.ByPerfbench, Text: "perfbench and not the store: garbage collection"}
		},
		"\nwithout a rate: 9.1k entries/s, p99 60 ms · 8 threads · no call waits for a thread then\ntook": func(r *find.Result) {
			r.Unlimited = &find.Unlimited{Done: 9100, Threads: 8, Response: find.Times{P99: 60e6}}
		},
		"· 4k is too much\nat a rate the mix is 33 % a, without one 60 %: entries/s of the two do not compare\nlimit: the store": func(r *find.Result) {
			r.Unlimited = &find.Unlimited{Done: 9100, Threads: 8, Parts: []find.Part{{Track: "b", Share: 0.2, AtRate: 0.33}, {Track: "a", Share: 0.6, AtRate: 0.33}, {Track: "c", Share: 0.2, AtRate: 0.34}}}
		},
		"8 threads\nthe mix without a rate: b 20 % (33 % at a rate), a 60 % (33 % at a rate), c 20 % (34 % at a rate)\ntook": func(r *find.Result) {
			r.Unlimited = &find.Unlimited{Done: 9100, Threads: 8, Parts: []find.Part{{Track: "b", Share: 0.2, AtRate: 0.33}, {Track: "a", Share: 0.6, AtRate: 0.33}, {Track: "c", Share: 0.2, AtRate: 0.34}}}
		},
		"At least 2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · 4k is too much with 8 threads, not tried with 32 · ended early: its time was up; more may hold\nlimit: threads · no higher rate": func(r *find.Result) {
			r.TooMuch, r.Complete, r.Why, r.Limit = 0, false, "its time was up", find.Limit{By: find.ByThreads, Text: "threads: no higher rate was tried with 32"}
			r.Steps[2].Threads, r.Steps[4].Threads = 8, 8
		},
		"\nthreads: 2.83k holds with 32 · 3k is too much with 8, not tried with 32\n": func(r *find.Result) {
			r.Steps = append(r.Steps, find.Step{Level: 3000, Threads: 8})
		},
		"· 4k is too much\nlimit: unknown · service p50 was": func(r *find.Result) { r.Limit = find.Limit{By: find.ByNone, Text: "unknown: service p50 was"} },
		"\nwithout a rate: 2.7k entries/s, p99 60 ms · 8 threads\ntook": func(r *find.Result) { // less than the level
			r.Unlimited = &find.Unlimited{Done: 2700, Threads: 8, Response: find.Times{P99: 60e6}}
		},
		"\nwithout a rate: 9.2k entries/s · 8 threads\ntook": func(r *find.Result) {
			r.Unlimited = &find.Unlimited{Done: 9200, Threads: 8, Response: find.Times{P99: measure.Hidden}}
		},
		"\nthreads: 2.83k holds with 8\nthreads: neither 8 (p99 160 ms) nor 32 (p99 150 ms) held 4k entries/s\n": withMore(150e6, func(s *find.Step) { s.Vain = true }),
		"\nthreads: 2.83k holds with 8\ntook": withMore(12e6, func(s *find.Step) { s.Doubtful = true }),
		" 20 ms         4 ms       0       32  unclear · p99<10ms: 40 of 900": withMore(12e6, func(s *find.Step) {
			s.Doubtful, s.Why = true, "p99<10ms is unclear: 40 of 900 took longer"
		}),
		"2.83k entries/s under p99<10ms and errors<1% · 3k is unclear · doubtful: tries contradict each other\nlimit: the store · service p50": func(r *find.Result) {
			again, no := r.Steps[3], r.Steps[4]
			no.Level = 2830
			doubt, low := no, no
			doubt.Level, doubt.Doubtful, low.Level = 3000, true, 1000
			r.Steps[1].Held, r.TooMuch = false, 3000
			r.Steps = append(r.Steps, again, no, doubt, low)
		},
		"2.83k entries/s under p99<10ms and errors<1% · 4k is too much · doubtful: 2 of 3 tries did not measure the store\nlimit": func(r *find.Result) {
			no := r.Steps[4]
			no.Level, no.Ours = 2830, []string{"crowded"}
			low := no
			low.Level = 1000
			r.Steps = append(r.Steps, no, no, low)
		},
		"2.83k entries/s under p99<10ms and errors<1% · 4k is too much\nlimit: the store · service p50 there is 8 ms, 8 times that of low load\n\nresponse time over rate\n ": func(r *find.Result) {
			no := r.Steps[4]
			no.Level, no.Ours = 2830, []string{"crowded"}
			r.Steps = append(r.Steps, no, r.Steps[3])
		},
		"2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · 4k is too much\nlimit": func(r *find.Result) {
			fewer := r.Steps[1] // with which it was tried first
			fewer.Held, fewer.Threads = false, 8
			r.Steps = slices.Insert(r.Steps, 1, fewer)
		},
		"2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · 3k is unclear, 4k too much · ended early: its time was up\nlimit": func(r *find.Result) {
			held, not := r.Steps[3], r.Steps[4]
			held.Level, not.Level = 3000, 3000
			r.Steps = append(r.Steps, held, not)
			r.Complete, r.Why = false, "its time was up"
		},
		"under p99<10ms and errors<1%, held in one try of 5 s · 3k to 3.2k are unclear, 4k too much\n": func(r *find.Result) {
			for _, level := range []float64{3000, 3200} {
				s := r.Steps[4]
				s.Level, s.Doubtful, s.Why = level, true, "p99<10ms is unclear: 40 of 900 took longer"
				r.Steps = append(r.Steps, s)
			}
		},
		"\nthreads: 2.83k holds with 8 · 4k was tried with 32 only\n": func(r *find.Result) { r.Steps[3].Threads = 8 },
		"\nthreads: 2.83k holds with 32\n":                            func(r *find.Result) { r.Steps[0].Threads = 8 },
		"\nnot finished: a lower one would not help\n": func(r *find.Result) {
			r.Found, r.Limit.By, r.Complete, r.Why = 0, find.ByPerfbench, false, "a lower one would not help"
		},
		"so a lower level would not help\ntook": func(r *find.Result) {
			r.Found, r.Complete, r.Why = 0, false, find.HeldUp
		},
		"not busy otherwise, or search under p99.service<10ms and errors<1%\n": func(r *find.Result) { r.Limit.By = find.ByPerfbench },
		": perfbench itself was the limit at 4k entries/s, and 1k is unclear\nin the store alone, 4k entries/s met p99.service<10ms and errors<1%, the highest tried\nto measure the store: give perfbench a machine that is not busy otherwise, or search under p99.service<10ms and errors<1%\n\nresponse time": func(r *find.Result) {
			r.Found, r.Limit.By = 0, find.ByPerfbench
			for i := range r.Steps {
				r.Steps[i].Service.P99 = 2000 * int64(r.Steps[i].Level)
			}
		},
		"\nasked for 4k, 3.5k were done under p99.service<10ms and errors<1%\nmost done": func(r *find.Result) {
			r.Found, r.Limit.By = 0, find.ByPerfbench
			for i := range r.Steps {
				r.Steps[i].Service.P99 = 9e6
			}
			r.Steps[4].Done = 3500
		},
		"in the store alone, 2.83k entries/s met p99.service<10ms and errors<1%, the highest that perfbench kept up with\n": func(r *find.Result) {
			r.Found, r.Limit.By = 0, find.ByPerfbench
			for i := range r.Steps {
				r.Steps[i].Service.P99 = 9e6
			}
			r.Steps[4].Done = 2700
		},
		"\nmost done at a rate: 4k entries/s, asked for 4k · p99 160 ms, 8 ms in the store alone\n": func(r *find.Result) {
			r.Found, r.Limit.By = 0, find.ByPerfbench
			for i := range r.Steps {
				r.Steps[i].Service.P99 = 2000 * int64(r.Steps[i].Level)
			}
		},
		"most done at a rate: 4.7k entries/s, asked for 4k · p99 389 ms, 9 ms in the store alone\n": func(r *find.Result) { // as the table has it, and not the first of its tries
			r.Found, r.Limit.By = 0, find.ByPerfbench
			for i := range r.Steps {
				r.Steps[i].Service.P99 = 9e6
			}
			r.Steps[4].Done, r.Steps[2].Response.P99, r.Steps[4].Response.P99 = 4700, 173e6, 389e6
		},
		"in the store alone, 2.83k entries/s met p99.service<10ms and errors<1%; 4k is too much\nto measure the store: ": func(r *find.Result) {
			r.Found, r.Limit.By = 1000, find.ByPerfbench
			for i := range r.Steps {
				r.Steps[i].Service.P99 = 3000 * int64(r.Steps[i].Level)
			}
		},
		"in the store alone, 4k entries/s with 8 threads met p99.service<10ms and errors<1%, but 1k and 2k did not: doubtful\n": func(r *find.Result) {
			withMore(150e6, func(s *find.Step) { s.Service.P99 = 25e6 })(r)
			r.Found, r.TooMuch, r.Limit.By = 0, 1000, find.ByPerfbench
			for i := range r.Steps[:5] {
				if r.Steps[i].Service.P99 = 12e6; r.Steps[i].Level > 2000 {
					r.Steps[i].Service.P99 = 8e6
				}
			}
		},
		"a machine that is not busy otherwise\n": func(r *find.Result) {
			r.Limit.By, r.Under = find.ByPerfbench, []string{"put.p99.service<20ms"}
		},
		" · 4k was not kept up with\nlimit: perfbench on this machine; the store may do more\n":                                          didMoreAbove(find.ByPerfbench),
		"\nasked for 8k, 4.5k were done under p99.service<20ms: at another time 4k may hold\n":                                           didMoreAbove(find.ByStore),
		"2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · 4k is too much · ended early: it was interrupted\nlimit": func(r *find.Result) { r.Complete, r.Why = false, "it was interrupted" },
		"At least 2.83k entries/s under p99<10ms and errors<1%, held in one try of 5 s · ended early: its time was up; more may hold\nlimit": func(r *find.Result) {
			r.Complete, r.Why, r.TooMuch = false, "its time was up (a longer duration gives the search more time)", 0
		},
		"\na longer duration gives the search more time\n\nresponse time": func(r *find.Result) {
			r.Complete, r.Why = false, "its time was up (a longer duration gives the search more time)"
		},
		"No rate that was tried holds under p99<10ms and errors<1%: 4k entries/s is already too much · ended early: its time was up; less than 4k entries/s may hold\n": func(r *find.Result) {
			r.Complete, r.Why, r.Found = false, "its time was up", 0
		},
	} {
		r := doubled()
		change(r)
		assert.Contains(t, FoundText(r), want)
		assert.Equal(t, len(r.Steps) > 0, strings.Contains(FoundText(r), "\ntook "))
		assert.True(t, strings.Contains(FoundText(r), "● p99  ○ p50") == (len(r.Steps) > 0))
	}
}

// Of the tries of a level that is too much beyond doubt, one that was so stands for it, in its row, in what is said of the
// numbers of threads and in find.json.
func TestOneTryOfALevelIsShown(t *testing.T) {
	r := doubled()
	withMore(200e6, func(s *find.Step) {
		s.Vain, s.Doubtful, s.Why = true, true, "p99<10ms is unclear: 28 % took longer, seconds vary"
	})(r)
	r.Steps[5].FromS, r.Steps[5].ToS = 36, 41
	clear := r.Steps[5]
	clear.FromS, clear.ToS, clear.Response.P99, clear.Doubtful, clear.Why = 42, 47, 50e6, false, "p99<10ms did not hold: 17 % took longer"
	r.Steps = append(r.Steps, clear)
	text := FoundText(r)
	assert.Contains(t, text, "threads: neither 8 (p99 160 ms) nor 32 (p99 50 ms) held 4k entries/s\n")
	assert.Regexp(t, `(?m)^ +4k .* 50 ms .* too much · held 0 of 2 tries ·`, text)
	assert.NotContains(t, text, "28 % took longer")
	assert.Contains(t, text, "17 % took longer")
	assert.True(t, r.Stands(r.Steps[6]))
	assert.False(t, r.Stands(r.Steps[5]))
}

// withMore makes a search one that tried the level that is too much with 8 threads, and then with 32, at this p99.
func withMore(p99 int64, change func(*find.Step)) func(r *find.Result) {
	return func(r *find.Result) {
		more := r.Steps[4]
		for i := 2; i < 5; i++ {
			r.Steps[i].Threads = 8
		}
		more.Response.P99 = p99
		change(&more)
		r.Steps = append(r.Steps, more)
	}
}

// didMoreAbove makes a search one by the time in the store alone that did more at a higher rate than the lowest that did not
// hold.
func didMoreAbove(limit string) func(*find.Result) {
	return func(r *find.Result) {
		r.Limit.By, r.Under = limit, []string{"p99.service<20ms"}
		for i := range r.Steps {
			if r.Steps[i].Service.P99 = 1e6; !r.Steps[i].Held {
				r.Steps[i].Done = 3000
			}
		}
		more := r.Steps[4]
		more.Level, more.Done = 8000, 4500
		r.Steps = append(r.Steps, more)
	}
}

// Tables of levels show the figure by which levels were judged.
func TestFoundShowsTheFigureOfItsCondition(t *testing.T) {
	r := doubled()
	r.Under = []string{"p99.service<20ms"}
	for i := range r.Steps {
		r.Steps[i].Judged = []int64{int64(r.Steps[i].Level) * 4200}
	}
	text := FoundText(r)
	assert.Regexp(t, `service p50 +p99\.service +errors`, text)
	assert.Regexp(t, `(?m)^2.83k .*11\.9 ms +0 +32 +holds$`, text)
	assert.Contains(t, foundPage(r).Text(), "16.8 ms")
}

// A level that was tried more than once has a band from the lowest to the highest of its tries,
// and two searches are drawn as one picture, each over its own levels.
func TestSearchesAreDrawnWithBandsAndTogether(t *testing.T) {
	a, b := doubled(), doubled()
	a.Steps[4].Response.P99 = 300e6
	c := curve(a)
	assert.Equal(t, []float64{3e6, 6e6, 8.49e6, 160e6}, c.Lines[0].Low)
	assert.Equal(t, []float64{3e6, 6e6, 8.49e6, 300e6}, c.Lines[0].High)
	assert.Equal(t, []float64{3e6, 6e6, 8.49e6, 300e6}, c.Lines[0].Values, "the median, the higher one of two")
	assert.Equal(t, "of the knee", c.Axes[0].Name)
	b.Steps = b.Steps[:3]
	b.Steps[1].Level, b.Found = 2100, 2100
	c = curves([]string{"A", "B"}, []*find.Result{a, b})
	assert.Equal(t, []float64{1000, 2000, 2100, 2830, 4000}, c.At)
	require.Len(t, c.Lines, 4)
	assert.Equal(t, []float64{1000, 2100, 4000}, c.Lines[2].At)
	assert.Equal(t, "p99 B", c.Lines[2].Name)
	assert.Nil(t, c.Lines[2].Low, "each level was tried once")
	assert.InDelta(t, 2100, c.Axes[1].At[slices.Index(c.Axes[1].Labels, "100 %")], 0)
	text := c.Text(loadWidth, loadHeight)
	assert.Equal(t, 2+1, strings.Count(text, "■"), "where both have been, A is seen:\n%s", text)
}

// What no condition looks at is in the answer, so that nobody takes the level for one that serves users well.
func TestTheAnswerOfASearchSaysThatUsersWait(t *testing.T) {
	r := &find.Result{Over: find.OverRate, Unit: "entries", Under: []string{"p99.service<10ms"}, Found: 500, TooMuch: 510, Complete: true, Steps: []find.Step{
		{Level: 500, Held: true, Response: find.Times{P50: 700e6, P99: 805e6}, Service: find.Times{P50: 2e6, P99: 5e6}},
	}}
	assert.Contains(t, FoundAnswer(r).Limits, "users wait up to 800 ms for their calls to begin: no condition limits that")
	r.Under = []string{"p99<10s"}
	assert.NotContains(t, strings.Join(FoundAnswer(r).Lines(), " "), "wait")
}
